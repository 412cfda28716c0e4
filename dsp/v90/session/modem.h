// SPDX-License-Identifier: MIT
//
// The common part of the modems of both sides: the order of the phases, the fallback to V.34, and the options of an
// owner.
#pragma once

#include <type_traits>

#include "dsp/blocks/level.h"
#include "dsp/blocks/renew.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/handover.h"
#include "dsp/v34/session/pump.h"
#include "dsp/v8/pcm_side.h"
#include "dsp/v8/v8.h"
#include "dsp/v90/coding/quick_connect.h"
#include "dsp/v90/session/hold.h"
#include "dsp/v90/session/pump.h"
#include "dsp/v90/session/short_phase1.h"
#include "dsp/v90/session/v92.h"

namespace offhook::v90 {

enum class Stage : uint8_t { kV8, kQuick, kPhase2, kTraining, kV34, kHold, kReleased, kFailed };

/// Self, derived from it, has rx_bit_rate(), tx_bit_rate() and bits_received() of the current data mode, kDelay (its
/// addition to the delay between codec and pump, samples at 8000 Hz), kPhase2Role, note_bad_frames(n) and
/// end_v34(had_data): called when Phase 2 replaces V.34, with or without a data mode so far.
/// V92Procedure has V.92's PCM upstream in place of V.34's.
template <class Self, class Procedure, class V92Procedure>
class Modem {
 public:
  /// Octets of the V.34 pump that a call falls back to; 0: not this configuration.
  static size_t v34_size(const oh_pump_config& c) {
    const oh_pump_config v = v34_config(c, c.role);
    return oh_v34_type()->size(&v);
  }
  /// V.8 is over, here or at the owner: Phase 2 begins.
  void begin() {
    if (short_phase2_after_v8_) renew_phase2(short_phase2());
    start_phase2();
  }
  void renegotiate() {
    if (stage_ == Stage::kV34) oh_v34_renegotiate(v34_);
    if (in_data()) with([](auto& p) { p.renegotiate(); });
  }
  void retrain() {
    if (stage_ == Stage::kV34) {
      oh_v34_retrain(v34_);
      follow_v34();
    }
    if (in_data()) train_again();
  }
  void hang_up() {
    if (stage_ == Stage::kHold && hold_.state() == Hold::State::kAway) {
      hold_.clear();
    } else if (stage_ == Stage::kV34) {
      oh_v34_type()->hang_up(v34_);
    } else if (in_data() && is_live()) {
      with([](auto& p) { p.cleardown(); });
    } else {
      leave_training(Stage::kReleased);
    }
  }
  /// As oh_pump_type::note_frames().
  void note_frames(uint32_t good, uint32_t bad) {
    if (stage_ == Stage::kV34) oh_pump_note_frames(oh_v34_type(), v34_, good, bad);
    if (stage_ == Stage::kTraining) static_cast<Self*>(this)->note_bad_frames(bad);
  }
  void set_options(const oh_v90_options& options) {
    options_ = options;
    phase2_.set_upstream(options.upstream_symbol_rates, options.md_length);
  }
  /// Before the first sample.  @return false: too late
  bool allow_pcm_upstream() {
    if (stage_ != Stage::kV8 || samples_ != 0) return false;
    phase2_config_.v92 = phase2_config_.pcm_upstream = true;
    renew_phase2(phase2_config_);
    return true;
  }
  /// Before the first sample. @param phases  set of ShortPhase  @return false: not a profile of this modem
  bool quick_connect(const oh_v90_profile& profile, uint32_t phases) {
    const bool rate = profile.upstream_symbol_rate >= 3 && profile.upstream_symbol_rate <= 5;
    const bool qts = is_digital() || (profile.u_qts != 0 && uqts_not_above(profile.u_qts) == profile.u_qts);
    const bool some = (phases & kShortPhases) != 0 && (phases & ~(kShortPhases | kByV8bis)) == 0;
    if (!rate || !qts || !some || stage_ != Stage::kV8 || samples_ != 0) return false;
    profile_ = profile;
    phases_ = phases;
    short_phase2_after_v8_ = (phases & kShortPhases) == kShortPhase2;
    if ((phases & kShortPhase1) != 0) renew(v8_, with_v8bis(with_quick_connect(v8_config_, false)));
    return true;
  }
  /// For an owner that runs V.8.
  v8::QuickConnect quick_connect_octets() const {
    const bool prepared = profile_.upstream_symbol_rate != 0 && (phases_ & kShortPhase1) != 0;
    return prepared ? with_v8bis(with_quick_connect(v8_config_, false)).quick : v8::QuickConnect{};
  }
  /// QC and QCA have been exchanged. @param v8  has the far end's
  void begin_quick(const v8::Result& v8) {
    QuickConnect far{};
    if (v8.by_v8bis) {
      decode_qc2(v8.quick, sizeof v8.quick, &far);
    } else {
      decode_qc1(v8.quick[0], &far);
    }
    by_v8bis_ = v8.by_v8bis;
    waiting_ = clearing_ = false;
    if (!far.digital && far.uqts == 0) {  // "cleardown from on-hold", 9.10.2.1
      stage_ = Stage::kReleased;
      return;
    }
    ShortPhase1Config s;
    s.digital = is_digital();
    s.calls = v8_config_.role == OH_PUMP_CALL;
    s.knows_ansam = !by_v8bis_;
    s.law = phase2_config_.digital.a_law ? Law::kA : Law::kMu;
    s.uqts = far.uqts;
    s.anspcm_dbm0 = anspcm_level();
    s.tx_level_dbm0 = config_.tx_level_dbm0;
    renew(short_, s);
    renew_phase2(short_phase2());
    stage_ = Stage::kQuick;
  }
  bool profile(oh_v90_profile* profile) const {
    if (!has_profile()) return false;
    *profile = in_data() ? profile_now() : profile_;
    return true;
  }
  bool was_quick() const { return was_quick_; }
  /// @return false: not now
  bool hold(oh_hold_order order) {
    if (order == OH_HOLD_RESUME) {
      if (stage_ != Stage::kHold || hold_.state() != Hold::State::kAway) return false;
      hold_.resume();
      return true;
    }
    if (!in_data() || !is_live() || order > OH_HOLD_CLEAR_OTHER) return false;
    ++retrains_;
    leave_training(Stage::kHold);
    listen_for_hold();
    hold_.initiate(initiating(order));
    hold_state_ = order == OH_HOLD_REQUEST ? OH_HOLD_ASKED : OH_HOLD_NONE;
    return true;
  }
  /// @pre code 0, or one of hold_seconds()
  void allow_hold(uint8_t timeout) { options_.hold_timeout = timeout; }
  oh_hold_state hold_state(uint8_t* timeout) const {
    const bool away = stage_ == Stage::kHold && hold_.state() == Hold::State::kAway;
    const bool waits = waiting_ || (stage_ == Stage::kHold && hold_.holds());
    *timeout = away ? hold_.granted() : waits ? options_.hold_timeout : uint8_t{0};
    return away ? OH_HOLD_AWAY : waits ? OH_HOLD_WAITING : hold_state_;
  }
  bool in_data() const {
    return stage_ == Stage::kTraining &&
           with([](const auto& p) { return p.state() == std::remove_cvref_t<decltype(p)>::State::kData; });
  }
  const Procedure& procedure() const { return procedure_; }
  const V92Procedure& v92_procedure() const { return v92_; }

  void status(oh_pump_status* s) const {
    *s = {};
    if (stage_ == Stage::kV34) {
      s->struct_size = sizeof *s;
      oh_v34_type()->status(v34_, s);
    } else {
      s->state = state();
      s->modulation = OH_MODULATION_V90;
      if (s->state == OH_PUMP_DATA) {
        s->rx_bit_rate = self().rx_bit_rate();
        s->tx_bit_rate = self().tx_bit_rate();
      }
      if (stage_ == Stage::kTraining) {
        s->bits_sent = with([](const auto& p) { return p.bits_sent(); });
        s->bits_received = self().bits_received();
      }
      s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(static_cast<double>(power_)));
      if (nothing_in_common_) s->failure = OH_PUMP_NOTHING_IN_COMMON;
    }
    uint8_t timeout = 0;
    s->hold = hold_state(&timeout);
    s->hold_timeout = timeout;
    s->bits_sent += bits_sent_;
    s->bits_received += bits_received_;
    s->samples = samples_;
    s->filled_in = filled_in_;
    s->retrains += retrains_ + phase2_.retrains();
  }

 protected:
  static constexpr uint32_t kRateHz = 8000;
  /// Failed trainings in a row before V.34 is chosen: on an unknown route, and on a route that has carried PCM, where
  /// the failure was probably temporary.
  static constexpr int kMostFailures = 2, kMostAccidents = 6;
  int most_failures() const { return route_is_digital_ ? kMostAccidents : kMostFailures; }

  Modem(const oh_pump_config& c, void* v34, const v8::Config& v8, const v34::Phase2Config& phase2, int far_tone_hz)
      : config_(c),
        observer_(observer_of(c)),
        v34_(v34),
        v8_config_(v8),
        v8_(v8),
        phase2_config_(phase2),
        phase2_(phase2),
        retrain_tone_(far_tone_hz),
        hold_(hold_config()) {
    if (c.observer != nullptr) config_.observer = &observer_;  // the caller's need not outlive init
  }

  /// @param pcm, access  the menu entries of this side; V.8, Tables 7 and 6
  static v8::Config v8_config(const oh_pump_config& c, uint8_t pcm, uint8_t access) {
    v8::Config v = v8::data_call(c, v8::kPcm | v8::kV34);
    v.menu.has_pcm = v.menu.has_access = true;
    v.menu.pcm = pcm;
    v.menu.access = access;
    return v;
  }
  void follow_v8() {
    if (v8_.state() == v8::State::kRunning) return;
    if (v8_.state() == v8::State::kShortPhase1) return begin_quick(v8_.result());
    v8::show_menus(observer_, v8_config_.role, v8_);
    const bool done = v8_.state() == v8::State::kDone;
    const bool calls = v8_config_.role == OH_PUMP_CALL;
    const bool held = waiting_ || clearing_;
    waiting_ = clearing_ = false;
    if (done && v8_.result().modulation == v8::kPcm && v8::pcm_side(v8_.own_menu(), v8_.result().far, calls) != 0) {
      begin();
    } else if (done && (v8_.result().joint.modulations & v8::kV34) != 0) {
      begin_v34(v8_config_.role, false);
    } else if (held) {
      stage_ = Stage::kReleased;  // T1 is over, or the far end has called without any modulation
    } else {
      nothing_in_common_ = true;
      stage_ = Stage::kFailed;
    }
  }
  float quick_step(float x) {
    const float tx = short_.process(x);
    follow_quick(x);
    return tx;
  }
  Pcm quick_step_digital(float x) {
    const Pcm tx = short_.process_digital(x);
    follow_quick(x);
    return tx;
  }
  /// V.34 was chosen, in Phase 2, or by V.8. In the latter case it stays until the call ends, in the former until the
  /// next retrain: "any subsequent retrains shall use Phase 2 of V.90" (9.2.1.1.8, 9.2.2.1.9).
  void begin_v34(oh_pump_role role, bool phase2_is_over) {
    const oh_pump_config v = v34_config(config_, role);
    oh_v34_type()->init(v34_, &v);
    if (phase2_is_over) {
      v34::begin_training(v34_, phase2_.outcome());
    } else {
      oh_v34_begin(v34_);
    }
    stage_ = Stage::kV34;
  }
  /// The signal of Phase 2. If a retrain may be modem-on-hold's RT, it searches for MH sequences at the same time.
  float phase2_step(float x) {
    if (may_be_hold_) {
      hold_.process(x);
      if (hold_.state() != Hold::State::kListen) {
        stage_ = Stage::kHold;
        return 0;
      }
    }
    if (quick_until_ != 0 && is_alone_in_phase2()) {
      fall_back_to_v8(v8_config_.role);
      return 0;
    }
    return phase2_.process(x);
  }
  float hold_step(float x) {
    const float tx = hold_.process(x);
    without_data_ = 0;
    if (hold_.denied() && hold_state_ == OH_HOLD_ASKED) hold_state_ = OH_HOLD_DENIED;
    switch (hold_.outcome()) {
      case HoldOutcome::kNone:
        break;
      case HoldOutcome::kRetrain:
        if (hold_state_ == OH_HOLD_ASKED) hold_state_ = OH_HOLD_DENIED;
        stage_ = Stage::kPhase2;
        may_be_hold_ = false;
        phase2_.retrain();
        break;
      case HoldOutcome::kReleased:
        stage_ = Stage::kReleased;
        break;
      case HoldOutcome::kCall:
      case HoldOutcome::kClear:
        start_again(OH_PUMP_CALL);
        break;
      case HoldOutcome::kAnswer:
        start_again(OH_PUMP_ANSWER);
        break;
    }
    return tx;
  }
  int16_t v34_step(float x, bool is_lost) {
    const int16_t in = clip(x);
    int16_t out = 0;
    if (is_lost) {
      oh_v34_type()->report_gap(v34_, 1);
    } else {
      oh_v34_type()->process(v34_, &in, &out, 1);
    }
    follow_v34();
    return out;
  }
  void train_again() {
    show_progress();
    ++retrains_;
    leave_training(Stage::kPhase2);
    phase2_.retrain();
  }
  /// The far end's tone was heard in data mode: a retrain's, or RT.
  void answer_tone() {
    may_be_hold_ = is_live();
    train_again();
    if (may_be_hold_) listen_for_hold();
  }
  void leave_training(Stage next) {
    if (stage_ == Stage::kTraining) {
      bits_sent_ += with([](const auto& p) { return p.bits_sent(); });
      bits_received_ += self().bits_received();
      if (self().bits_received() > 0) profile_ = profile_now();
    }
    stage_ = next;
  }
  /// Once a sample: a call that has no data mode for too long fails.
  void watch() {
    constexpr uint64_t kGiveUp = 90 * kRateHz;
    constexpr uint64_t kGone = 10 * kRateHz;  // as in dsp/v34/session/pump.cpp
    without_data_ = waiting_ || (stage_ == Stage::kTraining && is_live()) ? 0 : without_data_ + 1;
    const bool gone = stage_ == Stage::kPhase2 && phase2_.unheard() > kGone;
    if (observer_.instrument != nullptr && samples_ % kProgressEvery == 0) show_progress();
    if (without_data_ > kGiveUp || gone) {
      show_progress();
      leave_training(Stage::kFailed);
    }
  }

  /// work(procedure) for the one that is in use.
  template <class Work>
  auto with(Work work) {
    return pcm_upstream_ ? work(v92_) : work(procedure_);
  }
  template <class Work>
  auto with(Work work) const {
    return pcm_upstream_ ? work(v92_) : work(procedure_);
  }
  bool is_live() const {
    return with([](const auto& p) { return p.live(); });
  }

  oh_pump_config config_;
  oh_pump_observer observer_;
  void* v34_;
  oh_v90_options options_{};
  Stage stage_ = Stage::kV8;
  uint64_t samples_ = 0, filled_in_ = 0;
  float power_ = 0;
  v8::Config v8_config_;
  v8::V8 v8_;
  v34::Phase2Config phase2_config_;
  v34::Phase2 phase2_;
  v34::RetrainDetector retrain_tone_;
  Procedure procedure_;
  V92Procedure v92_;
  bool pcm_upstream_ = false;  // v92_ is the procedure of this training
  uint64_t qts_at_ = 0;        // digital: of samples_, the first symbol of QTS; 0: there was none
  // Trainings in a row without data: of V.90, and of V.92 with PCM upstream.
  int failures_ = 0, upstream_failures_ = 0;
  bool route_is_digital_ = false;  // it has carried PCM, or its DIL had levels for a rate of V.90

 private:
  static HoldMessage initiating(oh_hold_order order) {
    const auto clear = [](ClearReason why) {
      return HoldMessage{HoldSignal::kClearRequest, static_cast<uint8_t>(why)};
    };
    switch (order) {
      case OH_HOLD_CLEAR_INCOMING:
        return clear(ClearReason::kIncomingCall);
      case OH_HOLD_CLEAR_OUTGOING:
        return clear(ClearReason::kOutgoingCall);
      case OH_HOLD_CLEAR_OTHER:
        return clear(ClearReason::kOther);
      case OH_HOLD_RECONNECT:
        return hold_message(HoldSignal::kReconnect);
      default:
        return hold_message(HoldSignal::kRequest);
    }
  }
  HoldConfig hold_config() const {
    HoldConfig h;
    h.digital = phase2_config_.pcm == v34::PcmSide::kDigital;
    h.tx_level_dbm0 = phase2_config_.tx_level_dbm0;
    h.guard_with_tone_db = phase2_config_.guard_with_tone_db;
    h.round_trip_samples = phase2_.done() ? phase2_.outcome().round_trip_samples : 0;
    h.grant = options_.hold_timeout;
    return h;
  }
  void listen_for_hold() { renew(hold_, hold_config()); }
  /// Phase 1 after modem-on-hold: earlier results of Phases 1 and 2 are invalid.
  void start_again(oh_pump_role role) {
    constexpr int kAtOnce = 1;
    v8_config_.role = role;
    v8::Config v = v8_config_;
    if (hold_state_ == OH_HOLD_ASKED) hold_state_ = OH_HOLD_NONE;  // it was granted, and is over
    clearing_ = hold_.outcome() == HoldOutcome::kClear;
    waiting_ = role == OH_PUMP_ANSWER && hold_.holds();
    if (clearing_) v.menu.modulations = 0, v.menu.has_pcm = false;
    if (!clearing_ && has_profile()) v = with_quick_connect(v, waiting_);
    v.silence_before_ansam = kAtOnce;
    if (waiting_) v.ansam = static_cast<int>(hold_.answer_tone_samples());
    renew(v8_, v);
    renew_phase2(phase2_config_);
    may_be_hold_ = false;
    stage_ = Stage::kV8;
  }
  void renew_phase2(const v34::Phase2Config& config) {
    retrains_ += phase2_.retrains();
    renew(phase2_, config);
    phase2_.set_upstream(upstream_of(options_), options_.md_length);
    was_quick_ = false;
    qts_at_ = quick_until_ = 0;
  }

  // Quick Connect (V.92 9.2, 9.4).
  bool is_digital() const { return phase2_config_.pcm == v34::PcmSide::kDigital; }
  bool has_profile() const { return in_data() || profile_.upstream_symbol_rate != 0; }
  /// @pre in data mode, or past it
  oh_v90_profile profile_now() const {
    const v34::Phase2Outcome& o = phase2_.outcome();
    const uint8_t uqts = is_digital() ? uint8_t{0} : uqts_not_above(o.info1a_v90.u_info);
    return {static_cast<uint8_t>(o.tx_symbol_rate), o.tx_carrier == v34::Carrier::kHigh, uqts, 0, o.round_trip_samples};
  }
  /// @param may_clear  the far end may be away, and announce by QC that it does not return
  v8::Config with_quick_connect(v8::Config v, bool may_clear) const {
    const bool calls = v.role == OH_PUMP_CALL;
    const QuickConnect own{!calls, is_digital(), false, profile_.u_qts, is_digital() ? anspcm_level() : int16_t{0}};
    v.quick.sync = kSyncQuickConnect;
    v.quick.octet = encode_qc1(own);
    v.quick.understands = is_digital() ? (calls       ? is_from<true, false>
                                          : may_clear ? is_qc_or_clear
                                                      : is_from<false, false>)
                                       : (calls ? is_from<true, true> : is_from<false, true>);
    return v;
  }
  /// The same in V.8 bis, for a call that has just been answered.
  v8::Config with_v8bis(v8::Config v) const {
    constexpr int kRevision = 2;  // of 11/2000; Table 3, note
    const bool calls = v.role == OH_PUMP_CALL;
    QuickConnect own{};
    decode_qc1(v.quick.octet, &own);
    encode_qc2(own, kRevision, v.quick.message);
    v.quick.understands_message = is_digital() ? (calls ? is_message_from<true, false> : is_message_from<false, false>)
                                               : (calls ? is_message_from<true, true> : is_message_from<false, true>);
    v.quick.begins_with_cre = (phases_ & kByV8bis) != 0;
    return v;
  }
  int16_t anspcm_level() const { return v90::anspcm_level(config_.tx_level_dbm0); }
  template <bool kAcknowledges, bool kDigital>
  static bool is_from(uint8_t octet) {
    QuickConnect qc{};
    return decode_qc1(octet, &qc) && qc.acknowledge == kAcknowledges && qc.digital == kDigital &&
           (kDigital || qc.uqts != 0);
  }
  template <bool kAcknowledges, bool kDigital>
  static bool is_message_from(const uint8_t* octets, int n) {
    QuickConnect qc{};
    return decode_qc2(octets, n, &qc) && qc.acknowledge == kAcknowledges && qc.digital == kDigital &&
           (kDigital || qc.uqts != 0);
  }
  static bool is_qc_or_clear(uint8_t octet) {
    QuickConnect qc{};
    return decode_qc1(octet, &qc) && !qc.acknowledge && !qc.digital;
  }
  /// Phase 2 after the short Phase 1, with the profile's properties of the line.
  v34::Phase2Config short_phase2() const {
    v34::Phase2Config p = phase2_config_;
    p.v92 = true;
    p.short_phase2 = (phases_ & kShortPhase2) != 0;
    p.known_rate = static_cast<v34::SymbolRate>(profile_.upstream_symbol_rate);
    p.known_carrier = profile_.upstream_high_carrier != 0 ? v34::Carrier::kHigh : v34::Carrier::kLow;
    p.known_round_trip_samples = profile_.round_trip_samples;
    return p;
  }
  void start_phase2() {
    short_phase2_after_v8_ = false;
    stage_ = Stage::kPhase2;
    phase2_.start();
  }
  void follow_quick(float x) {
    if (short_.state() == ShortPhase1::State::kSilence) phase2_.process(x);  // its receivers listen already
    switch (short_.outcome()) {
      case ShortPhase1::Outcome::kNone:
        break;
      case ShortPhase1::Outcome::kPhase2:
        was_quick_ = true;
        quick_until_ = samples_ + kAlone;
        if (is_digital()) qts_at_ = samples_ + 1 - short_.since_qts();
        start_phase2();
        break;
      case ShortPhase1::Outcome::kCall:
        fall_back_to_v8(OH_PUMP_CALL);
        break;
      case ShortPhase1::Outcome::kAnswer:
        fall_back_to_v8(OH_PUMP_ANSWER);
        break;
    }
  }
  /// After Quick Connect: the far end, whose INFO0 should come within a round trip, took ANSpcm or TONEq for another
  /// signal, and is in V.8. The Recommendation does not cover this case.
  bool is_alone_in_phase2() {
    const auto state = phase2_.state();
    if (state != v34::Phase2::State::kInfo0 && state != v34::Phase2::State::kInfo0Again) quick_until_ = 0;
    return quick_until_ != 0 && samples_ > quick_until_;
  }
  /// The fallback if the far end did not answer: V.8 alone, and the full Phase 2. After V.8 bis, V.8 may have QC1 and
  /// QCA1 (9.2.1.2, 9.2.3.3, 9.2.4.3).
  void fall_back_to_v8(oh_pump_role role) {
    v8::Config v = v8_config_;
    v.role = role;
    if (by_v8bis_) v = with_quick_connect(v, false);
    by_v8bis_ = false;
    v.silence_before_ansam = 1;
    renew(v8_, v);
    renew_phase2(phase2_config_);
    stage_ = Stage::kV8;
  }
  static v34::SymbolRates upstream_of(const oh_v90_options& o) {
    return o.upstream_symbol_rates == 0 ? v34::kUpstreamRates : o.upstream_symbol_rates;
  }

  oh_start_up start_up() const {
    if (stage_ == Stage::kV8) return v8::start_up(v8_);
    if (stage_ == Stage::kPhase2) return phase2_.has_far_info0() ? OH_START_UP_PROBING : OH_START_UP_INFO0;
    return stage_ == Stage::kTraining && !is_live() ? self().training_step() : OH_START_UP_NONE;
  }
  void show_progress() {
    if (observer_.instrument == nullptr) return;
    const oh_start_up now = start_up();
    if (now != shown_start_up_ && now != OH_START_UP_NONE) {
      observer_.instrument(observer_.user, OH_INSTRUMENT_START_UP, static_cast<float>(now));
      if (now > OH_START_UP_INFO0 && shown_start_up_ <= OH_START_UP_INFO0) phase2_.show_info0(observer_);
    }
    shown_start_up_ = now;
  }

  const Self& self() const { return static_cast<const Self&>(*this); }
  void follow_v34() {
    const v34::Outcome wanted = v34::handed_back(v34_);
    if (wanted == v34::Outcome::kNone) return;
    oh_pump_status s;
    s.struct_size = sizeof s;
    oh_v34_type()->status(v34_, &s);
    bits_sent_ += s.bits_sent;
    bits_received_ += s.bits_received;
    retrains_ += s.retrains;
    const bool had_data = s.bits_received > 0;
    without_data_ = had_data ? 0 : without_data_ + s.samples;
    static_cast<Self*>(this)->end_v34(had_data);
    stage_ = Stage::kPhase2;
    v34::restart(&phase2_, wanted);
  }
  oh_pump_state state() const {
    if (stage_ == Stage::kFailed) return OH_PUMP_FAILED;
    if (stage_ == Stage::kReleased) return OH_PUMP_IDLE;
    if (stage_ == Stage::kTraining && is_live()) return OH_PUMP_DATA;
    if (stage_ == Stage::kTraining || stage_ == Stage::kHold || retrains_ > 0) return OH_PUMP_TRAINING;
    return OH_PUMP_CONNECTING;
  }
  // V.34 has neither octets nor a second sample rate.
  static oh_pump_config v34_config(const oh_pump_config& c, oh_pump_role role) {
    oh_pump_config v = c;
    v.format = kLinear8000;
    v.role = role;
    v.io_delay_samples += Self::kDelay;
    return v;
  }

  ShortPhase1 short_{ShortPhase1Config{}};
  oh_v90_profile profile_{};  // of an earlier call; no symbol rate: there was none
  static constexpr uint64_t kProgressEvery = kRateHz / 10;
  oh_start_up shown_start_up_ = OH_START_UP_NONE;
  static constexpr uint64_t kAlone = 3 * kRateHz;
  uint64_t quick_until_ = 0;  // of samples_, in Phase 2 without the far end; 0: not so
  bool was_quick_ = false;
  uint32_t phases_ = kShortPhases;  // set of ShortPhase, with a profile
  bool short_phase2_after_v8_ = false;
  bool by_v8bis_ = false;  // the short Phase 1 was agreed on by QC2 and QCA2
  Hold hold_;
  oh_hold_state hold_state_ = OH_HOLD_NONE;
  bool may_be_hold_ = false;  // the retrain that has begun
  bool waiting_ = false;      // ANSam is sent for a far end that is away
  bool clearing_ = false;     // Phase 1 is there to end the call
  uint64_t without_data_ = 0;
  uint64_t bits_sent_ = 0, bits_received_ = 0;  // of earlier data modes
  uint32_t retrains_ = 0;
  bool nothing_in_common_ = false;
};

}  // namespace offhook::v90
