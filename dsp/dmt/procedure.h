// SPDX-License-Identifier: MIT
//
// From silence to data and back: the signals that an ATU-C and an ATU-R send and listen for, as one table.
//
//    ATU-R   tones 9 17 25 ........|        | ..... REVERB ........ SEGUE MEDLEY message message .. SEGUE data
//    ATU-C               tones 40 56 64 |  REVERB ................. SEGUE MEDLEY message message .. SEGUE data
//
// A simplification of G.994.1 and G.992.2. The handshake has only tones, no messages. Both ends send at once, each in
// its own band. Each receiver trains on the far REVERB (receiver.h) and measures each tone's noise in MEDLEY. Then each
// requests a loading from the other (message.h), and a second SEGUE marks where data begin. There is no prefix before
// MEDLEY. The far REVERB is a reason to train at any time before data, not later.
//
// In data, an end that has lost its margin begins a fast retrain, which keeps clocks, equalisers and prefixes:
//
//    RECOV .............. SEGUE MEDLEY message message .. SEGUE data      the far end: the same, once it hears RECOV
//
// Its clock is the symbols that it sends; its events come from its receiver.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/blocks/table_procedure.h"
#include "dsp/dmt/loading.h"
#include "dsp/dmt/message.h"
#include "dsp/dmt/receiver.h"
#include "dsp/dmt/showtime.h"
#include "dsp/dmt/tones.h"
#include "dsp/dmt/training_signals.h"
#include "offhook/pump.h"

namespace offhook::dmt {

enum class Side : uint8_t { kCentral, kRemote };  ///< ATU-C at the exchange, ATU-R at the customer

struct ProcedureConfig {
  Side side = Side::kRemote;
  Band down = kLiteDown, up = kLiteUp;
  uint32_t max_bit_rate = 0;  ///< payload of this end's receiver; 0: no limit
  oh_bit_port port{};
};

enum class ProcedureState : uint8_t {
  kIdle,      ///< ATU-C: waits for a request
  kRequest,   ///< ATU-R: requests
  kTones,     ///< ATU-C: answers
  kQuiet,     ///< before training
  kReverb,    ///< the receivers train
  kSegue,     ///< marks MEDLEY
  kMedley,    ///< the receivers measure
  kExchange,  ///< messages
  kMark,      ///< SEGUE before data
  kShowtime,
  kRecover,  ///< of a fast retrain, until the far end also sends them
  kLost,     ///< silent, so that the far end notices
  kFailed,
  kEnded  ///< hung up
};

enum class ProcedureEvent : uint8_t {
  kSent,  ///< the requested number of symbols of a signal was sent
  kFarTones,
  kFarQuiet,
  kFarReverb,
  kNothingToLoad,  ///< no tone can carry data
  kDataLost,
  kMarginLost,
  kFarRecover,
  kTimeout,
  kHangUp
};

class Procedure : public TableProcedure<Procedure, ProcedureState, ProcedureEvent> {
 public:
  static constexpr int kMedleySymbols = 4096, kFastMedleySymbols = 1024;

  explicit Procedure(const ProcedureConfig& config);

  static const Table& transitions();

  /// The next symbol to send. @param[out] points  [kMostTones]  @param[out] prefix  whether the symbol has one
  /// @return false: silence for one symbol. Real-time: yes, O(tones); in data as DataTransmitter.
  bool next(Complex* points, bool* prefix);
  /// `receiver` has a new symbol. Real-time: yes, O(tones); in data as DataReceiver.
  void hear(Receiver* receiver);
  void hang_up() { handle(Event::kHangUp); }

  /// Both directions carry the port's bits.
  bool in_data() const { return state_ == State::kShowtime && hearing_ == Hearing::kData; }
  const Loading& received_loading() const { return data_rx_.loading(); }
  const Loading& sent_loading() const { return data_tx_.loading(); }
  const DataReceiver& data() const { return data_rx_; }
  const float* medley_error() const { return error_; }  ///< [tones] mean square, after MEDLEY was received
  uint32_t trainings() const { return trainings_; }
  uint32_t fast_retrains() const { return fast_retrains_; }
  uint64_t bits_sent() const { return bits_sent_; }
  uint64_t bits_received() const { return bits_received_; }

 private:
  enum class Signal : uint8_t { kSilence, kTones, kReverb, kSegue, kMedley, kOctets, kData };
  enum class Hearing : uint8_t { kNothing, kTones, kTraining, kSegue, kMedley, kMessages, kData, kRecover };

  void send(Signal signal, int symbols);
  void listen(Hearing hearing) {
    hearing_ = hearing;
    heard_ = recovers_ = 0;
  }
  bool counted(bool is);

  void hear_tones(const Receiver& receiver);
  void hear_medley(Receiver* receiver);
  void learn_from_medley(Receiver* receiver, const Complex* sent);
  uint8_t hear_octet(Receiver* receiver);
  void hear_message(Receiver* receiver);
  void hear_data(Receiver* receiver);
  bool segue_ended(Receiver* receiver);
  bool recover_heard(const Receiver& receiver);
  int medley_length() const { return fast_ ? kFastMedleySymbols : kMedleySymbols; }

  // guards
  bool is_central() const { return config_.side == Side::kCentral; }
  bool is_remote() const { return config_.side == Side::kRemote; }
  bool is_trained() const { return trained_; }
  bool may_start_data() const { return far_read_ && (far_.acknowledge || hearing_ == Hearing::kData); }
  bool far_recovers() const { return hearing_ == Hearing::kSegue; }
  bool may_try_again() const { return failures_ < kMostFailures; }
  // actions
  void be_idle();
  void send_request();
  void send_tones();
  void be_quiet();
  void await_reverb();
  void begin_reverb();
  void time_reverb();
  void send_reverb();
  void wait_for_training();
  void send_segue();
  void send_medley();
  void send_message();
  void send_mark();
  void send_data();
  void begin_recover();
  void answer_recover();
  void send_recover();
  void send_fast_segue();
  void be_lost();
  void be_silent();

  static constexpr uint32_t kMostFailures = 6;

  const ProcedureConfig config_;
  const Band rx_band_, tx_band_;
  Complex rx_reverb_[kMostTones], tx_reverb_[kMostTones], rx_recover_[kMostTones]{};
  Signal signal_ = Signal::kSilence;
  Hearing hearing_ = Hearing::kNothing;
  bool restart_ = false;  // the receiver must begin again
  bool trained_ = false;
  bool fast_ = false;  // a fast retrain
  int left_ = 0;       // symbols of the signal, plus one; 0: no limit
  int heard_ = 0;      // symbols in a row that matched the expected signal
  int recovers_ = 0;   // symbols of RECOV in a row
  bool tones_there_ = false;
  uint32_t trainings_ = 0, fast_retrains_ = 0, failures_ = 0;

  Medley tx_medley_, rx_medley_;
  int medley_symbols_ = 0, measured_ = 0;
  bool fitted_ = false;  // each tone's filter
  float error_[kMostTones]{};

  Message own_, far_;
  bool own_known_ = false, far_read_ = false;
  MessageReader reader_;
  uint8_t symbols_[kMostMessageSymbols]{};
  int symbol_at_ = 0;

  DataTransmitter data_tx_;
  DataReceiver data_rx_;
  uint64_t bits_sent_ = 0, bits_received_ = 0;
};

}  // namespace offhook::dmt
