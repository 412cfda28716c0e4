// SPDX-License-Identifier: MIT
//
// Removes the modem's own echoes: the near echo of its own hybrid, and the far echo that the network's
// hybrid sends back a round trip later, with the carrier systems' frequency offset on it.
//
// Both are FIRs on the transmitted samples. They are adapted by normalised LMS while the far end is silent (before its
// turn in the training) and frozen while it speaks. The far end's signal, 20 dB and more above the residual echo, would
// move taps by more than their error. A signal with little power at the edges of its band trains the near echo's taps
// little and slowly there; so their steps use the signal through a filter of the inverse of its
// spectrum. The far echo's taps work on the analytic signal and turn with the offset. Only its phase loop
// continues in data mode, slowly, and only if there is an offset.
//
// After training most taps are zero, and the zeros at either end are skipped: an echo costs time only for its length. A
// far echo without an offset needs no analytic signal either: its taps and those of the Hilbert transformer become one
// FIR on the transmitted samples, at a quarter of the cost.
//
//   residual = canceller.process(received);   // then the receiver, then the transmitter
//   canceller.put(transmitted);
//
// Source: Gitlin, Weinstein, "The effects of large interference on the tracking capability of digitally implemented
// echo cancellers" (1978); Weinstein, "A passband data-driven echo canceller for full-duplex transmission on two-wire
// circuits" (1977).
#pragma once

#include <stdint.h>

#include "dsp/blocks/band.h"
#include "dsp/blocks/complex.h"
#include "dsp/blocks/hot_lines.h"
#include "dsp/blocks/kernels.h"
#include "dsp/blocks/nco.h"
#include "dsp/blocks/preemption_point.h"

namespace offhook::qam {

class EchoCanceller {
 public:
  static constexpr int kNearTaps = 160;           ///< 20 ms
  static constexpr int kFarTaps = 256;            ///< 32 ms
  static constexpr int kFarBefore = 64;           ///< number of these before the measured round trip
  static constexpr int kMaxDelaySamples = 12800;  ///< of the far echo: a round trip of 1.2 s plus the card's delay

  EchoCanceller() { oh_preemption_point(); }  // not defaulted, because `T{}` would clear all of it twice
  /// @param band  of the transmitted signal  @param io_delay_samples  minimum, from a sent sample to its near echo
  /// @param round_trip_samples  at the line's terminals. If the sum of both exceeds kMaxDelaySamples, the far echo is
  /// not cancelled. Not strictly real-time: fills tables and clears 85 KB.
  void init(const Band& band, int io_delay_samples, int round_trip_samples, const Kernels& kernels = best_kernels());
  /// The far end is silent, so adapt. A change from false begins again with large steps. After a change from true, taps
  /// that contain only noise become zero.  Real-time: yes, O(kFarTaps * kFilterTaps).
  void set_training(bool training);
  bool training() const { return training_; }

  /// @param received  int16 units  @return the residual, without the echoes of all samples given to put() so far.
  /// Real-time: yes, O(taps).
  float process(float received);
  /// The sample that was sent. If both directions lost a sample, it is unknown: pass 0.
  void put(float transmitted);

  /// The memory that put() and process() use outside of training.
  void add_to(HotLines* hot) const;
  void add_heads_to(HotLines* hot) const { hot->add_up_to(this, near_); }  ///< the memory that add_to() reads

  /// Measured over the samples since training began: mean square of received signal and residual.
  float echo_power() const { return echo_power_; }
  float residual_power() const { return residual_power_; }
  float far_offset_hz() const { return frequency_ * 8000; }

 private:
  static constexpr int kFilterTaps = 64;  // of the inverse spectrum and of the Hilbert transformer, whose delay is 32
  static constexpr int kFilterDelay = kFilterTaps / 2;
  static constexpr int kMiddle = kFilterTaps - 1 - kFilterDelay;  // tap, of both filters, odd and even

  static constexpr int kJoinedTaps = kFarTaps + kFilterTaps;

  // The last samples. The first ones are repeated after the end, so that a window is always contiguous.
  template <int kSize>
  struct Ring {
    static constexpr int kGuard = 384;
    static_assert(kGuard >= kJoinedTaps);
    float at[kSize + kGuard]{};
    void put(int i, float x) {
      at[i] = x;
      if (i < kGuard) at[i + kSize] = x;
    }
    // `taps` samples, the newest of them `delay` before sample i.
    const float* window(int i, int delay, int taps) const {
      int from = i - delay - taps + 1;
      if (from < 0) from += kSize;
      return at + from;
    }
  };
  struct FilterWindow;
  static constexpr int kLong = 13312;
  static constexpr int kShort = 4096;  // for the near echo of a card that queues 400 ms
  static constexpr int kFarWindow = 512;

  /// The taps that may not be zero, in whole rows of the kernels' partial sums. Skipping the others changes no result.
  struct Span {
    int from = 0, taps = 0;
  };
  /// Whether there may be a far echo.
  bool hears_far() const { return has_far_ && far_span_.taps > 0; }
  static Span span_of(const float* re, const float* im, int taps);
  void join_far();
  void put_analytic(int late);

  void adapt_near(float residual);
  float power_floor() const;
  void drop_noise();

  const Kernels* kernels_ = nullptr;
  int near_delay_ = 0;
  int far_delay_ = 0;
  bool has_far_ = false;
  bool training_ = false;
  int trained_samples_ = 0;
  int at_ = 0;            // in sent_
  int short_at_ = 0;      // in inverse_sent_
  int far_at_ = 0;        // in the analytic signal
  float near_power_ = 0;  // correlation of the signal with the signal through the inverse spectrum
  float far_power_ = 0;
  Span near_span_{}, far_span_{};  // correlation for taps that are zero: none
  bool joined_ = false;            // the far echo uses joined_taps_
  Span joined_span_{};
  alignas(64) float near_[kNearTaps]{};
  float far_re_[kFarTaps]{};
  float far_im_[kFarTaps]{};
  alignas(64) float joined_taps_[kJoinedTaps]{};
  Phase phase_;
  float frequency_ = 0;      // turns a sample
  float replica_power_ = 0;  // of the far echo
  float echo_power_ = 0;
  float residual_power_ = 0;
  float hilbert_[kFilterTaps]{};
  float inverse_[kFilterTaps]{};
  Ring<kLong> sent_;           // as sent
  Ring<kShort> inverse_sent_;  // through the inverse spectrum, kFilterDelay late
  float residual_[kFilterDelay]{};
  Ring<kFarWindow> analytic_re_, analytic_im_;  // as the taps of the far echo use it; not updated while joined_
};

}  // namespace offhook::qam
