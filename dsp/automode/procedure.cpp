// SPDX-License-Identifier: MIT
#include "dsp/automode/procedure.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/renew.h"
#include "dsp/v34/session/call_memory.h"
#include "dsp/v8/pcm_side.h"

namespace offhook::automode {
namespace {

constexpr uint32_t kRateHz = 8000;
constexpr uint64_t ms(uint64_t t) {
  return t * kRateHz / 1000;
}

// V.32bis Annex A.
constexpr float kAnsBeforeAaMs = 1000;  // A.2.1.3
constexpr uint64_t kLongAns = ms(800);  // A.2.1.3: if ANS lasts this long after AA began, the far end has detected AA
constexpr float kUsb1Ms = 155;          // A.2.1.3, +-10
// AC or USB1 begins 75 +- 20 ms after ANS (V.25 4.4), whatever the round trip, and 155 ms of it suffice. Some answerers
// of V.22bis take AA for a carrier and stay silent while it lasts: AA stops if nothing answers it.
constexpr uint64_t kAaAfterAns = ms(1000);
constexpr uint64_t kTc = ms(3150);          // A.2.1.2: more than 3100
constexpr uint64_t kTa = ms(3000);          // A.2.2, +-50
constexpr uint64_t kBeforeMark = ms(1900);  // V.25 4.3: 1.8 to 2.5 s
constexpr uint64_t kBeforeSigA = ms(75);    // V.8 8.2.2
constexpr uint64_t kGiveUp = 60 * kRateHz;  // no response, or an unknown one
// The Recommendation has no values for these. AC has 600 and 3000 Hz at once, unlike call progress tones; AA must be
// distinguished from voices.
constexpr float kAcMs = 60;
constexpr float kAaMs = 100;
// An answerer that also has V.32bis sends ANS 75 ms before USB1. If the caller saw USB1 begin after this much of the
// line without ANS, it need not wait kTc for AC. It should not, because some answerers give up after 1.6 s (A.2.1.2,
// Note 1).
constexpr uint64_t kNoAns = ms(500);
constexpr float kAnsMs = 100;
constexpr float kAcAloneMs = 1000;  // AC for this time, although this end has no V.32bis
// After this number of failed trainings in a row, a modulation above V.32bis is abandoned. Ten seconds of data reset
// the count.
constexpr uint32_t kTrainingsInVain = v34::CallMemory::kTrainingsInVain;
constexpr uint64_t kFollowEvery = ms(100);
constexpr uint32_t kLastingData = 100;
// A far end that abandons it sends AA or AC. No signal of V.34 is dominated by 1800 Hz, or by 600 and 3000 Hz, for this
// long. The echo of this end's guard tone arrives together with a louder tone.
constexpr float kFallBackMs = 500;
constexpr float kFallBackShare = 0.5f;

// Speech does not produce a mark of this length, which is required of USB1.
constexpr float kMarkMs = 155;
// An answerer that sends a signal for longer than kTa has no other signal.
constexpr float kLastProbeMs = 4000;
// Bell 103's mark and USB1 are 25 Hz apart, so a tone that is nearer to one is not the other.
constexpr float kNearHz = 12.5f;

constexpr uint32_t kHaveV8 = OH_MODULATION_V34 | OH_MODULATION_V90;

// The combined menu of all members.
v8::Config v8_config(const oh_pump_config& c, const Member* members, int n) {
  v8::Config v8 = v8::data_call(c, 0);
  for (int k = 0; k < n; ++k) {
    const v8::Menu& own = members[k].modulation->v8;
    v8.menu.modulations = static_cast<uint16_t>(v8.menu.modulations | own.modulations);
    v8.menu.has_access |= own.has_access;
    v8.menu.access = static_cast<uint8_t>(v8.menu.access | own.access);
    v8.menu.has_pcm |= own.has_pcm;
    v8.menu.pcm = static_cast<uint8_t>(v8.menu.pcm | own.pcm);
  }
  if (Conversion(c.format).is_octets()) {
    v8.menu.has_access = true;
    v8.menu.access |= v8::kAccessDigital;
    if (v8.menu.has_pcm) v8.menu.pcm = v8::kPcmDigital;
  }
  // PCM modems also show V.34, even if it is not offered (V.8 6.3, 7.3). Such a call ends after V.8.
  if (v8.menu.has_pcm && (v8.menu.pcm & (v8::kPcmAnalogue | v8::kPcmDigital)) != 0) v8.menu.modulations |= v8::kV34;
  return v8;
}

}  // namespace

Automode::Automode(const oh_pump_config& c, const Table& table, const Member* members, int n)
    : config_(c),
      observer_(observer_of(c)),
      conversion_(c.format),
      calls_(c.role == OH_PUMP_CALL),
      n_(n),
      v8_(v8_config(c, members, n)) {
  for (int k = 0; k < n; ++k) members_[k] = members[k];
  for (int k = table.n - 1; k >= 0 && marks_n_ < kMaxMarks; --k) {
    const Modulation& row = table.rows[k];
    if (row.mark_hz != 0) marks_[marks_n_++] = {member(row.id), ToneDetector(row.mark_hz)};
  }
  front_.search();
  list_probes();
  if (v8_config(c, members, n).menu.modulations == 0) do_without_v8();
}

bool Automode::hears_usb1() const {
  return usb1_.steady_ms() >= kUsb1Ms && (marks_n_ == 0 || usb1_.frequency_offset_hz() > -kNearHz);
}

// Whether the far end's receiver had AA for long enough during ANS (A.2.1.3).
bool Automode::heard_aa() const {
  return ans_after_aa_ > kLongAns;
}

void Automode::begin(Member* member, Step next) {
  active_ = member;
  const double peak = static_cast<double>(far_peak_);
  active_->modulation->begin(active_->self, v8_.result().modulation != 0,
                             peak > 0 ? static_cast<float>(mean_square_to_dbm0(peak * peak / 2)) : -100);
  enter(next);
}

// The lowest common item of both (V.8 7.4); that of PCM modems only if the ends are the two sides of V.90.
void Automode::follow_v8() {
  const v8::Result& r = v8_.result();
  if (v8_.state() == v8::State::kShortPhase1) {
    active_ = member(OH_MODULATION_V90);
    active_->modulation->v92->begin_quick_connect(active_->self, r);
    enter(Step::kRunning);
    return;
  }
  for (uint16_t joint = r.joint.modulations; joint != 0; joint &= static_cast<uint16_t>(joint - 1)) {
    const uint16_t selected = v8::selected_modulation(joint);
    if (selected == v8::kPcm && v8::pcm_side(v8_.own_menu(), r.far, calls_) == 0) continue;
    for (int k = 0; k < n_; ++k) {
      if ((members_[k].modulation->v8.modulations & selected) == 0) continue;
      begin(&members_[k], Step::kRunning);
      return;
    }
  }
  fail(OH_PUMP_NOTHING_IN_COMMON);
}

int Automode::prepare_quick_connect(const oh_v90_profile& profile, uint32_t phases) {
  Member* m = member(OH_MODULATION_V90);
  if (m == nullptr || step_ != Step::kV8 || samples_ != 0) return kNotNow;
  if (const int result = m->modulation->v92->prepare_quick_connect(m->self, &profile, phases); result != 0)
    return result;
  v8::Config v8 = v8_config(config_, members_, n_);
  v8.quick = m->modulation->v92->quick_connect_octets(m->self);
  renew(v8_, v8);
  return 0;
}

// The order of Annex A (A.2.2), followed by the marks.
void Automode::list_probes() {
  if (psk() != nullptr) probes_[probes_n_++] = psk();
  if (member(OH_MODULATION_V32BIS) != nullptr) probes_[probes_n_++] = member(OH_MODULATION_V32BIS);
  // Both of Bell's in sequence: a caller in Bell 103 detects one mark.
  constexpr uint32_t kBells = OH_MODULATION_BELL212A | OH_MODULATION_BELL103;
  for (const bool bell : {false, true}) {
    for (int k = 0; k < marks_n_; ++k) {
      Member* m = marks_[k].member;
      if (m == nullptr || ((m->modulation->id & kBells) != 0) != bell) continue;
      probes_[probes_n_++] = m;
      tries_marks_ = true;
    }
  }
}

// The caller listens; the answerer's pump begins as usual if it is the only one.
void Automode::do_without_v8() {
  if (!calls_) active_ = probes_[0];
  step_ = calls_ ? Step::kListen : probes_n_ > 1 ? Step::kBeforeMark : Step::kRunning;
}

// The answerer's next attempt; the last one is not left.
void Automode::probe() {
  if (probe_ == probes_n_) {
    fail(OH_PUMP_NOTHING_IN_COMMON);
    return;
  }
  begin(probes_[probe_], Step::kProbe);
  ++probe_;
}

// An answerer's mark (not USB1): its modulation begins, or there is no common one.
void Automode::follow_mark() {
  for (int k = 0; k < marks_n_; ++k) {
    Mark& m = marks_[k];
    const float offset = m.tone.frequency_offset_hz();
    if (m.tone.steady_ms() < kMarkMs || offset > kNearHz || offset < -kNearHz) continue;
    if (m.member != nullptr) {
      far_peak_ = m.tone.peak();
      const bool two = m.member->modulation->id == OH_MODULATION_BELL212A && has_both_bells();
      begin(m.member, two ? Step::kTryBell : Step::kRunning);
      return;
    }
    if (m.tone.steady_ms() > kLastProbeMs) {
      fail(OH_PUMP_NOTHING_IN_COMMON);
      return;
    }
  }
}

int16_t Automode::step(int16_t rx) {
  ++samples_;
  const float x = rx;
  power_ += (x * x - power_) * (1.f / 256);
  const float heard = front_.process(x);
  const float tx = calls_ ? call(rx, heard) : answer(rx, heard);
  if (samples_ > kGiveUp && step_ != Step::kRunning && step_ != Step::kReleased) step_ = Step::kFailed;
  return clip(tx);
}

// The first signal of an answerer without V.8: AC, USB1 (A.2.1.1, A.2.1.2) or a mark.
void Automode::listen() {
  const bool ac = ac_low_.steady_ms() >= kAcMs && ac_high_.steady_ms() >= kAcMs;
  const bool usb1 = hears_usb1();
  Member* v32 = member(OH_MODULATION_V32BIS);
  if (usb1) far_peak_ = usb1_.peak();
  const bool no_ans = !ans_heard_ && samples_ > kNoAns + ms(static_cast<uint64_t>(usb1_.steady_ms()));
  const bool v22bis_alone = v32 == nullptr || no_ans || heard_aa();
  // An answerer that has marks sends them after these.
  const float ac_alone_ms = tries_marks_ ? kLastProbeMs : kAcAloneMs;
  const bool usb1_lasts = usb1 && step_ == Step::kUsb1 && age() >= kTc;
  const bool nothing_in_common =
      (ac && ac_low_.steady_ms() >= ac_alone_ms) ||
      (usb1_lasts && psk() == nullptr && (!tries_marks_ || usb1_.steady_ms() > kLastProbeMs));
  if (ac && v32 != nullptr) {
    begin(v32, Step::kRunning);
  } else if (nothing_in_common) {
    fail(OH_PUMP_NOTHING_IN_COMMON);
  } else if (psk() != nullptr && ((usb1 && v22bis_alone) || usb1_lasts)) {
    begin(psk(), Step::kRunning);
  } else if (usb1 && step_ != Step::kUsb1) {
    enter(Step::kUsb1);
  } else if (!usb1) {
    follow_mark();
  }
}

// The event that V.8 awaits, and its menus when it is over.
void Automode::show_progress() {
  const oh_start_up menus = v8::start_up(v8_);
  const oh_start_up now = menus == OH_START_UP_NONE && ans_heard_ ? OH_START_UP_ANSWER_TONE : menus;
  if (now > start_up_ && observer_.instrument != nullptr)
    observer_.instrument(observer_.user, OH_INSTRUMENT_START_UP, static_cast<float>(now));
  const bool news = now > start_up_;
  if (news) start_up_ = now;
  if (news || v8_.state() != v8::State::kRunning) v8::show_menus(observer_, config_.role, v8_);
}

// Bell 212A gets the time of an answerer's probe. After that, the mark belongs to Bell 103.
int16_t Automode::try_bell(int16_t rx) {
  const int16_t tx = active(rx);
  if (age() % 64 == 0 && answered()) {
    enter(Step::kRunning);
  } else if (age() >= kTa) {
    begin(member(OH_MODULATION_BELL103), Step::kRunning);
  }
  return tx;
}

float Automode::call(int16_t rx, float heard) {
  ans_.put(heard);
  usb1_.put(heard);
  ac_low_.put(heard);
  ac_high_.put(heard);
  for (int k = 0; k < marks_n_; ++k) marks_[k].tone.put(heard);
  if (ans_.present()) far_peak_ = ans_.peak();
  ans_heard_ |= ans_.steady_ms() >= kAnsMs;
  switch (step_) {
    case Step::kV8: {
      const float tx = v8_.process(heard);
      show_progress();
      if (both_know_v8()) {
        follow_v8();
      } else if (v8_.state() == v8::State::kAnswerTone) {
        enter(Step::kAnswerTone);
      } else if (v8_.step() == v8::V8::Step::kListen) {
        listen();
      }
      return tx;
    }
    case Step::kAnswerTone:
      if (ans_.steady_ms() >= kAnsBeforeAaMs && member(OH_MODULATION_V32BIS) != nullptr) {
        begin(member(OH_MODULATION_V32BIS), Step::kAa);
      } else if ((set_of(members_, n_) & ~kHaveV8) == 0) {
        fail(OH_PUMP_NOTHING_IN_COMMON);  // an answerer that has V.34 or V.90 has V.8
      } else if (!ans_.present()) {
        enter(Step::kListen);
      }
      return 0;
    case Step::kAa: {
      ans_after_aa_ += ans_.present();
      after_ans_ = ans_.present() ? 0 : after_ans_ + 1;
      const int16_t tx = active(rx);
      if (hears_usb1()) {
        // The far end heard AA and ignores it, or it is also waiting and has not heard AA.
        if (heard_aa() && psk() != nullptr) {
          begin(psk(), Step::kRunning);
        } else {
          enter(Step::kUsb1);
        }
      } else if (age() % 64 == 0 && answered()) {
        enter(Step::kRunning);
      } else if (after_ans_ > kAaAfterAns) {
        enter(Step::kListen);
      } else {
        follow_mark();
      }
      return tx;
    }
    case Step::kTryBell:
      return try_bell(rx);
    case Step::kListen:
    case Step::kUsb1:
      listen();
      return 0;
    default:
      return 0;
  }
}

float Automode::answer(int16_t rx, float heard) {
  switch (step_) {
    case Step::kV8: {
      if (v8_.step() == v8::V8::Step::kJm && sig_c_.put(heard)) v8_.far_end_has_begun();
      const float tx = v8_.process(heard);
      show_progress();
      aa_.put(heard);
      if (both_know_v8()) {
        follow_v8();
      } else if (v8_.state() == v8::State::kAnswerTone) {
        probe();
      } else if (v8_.step() == v8::V8::Step::kAnsam && aa_.steady_ms() >= kAaMs &&
                 member(OH_MODULATION_V32BIS) != nullptr) {
        enter(Step::kBeforeAc);
      }
      return tx;
    }
    case Step::kBeforeMark:
      if (age() >= kBeforeMark) probe();
      return 0;
    case Step::kBeforeAc:
      if (age() >= kBeforeSigA) begin(member(OH_MODULATION_V32BIS), Step::kRunning);
      return 0;
    case Step::kProbe: {
      const int16_t tx = active(rx);
      bell_caller_.put(heard);
      const bool bell = active_->modulation->id == OH_MODULATION_BELL212A && has_both_bells();
      if (age() % 64 == 0 && answered()) {
        enter(Step::kRunning);
      } else if (bell && bell_caller_.steady_ms() >= kMarkMs) {
        begin(member(OH_MODULATION_BELL103), Step::kRunning);
      } else if (age() >= kTa) {
        if (probe_ == probes_n_) {
          enter(Step::kRunning);
        } else {
          probe();
        }
      }
      return tx;
    }
    default:
      return 0;
  }
}

void Automode::check_rate() {
  if (rate_checked_ || config_.min_bit_rate == 0) return;
  oh_pump_status s;
  active_->type->status(active_->self, &s);
  if (s.state != OH_PUMP_DATA) return;
  rate_checked_ = true;
  if ((s.tx_bit_rate < s.rx_bit_rate ? s.tx_bit_rate : s.rx_bit_rate) >= config_.min_bit_rate) return;
  active_->type->hang_up(active_->self);
  fail(OH_PUMP_TOO_SLOW);
}

// The line does not permit V.34 or V.90 to train, although V.8 and Phase 2 succeeded.
void Automode::follow_running() {
  follow_at_ = samples_ + kFollowEvery;
  if ((active_->modulation->id & kHaveV8) == 0 || member(OH_MODULATION_V32BIS) == nullptr) return;
  oh_pump_status s{};
  s.struct_size = sizeof s;
  active_->type->status(active_->self, &s);
  const bool data = s.state == OH_PUMP_DATA;
  if (s.retrains != retrains_seen_) {
    in_vain_ = data_for_ >= kLastingData ? 0 : in_vain_ + s.retrains - retrains_seen_;
    retrains_seen_ = s.retrains;
    data_for_ = 0;
  }
  if (data) ++data_for_;
  watching_ = !data && s.retrains > 0 && (s.state == OH_PUMP_TRAINING || s.state == OH_PUMP_CONNECTING);
  if (watching_ && in_vain_ >= kTrainingsInVain) fall_back();
}

// The far end's AA or AC while this end trains again.
void Automode::watch(int16_t rx) {
  const float x = front_.process(rx);
  if (calls_) {
    ac_low_.put(x);
    ac_high_.put(x);
    const bool last = ac_low_.steady_ms() >= kFallBackMs && ac_high_.steady_ms() >= kFallBackMs;
    if (last && ac_low_.share() + ac_high_.share() > kFallBackShare) fall_back();
  } else {
    aa_.put(x);
    if (aa_.steady_ms() >= kFallBackMs && aa_.share() > kFallBackShare) fall_back();
  }
}

void Automode::fall_back() {
  oh_pump_status s{};
  s.struct_size = sizeof s;
  active_->type->status(active_->self, &s);
  before_ = {s.retrains + 1, s.bits_sent, s.bits_received};
  watching_ = false;
  begin(member(OH_MODULATION_V32BIS), Step::kRunning);
}

void Automode::process(const void* rx, void* tx, size_t n) {
  if (step_ == Step::kRunning && samples_ >= follow_at_) follow_running();
  const auto passes = [this] { return step_ == Step::kRunning && !active_->converted; };
  size_t i = 0;
  for (; i < n && !passes(); ++i) {
    const int16_t x = conversion_.received(rx, i);
    if (watching_) watch(x);
    if (step_ == Step::kRunning) {
      conversion_.send(active(x), tx, i);
      ++samples_;
    } else {
      conversion_.send(step(x), tx, i);
    }
  }
  for (size_t k = i; k < n && watching_; ++k) watch(conversion_.received(rx, k));
  if (i < n && active_->converted) {  // the far end fell back: the rest of the block is silence
    for (; i < n; ++i, ++samples_) conversion_.send(active(0), tx, i);
  } else if (i < n) {
    const size_t in = conversion_.rx_octets(), out = conversion_.tx_octets();
    active_->type->process(active_->self, static_cast<const unsigned char*>(rx) + i * in,
                           static_cast<unsigned char*>(tx) + i * out, n - i);
    samples_ += n - i;
  }
  if (step_ == Step::kRunning) check_rate();
}

void Automode::report_gap(size_t n) {
  filled_in_ += n;
  for (; n > 0 && step_ != Step::kRunning; --n) {
    conversion_.lose();
    // A member that runs in parallel must also be informed of lost samples, sample by sample.
    if (active_ != nullptr && (step_ == Step::kAa || step_ == Step::kTryBell || step_ == Step::kProbe)) {
      ++samples_;
      active_->type->report_gap(active_->self, 1);
    } else {
      step(0);
    }
  }
  if (n == 0) return;
  for (size_t k = 0; k < n && active_->converted; ++k) conversion_.lose();
  active_->type->report_gap(active_->self, n);
  samples_ += n;
}

void Automode::hang_up() {
  if (step_ == Step::kRunning) {
    active_->type->hang_up(active_->self);
  } else {
    enter(Step::kReleased);
  }
}

void Automode::status(oh_pump_status* s) const {
  *s = {};
  if (active_ != nullptr) active_->type->status(active_->self, s);
  if (step_ != Step::kRunning) {
    s->state = step_ == Step::kFailed ? OH_PUMP_FAILED : step_ == Step::kReleased ? OH_PUMP_IDLE : OH_PUMP_CONNECTING;
    s->tx_bit_rate = s->rx_bit_rate = 0;
    s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(static_cast<double>(power_)));
    s->failure = failure_;
    s->modulation = OH_MODULATION_NONE;
  }
  s->retrains += before_.retrains;
  s->bits_sent += before_.bits_sent;
  s->bits_received += before_.bits_received;
  s->samples = samples_;
  s->filled_in = filled_in_;
}

}  // namespace offhook::automode
