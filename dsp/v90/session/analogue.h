// SPDX-License-Identifier: MIT
//
// Phases 3 and 4, data mode, rate renegotiation and cleardown of V.90 (09/98), 9.3 to 9.7: the analogue modem's side.
// V.34 symbols to send, received levels of the network's converter, and time. See digital.h for the course of
// the signals.
//
// It computes its requests to the digital modem (UINFO, the DIL, CPt and CP) from the results of the DIL.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/table_procedure.h"
#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/transmit_signals.h"
#include "dsp/v90/coding/constellation_choice.h"
#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/pcm/downstream_reader.h"
#include "dsp/v90/pcm/receiver.h"
#include "dsp/v90/session/digital.h"
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
  uint8_t own_md_length = 0;  ///< in 35 ms
  uint32_t max_bit_rate = 0;  ///< of either direction; 0: no limit
  uint32_t trn_ms = 1500;     ///< own TRN of Phase 3, beyond its 512 symbols
  uint8_t shaping_bits = 0;   ///< S_r, with a zero at 0 Hz and look-ahead up to the digital modem's
  bool without_dil = false;   ///< request none, and assume that every Ucode arrives by the digital modem's law
};

enum class AnalogueState : uint8_t {
  kTrainFar,  ///< own S, S-bar, PP, TRN
  kSendJa,    ///< until Sd-bar
  kEqualise,  ///< silence: TRN1d and Jd come
  kSendS,     ///< S, until Jd'
  kDil,       ///< S-bar and silence: the DIL comes
  kEndDil,    ///< S and S-bar
  kCpt,       ///< CPt, until R-bar
  kFinal,     ///< Phase 4; and the same signals of renegotiation and cleardown
  kData,
  kEnded  ///< see outcome()
};

enum class AnalogueEvent : uint8_t {
  // an own signal has ended, in the order of v34::Signal
  kSentSilence,
  kSentS,
  kSentSBar,
  kSentMd,
  kSentPp,
  kSentTrn,
  kSentJ,
  kSentJPrime,
  kSentMp,
  kSentE,
  kSentScr,
  kSentSequence,
  // heard
  kFarSdBar,
  kFarJd,
  kFarJdPrime,
  kLearnt,
  kFarR,
  kFarRBar,
  kFarMp,
  kFarEd,
  kFarB1d,
  // time
  kTimeout,
  kNoEd,  ///< in the start-up: no B1d
  // data mode
  kBothSendData,
  kLineLost,
  kRenegotiate,
  kCleardown
};

class AnalogueProcedure : public TableProcedure<AnalogueProcedure, AnalogueState, AnalogueEvent> {
 public:
  static const Table& transitions();

  AnalogueProcedure() : TableProcedure(State::kEnded) {}
  /// Phase 3 begins now: INFO1a has been sent.
  AnalogueProcedure(const AnalogueConfig& config, const oh_bit_port& port);

  /// One sample of 8000 Hz has passed.  Real-time: yes.
  void tick();
  /// @return the next symbol to send, mean power 1; {0, 0} is silence.  Real-time: yes, except at the begin of data.
  Complex next_symbol();

  /// The task of the receiver of PCM.
  PcmReceiver::Task task() const { return task_; }
  float level() const { return level_; }  ///< of kSeek
  /// Grows by one whenever the receiver must compute its taps again.
  uint32_t refits() const { return refits_; }
  void put(PcmReceiver::Event event);
  /// A level was heard. @param error_power, refitting  of the receiver  @return the reference, and its permitted use.
  /// Real-time: yes, except at the end of the DIL: constellation_choice.h.
  DownstreamReader::Result put(float level, int interval, float error_power, bool refitting);

  /// PP, TRN or SCR is sent, and the digital modem is silent: the time to train an echo canceller.
  bool far_end_silent() const;
  /// Data have more errors than expected: checks whether the own echo is the cause.
  bool suspects_echo() const { return state_ == State::kData && noisy_ > 0; }
  /// @param share  of the errors' power that the own signal explains
  void set_echo_share(float share) { echo_share_ = share; }

  /// Data mode only.
  /// @param with_silence  the digital modem is to be silent for a while in it: CPs, 9.6.2.1.3
  void renegotiate(bool with_silence = false) {
    asks_silence_ = with_silence;
    if (!handle(Event::kRenegotiate)) asks_silence_ = false;
  }
  void cleardown() { handle(Event::kCleardown); }
  /// S_r of all following CPs.
  void set_shaping(uint8_t bits) { config_.shaping_bits = bits; }

  Outcome outcome() const { return outcome_; }
  bool live() const { return rx_live_ && tx_live_; }
  v34::Signal signal() const { return tx_.signal(); }
  const Cp& cp() const { return cp_; }
  const Cp& cpt() const { return cpt_; }
  const Mp& mp() const { return far_mp_; }
  const LearntLevels& levels() const { return reader_.levels(); }
  float distance() const { return distance_; }    ///< least, of the data's levels
  float noise_rms() const { return noise_rms_; }  ///< that the rate was chosen for
  /// Downstream rate: a third of this.
  int rx_rate_thirds() const { return cp_.rate_thirds(); }
  uint32_t tx_bit_rate() const { return tx_parameters_.bit_rate; }
  uint32_t renegotiations() const { return renegotiations_; }
  uint64_t bits_sent() const { return data_tx_.bits_sent(); }
  uint64_t bits_received() const { return reader_.bits_received(); }

 private:
  enum class Procedure : uint8_t { kStartUp, kRenegotiation, kCleardown };
  enum class Equalising : uint8_t { kClock, kLevels, kTaps, kFineLevels, kError, kDone };

  bool owes_md() const { return config_.own_md_length > 0; }
  bool wants_no_dil() const { return config_.without_dil; }
  bool equalised() const { return equalising_ == Equalising::kDone; }
  bool released_after_prime() const {
    return (procedure_ == Procedure::kCleardown || far_mp_.drn == 0) && mp_received_ && primes_ > 0;
  }
  bool owes_cp() const { return !cp_begun_ && procedure_ == Procedure::kStartUp; }
  bool agreed() const { return primes_ > 0 && answered_ && !cp_.silence; }
  bool asks_silence() const { return cp_.silence; }
  bool silence_has_begun() const { return silent_ && cp_.silence; }
  bool renegotiates() const { return procedure_ == Procedure::kRenegotiation; }
  bool carries_nothing() const { return cp_.drn == 0; }
  bool is_live() const { return rx_live_; }

  void send_s();
  void send_s_bar();
  void send_md();
  void send_pp() { tx_.start(v34::Signal::kPp); }
  void send_trn();
  void begin_ja();
  void send_ja();
  void silence() { tx_.start(v34::Signal::kSilence); }
  void equalise();
  void await_jd_prime();
  void end_s();
  void choose();
  void choose_training_points();
  void end_unlearnt();
  void begin_cpt();
  void send_cpt();
  void follow_frames();
  void send_scr();
  void choose_again();
  void begin_cp();
  void send_cp();
  void await_silence();
  void use_silence();
  void send_e();
  void send_data();
  void take_mp();
  void receive_b1d();
  void receive_data();
  void begin_renegotiation();
  void begin_cleardown();
  void answer_renegotiation();
  void clamp() { deliver(false); }
  void end_in_retrain() { end(Outcome::kRetrain); }
  void end_for_v34() { end(Outcome::kNotDigital); }
  void release() { end(Outcome::kReleased); }

  void end(Outcome outcome);
  void begin_procedure(Procedure procedure);
  void advance_equaliser(float magnitude, int interval, bool refitting, float error_power);
  void follow_line(float error_power);
  void advance_data();
  void deliver(bool live);
  uint16_t upstream_mask() const;
  ConstellationLimits limits(float rms) const;
  void choose_data_rate(float rms);
  static uint32_t ms(uint32_t t) { return t * 8; }

  AnalogueConfig config_;
  oh_bit_port port_{};
  Outcome outcome_ = Outcome::kNone;
  Procedure procedure_ = Procedure::kStartUp;

  int64_t ed_deadline_ = 0;

  v34::TransmitSignals tx_;
  bool s_ends_ = false;
  uint8_t bits_[Dil::kMaxBits]{};
  int bits_size_ = 0;
  Dil dil_{};

  PcmReceiver::Task task_ = PcmReceiver::Task::kHold;
  float level_ = 0;
  uint32_t refits_ = 0;
  DownstreamReader reader_;
  bool trained_ = false;
  Equalising equalising_ = Equalising::kClock;
  int symbols_ = 0;  // of that
  float two_level_sum_[kFrameIntervals]{};
  float noise_rms_ = 0;
  float error_rms_ = 0;  // now
  float distance_ = 0;

  Jd jd_{};
  Cp cpt_{}, cp_{};
  FrameParameters training_frames_, data_frames_;
  bool cp_begun_ = false;
  bool asks_silence_ = false;  // in the next renegotiation
  bool silent_ = false;        // the digital modem, for that
  bool mp_received_ = false, answered_ = false, b1d_received_ = false;
  int primes_ = 0;
  Mp far_mp_{};

  v34::DataParameters tx_parameters_{};
  v34::DataTransmitter data_tx_;
  bool data_tx_on_ = false, tx_live_ = false, rx_live_ = false;
  int watched_ = 0, noisy_ = 0, good_ = 0;
  int wait_for_higher_ = 16;  // windows: 4 s the first time, then twice as long each time
  float echo_share_ = 0;
  int64_t no_silence_until_ = 0;  // another one this early would not help
  float wanted_rms_ = 0;          // noise for which the next renegotiation is to choose a rate; 0: that of the last
  uint32_t renegotiations_ = 0;
};

}  // namespace offhook::v90
