// SPDX-License-Identifier: MIT
//
// One message each way by V.8 bis, when a call is answered: the exchange of V.92's Quick Connect, QC2 and QCA2 (V.92
// 11/2000, 9.2, Figures 5 and 6). The answering station initiates with CRe, and the caller replies with its message.
//
//    call    .. listens .. | >= 50 ms | message |  silence, at most 1 s
//    answer  400 ms | CRe ......................| message |
//
// A message is an HDLC frame in V.21 after 100 ms of mark (V.8 bis 7.2): the caller's in the upper channel, the
// answerer's in the lower one. Messages that this end does not understand are ignored. A caller without an answer
// listens for CRe again. An answerer without a message is done three seconds after CRe.
//
// Samples are int16 units at 8000 a second. Real-time safe.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dsp/blocks/table_procedure.h"
#include "dsp/link/hdlc.h"
#include "dsp/v8/fsk.h"
#include "dsp/v8/v8bis_signals.h"

namespace offhook::v8bis {

/// The messages that an end sends and accepts. Each has kOctets of information.
struct ExchangeConfig {
  static constexpr size_t kOctets = 2;
  bool calls = true;
  uint8_t message[kOctets] = {};                             ///< this end's
  bool (*understands)(const uint8_t* far, int n) = nullptr;  ///< the other's
  float tx_level_dbm0 = -12;
};

enum class ExchangeState : uint8_t {
  kListen,       ///< caller: CRe is awaited
  kSend,         ///< caller: message
  kAwait,        ///< caller: silence
  kBefore,       ///< answerer: silence
  kCre,          ///< answerer
  kAfter,        ///< answerer: silence
  kAcknowledge,  ///< answerer: message
  kAgreed,       ///< both messages were sent and understood: far()
  kAlone         ///< answerer: no message
};

enum class ExchangeEvent : uint8_t {
  kFarSignal,   ///< every sample, segment 1 of CRe having lasted for 50 ms
  kFarMessage,  ///< one that this end understands
  kSent,
  kWaitOver,
  kTimeout
};

class Exchange : public TableProcedure<Exchange, ExchangeState, ExchangeEvent> {
 public:
  static const Table& transitions();

  explicit Exchange(const ExchangeConfig& config);
  // Frames are read and written in its own memory.
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// One sample, 0 unless sends().  Real-time: yes.
  float process(float rx);
  bool sends() const { return state_ == State::kSend || state_ == State::kCre || state_ == State::kAcknowledge; }
  /// A message of this end has begun.
  bool has_sent() const { return has_sent_; }
  /// The message of the far end.  @pre state() == kAgreed, or the answerer's kAcknowledge
  const uint8_t* far() const { return far_; }

 private:
  static constexpr size_t kOctets = ExchangeConfig::kOctets;

  void listen();
  void send_message();
  void await();
  void wait_for_message();
  void hear(float rx);
  float send();
  int next_bit();

  ExchangeConfig config_;
  Segment1Detector segment1_;  // caller
  SignalGenerator cre_;        // answerer
  v8::FskBitReceiver receiver_;
  v8::FskModulator modulator_;
  v42::HdlcReceiver frames_;
  v42::HdlcSender sender_;
  uint8_t received_[kOctets + v42::kMaxFcs] = {};
  uint8_t frame_[kOctets + v42::kMaxFcs] = {};
  uint8_t far_[kOctets] = {};
  int preamble_ = 0;   // bits to be sent
  bool sent_ = false;  // the message is complete
  bool has_sent_ = false;
};

}  // namespace offhook::v8bis
