// SPDX-License-Identifier: MIT
#include "dsp/v8/v8.h"

#include <string.h>

namespace offhook::v8 {
namespace {

constexpr int seconds(double s) {
  return static_cast<int>(s * 8000 + 0.5);
}

constexpr int kSilence = seconds(0.075);    // 75 +- 5 ms before the selected modulation; 11.1.1.1, 11.1.2.2
constexpr int kCallerSilence = seconds(1);  // before CI; 8.1.1
constexpr int kCiOn = 4;                    // sequences of 100 ms: at least 3, at most 2 s; 7.1
constexpr int kCiOff = seconds(1);          // 0.4 to 2 s; 7.1
constexpr int kCmGone = seconds(2);         // no octet for this time: CJ was lost; the Recommendation gives no value
constexpr int kCjOctet = seconds(0.06);     // a third octet of CJ that has not arrived by then was cut off
constexpr int kMenuEnd = seconds(0.05);     // 15 bits: another octet of the menu would have arrived after 10
constexpr int kPreambleOnes = 10;
constexpr int kLeastPreamble = 3;       // received idle bits: there are none between the octets of a menu
constexpr int kQuickCopies = 2;         // V.92, Tables 2, 4, 11, 13
constexpr float kAnsAfterQc2Ms = 3000;  // the far end's ANSpcm is ANS, too; V.92 9.2.1.2, 9.2.2.2
constexpr int kCombinedCopies = 3;      // fewer copies have no majority

V8::Step first_step(const Config& c) {
  if (c.role == OH_PUMP_CALL) return V8::Step::kListen;
  return c.quick.understands_message != nullptr && c.quick.begins_with_cre ? V8::Step::kV8bis : V8::Step::kBefore;
}

v8bis::ExchangeConfig exchange_config(const Config& c) {
  v8bis::ExchangeConfig e;
  e.calls = c.role == OH_PUMP_CALL;
  memcpy(e.message, c.quick.message, sizeof e.message);
  e.understands = c.quick.understands_message;
  e.tx_level_dbm0 = c.tx_level_dbm0;
  return e;
}

}  // namespace

Config data_call(const oh_pump_config& pump, uint16_t modulations) {
  Config c;
  c.role = pump.role;
  c.menu.call_function = CallFunction::kData;
  c.menu.modulations = modulations;
  c.menu.has_protocol = true;
  c.menu.protocol = kProtocolLapm;
  c.tx_level_dbm0 = pump.tx_level_dbm0;
  return c;
}

V8::V8(const Config& config)
    : config_(config),
      step_(first_step(config)),
      receiver_(config.role == OH_PUMP_CALL ? Channel::kHigh : Channel::kLow),
      modulator_(config.role == OH_PUMP_CALL ? Channel::kLow : Channel::kHigh, config.tx_level_dbm0),
      ansam_(config.tx_level_dbm0, config.reversals),
      v8bis_(exchange_config(config)) {}

void V8::enter(Step step) {
  step_ = step;
  entered_ = now_;
  modulator_.restart();
}

void V8::finish(State end) {
  end_ = end;
  enter(Step::kSilence);
}

void V8::load(uint8_t sync, const Menu& menu, int min_modulation_octets) {
  tx_[0] = sync;
  tx_octets_ = 1 + encode(menu, tx_ + 1, min_modulation_octets);
  tx_ones_ = kPreambleOnes;
  tx_bit_ = 0;
}

void V8::load_quick() {
  tx_[0] = config_.quick.sync;
  tx_[1] = config_.quick.octet;
  tx_octets_ = 2;
  tx_ones_ = kPreambleOnes;
  tx_bit_ = 0;
  tx_copies_ = kQuickCopies;
}

int V8::next_bit() {
  if (tx_bit_ == tx_ones_ + 10 * tx_octets_) {
    tx_bit_ = 0;
    if (step_ == Step::kQc && --tx_copies_ == 0) {  // CM follows immediately, V.92 8.2.1
      load(kSyncCm, config_.menu, 1);
      step_ = Step::kCm;
    }
  }
  octet_done_ = tx_bit_ == 0 || (tx_bit_ > tx_ones_ && (tx_bit_ - tx_ones_) % 10 == 0);
  const int k = tx_bit_++ - tx_ones_;
  if (k < 0) return 1;
  const int in_octet = k % 10;
  if (in_octet == 0) return 0;
  if (in_octet == 9) return 1;
  return tx_[k / 10] >> (in_octet - 1) & 1;
}

float V8::process(float rx) {
  if (state_ != State::kRunning) return 0;
  const bool call = config_.role == OH_PUMP_CALL;
  const bool hears_menus =
      call ? step_ == Step::kQc || step_ == Step::kCm : step_ == Step::kAnsam || step_ == Step::kJm;
  Octet octet;
  if (receiver_.put(rx, &octet) && hears_menus) take_octet(octet);
  if (receiver_.framing_errors() != framing_errors_) take_framing_error();
  if (!agreed_ && second_copy_complete()) take_menu();

  float tx = 0;
  if (step_ == Step::kSilence) {
    if (age() >= kSilence) leave(end_);
  } else if (step_ != Step::kEnd) {
    tx = call ? caller_step(rx) : answerer_step(rx);
  }
  ++now_;
  return tx;
}

float V8::caller_step(float rx) {
  switch (step_) {
    case Step::kListen:
      answer_tone_.put(rx);
      if (config_.quick.understands_message != nullptr) {
        const float tx = v8bis_.process(rx);
        if (follow_v8bis()) return 0;
        if (v8bis_.sends()) return tx;
      }
      if (answer_tone_.tone() == AnswerTone::kAnsam) {
        enter(Step::kTe);
      } else if (answer_tone_.tone() == AnswerTone::kAns &&
                 (!v8bis_.has_sent() || answer_tone_.detector().steady_ms() >= kAnsAfterQc2Ms)) {
        leave(State::kAnswerTone);
      } else if (config_.call_indicator && answer_tone_.tone() == AnswerTone::kNone) {
        return ci();
      }
      return 0;
    case Step::kTe:
      if (age() < static_cast<int>(config_.silence_before_cm_s * 8000)) return 0;
      if (config_.quick.sync != 0) {
        load_quick();
        enter(Step::kQc);
      } else {
        load(kSyncCm, config_.menu, 1);
        enter(Step::kCm);
      }
      return menu_step();
    case Step::kQc:
    case Step::kCm:
      return menu_step();
    case Step::kCj:
      if (age() < kCjOctets * 10 * 8000 / 300) return next_sample();
      finish(State::kDone);
      return 0;
    default:
      return 0;
  }
}

// QC or CM.
float V8::menu_step() {
  if (quick_copies_ == kQuickCopies) {  // even the current octet is not completed, V.92 9.2.1.1
    leave(State::kShortPhase1);
    return 0;
  }
  float tx = next_sample();
  if (octet_done_ && agreed_) {  // the last sample began a new bit; CJ takes its place
    memset(tx_, 0, kCjOctets);
    tx_octets_ = kCjOctets;
    tx_ones_ = tx_bit_ = 0;
    enter(Step::kCj);
    tx = next_sample();
  }
  octet_done_ = false;
  return tx;
}

float V8::answerer_step(float rx) {
  switch (step_) {
    case Step::kV8bis: {
      const float tx = v8bis_.process(rx);
      if (!follow_v8bis() && v8bis_.state() == v8bis::ExchangeState::kAlone) enter(Step::kAnsam);
      return tx;
    }
    case Step::kBefore:
      if (age() + 1 >= config_.silence_before_ansam) enter(Step::kAnsam);
      return 0;
    case Step::kAnsam: {
      const float tx = ansam_.next();
      if (agreed_) {
        enter(Step::kJm);
      } else if (quick_copies_ == kQuickCopies) {
        load_quick();
        enter(Step::kQca);
      } else if (config_.ansam > 0 && age() >= config_.ansam) {
        finish(State::kAnswerTone);
      }
      return tx;
    }
    case Step::kQca:
      // Ten ones, the octets, ten ones, the octets again, and ten ones: V.92, Tables 4 and 13.
      if (age() < (kQuickCopies * 30 + kPreambleOnes) * 8000 / 300) return next_sample();
      leave(State::kShortPhase1);
      return 0;
    case Step::kJm: {
      const float tx = next_sample();
      const int quiet = static_cast<int>(now_ - last_octet_);
      if (zeros_ == kCjOctets || (zeros_ == kCjOctets - 1 && quiet > kCjOctet)) {
        finish(State::kDone);
      } else if (far_end_has_begun_ || quiet > kCmGone) {
        result_.cj_lost = true;
        finish(State::kDone);
      }
      return tx;
    }
    default:
      return 0;
  }
}

float V8::ci() {
  constexpr int kSequence = 3 * 10 * 8000 / 300;  // ten ones, sync, call function
  constexpr int kPeriod = kCiOn * kSequence + kCiOff;
  if (age() < kCallerSilence) return 0;
  const int at = (age() - kCallerSilence) % kPeriod;
  if (at >= kCiOn * kSequence) return 0;
  if (at == 0) {
    load(kSyncCi, config_.menu, 1);
    tx_octets_ = 2;
    modulator_.restart();
  }
  return next_sample();
}

// @return whether both ends have agreed on Quick Connect by V.8 bis
bool V8::follow_v8bis() {
  if (v8bis_.state() != v8bis::ExchangeState::kAgreed) return false;
  memcpy(result_.quick, v8bis_.far(), sizeof result_.quick);
  result_.by_v8bis = true;
  leave(State::kShortPhase1);
  return true;
}

// Octets of CM (received by the answerer) or JM (by the caller), and of CJ.
void V8::take_octet(const Octet& octet) {
  const bool ended = now_ - last_octet_ > kMenuEnd;
  last_octet_ = now_;
  if (config_.quick.sync != 0 && step_ != Step::kJm && take_quick(octet)) return;
  if (step_ == Step::kJm) {
    zeros_ = octet.value == 0 ? zeros_ + 1 : 0;
    return;
  }
  if (octet.value == kSyncCm) {
    begin_copy();
    return;
  }
  // After the end of a menu, a synchronization octet follows. If this is another octet, the copy cannot be used.
  if (ended && rx_octets_ > 0) {
    begin_copy();
    rx_octets_ = -1;
  }
  if (rx_octets_ < 0) return;
  if (rx_octets_ == kMaxHeardOctets) {
    rx_octets_ = -1;  // not a menu
    return;
  }
  rx_[rx_octets_] = octet.value;
  memcpy(contrast_[rx_octets_], octet.contrast, sizeof octet.contrast);
  ++rx_octets_;
}

// An octet could not be read, so the copy is invalid.
void V8::take_framing_error() {
  framing_errors_ = receiver_.framing_errors();
  if (rx_octets_ > 0 && now_ - last_octet_ > kMenuEnd) begin_copy();
  rx_octets_ = -1;
}

// The copy so far is complete, and the next begins.
void V8::begin_copy() {
  if (rx_octets_ > 0) {
    combine();
    memcpy(first_, rx_, sizeof first_);
    first_octets_ = rx_octets_;
  }
  rx_octets_ = 0;
}

// Adds a complete copy to the others of its length. From the third on, `rx_` becomes the combination of all, so that
// errors of single copies do not prevent two equal ones.
void V8::combine() {
  if (rx_octets_ != sum_octets_) {
    if (sum_copies_ >= kCombinedCopies && !other_length_) {
      other_length_ = true;  // one copy with an extra octet does not discard the others
      return;
    }
    memset(sum_, 0, sizeof sum_);
    sum_octets_ = rx_octets_;
    sum_copies_ = 0;
  }
  other_length_ = false;
  ++sum_copies_;
  for (int k = 0; k < rx_octets_; ++k) {
    uint8_t value = 0;
    for (int bit = 0; bit < 8; ++bit) {
      sum_[k][bit] += contrast_[k][bit];
      if (sum_[k][bit] > 0) value = static_cast<uint8_t>(value | 1 << bit);
    }
    if (sum_copies_ >= kCombinedCopies) rx_[k] = value;
  }
}

// QC (answerer) or QCA (caller).  @return whether the octet belongs to it
bool V8::take_quick(const Octet& octet) {
  // The first one may have none, if the beginning of the signal looked like an octet.
  if (octet.value == config_.quick.sync && (octet.ones_before >= kLeastPreamble || rx_octets_ < 0)) {
    in_quick_ = true;
    return true;
  }
  if (!in_quick_) return false;
  in_quick_ = false;
  const bool same = quick_copies_ > 0 && octet.value == result_.quick[0];
  if (!config_.quick.understands(octet.value)) return true;
  result_.quick[0] = octet.value;
  quick_copies_ = same ? quick_copies_ + 1 : 1;
  return true;
}

// Two successive equal menus, followed only by the ten ones of the next. After kCombinedCopies,
// the combination of the earlier copies is compared with the combination that includes the newest copy.
bool V8::second_copy_complete() const {
  if (first_octets_ <= 0 || rx_octets_ != first_octets_ || now_ - last_octet_ <= kMenuEnd) return false;
  if (memcmp(first_, rx_, static_cast<size_t>(rx_octets_)) == 0) return true;
  if (sum_octets_ != rx_octets_ || sum_copies_ < kCombinedCopies) return false;
  for (int k = 0; k < rx_octets_; ++k) {
    for (int bit = 0; bit < 8; ++bit) {
      if ((sum_[k][bit] + contrast_[k][bit] > 0) != (first_[k] >> bit & 1)) return false;
    }
  }
  return true;
}

void V8::take_menu() {
  agreed_ = true;
  // The combination is at least as good as the last copy. If they differ, `first_` has the combination.
  const int modulation_octets = decode(first_, first_octets_, &result_.far);
  if (config_.role == OH_PUMP_ANSWER) {
    take_answer_menu(modulation_octets);
    return;
  }
  result_.joint = result_.far;
  result_.modulation = selected_modulation(result_.joint.modulations & config_.menu.modulations);
}

// JM: the common modulations. Source: 7.4, 8.2.3
void V8::take_answer_menu(int modulation_octets) {
  const Menu& own = config_.menu;
  Menu& joint = result_.joint;
  joint = result_.far;
  joint.modulations &= own.modulations;
  joint.has_protocol &= own.has_protocol && own.protocol == joint.protocol;
  // The caller's cellular bit is repeated, and requires this category (7.4).
  const uint8_t call_cellular = result_.far.has_access ? result_.far.access & kAccessCallCellular : 0;
  joint.has_access = own.has_access || call_cellular != 0;
  joint.access = static_cast<uint8_t>(own.access | call_cellular);
  joint.has_pcm &= own.has_pcm;
  joint.pcm = own.pcm;
  // If this end does not have the call function, JM has its own function, no modulation and no PCM (8.2.3). Code 0 is
  // reserved, and receivers ignore reserved codes (6).
  const bool has_function = joint.call_function == CallFunction::kNone || own.call_function == CallFunction::kNone ||
                            joint.call_function == own.call_function;
  if (!has_function) {
    joint.call_function = own.call_function;
    joint.modulations = 0;
    joint.has_pcm = joint.has_protocol = false;
  }
  result_.modulation = selected_modulation(joint.modulations);
  load(kSyncCm, joint, modulation_octets);
}

oh_start_up start_up(const V8& v8) {
  if (v8.state() != State::kRunning) return OH_START_UP_NONE;
  const V8::Step step = v8.step();
  return step >= V8::Step::kCm && step != V8::Step::kBefore && step != V8::Step::kAnsam ? OH_START_UP_MENUS
         : step == V8::Step::kTe || step == V8::Step::kQc                               ? OH_START_UP_ANSWER_TONE
                                                                                        : OH_START_UP_NONE;
}

void show_menus(const oh_pump_observer& observer, oh_pump_role role, const V8& v8) {
  if (observer.sequence == nullptr) return;
  const bool calls = role == OH_PUMP_CALL, done = v8.state() == State::kDone;
  const auto show = [&observer](oh_sequence which, const Menu& menu) {
    uint8_t octets[kMaxMenuOctets];
    const int n = encode(menu, octets);
    observer.sequence(observer.user, which, octets, static_cast<size_t>(n));
  };
  if (done || (calls && start_up(v8) == OH_START_UP_MENUS))
    show(OH_SEQUENCE_CM, calls ? v8.own_menu() : v8.result().far);
  if (done) show(OH_SEQUENCE_JM, calls ? v8.result().far : v8.result().joint);
}

}  // namespace offhook::v8
