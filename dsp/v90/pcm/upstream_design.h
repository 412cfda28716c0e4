// SPDX-License-Identifier: MIT
//
// The digital modem's choice of the parameters of the PCM upstream (CPd), from the channel and the noise that it has
// measured. So much work a call that no sample has too much.
//
// 1. The prefilter f and the response B of prefilter and channel minimise |h * f - B|^2 + noise |f|^2. B is 1 at its
//    main tap, free at the taps behind it, and else 0: the transmitter's precoder undoes the free taps. That is the
//    problem of a decision feedback equaliser with the channel at the other end, solved by conjugate gradients. So the
//    filters are also those of an equaliser, and the receiver of the training uses them as such.
// 2. The spacing of points at each level (upstream_spacing.h), for each set of intervals. Intervals with a robbed bit
//    have more noise than the others, and so a set of their own.
// 3. The highest rate whose points are far enough apart when the power is the permitted one. Power and intersymbol
//    interference are those of a precoder of these parameters with a thousand random digits. The interference is noise,
//    so steps 2 and 3 are done twice.
//
// Source: Tomlinson 1971; Harashima, Miyakawa 1972; Hestenes, Stiefel 1952.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/upstream.h"
#include "dsp/v90/pcm/upstream_receiver.h"
#include "dsp/v90/pcm/upstream_spacing.h"

namespace offhook::v90 {

/// A line as the digital modem measured it.
struct UpstreamLine {
  Law law;
  const float* channel;   ///< [UpstreamReceiver::kChannel] as UpstreamReceiver::channel()
  const NoiseFit* noise;  ///< [UpstreamReceiver::kIntervals] as UpstreamReceiver::noise()
  float noise_scale;      ///< factor of the noise, squared
  float echo_power;       ///< of the codec's input, removed from its output
};

class UpstreamDesign {
 public:
  static constexpr int kForward = UpstreamReceiver::kForward, kBack = UpstreamReceiver::kFeedback;
  /// Between two points, in standard deviations of Gaussian noise. Chosen with v92_upstream_bench, which has the block
  /// error limit and the rates of 22 kinds of trunk.
  static constexpr float kLeastDistance = 5.8f;

  /// Filters only.  @param line  read now
  void begin_filters(const UpstreamLine& line, const Kernels& kernels = best_kernels());
  /// Everything.  @param rates  the analogue modem's
  void begin(const UpstreamLine& line, UpstreamRates rates, v34::TrellisCode trellis, float least_distance,
             const Kernels& kernels = best_kernels());
  bool idle() const { return stage_ == Stage::kIdle; }
  bool filters_only() const { return filters_only_; }
  /// A part of the work. @return done  Real-time: yes, 2500 multiplications, or 22,000 once, for the precoder.
  bool work();
  /// After the work. drn 0: the line carries no rate
  const Cpd& cpd() const { return cpd_; }
  /// u(n) is received `delay()` samples after the main tap of symbol n.
  int delay() const { return delay_; }
  /// Expected mean of UpstreamReader::variance().
  float variance() const { return variance_; }
  /// After the work: the filters for UpstreamReceiver::install().
  const float* forward() const { return f_; }
  const float* feedback() const { return feedback_; }

 private:
  static constexpr int kChannel = UpstreamReceiver::kChannel;
  static constexpr int kResponse = kChannel + kForward - 1;
  static constexpr int kPadded = kResponse + kForward;
  static constexpr int kWhole = kResponse + 1;  // a multiple of 16: Kernels
  static constexpr int kIntervals = UpstreamReceiver::kIntervals;
  enum class Stage : uint8_t { kIdle, kApply, kTranspose, kFilters, kSpacing, kRate };

  void apply();
  void transpose();
  void set_filters();
  void set_precoder();
  void group_intervals(const NoiseFit* noise, float scale);
  void begin_spacing();
  void find_spacing();
  void begin_trial(int drn);
  void make_points(int set);
  int classes_within(int set, float span) const;
  double set_classes(float span);
  void set_moduli();
  void try_more();
  void next_trial(bool fits);
  float response(int k) const;
  bool free_at(int k) const { return k > main_ && k <= main_ + kBack; }

  const Kernels* kernels_ = nullptr;
  Stage stage_ = Stage::kIdle;
  bool filters_only_ = false;
  Law law_ = Law::kMu;
  float echo_ = 0;  // root mean square
  int sets_ = 0;
  int set_ = 0;
  UpstreamSpacing::Noise noise_[kConstellationSets]{};
  UpstreamSpacing spacing_[kConstellationSets];
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
  float feedback_[kBack]{};
  // choice
  Cpd cpd_{};
  int delay_ = 0;
  float variance_ = 0;
  float left_[kWhole]{};  // of the response, neither main tap nor undone; the latest first
  float intersymbol_ = 0;
  int passes_ = 0;
  int low_ = 0, high_ = 0;
  Precoder precoder_;
  int at_ = 0;
  float output_[2 * kWhole]{};  // of the precoder, twice in a row
  int tried_ = 0;
  float power_ = 0, disturbance_ = 0, off_ = 0;
  uint32_t random_ = 1;
};

}  // namespace offhook::v90
