// SPDX-License-Identifier: MIT
//
// The signals after QC and QCA in the short Phase 1 of V.92 (11/2000), 9.2, between an analogue and a digital modem,
// for either caller:
//
//    analogue  .............................. TONEq ..... | 75 ms |  Phase 2
//    digital   75 ms | QTS QTS' | ANSpcm ..............| 75 ms |  Phase 2
//
// The analogue modem answers ANSpcm as soon as it recognises it if it has heard a second of ANSam before QC, or sent
// it. After V.8 bis it answers after a second. A signal without an answer leads to V.8 (9.2.3.3, 9.2.4.3). The
// procedure is a table, transitions(), like the others.
//
// Samples are int16 units at 8000 a second; real-time safe.
#pragma once

#include <stdint.h>

#include "dsp/blocks/oscillator.h"
#include "dsp/blocks/table_procedure.h"
#include "dsp/blocks/tone.h"
#include "dsp/v8/answer_tone.h"
#include "dsp/v90/coding/quick_signals.h"

namespace offhook::v90 {

struct ShortPhase1Config {
  bool digital = false;        ///< which of the two modems this is
  bool calls = false;          ///< it has sent QC, else QCA
  Law law = Law::kMu;          ///< digital
  uint8_t uqts = 0;            ///< digital: Ucode that the far end's QC or QCA requests
  int16_t anspcm_dbm0 = -120;  ///< digital, tenths: as in the own QC or QCA
  float tx_level_dbm0 = -12;   ///< analogue: of TONEq
  bool knows_ansam = true;     ///< analogue: ANSam was heard or sent before; false: QC2 and QCA2
};

enum class ShortPhase1State : uint8_t {
  kBefore,   ///< digital: silence before QTS
  kQts,      ///< digital
  kAnspcm,   ///< digital: TONEq is awaited
  kAwait,    ///< analogue: silence; ANSpcm is awaited
  kHear,     ///< analogue: silence; ANSpcm is heard
  kTone,     ///< analogue: TONEq, until ANSpcm has ended
  kSilence,  ///< before Phase 2, whose receivers have to listen already (9.4.1.1.1, 9.4.2.1.1)
  kEnded     ///< see outcome()
};

enum class ShortPhase1Event : uint8_t {
  kFarTone,        ///< every sample, TONEq having lasted for as long as it must
  kFarAnspcm,      ///< every sample, an answer tone without modulation being heard
  kFarLongAnspcm,  ///< every sample, ANSpcm being heard for a second
  kFarAnsam,       ///< every sample
  kFarQuiet,       ///< every sample, no answer tone being heard
  kSentQts,        ///< with QTS-bar
  kWaitOver,
  kTimeout
};

class ShortPhase1 : public TableProcedure<ShortPhase1, ShortPhase1State, ShortPhase1Event> {
 public:
  enum class Outcome : uint8_t {
    kNone,
    kPhase2,
    kCall,   ///< V.8 as a call modem: the far end has gone back to ANSam
    kAnswer  ///< V.8 as an answer modem, ANSam at once
  };
  static const Table& transitions();

  /// QCA has been sent, or received.
  explicit ShortPhase1(const ShortPhase1Config& config);

  /// The analogue modem's sample. Real-time: yes.
  float process(float rx);
  /// The digital modem's. Real-time: yes.
  Pcm process_digital(float rx);

  Outcome outcome() const { return outcome_; }
  /// Analogue: QTS has been heard, and its level.
  bool heard_qts() const { return qts_peak_ > 0; }
  float qts_peak() const { return qts_peak_; }
  /// Digital: symbols since the first of QTS, which is of data frame interval 0 (8.3.6). @pre QTS has begun
  uint32_t since_qts() const { return static_cast<uint32_t>(now_ - qts_at_); }

 private:
  bool calls() const { return config_.calls; }
  bool tone_was_long_enough() const;
  bool knows_ansam() const { return config_.knows_ansam; }

  void send_qts();
  void send_anspcm();
  void hear_anspcm();
  void send_tone();
  void be_silent();
  void end_for_phase2() { outcome_ = Outcome::kPhase2; }
  void end_for_call() { outcome_ = Outcome::kCall; }
  void end_for_answer() { outcome_ = Outcome::kAnswer; }

  void step(float rx);
  void hear_digital(float rx);
  void hear_analogue(float rx);

  ShortPhase1Config config_;
  Outcome outcome_ = Outcome::kNone;
  int64_t qts_at_ = 0, anspcm_at_ = 0;

  ToneDetector toneq_{kToneQHz};        // digital
  ToneDetector qts_;                    // analogue
  v8::AnswerToneDetector answer_tone_;  // analogue
  float qts_peak_ = 0;
  Oscillator oscillator_{kToneQHz};
  float peak_;
};

}  // namespace offhook::v90
