// SPDX-License-Identifier: MIT
//
// Start of a call over the switched network by V.8 (11/2000), Phase 1 of V.34: which end answers, the modulations of
// both, and the choice among them.
//
//    call    .. listens .. | silence Te |  CM  CM  CM  CM ..  | CJ | 75 ms |  Phase 2
//    answer  silence | ANSam ........................ | JM  JM  JM ..| 75 ms |  Phase 2
//
// The caller sends nothing until it hears the answer tone with its 15 Hz modulation (ANSam); then its menu CM until two
// equal JM have come. The answerer sends ANSam until two equal CM have come; then JM, the common modulations, until CJ.
// The modulation is V.21 at 300 bit/s, the caller's in the lower band. An answer tone without modulation (ANS) means a
// modem without V.8: the caller ends with kAnswerTone and tries V.32bis or V.22bis by its own means.
//
// V.92's Quick Connect extends that (its 9.2): before its first CM the caller sends an octet twice, after a
// synchronization octet of its own. An answerer that supports Quick Connect stops ANSam and sends its octet twice, and
// both leave V.8: kShortPhase1. Any other answerer ignores the octets and reads the CM that follows.
//
//    call    .. listens .. | silence Te | QC QC  CM  CM ..|
//    answer  silence | ANSam .................| QCA QCA |
//
// Before ANSam, the same agreement is possible by V.8 bis (v8bis_exchange.h): CRe of the answerer, QC2 and QCA2. A
// caller listens for CRe while it waits for ANSam. An answerer begins with CRe if it is told to, and sends ANSam if no
// QC2 came.
//
// One object is one end. Time is the number of samples: 8000 a second. Samples are int16 units; process() is real-time
// safe. Passive listeners use only fsk.h and answer_tone.h.
#pragma once

#include <stdint.h>

#include "dsp/v8/answer_tone.h"
#include "dsp/v8/fsk.h"
#include "dsp/v8/menu.h"
#include "dsp/v8/v8bis_exchange.h"
#include "offhook/pump.h"

namespace offhook::v8 {

/// The octets of V.92's Quick Connect that an end sends and accepts, one for each direction.
struct QuickConnect {
  static constexpr size_t kMessage = v8bis::ExchangeConfig::kOctets;
  uint8_t sync = 0;                            ///< for both; 0: no Quick Connect
  uint8_t octet = 0;                           ///< the caller's QC1, the answerer's QCA1
  bool (*understands)(uint8_t far) = nullptr;  ///< the other's
  // The members above for V.8 bis; null: not by V.8 bis.
  uint8_t message[kMessage] = {};  ///< the caller's QC2, the answerer's QCA2
  bool (*understands_message)(const uint8_t* far, int n) = nullptr;
  bool begins_with_cre = false;  ///< answerer
};

struct Config {
  oh_pump_role role = OH_PUMP_CALL;
  Menu menu;                        ///< capabilities of this end; the answerer's JM has the common ones
  float tx_level_dbm0 = -12;        ///< ANSam, CM, JM
  bool call_indicator = false;      ///< whether the caller sends CI until it receives the answer
  bool reversals = true;            ///< phase reversals in ANSam: V.34 duplex requires them
  float silence_before_cm_s = 1;    ///< Te: at least 0.5 s; 1 s lets echo control switch off. Source: 8.1.1
  int silence_before_ansam = 1600;  ///< answerer, samples: at least 0.2 s. Source: 8.2.1
  int ansam = 40000;                ///< answerer, samples: 5 +- 1 s without a CM, 8.2.1; 0: no limit
  QuickConnect quick{};
};

/// A call for data with V.42, at the level of the pump. @param modulations  set of Modulation
Config data_call(const oh_pump_config& pump, uint16_t modulations);

class V8;
/// The event that V.8 awaits. OH_START_UP_NONE if V.8 is over, or a caller received no answer tone.
oh_start_up start_up(const V8& v8);
/// Reports both menus, or the parts sent or received so far, to an observer of sequences.
void show_menus(const oh_pump_observer& observer, oh_pump_role role, const V8& v8);

enum class State : uint8_t {
  kRunning,
  kDone,        ///< both agree: result(). The next sample is the first of the modulation's own procedure
  kAnswerTone,  ///< caller: plain ANS, so the far end has no V.8. Answerer: no CM in response to ANSam, and the 75 ms
                ///< of silence are over. Continue with V.32bis Annex A
  kShortPhase1  ///< the caller has received result().quick and is silent, or the answerer's own was sent
};

struct Result {
  uint16_t modulation = 0;                     ///< one of Modulation, or 0 if none is common
  Menu far;                                    ///< CM for the answerer, JM for the caller
  Menu joint;                                  ///< JM
  uint8_t quick[QuickConnect::kMessage] = {};  ///< of kShortPhase1: the far end's octet, or its message
  bool by_v8bis = false;                       ///< of kShortPhase1: it is a message
  bool cj_lost = false;  ///< answerer: continued without CJ, because the caller had begun the next signal or CM had
                         ///< ended long before (8.2.3)
};

class V8 {
 public:
  explicit V8(const Config& config);

  /// One sample. After the state has left kRunning: silence. Real-time: yes.
  float process(float rx);
  /// Answerer that sends JM (step() is kJm): the far end has begun the modulation's own procedure, so CJ was lost
  /// (8.2.3). Call it before process() of the sample that showed this.
  void far_end_has_begun() { far_end_has_begun_ = true; }
  State state() const { return state_; }
  const Menu& own_menu() const { return config_.menu; }
  /// @pre state() == kDone
  const Result& result() const { return result_; }

  /// The current step, for logs and tests.
  enum class Step : uint8_t {
    kV8bis,    ///< answerer: V.8 bis before ANSam
    kListen,   ///< caller: waits for the answer, sending CI, QC2 or nothing
    kTe,       ///< caller: silence before CM
    kQc,       ///< caller: QC before CM
    kCm,       ///< caller
    kCj,       ///< caller
    kBefore,   ///< answerer: silence before ANSam
    kAnsam,    ///< answerer
    kQca,      ///< answerer
    kJm,       ///< answerer
    kSilence,  ///< 75 ms
    kEnd
  };
  Step step() const { return step_; }

 private:
  void enter(Step step);
  void take_octet(const Octet& octet);
  void take_framing_error();
  void begin_copy();
  void combine();
  void take_answer_menu(int modulation_octets);
  bool take_quick(const Octet& octet);
  void load_quick();
  bool follow_v8bis();
  void take_menu();
  bool second_copy_complete() const;
  void load(uint8_t sync, const Menu& menu, int min_modulation_octets);
  void finish(State end);
  void leave(State state) {
    state_ = state;
    step_ = Step::kEnd;
  }
  float caller_step(float rx);
  float menu_step();
  float answerer_step(float rx);
  float next_sample() {
    return modulator_.next([this] { return next_bit(); });
  }
  int next_bit();
  float ci();
  int age() const { return static_cast<int>(now_ - entered_); }

  Config config_;
  State state_ = State::kRunning;
  State end_ = State::kDone;
  Step step_;
  Result result_;
  int64_t now_ = 0;
  int64_t entered_ = 0;

  FskReceiver receiver_;
  FskModulator modulator_;
  AnswerToneDetector answer_tone_;  // caller
  AnsamGenerator ansam_;            // answerer
  v8bis::Exchange v8bis_;

  // Sending: ten ones, sync and octets, repeatedly.
  uint8_t tx_[kMaxMenuOctets + 1]{};
  int tx_octets_ = 0;
  int tx_ones_ = 0;
  int tx_bit_ = 0;
  int tx_copies_ = 0;        // of QC or QCA, to be sent
  bool octet_done_ = false;  // the current bit is the first after an octet's stop bit, or after the sequence

  // Receiving: the copy that is arriving, and the previous one.
  uint8_t rx_[kMaxHeardOctets]{};
  int rx_octets_ = -1;  // -1: no synchronization yet
  uint8_t first_[kMaxHeardOctets]{};
  int first_octets_ = 0;
  // Copies of one length, combined: sums of the contrast of each bit.
  float contrast_[kMaxHeardOctets][8]{};  // of the copy that is arriving
  float sum_[kMaxHeardOctets][8]{};
  int sum_octets_ = 0;
  int sum_copies_ = 0;
  bool other_length_ = false;  // the last copy had a different length
  uint32_t framing_errors_ = 0;
  bool agreed_ = false;    // two equal menus were received
  bool in_quick_ = false;  // the synchronization octet of Quick Connect was received
  int quick_copies_ = 0;   // successive equal ones
  bool far_end_has_begun_ = false;
  int zeros_ = 0;           // octets of CJ
  int64_t last_octet_ = 0;  // when
};

}  // namespace offhook::v8
