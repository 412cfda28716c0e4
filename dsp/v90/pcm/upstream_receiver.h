// SPDX-License-Identifier: MIT
//
// The digital modem's receiver of the PCM upstream's training (V.92 9.5, 9.6): samples of the exchange's A/D, without
// echo, to symbols of 2, 4 or 8 points. One sample a symbol, because the analogue modem has the network's clock.
//
//   samples --+--> period of six: Ru, Su
//             +--> place of TRN1u --> forward taps --(+)--> slicer --> symbols
//             |                                       ^          |
//             |                                       '- feedback taps
//             '--(-) error <-- channel: 128 taps, LMS <----------'
//
// TRN1u is white and known, so LMS learns equaliser and channel in some thousand symbols. The channel, and the noise as
// a function of the codec's step, are the basis of the data mode's parameters (upstream_design.h).
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/blocks/scrambler.h"
#include "dsp/v90/coding/ucode.h"
#include "dsp/v90/pcm/six_detector.h"

namespace offhook::v90 {

/// The distance between the values of a codec at this level, Table 1's units.
float quantiser_step(Law law, float level);

/// Square errors of a line with a codec: a share of those that its steps alone would cause, and a constant.
class NoiseFit {
 public:
  /// @param step_square  a twelfth of the square of the codec's step
  void put(float step_square, float error_square);
  int count() const { return count_; }
  double mean() const { return count_ > 0 ? errors_ / count_ : 0; }
  double share() const;
  double constant() const;

 private:
  int count_ = 0;
  double steps_ = 0, errors_ = 0, steps_2_ = 0, products_ = 0;
};

class UpstreamReceiver {
 public:
  static constexpr int kChannel = 128;       ///< taps
  static constexpr int kChannelBefore = 32;  ///< of them before the main one

  void init(Law law, const Kernels& kernels = best_kernels());
  /// One sample. @param received  as received, with the echo.  Real-time: yes, O(taps), except one sample of a
  /// training, which finds the place of TRN1u: 20 000 multiplications.
  void put(float sample, float received);
  int64_t now() const { return now_; }  ///< samples so far
  SixDetector& six() { return six_; }

  /// TRN1u comes. @param first  sample at which its first symbol is expected, within kSearch  @param locked  the
  /// analogue modem has the network's clock: learn the channel, too
  void train(int64_t first, bool locked);
  void stop() { active_ = false; }
  /// The channel stays as it is: symbols of more than two points are less certain.
  void keep_channel() { learns_ = false; }
  /// Ru and Ru-bar have come, and TRN2u begins with the symbol at this position.
  void resume(int64_t symbol);
  bool trained() const { return active_ && placed_; }
  void set_points(int points) { points_ = points; }

  struct Symbol {
    int64_t position;  ///< from the first of TRN1u on
    bool negative;
    uint8_t magnitude;
    float error;
  };
  /// The next symbol, if it has come. Up to two a sample.  Real-time: yes, O(taps).
  bool next(Symbol* symbol);

  /// Sample of the symbol at `position`: where the channel's tap kChannelBefore lies.
  int64_t sample_of(int64_t position) const { return first_ + position; }
  /// @pre now() - kRing < at <= now()
  float sample(int64_t at) const { return ring_[at & (kRing - 1)]; }
  float error_power() const { return error_power_; }
  const float* channel() const { return channel_; }  ///< [kChannel] the latest first: tap k has the delay kChannel-1-k
  const NoiseFit& noise() const { return noise_; }
  float echo_power() const { return echo_power_; }

 private:
  static constexpr int kRing = 1024;
  static constexpr int kForward = 64, kFeedback = 96, kAhead = 31;
  static constexpr int kSearch = 24, kCorrelated = 192;

  void place();
  float equalised(int64_t position) const;
  void learn_channel(int64_t position, float symbol);

  const Kernels* kernels_ = nullptr;
  Law law_ = Law::kMu;
  SixDetector six_;
  int64_t now_ = -1;
  float ring_[kRing]{};
  float received_[kRing]{};
  bool active_ = false, placed_ = false, locked_ = false, learns_ = false;
  int64_t expected_ = 0, first_ = 0, position_ = 0;
  int points_ = 2;
  int learnt_ = 0;
  Scrambler known_{kGpa};
  float forward_[kForward]{}, feedback_[kFeedback]{};
  int decided_at_ = 0;
  float decided_[2 * kFeedback]{};
  float error_power_ = 1;
  int history_at_ = 0, estimated_ = 0;
  float history_[2 * kChannel]{};
  float channel_[kChannel]{};
  NoiseFit noise_;
  float echo_power_ = 0;
};

}  // namespace offhook::v90
