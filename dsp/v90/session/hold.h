// SPDX-License-Identifier: MIT
//
// Modem-on-hold of V.92 (11/2000) 9.10, with Amendment 1 and Corrigendum 1: the signals between data mode
// and the answer tone that ends it. Either modem may begin; RT is tone A of the analogue modem, tone B of the digital
// one.
//
//    asks     data | 70 ms | RT | MHreq MHreq .. | RT ...... | (the line is the subscriber's)     | Phase 1, calls
//    grants   data ............ | 70 ms | RT ...... | MHack MHack ..  | ANSam, up to T1 ......... | Phase 1, answers
//
// RT begins as a retrain does, so the far end answers it as one, with Phase 2 (9.7). One of these objects listens
// during that Phase 2 and leaves kListen when an MH sequence has come. Like dsp/v34/phase2 it converts received samples
// at 8000 Hz to sent ones, is a table, and ends with an outcome: its owner then runs Phase 1.
#pragma once

#include <stdint.h>

#include "dsp/blocks/dpsk.h"
#include "dsp/blocks/table_procedure.h"
#include "dsp/v34/phase2/info_detector.h"
#include "dsp/v34/phase2/tones.h"
#include "dsp/v8/answer_tone.h"
#include "dsp/v90/coding/hold_sequence.h"

namespace offhook::v90 {

struct HoldConfig {
  bool digital = false;       ///< sends tone B and hears tone A
  float tx_level_dbm0 = -12;  ///< nominal level of Phase 2
  float guard_with_tone_db = -7;
  uint32_t round_trip_samples = 0;
  uint8_t grant = 0;  ///< code of T1 (Table 33) with which a request is granted; 0: it is denied
};

/// The next procedure.
enum class HoldOutcome : uint8_t {
  kNone,
  kRetrain,   ///< the far end does not have these sequences: a retrain, 9.10.1.1
  kReleased,  ///< disconnect
  kCall,      ///< Phase 1 as a call modem: the far end sends ANSam
  kClear,     ///< the same, with a CM that has no modulation: the far end disconnects, 9.10.2.1
  kAnswer     ///< Phase 1 as an answer modem, ANSam at once; duration: answer_tone_samples()
};

enum class HoldState : uint8_t {
  kListen,        ///< silence; detects MH sequences
  kSilence,       ///< 70 ms before RT
  kTone,          ///< RT, until the far end's has come
  kInitiate,      ///< MHreq, MHclrd or MHfrr
  kLeave,         ///< MHack has come: RT, until ANSam shows that the far end is on hold
  kAway,          ///< silence: the line is the subscriber's
  kRespondTone,   ///< RT before a response
  kRespond,       ///< MHack, MHnack or MHcda
  kFinish,        ///< the sequence that is being sent is completed
  kBeforeAnswer,  ///< silence of less than 80 ms
  kEnded          ///< see outcome()
};

enum class HoldEvent : uint8_t {
  // heard
  kFarTone,      ///< every sample, RT having lasted 54 ms
  kFarLongTone,  ///< every sample, 100 ms
  kFarRequest,
  kFarAcknowledge,
  kFarDeny,
  kFarClearRequest,
  kFarClearAcknowledge,
  kFarReconnect,
  kFarAnswerTone,  ///< every sample, ANSam being heard
  kFarGone,        ///< every sample, no sequence having come for 200 ms
  kFarSilent,      ///< every sample, nor RT, for 2 s
  // sent
  kSentSequence,  ///< the last one has ended on the line
  // time
  kWaitOver,
  kTimeout,
  // the owner's
  kResume,
  kClear
};

class Hold : public TableProcedure<Hold, HoldState, HoldEvent> {
 public:
  static const Table& transitions();

  /// Listens.
  explicit Hold(const HoldConfig& config);

  /// Leaves data mode with the procedure of this initiating sequence (MHreq, MHclrd, MHfrr).
  void initiate(const HoldMessage& message);
  /// In kAway: return to the connection, or end it.
  void resume() { handle(Event::kResume); }
  void clear() { handle(Event::kClear); }

  /// One sample in, one out. Real-time: yes.
  float process(float rx);

  HoldOutcome outcome() const { return outcome_; }
  /// Code of T1 that the far end granted; 0: none.
  uint8_t granted() const { return granted_; }
  /// The far end has denied a request.
  bool denied() const { return denied_; }
  /// It will deny all later ones, too.
  bool denied_for_ever() const { return denied_for_ever_; }
  /// This end has granted one, and kAnswer follows.
  bool holds() const { return message_.signal == HoldSignal::kAcknowledge; }
  /// In kAnswer: the rest of T1, or 0: no limit. @pre holds()
  uint32_t answer_tone_samples() const;
  /// The message that the far end sent last.
  const HoldMessage& heard() const { return heard_; }

 private:
  // guards
  bool sends(HoldSignal s) const { return message_.signal == s; }
  bool tone_was_long_enough() const;
  bool requests() const { return sends(HoldSignal::kRequest); }
  bool clears() const { return sends(HoldSignal::kClearRequest); }
  bool reconnects() const { return sends(HoldSignal::kReconnect); }
  bool grants() const { return sends(HoldSignal::kAcknowledge); }
  bool denies() const { return sends(HoldSignal::kDeny); }
  bool acknowledges_clear() const { return sends(HoldSignal::kClearAcknowledge); }
  bool gives_way() const { return config_.digital; }
  bool answers() const { return planned_ == HoldOutcome::kAnswer; }

  // actions
  void send_tone();
  void send_sequences();
  void leave();
  void go_away();
  void take_denial();
  void respond_to_request();
  void respond_to_clear();
  void be_silent();
  void prepare_response();
  void still_asked();
  void finish_for_retrain() { finish(HoldOutcome::kRetrain); }
  void finish_for_release() { finish(HoldOutcome::kReleased); }
  void finish_for_call() { finish(HoldOutcome::kCall); }
  void finish_for_answer() { finish(HoldOutcome::kAnswer); }
  void end_planned() { end(planned_); }
  void end_for_retrain() { end(HoldOutcome::kRetrain); }
  void end_for_release() { end(HoldOutcome::kReleased); }
  void end_for_call() { end(HoldOutcome::kCall); }
  void end_for_clear() { end(HoldOutcome::kClear); }
  void end_for_answer() { end(HoldOutcome::kAnswer); }

  void hear(float rx);
  void take(const HoldMessage& message);
  void keep_time();
  void finish(HoldOutcome planned);
  void end(HoldOutcome outcome);
  int next_bit();
  int64_t response_time() const;

  HoldConfig config_;
  HoldOutcome outcome_ = HoldOutcome::kNone, planned_ = HoldOutcome::kNone;

  DpskReceiver dpsk_;
  v34::InfoDetector<HoldMessage> sequences_;
  v34::RetrainDetector tone_;
  v8::AnswerToneDetector answer_tone_;
  int answer_tone_age_ = 0;
  HoldMessage heard_{};
  uint8_t granted_ = 0;
  bool denied_ = false, denied_for_ever_ = false;

  DpskModulator modulator_;
  HoldMessage message_{};
  uint8_t bits_[HoldMessage::kBits]{};
  int bit_at_ = 0;
  bool repeats_ = false;

  // Samples since construction.
  int64_t bits_end_ = 0;  // the last bit sent ends on the line
  int64_t last_sequence_ = 0, last_heard_ = 0;
  int64_t acknowledged_ = 0;  // the first MHack has ended; 0: not yet
};

}  // namespace offhook::v90
