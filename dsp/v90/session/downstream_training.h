// SPDX-License-Identifier: MIT
//
// The part of the analogue modem's procedure that does not depend on the upstream: the training of its receiver of PCM,
// the choice of the constellations downstream from the results of the DIL, and the watch over the line in data mode.
#pragma once

#include <stdint.h>

#include "dsp/v34/session/data_mode.h"
#include "dsp/v90/coding/constellation_choice.h"
#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/pcm/downstream_reader.h"
#include "dsp/v90/pcm/receiver.h"
#include "offhook/pump.h"

namespace offhook::v90 {

/// The highest Ucode, 67 to 111, whose level is within the power limit in bits 33:37 of INFO0d.
uint8_t choose_u_info(Law law, int max_power);
/// A DIL of every Ucode up to two Uchords above UINFO, eight times in each interval, half of them positive.
Dil usual_dil(uint8_t u_info);

struct AnalogueConfig {
  Law law = Law::kMu;  ///< of the digital modem: bit 39 of INFO0d
  uint8_t u_info = 79;
  uint8_t max_power = 23;  ///< bits 33:37 of INFO0d
  v34::SymbolRate symbol_rate = v34::SymbolRate::k3200;
  uint32_t round_trip_samples = 0;
  uint32_t echo_delay_samples = 0;  ///< from a sample sent to its near echo
  uint8_t own_md_length = 0;        ///< in 35 ms
  uint32_t max_bit_rate = 0;        ///< of either direction; 0: no limit
  uint32_t trn_ms = 1500;           ///< own TRN of Phase 3, beyond its 512 symbols
  uint8_t shaping_bits = 0;         ///< S_r, with a zero at 0 Hz and look-ahead up to the digital modem's
  bool without_dil = false;         ///< request none, and assume that every Ucode arrives by the digital modem's law
};

class DownstreamTraining {
 public:
  const Cp& cp() const { return cp_; }
  const Cp& cpt() const { return cpt_; }
  const LearntLevels& levels() const { return reader_.levels(); }
  float distance() const { return distance_; }    ///< least, of the data's levels
  float noise_rms() const { return noise_rms_; }  ///< that the rate was chosen for
  /// Downstream rate: a third of this.
  int rx_rate_thirds() const { return cp_.rate_thirds(); }
  uint64_t bits_received() const { return reader_.bits_received(); }
  /// The task of the receiver of PCM.
  PcmReceiver::Task task() const { return task_; }
  float level() const { return level_; }  ///< of kSeek
  /// Grows by one whenever the receiver must compute its taps again.
  uint32_t refits() const { return refits_; }
  /// S_r of all following CPs.
  void set_shaping(uint8_t bits) { config_.shaping_bits = bits; }
  /// @param share  of the errors' power that the own signal explains
  void set_echo_share(float share) { echo_share_ = share; }

 protected:
  enum class LineAdvice : uint8_t { kNone, kLost, kRenegotiate, kRenegotiateWithSilence };

  DownstreamTraining() = default;
  DownstreamTraining(const AnalogueConfig& config, const oh_bit_port& port);

  void begin_equaliser();
  bool equalised() const { return equalising_ == Equalising::kDone; }
  /// The receiver has its first taps.
  void note_taps();
  /// A level is read; the rate is chosen when the DIL is learnt. @param error_power, refitting  of the receiver
  /// @param equalises  TRN1d or Jd comes, and the equaliser is trained
  DownstreamReader::Result listen(float level, int interval, float error_power, bool refitting, bool equalises);
  /// A symbol in data mode. @param now  samples
  LineAdvice follow_line(float error_power, int64_t now);
  void deliver(bool live);
  ConstellationLimits limits(float rms) const;
  void choose_data_rate(float rms);
  /// Of a renegotiation: the rate for the noise now. The frames that run stay until Ed.
  void choose_next_rate();
  /// B1d comes.
  void follow_data_frames();
  void choose_training_points();
  /// Of a renegotiation: the points of the training, the shaping of the data that ran (8.6).
  void renew_training_points();
  uint16_t upstream_mask() const;
  bool carries_nothing() const { return cp_.drn == 0; }

  AnalogueConfig config_;
  PcmReceiver::Task task_ = PcmReceiver::Task::kHold;
  float level_ = 0;
  uint32_t refits_ = 0;
  DownstreamReader reader_;
  float noise_rms_ = 0;
  float error_rms_ = 0;  // now
  float distance_ = 0;

  Dil dil_{};
  Jd jd_{};
  Cp cpt_{}, cp_{};
  FrameParameters training_frames_, data_frames_;
  bool rx_live_ = false;
  int watched_ = 0, noisy_ = 0, good_ = 0;
  int wait_for_higher_ = 16;  // windows: 4 s the first time, then twice as long each time
  float echo_share_ = 0;
  int64_t no_silence_until_ = 0;  // another one this early would not help
  float wanted_rms_ = 0;          // noise for which the next renegotiation is to choose a rate; 0: that of the last

 private:
  enum class Equalising : uint8_t { kClock, kLevels, kTaps, kFineLevels, kError, kDone };
  void advance_equaliser(float magnitude, int interval, bool refitting, float error_power);

  bool trained_ = false;
  Equalising equalising_ = Equalising::kClock;
  int symbols_ = 0;  // of that
  float two_level_sum_[kFrameIntervals]{};
};

}  // namespace offhook::v90
