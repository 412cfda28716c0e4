// SPDX-License-Identifier: MIT
//
// Phases 3 and 4, data mode, rate renegotiation and cleardown of V.34 (10/96), 11.3, 11.4, 11.6 and 11.7, one modem's
// side of them, at symbol level: symbols to send on one side, equalised symbols and three events on the other, and
// time.
//
//    answer  S S' PP TRN J ......|                      | S S' TRN MP MP' E B1 data
//    call                        | S S' PP TRN J .......... J' TRN  MP MP' E B1 data
//                 Phase 3                                  Phase 4
//
// It knows no line: how symbols become samples, how S is found and the equaliser trained is the receiver's business
// (receiver.h), which it tells what to do (ReceiverTask) and gives the points that were sent (decide()). Neither does
// it know Phase 2: when a procedure fails, outcome() says what Phase 2 has to do about it.
//
// Transmit and receive symbol rates may differ; a symbol is sent when next_symbol() is called and has come when
// symbol() is. tick() counts samples of 8000 Hz, the one clock of all time-outs.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/v34/data/data_mode.h"
#include "dsp/v34/data/line_monitor.h"
#include "dsp/v34/data/rate_choice.h"
#include "dsp/v34/phase34/mp.h"
#include "dsp/v34/phase34/receive_signals.h"
#include "dsp/v34/phase34/transmit_signals.h"
#include "offhook/pump.h"

namespace offhook::v34 {

struct HandshakeConfig {
  oh_pump_role role = OH_PUMP_CALL;
  SymbolRate tx_symbol_rate = SymbolRate::k3200;
  SymbolRate rx_symbol_rate = SymbolRate::k3200;
  uint32_t round_trip_samples = 0;
  uint8_t own_md_length = 0;  ///< in 35 ms, of the own INFO1
  uint8_t far_md_length = 0;
  bool far_cme = false;                    ///< bit 24 of the far INFO0: time-outs of Phase 4 are 30 s
  bool points_1664 = true;                 ///< both INFO0 have bit 25
  uint32_t elapsed = 0;                    ///< samples since the end of INFO1a
  uint32_t since_info1c = 0;               ///< samples since the end of INFO1c, call modem
  uint32_t max_bit_rate = 0;               ///< of either direction; 0: no limit
  bool asymmetric = true;                  ///< the two data rates may differ (MP bit 50)
  bool aux = false;                        ///< auxiliary channel wanted
  TrellisCode trellis = TrellisCode::k64;  ///< this and the next two: wanted of the far transmitter
  bool nonlinear = false;
  bool expanded = true;
  TrainingPoints points = TrainingPoints::k16;  ///< wanted of the far transmitter in Phase 4; the call modem, which has
                                                ///< trained its receiver by then, takes 4 if 16 would not do
  uint32_t phase3_trn_ms = 1500;                ///< the own TRN in Phase 3; a round trip is added, for the far echo
  uint32_t phase4_trn_ms = 1000;  ///< of the far TRN in Phase 4, before its noise decides the rate; unless MP comes
  double margin = 1.0;            ///< a rate needs so many times the SNR of required_snr()
  bool adapt_rate = true;         ///< renegotiate and retrain by itself when the line has changed
};

/// What the receiver shall do.
enum class ReceiverTask : uint8_t {
  kFreeze,  ///< nothing that it should adapt to
  kTrain,   ///< look for S and S-bar of an unknown line; PP follows, train from the beginning
  kResume,  ///< look for S and S-bar of the line it knows: keep the equaliser
  kFollow   ///< symbols come: adapt to decide(), and tell if S comes
};

/// How a procedure ended that did not end in data mode.
enum class Outcome : uint8_t {
  kNone,
  kRetrain,               ///< start a retrain; 11.5.1.1, 11.5.2.1
  kRepeatInfo1,           ///< listen for INFOMARKS or the far end's tone; 11.3.2.1.1, 11.4.2.2.1
  kRepeatInfo1WithMarks,  ///< the same, sending INFOMARKS: 11.3.2.2, 11.4.2.1.1
  kReleased               ///< cleardown is complete, or nothing in common
};

/// The receiver's own view of the line, where it has one that is better than the errors of decide().
struct LineQuality {
  double snr = 0;                   ///< mean |x|^2 over mean |noise|^2 after the whitening filter; 0: not known
  PrecoderCoefficients precoder{};  ///< that filter; zero: none wanted
};

class Handshake {
 public:
  enum class Stage : uint8_t {
    kTrainReceiver,  ///< C11, C12; A14: S, S-bar, PP, TRN, J of the far modem
    kTrainFar,       ///< C13, C14; A11, A12
    kSendJ,          ///< C15; A13
    kFinal,          ///< C16 to C18; A15 to A18; and the same signals of renegotiation and cleardown
    kData,           ///< C19, A19: E has been sent and received
    kEnded           ///< see outcome()
  };

  Handshake() = default;
  /// Phase 3 begins now: INFO1a has been sent or received.
  Handshake(const HandshakeConfig& config, const DataPort& port);

  /// One sample of 8000 Hz has passed.  Real-time: yes.
  void tick();
  /// @return the next symbol to send, mean power 1; {0, 0} is silence.  Real-time: yes.
  Complex next_symbol();

  ReceiverTask task() const { return task_; }
  /// PP or TRN of Phase 3 is sent, and the far end is silent: the time to train an echo canceller.
  bool far_end_silent() const;
  /// The receiver has found S.
  void far_s();
  /// It has found where S turns into S-bar, `passed` symbols of S-bar ago. The next that symbol() gets is number
  /// `next`, counted from the first of S-bar: S-bar's own, or behind PP, which the receiver has kept for itself.
  void far_s_bar(int passed, int next);
  /// The point that was sent, as far as it can be told now, for the next symbol. Call it once for each symbol.
  Complex decide(Complex y) { return in_data_rx_ ? data_rx_.decide(y) : signals_.decide(y); }
  /// The next received symbol, in grid units of the constellation in use: grid_energy() is its mean |x|^2.
  /// @pre decide(y) was called for it
  void symbol(Complex y);
  /// Mean |x|^2 in grid units of what the far end is sending: 2 for four points, 10 for sixteen, and of data. The
  /// equaliser's output before the whitening filter has this power.
  float grid_energy() const { return grid_energy_; }
  /// Grows by one whenever grid_energy() or data_parameters() changes.
  uint32_t epoch() const { return epoch_; }
  /// True from B1 on: symbols pass the inverse of the non-linear encoder and the whitening filter.
  bool receiving_data() const { return in_data_rx_; }
  const DataParameters& rx_parameters() const { return rx_parameters_; }
  const DataParameters& tx_parameters() const { return tx_parameters_; }
  void set_quality(const LineQuality& q) { quality_ = q; }

  /// Data mode only: change the rates, or resynchronise. @param max_rx_rate  in 2400 bit/s, limit of the received rate
  void renegotiate(uint8_t max_rx_rate = 14);
  /// Data mode only: end the connection.
  void cleardown();

  Stage stage() const { return stage_; }
  Outcome outcome() const { return outcome_; }
  RatePair rates() const { return rates_; }
  /// B1 has been sent and received: the user's bits flow. After that, until the far end's S in a renegotiation.
  bool live() const { return rx_live_; }
  bool circuit_107() const { return circuit_107_; }                                ///< data set ready
  bool circuit_106() const { return data_tx_on_ && data_tx_.b1_sent(); }           ///< ready for sending
  bool circuit_109() const { return circuit_109_; }                                ///< received line signal
  Signal signal() const { return data_tx_on_ ? Signal::kSilence : tx_.signal(); }  ///< being sent, before data
  const ReceiveSignals& received() const { return signals_; }
  const Mp& own_mp() const { return own_mp_; }
  const Mp& far_mp() const { return far_mp_; }
  uint32_t renegotiations() const { return renegotiations_; }  ///< begun by either end
  const DataReceiver& data_receiver() const { return data_rx_; }
  const DataTransmitter& data_transmitter() const { return data_tx_; }

 private:
  enum class Procedure : uint8_t { kStartUp, kRenegotiation, kCleardown };

  bool calls() const { return config_.role == OH_PUMP_CALL; }
  uint32_t ms(uint32_t t) const { return t * 8; }
  uint32_t final_timeout() const;
  void end(Outcome outcome);
  void set_grid(float energy);
  void next_signal();
  void send_s(Stage stage);
  bool ready_for_mp() const;
  void next_mp();
  void begin_transmitting_data();
  void begin_receiving_data();
  void agree();
  Mp make_mp() const;
  RateLimits limits(bool receive) const;
  void enter_data();
  void follow_line();

  HandshakeConfig config_;
  DataPort port_{};
  Stage stage_ = Stage::kEnded;
  Outcome outcome_ = Outcome::kNone;
  Procedure procedure_ = Procedure::kStartUp;
  bool initiator_ = false;
  ReceiverTask task_ = ReceiverTask::kFreeze;
  float grid_energy_ = 2;
  uint32_t epoch_ = 0;

  uint32_t now_ = 0;         // samples since the start
  uint32_t deadline_ = 0;    // of the stage; 0: none
  uint32_t e_deadline_ = 0;  // of E in Phase 4 and renegotiation; 0: none
  uint32_t listen_at_ = 0;   // the far end's MD is over; 0: not waiting
  uint32_t s_at_ = 0;        // J is answered with S; 0: not waiting
  uint32_t silent_at_ = 0;   // the far end has gone silent, in Phase 3
  uint32_t clamped_at_ = 0;  // S was found in data mode; 0: not

  TransmitSignals tx_;
  bool own_md_due_ = false;
  bool far_md_due_ = false;
  bool final_trn_ = false;  // the far end's TRN of this procedure comes, or is over
  TrainingPoints tx_points_ = TrainingPoints::k4;
  TrainingPoints rx_points_ = TrainingPoints::k4;
  int mp_primes_ = 0;  // complete MP' sent
  bool mp_sent_ = false;
  bool mp_received_ = false;
  bool mp_prime_or_e_received_ = false;
  bool e_received_ = false;
  Mp own_mp_{};
  Mp far_mp_{};
  uint8_t max_rx_rate_ = 14;

  ReceiveSignals signals_;
  bool following_ = false;  // signals_ knows where it is
  LineQuality quality_;
  PrecoderCoefficients own_precoder_{};  // of our transmitter, the far end's wish
  PrecoderCoefficients far_precoder_{};  // of the far transmitter
  RatePair rates_{};
  DataParameters tx_parameters_{};
  DataParameters rx_parameters_{};
  DataTransmitter data_tx_;
  DataReceiver data_rx_;
  LineMonitor monitor_;
  float data_variance_ = 0;  // of the received data, a mean over half a second or so; 0: not known
  bool data_tx_on_ = false;
  bool in_data_rx_ = false;
  bool tx_live_ = false;
  bool rx_live_ = false;
  bool circuit_107_ = false;
  bool circuit_109_ = false;
  uint32_t renegotiations_ = 0;
};

}  // namespace offhook::v34
