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
// TRN1u is white and known, so LMS learns the channel in some thousand symbols. A sample counts by the codec's step at
// its level, because small samples have far less noise than large ones. The channel, and the noise as a function of the
// step, are the basis of the data mode's parameters (upstream_design.h). From the channel, the design computes better
// filters than LMS finds in the time of the training; install() puts them in place of the equaliser's.
//
// The error of the channel's prediction also teaches the echo canceller, which had only heard the two levels of TRN1d.
#pragma once

#include <stdint.h>

#include "dsp/blocks/kernels.h"
#include "dsp/blocks/scrambler.h"
#include "dsp/v90/coding/ucode.h"
#include "dsp/v90/pcm/six_detector.h"

namespace offhook::v90 {

inline constexpr int kUchords = kUcodes / kUchord;
/// The Uchord of a level, 0 to 7.  Real-time: yes.
int uchord_of(Law law, float level);
/// The distance between the values of a codec in a Uchord, Table 1's units.
constexpr float quantiser_step(Law law, int uchord) {
  return static_cast<float>(law == Law::kMu ? 8 << uchord : 16 << (uchord > 0 ? uchord - 1 : 0));
}

/// The noise of a line in each Uchord of the received levels. It is mostly the codec's, whose step doubles from one
/// Uchord to the next. A pad or another law in the network makes more of it in some Uchords than in others.
class NoiseFit {
 public:
  /// @param step  of the Uchord
  void put(int uchord, float step, float error_square);
  /// Includes what another one has.
  void add(const NoiseFit& other);
  int count() const { return count_; }
  /// Mean of the squares over those that the steps alone would cause.
  double ratio() const { return count_ > 0 ? ratios_ / count_ : 1; }
  /// The harmonic mean over all samples: the noise of a fit that weighs each sample by its own.
  double effective() const;
  /// Mean square. With too few samples, that of the next Uchord with enough, four times as much for each Uchord
  /// upwards.
  double variance(int uchord) const;
  /// The part of the mean square that is equally distributed, by the fourth moment; the rest is taken as Gaussian.
  double equal_share(int uchord) const;

 private:
  struct Moments {
    int count = 0;
    double second = 0, fourth = 0;
    double equal_share() const;
  };
  Moments of_[kUchords];
  int count_ = 0;
  double ratios_ = 0;
};

class UpstreamReceiver {
 public:
  static constexpr int kChannel = 128;       ///< taps
  static constexpr int kChannelBefore = 32;  ///< of them before the main one
  static constexpr int kForward = 96, kFeedback = 96;
  static constexpr int kMostAhead = 192;  ///< samples of the equaliser after the symbol's
  static constexpr int kIntervals = 6;    ///< pattern of the network's robbed bits
  static constexpr float kMostWeight = 4;

  void init(Law law, const Kernels& kernels = best_kernels());
  /// One sample. @param received  as received, with the echo.  Real-time: yes, O(taps), except one sample of a
  /// training, which finds the place of TRN1u: 20 000 multiplications.
  void put(float sample, float received);
  int64_t now() const { return now_; }  ///< samples so far
  SixDetector& six() { return six_; }

  /// Sample of the first symbol after Ru-bar or Su-bar.  @pre six().take_reversal() was true for the newest sample
  int64_t after_reversal() const;
  /// TRN1u comes, from after_reversal() on, within kSearch.  @param locked  the analogue modem has the network's clock:
  /// learn the channel, too
  void train(bool locked);
  void stop() { active_ = false; }
  /// The filters of a design for this channel: z(n) = sum forward[i] sample(sample_of(n) + delay - i) + sum
  /// feedback[b] s(n - 1 - b), of which z(n) is s(n).
  /// @param[in] forward  [kForward]  @param[in] feedback  [kFeedback]  @pre 0 <= delay <= kMostAhead
  void install(const float* forward, const float* feedback, int delay);
  /// TRN2u comes: the channel is learnt from decisions, and the noise is measured again.
  void measure_again();
  /// TRN2u comes in a renegotiation, from after_reversal() on: as measure_again(), and Ru and Ru-bar were sent before.
  /// @return position of its first symbol, which begins a data frame
  int64_t resume();
  bool trained() const { return active_ && placed_; }
  void set_points(int points) { points_ = points; }

  struct Symbol {
    int64_t position;  ///< from the first of TRN1u on
    bool negative;
    uint8_t magnitude;
    float error;
    int64_t at;      ///< sample of `residual`
    float residual;  ///< what the channel does not explain of it
    float weight;    ///< of that sample, 1 in the mean; 0: there is no residual
  };
  /// The next symbol, if it has come. Up to two a sample.  Real-time: yes, O(taps).
  bool next(Symbol* symbol);

  /// Sample of the symbol at `position`: where the channel's tap kChannelBefore lies.
  int64_t sample_of(int64_t position) const { return first_ + position; }
  /// @pre now() - kRing < at <= now()
  float sample(int64_t at) const { return ring_[at & (kRing - 1)]; }
  /// `n` samples up to this one, the oldest first.  @pre n <= kMirrored
  const float* samples(int64_t newest, int n) const { return ring_ + ((newest - n + 1) & (kRing - 1)); }
  static constexpr int kMirrored = 32;
  float received(int64_t at) const { return with_echo_[at & (kRing - 1)]; }
  float error_power() const { return error_power_; }
  /// The weight with which a sample of this level trains the filters: 1 in the mean of the training, at most
  /// kMostWeight.
  float weight_of(float level) const;
  const float* channel() const { return channel_; }  ///< [kChannel] the latest first: tap k has the delay kChannel-1-k
  /// [kIntervals] interval i has the samples sample_of(0) + i + 6 k; until there are enough, those measured before.
  const NoiseFit* noise() const { return measured_ < kEnough ? before_ : noise_; }
  int measured() const { return measured_; }  ///< symbols since measure_again() or train()
  float echo_power() const { return echo_power_; }
  /// The signal has been found to be `error` less than this sample.  @pre as of sample()
  void note_offset(int64_t at, float error);

 private:
  static constexpr int kRing = 1024;
  static constexpr int kEnough = 1200;                     // symbols
  static constexpr int kFirstTaps = 64, kFirstAhead = 31;  // of the equaliser that LMS learns
  static constexpr int kSearch = 24, kCorrelated = 192;

  void place();
  float equalised(int64_t position) const;
  void adapt(float error);
  void learn_channel(float sent, Symbol* symbol);
  void measure(int64_t at, float error);

  const Kernels* kernels_ = nullptr;
  Law law_ = Law::kMu;
  SixDetector six_;
  int64_t now_ = -1;
  float ring_[kRing + kMirrored]{};  // the first again after the end
  float with_echo_[kRing]{};
  bool active_ = false, placed_ = false, locked_ = false, learns_ = false;
  int64_t expected_ = 0, first_ = 0, position_ = 0;
  int points_ = 2;
  int taps_ = kFirstTaps, ahead_ = kFirstAhead;
  int learnt_ = 0;
  Scrambler known_{kGpa};
  float forward_[kForward]{}, feedback_[kFeedback]{};
  int decided_at_ = 0;
  float decided_[2 * kFeedback]{};
  float error_power_ = 1;
  int history_at_ = 0, estimated_ = 0;
  float history_[2 * kChannel]{};
  float channel_[kChannel]{};
  float mean_weight_ = 0;
  // Of the samples of a Uchord, towards larger magnitudes: a pad or another law in the network moves its codes.
  float offset_[kUchords]{};
  int offsets_[kUchords]{};  // samples
  NoiseFit noise_[kIntervals], before_[kIntervals];
  int measured_ = 0;
  float echo_power_ = 0;
};

}  // namespace offhook::v90
