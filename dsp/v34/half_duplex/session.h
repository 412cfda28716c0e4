// SPDX-License-Identifier: MIT
//
// One modem's side of half-duplex operation after Phase 2 (V.34 10/96, 12.3 to 12.8): the training of the primary
// channel, the control channel's start-up, and the turn-rounds between both channels.
//
//    source     S S' PP TRN |      | PPh ALT MPh MPh E control |      | S S' PP B1 page |      | Sh Sh' ALT E control
//    recipient              |         PPh ALT MPh MPh E control |                        |         Sh Sh' ALT E control
//
// The control channel carries the user's data in both directions at once (1200 or 2400 bit/s), the primary channel from
// the source to the recipient alone. Each end turns by itself, when its owner asks for it (circuit 105). If a procedure
// fails, outcome() is the request to Phase 2.
//
// The procedure is a table (transitions(), dsp/blocks/table_procedure.h).
//
// Samples are int16 units at 8000 a second; process() is real-time safe.
#pragma once

#include <stdint.h>

#include "dsp/blocks/table_procedure.h"
#include "dsp/qam/echo_canceller.h"
#include "dsp/qam/modulator.h"
#include "dsp/qam/receiver.h"
#include "dsp/v34/half_duplex/control_reader.h"
#include "dsp/v34/half_duplex/control_receiver.h"
#include "dsp/v34/half_duplex/control_transmitter.h"
#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/receive_rate.h"
#include "dsp/v34/session/symbol_reader.h"
#include "dsp/v34/session/transmit_signals.h"

namespace offhook::v34 {

struct HalfDuplexConfig {
  oh_pump_role role = OH_PUMP_CALL;
  bool source = true;
  double tx_level_dbm0 = -12;  ///< nominal
  uint32_t io_delay_samples = 0;
  uint32_t max_bit_rate = 0;       ///< of the primary channel; 0: no limit
  bool control_2400 = true;        ///< requested for the far end's control channel; otherwise 1200 bit/s
  bool asymmetric_control = true;  ///< whether its two directions may differ
  double margin = 1.0;             ///< recipient: factor on the SNR of required_snr()
};

enum class HalfDuplexState : uint8_t {
  kTrainFar,        ///< source: silence, S, S-bar, PP, TRN
  kFarS,            ///< recipient: S awaited
  kFarTrn,          ///< recipient: PP and TRN are received
  kAwaitPph,        ///< recipient: silence, waits for PPh
  kSendPph,         ///< PPh and ALT are sent; waits for the far end's PPh
  kExchange,        ///< PPh, ALT, MPh and E, in both directions
  kAc,              ///< AC is sent; waits for PPh
  kSendSh,          ///< source: silence, Sh, S-bar-h, ALT; waits for PPh or Sh
  kAwaitSh,         ///< recipient: silence; waits for PPh or Sh
  kResync,          ///< ALT and E, in both directions
  kControl,         ///< the user's data on the control channel
  kControlOff,      ///< ones end the control channel
  kPrimarySend,     ///< source: silence, S, S-bar, PP, B1, the user's data
  kPrimaryOff,      ///< source: ones end the primary channel
  kPrimaryWait,     ///< recipient: S awaited
  kPrimaryReceive,  ///< recipient: PP, B1, the user's data
  kEnded            ///< see outcome()
};

enum class HalfDuplexEvent : uint8_t {
  // a signal that this end sends on the control channel has ended, in the order of ControlSignal
  kSentSilence,
  kSentPph,
  kSentAlt,
  kSentMph,
  kSentE,
  kSentSh,
  kSentShBar,
  kSentAc,
  kSentOnes,
  // a signal that this end sends on the primary channel has ended, in the order of Signal
  kPrimarySilence,
  kPrimaryS,
  kPrimarySBar,
  kPrimaryMd,
  kPrimaryPp,
  kPrimaryTrn,
  kPrimaryOnes,
  // received on the control channel
  kFarPph,
  kFarShBar,
  kFarAc,
  kFarMph,
  kFarE,
  kFarTone,  ///< the tone of Phase 2, for more than 50 ms
  // received on the primary channel
  kFarSBar,
  kFarTrnOver,
  kFarPpOver,
  // the owner
  kTurn,  ///< circuit 105: change to the other channel
  kRetrainControl,
  kRetrainPrimary,
  // time
  kBothHaveE,
  kTimeout
};

enum class HalfDuplexOutcome : uint8_t {
  kNone,
  kRepeatInfoh,  ///< 12.3.3, 12.4.3.1
  kRetrain,      ///< 12.7: by this end, or by the far end's tone
};

class HalfDuplexSession : public TableProcedure<HalfDuplexSession, HalfDuplexState, HalfDuplexEvent> {
 public:
  static const Table& transitions();

  /// @param primary  the page's bits: taken by a source, given by a recipient  @param control  the control channel's
  HalfDuplexSession(const HalfDuplexConfig& config, const oh_bit_port& primary, const oh_bit_port& control);

  void set_control_port(const oh_bit_port& port) { control_port_ = port; }

  /// Phase 3 begins now, after INFOh.  Not strictly real-time: designs filters.
  void begin(const Phase2Outcome& outcome);
  /// One sample in, one out.  Real-time: yes, except at the beginning of data: DataParameters.
  float process(float rx) { return step(rx, false); }
  float process_lost() { return step(0, true); }

  /// This channel has no more user bits, so change to the other. Ignored unless the channel is in use.
  /// @return whether the channel was in use
  bool turn() { return handle(Event::kTurn); }
  void retrain_control() { handle(Event::kRetrainControl); }
  void retrain_primary() { handle(Event::kRetrainPrimary); }
  /// New limits, which MPh exchanges when the control channel next begins. @param max_bit_rate  0: none
  void change(uint32_t max_bit_rate, bool control_2400);

  HalfDuplexOutcome outcome() const { return outcome_; }
  const HalfDuplexRates& rates() const { return rates_; }
  /// The control channel carries user data in both directions.
  bool in_control() const { return state_ == State::kControl; }
  /// The primary channel carries user data, after B1.
  bool in_primary() const;
  const Mph& far_mph() const { return far_; }
  uint32_t control_bit_rate(bool sent) const;
  uint64_t control_bits_sent() const { return control_tx_.bits_sent(); }
  uint64_t control_bits_received() const { return control_reader_.bits_received(); }
  uint64_t primary_bits() const;
  uint32_t control_retrains() const { return control_retrains_; }

 private:
  friend TableProcedure;
  void on_leave(State) {}

  // guards
  bool is_source() const { return config_.source; }
  bool is_recipient() const { return !config_.source; }
  bool trained_well() const;
  bool has_mph() const { return far_mph_received_; }
  bool wants_change() const { return wants_change_; }
  bool is_live() const { return in_primary(); }
  bool first_start_up() const { return config_.source && !had_control_; }

  // actions
  void send_s() { primary_tx_.start(Signal::kS); }
  void send_s_bar() { primary_tx_.start(Signal::kSBar); }
  void send_pp() { primary_tx_.start(Signal::kPp); }
  void send_trn();
  void send_b1();
  void follow_training();
  void follow_primary();
  void receive_primary();
  void await_pph();
  void begin_control();
  void send_pph() { control_tx_.start(ControlSignal::kPph); }
  void await_far_pph();
  void take_pph();
  void answer_pph();
  void ask_for_change();
  void send_alt();
  void send_mph();
  void take_mph();
  void send_e() { control_tx_.start(ControlSignal::kE); }
  void send_control_data();
  void receive_control_data();
  void send_ac();
  void respond_to_ac();
  void begin_sh();
  void send_sh() { control_tx_.start(ControlSignal::kSh); }
  void send_sh_bar() { control_tx_.start(ControlSignal::kShBar); }
  void await_far_sh();
  void answer_sh_bar();
  void answer_with_sh();
  void send_resync_alt();
  void end_control() { control_tx_.start(ControlSignal::kOnes, kControlOnes); }
  void begin_primary();
  void await_primary();
  void end_primary() { ones_left_ = -1; }
  void await_control();
  void stop_primary();
  void end_ones();
  void repeat_infoh() { end(HalfDuplexOutcome::kRepeatInfoh); }
  void retrain() { end(HalfDuplexOutcome::kRetrain); }

  static constexpr int kControlOnes = 4;  // 12.6.3

  void end(HalfDuplexOutcome outcome);
  void seek_control();
  void time_out_in(int64_t ms) { deadline_ = now_ + 8 * ms; }
  float step(float rx, bool lost);
  void hear_control(float rx);
  void hear_primary(float rx, bool lost);
  void read_primary();
  void listen(bool pp, TrainingPoints points);
  float send();
  Complex next_primary();
  RateLimits limits() const;
  Mph make_mph();
  void agree();
  void follow_line(const Heard& heard);
  void measure_noise();

  HalfDuplexConfig config_;
  DataPort primary_port_{};
  oh_bit_port control_port_;
  HalfDuplexOutcome outcome_ = HalfDuplexOutcome::kNone;
  Phase2Outcome phase2_{};

  // The control channel.
  ControlTransmitter control_tx_;
  ControlReceiver control_rx_;
  ControlReader control_reader_;
  RetrainDetector retrain_tone_;
  bool reads_control_ = false;
  bool far_mph_received_ = false;
  bool sent_e_ = false, received_e_ = false;
  bool had_control_ = false;   // since Phase 3
  bool wants_change_ = false;  // parameters that MPh contains
  uint32_t control_retrains_ = 0;
  Mph own_{}, far_{};
  HalfDuplexRates rates_{};
  uint8_t most_rate_ = ReceiveRate::kNoLimit;  // recipient: after data with errors

  // The primary channel.
  DataParameters parameters_{};
  PrecoderCoefficients precoder_{};  // of the source's transmitter
  TransmitSignals primary_tx_;
  DataTransmitter data_tx_;
  bool data_tx_on_ = false;
  int ones_left_ = 0;                      // symbols of kPrimaryOff; negative: user bits come first
  float fast_power_ = 0, slow_power_ = 0;  // mean square of the line
  uint64_t bits_before_ = 0;
  qam::Modulator modulator_;
  qam::EchoCanceller echo_;
  qam::Receiver receiver_;
  SymbolReader reader_;
  ReceiverOrder order_;
  Heard::Training training_;
  LineQuality quality_;
  double training_snr_ = 0;
  ReceiveRate receive_rate_;
  bool monitored_ = false;
  int after_pp_ = 0;  // symbols until B1, at the resynchronization
};

}  // namespace offhook::v34
