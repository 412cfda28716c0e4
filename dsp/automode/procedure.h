// SPDX-License-Identifier: MIT
//
// The procedure of automode.h: signals to send and to listen for, until a modulation is chosen. Then its pump runs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dsp/automode/automode.h"
#include "dsp/automode/conversion.h"
#include "dsp/blocks/hum_filter.h"
#include "dsp/blocks/tone.h"
#include "dsp/v34/phase2/info_detector.h"
#include "dsp/v8/v8.h"

namespace offhook::automode {

inline constexpr int kUsb1Hz = 2250;  // ones turn the high carrier, 2400 Hz, by -90 degrees, 600 times per second
inline constexpr int kAaHz = 1800;
inline constexpr int kAcLowHz = 600;
inline constexpr int kAcHighHz = 3000;
inline constexpr int kBellCallerHz = 1270;

/// A modulation that takes part, and its memory.
struct Member {
  const Modulation* modulation = nullptr;
  const oh_pump_type* type = nullptr;
  void* self = nullptr;
  bool converted = false;  ///< it uses linear samples of 8000 Hz, but the card has others
};

/// All work between init and release. Real-time: yes.
class Automode {
 public:
  /// @param members [n]  initialised
  Automode(const oh_pump_config& c, const Table& table, const Member* members, int n);

  void process(const void* rx, void* tx, size_t n);
  void report_gap(size_t n);
  void status(oh_pump_status* s) const;
  void hang_up();
  int hold(oh_hold_order order) {
    return step_ == Step::kRunning ? oh_pump_hold(active_->type, active_->self, order) : kNotNow;
  }
  int allow_hold(uint32_t timeout) {
    int result = 0;
    for (int k = 0; k < n_; ++k) {
      const Member& m = members_[k];
      if (oh_pump_has_hold(m.type) && oh_pump_allow_hold(m.type, m.self, timeout) != 0) result = kNotNow;
    }
    return result;
  }
  void note_frames(uint32_t good, uint32_t bad) {
    if (step_ == Step::kRunning) oh_pump_note_frames(active_->type, active_->self, good, bad);
  }
  int loop(oh_loop_order order) {
    const Loops* loops = running_loops();
    return loops != nullptr ? loops->order(active_->self, order) : kNotNow;
  }
  oh_loop_state loop_state() const {
    const Loops* loops = running_loops();
    return loops != nullptr ? loops->state(active_->self) : OH_LOOP_NONE;
  }
  int allow_pcm_upstream() {
    Member* m = member(OH_MODULATION_V90);
    return m != nullptr && samples_ == 0 ? m->modulation->v92->allow_pcm_upstream(m->self) : kNotNow;
  }
  int prepare_quick_connect(const oh_v90_profile& profile, uint32_t phases);
  int profile(oh_v90_profile* profile) const {
    return runs_v90() ? active_->modulation->v92->profile(active_->self, profile) : kNotNow;
  }
  bool was_quick() const { return runs_v90() && active_->modulation->v92->was_quick(active_->self) != 0; }
  void release() {
    for (int k = 0; k < n_; ++k) members_[k].type->release(members_[k].self);
  }

 private:
  bool both_know_v8() const { return v8_.state() == v8::State::kDone || v8_.state() == v8::State::kShortPhase1; }
  bool runs_v90() const { return step_ == Step::kRunning && active_->modulation->v92 != nullptr; }
  const Loops* running_loops() const { return step_ == Step::kRunning ? active_->modulation->loops : nullptr; }

  enum class Step : uint8_t {
    kV8,          // dsp/v8; the caller also waits for the first signals of an answerer without V.8
    kAnswerTone,  // caller: the rest of the first second of ANS
    kAa,          // caller: V.32bis sends AA and waits for AC, while this procedure waits for USB1
    kListen,      // caller: silent until AC, USB1 or a mark arrives
    kUsb1,        // caller: silent, in case AC still arrives
    kTryBell,     // caller: Bell 212A sends, and Bell 103 is possible as well
    kProbe,       // answerer: one of probes_ sends its signal, to which the matching caller responds
    kBeforeMark,  // answerer without V.8: silence before the first probe
    kBeforeAc,    // answerer: silence
    kRunning,     // the decision is made
    kReleased,
    kFailed
  };

  static constexpr int kNotNow = -22;  // -EINVAL, without an OS header

  static uint32_t set_of(const Member* members, int n) {
    uint32_t set = 0;
    for (int k = 0; k < n; ++k) set |= members[k].modulation->id;
    return set;
  }
  Member* member(uint32_t m) {
    for (int k = 0; k < n_; ++k) {
      if (members_[k].modulation->id == m) return &members_[k];
    }
    return nullptr;
  }
  // Whether the tone of 2225 Hz permits two modulations.
  bool has_both_bells() {
    return member(OH_MODULATION_BELL212A) != nullptr && member(OH_MODULATION_BELL103) != nullptr;
  }
  // V.22bis, which includes V.22; otherwise V.22.
  Member* psk() {
    Member* bis = member(OH_MODULATION_V22BIS);
    return bis != nullptr ? bis : member(OH_MODULATION_V22);
  }
  void list_probes();
  void do_without_v8();
  void probe();
  void follow_mark();
  int16_t try_bell(int16_t rx);
  int16_t step(int16_t rx);
  void show_progress();
  /// @param heard  `rx` without DC and hum
  float call(int16_t rx, float heard);
  float answer(int16_t rx, float heard);
  void listen();
  void begin(Member* member, Step step);
  void follow_v8();
  int16_t active(int16_t rx) {
    int16_t tx;
    active_->type->process(active_->self, &rx, &tx, 1);
    return tx;
  }
  bool answered() const {
    oh_pump_status s;
    active_->type->status(active_->self, &s);
    return s.state != OH_PUMP_CONNECTING;
  }
  void follow_running();
  void watch(int16_t rx);
  void fall_back();
  bool hears_usb1() const;
  bool heard_aa() const;
  void check_rate();
  void fail(oh_pump_failure why) {
    failure_ = why;
    enter(Step::kFailed);
  }
  void enter(Step s) {
    if (s == Step::kRunning) front_.settle();
    step_ = s;
    entered_ = samples_;
  }
  uint64_t age() const { return samples_ - entered_; }

  oh_pump_config config_;
  oh_pump_observer observer_;
  oh_start_up start_up_ = OH_START_UP_NONE;
  Conversion conversion_;
  bool calls_;
  Step step_ = Step::kV8;
  uint64_t samples_ = 0, filled_in_ = 0, entered_ = 0;
  float power_ = 0;
  oh_pump_failure failure_ = OH_PUMP_FAILURE_NONE;
  bool rate_checked_ = false;

  // kRunning: counts trainings without success.
  uint64_t follow_at_ = 0;      // of samples_
  uint32_t retrains_seen_ = 0;  // of the member
  uint32_t in_vain_ = 0;        // trainings in a row without lasting data
  uint32_t data_for_ = 0;       // consecutive times at which follow_running() saw data
  bool watching_ = false;       // detects a far end that falls back
  struct Before {
    uint32_t retrains = 0;
    uint64_t bits_sent = 0, bits_received = 0;
  };
  Before before_;  // of the abandoned modulation

  Member members_[kMaxMembers];  // from the fastest to the slowest
  int n_;
  Member* active_ = nullptr;
  Member* probes_[kMaxMembers];  // answerer: the probes, in order
  int probes_n_ = 0, probe_ = 0;
  bool tries_marks_ = false;  // may use modulations that begin with a mark

  HumFilter front_{kHighPassFrom450};
  v8::V8 v8_;
  ToneDetector ans_{v8::kAnswerToneHz};  // caller
  ToneDetector usb1_{kUsb1Hz};
  ToneDetector ac_low_{kAcLowHz}, ac_high_{kAcHighHz};
  struct Mark {
    Member* member = nullptr;  // null: does not take part
    ToneDetector tone{kUsb1Hz};
  };
  Mark marks_[kMaxMarks];  // caller: marks of all rows of the table
  int marks_n_ = 0;
  ToneDetector aa_{kAaHz};                   // answerer
  ToneDetector bell_caller_{kBellCallerHz};  // answerer: mark of a caller in Bell 103
  v34::SigCDetector sig_c_;                  // answerer
  uint64_t ans_after_aa_ = 0;                // samples of ANS since AA began
  uint64_t after_ans_ = 0;                   // samples since ANS ended, while AA is sent
  bool ans_heard_ = false;
  float far_peak_ = 0;  // of the answer tone, or USB1
};

}  // namespace offhook::automode
