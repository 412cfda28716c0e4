// SPDX-License-Identifier: MIT
//
// The digital modem's choice of the parameters of the PCM upstream (CPd), from the channel and the noise that it has
// measured. So much work a call that no sample has too much.
//
// 1. The prefilter f and the response B of prefilter and channel minimise |h * f - B|^2 + noise |f|^2. B is 1 at its
// main
//    tap, free at the taps behind it, and else 0: the transmitter's precoder undoes the free taps. That is the problem
//    of a decision feedback equaliser with the channel at the other end, solved by conjugate gradients.
// 2. The points: each a number of standard deviations of the noise at its level from the one before.
// 3. The highest rate whose points are far enough apart when the power is the permitted one. The power is that of a
//    precoder of these parameters with some hundred random digits.
//
// Source: Tomlinson 1971; Harashima, Miyakawa 1972; Hestenes, Stiefel 1952.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/upstream.h"
#include "dsp/v90/pcm/upstream_receiver.h"

namespace offhook::v90 {

/// What is known of a line.
struct UpstreamLine {
  Law law;
  const float* channel;  ///< [UpstreamReceiver::kChannel] as UpstreamReceiver::channel()
  float noise;           ///< mean square error
  float step_share;      ///< NoiseFit
  float constant;
  float echo_power;  ///< of the codec's input, removed from its output
};

class UpstreamDesign {
 public:
  static constexpr int kForward = 96, kBack = 96;
  /// Of the noise, between two points: less causes more than one error in 10^6 bits.
  static constexpr float kLeastDistance = 5.5f;

  /// @param rates  the analogue modem's  @param line  its channel must not change until done
  void begin(const UpstreamLine& line, UpstreamRates rates, v34::TrellisCode trellis, float least_distance,
             const Kernels& kernels = best_kernels());
  bool idle() const { return stage_ == Stage::kIdle; }
  /// A part of the work. @return done  Real-time: yes, 5000 multiplications.
  bool work();
  /// After the work. drn 0: the line carries no rate
  const Cpd& cpd() const { return cpd_; }
  /// u(n) is received `delay()` samples after the main tap of symbol n.
  int delay() const { return delay_; }
  float distance() const { return distance_; }

 private:
  static constexpr int kChannel = UpstreamReceiver::kChannel;
  static constexpr int kResponse = kChannel + kForward - 1;
  static constexpr int kPadded = kResponse + kForward;
  enum class Stage : uint8_t { kIdle, kApply, kTranspose, kFilters, kRate };

  void begin_step();
  void apply();
  void transpose();
  void set_filters();
  void begin_trial(int drn, float distance);
  void make_points(float distance);
  void set_moduli();
  void try_more();
  void end_trial(float power);
  float sigma(float level) const;
  bool free_at(int k) const { return k > main_ && k <= main_ + kBack; }

  const Kernels* kernels_ = nullptr;
  Stage stage_ = Stage::kIdle;
  UpstreamLine line_{};
  UpstreamRates rates_ = 0;
  float least_distance_ = kLeastDistance;
  float unit_ = 1;            // the channel's norm
  float channel_[kPadded]{};  // by delay, between zeros, over unit_
  float late_first_[kChannel]{};
  int main_ = 0;
  // conjugate gradients
  int row_ = 0, steps_ = 0;
  float ridge_ = 0, gradient_ = 0;
  double image_ = 0;
  bool first_ = true;
  float f_[kForward]{}, s_[kForward]{}, p_[kForward]{};
  float rest_[kResponse + 16]{}, q_[kResponse + 16]{};
  // choice
  Cpd cpd_{};
  int delay_ = 0;
  float distance_ = 0, intersymbol_ = 0, filter_power_ = 0;
  int low_ = 0, high_ = 0, drn_ = 0, halvings_ = 0;
  float near_ = 0, far_ = 0, trial_ = 0;
  Precoder precoder_;
  int tried_ = 0;
  float power_ = 0;
  uint32_t random_ = 1;
};

}  // namespace offhook::v90
