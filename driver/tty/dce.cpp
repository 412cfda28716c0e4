// SPDX-License-Identifier: MIT
#include "driver/tty/dce.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "driver/base/printable.h"

namespace offhook::modem {

namespace {

// Exchanges treat a shorter break as a hook flash, or ignore it.
constexpr std::int64_t kOnHookMs = 250;
// In a retrain one end is silent while the other sends S, MD, PP and TRN, which last at most 4 s, and the round trip
// takes 1.2 s (V.34 11.4.1). A far end that stays silent for longer has left.
constexpr std::int64_t kSilentTrainingMs = 8'000;
constexpr std::int64_t kRetrainMs = 30'000;  // V.34's takes 15 s at a round trip of 1.2 s
constexpr int kBusyDetected = 3;             // X3 and X4, V.250 6.2.7
constexpr int kIgnoreCarrier = 255;          // S10, as other modems have it
constexpr float kSilenceDbm0 = -48;          // neither V.22bis nor V.34 has a carrier below it

constexpr char kXon = 0x11, kXoff = 0x13;
constexpr std::size_t kXoffRoom = 4096, kXonRoom = 12'288;    // bytes free on the way to the far end
constexpr std::size_t kFaxXoffRoom = 256, kFaxXonRoom = 768;  // the same for at least 1024 bytes of a fax class

std::uint8_t compression_of(const CallStatus& status) {
  return status.direct ? 0 : status.link.compression;
}

/// +DS and +DS44: whether the compression that one of them requires or prefers is present.
bool compression_suffices(const AtSettings& s, const CallStatus& status) {
  if (s.compression_required != 0 && status.link.mnp_class != 0) return s.link.compression == 0;
  const bool v44 = !status.direct && status.link.v44 != 0;
  if (s.v44_required != 0 && s.link.v44 != 0 && !(v44 && compression_of(status) == s.link.v44)) return false;
  return s.compression_required == 0 || compression_of(status) == (v44 ? s.link.v44 : s.link.compression);
}

}  // namespace

Dce::Dce(CallLine& line, Terminal& terminal, Carriers carriers, std::string not_offered)
    : line_(line),
      terminal_(terminal),
      carriers_(carriers),
      carrier_names_(names_of(carriers)),
      not_offered_(std::move(not_offered)),
      at_(*this, [this](std::string_view text) { terminal_.write(text); }) {}

bool Dce::handle(Event event) {
  const auto row = std::find_if(std::begin(kTransitions), std::end(kTransitions),
                                [&](const Transition& t) { return t.state == state_ && t.event == event; });
  if (row == std::end(kTransitions)) return false;
  const bool was_online = state_ >= State::kOnline;
  off_hook_before_ = state_ == State::kDialled;
  switch (row->action) {
    case Action::kBegin:
      try {
        begin_call();
      } catch (const std::invalid_argument&) {
        return handle(Event::kRefused);
      }
      break;
    case Action::kBeginFax:
      fax_call_ = true;
      at_.set_service_class(at_.settings().adaptive_answer_2 != 0 ? kFaxClass2 : 1);
      line_.change_pump(fax_config());
      break;
    case Action::kHangUp:
      remember_line();
      record_end(event);
      end_fax();  // because it uses the call's pump
      line_.end_call();
      hung_up_ = true;
      break;
    case Action::kGoOnline:
      remember_line();
      report_connection();
      held_ = throttled_ = false;
      break;
    case Action::kAskHold:
      line_.hold(OH_HOLD_REQUEST);
      break;
    case Action::kTellHold:
      at_.information(fmt::format("+PMHR: {}", event == Event::kHoldGranted ? line_.status().pump.hold_timeout : 0));
      break;
    case Action::kResume:
      line_.hold(OH_HOLD_RESUME);
      break;
    case Action::kNone:
      break;
  }
  state_ = row->next;
  if (row->result) at_.report(*row->result, line_.status().pump.rx_bit_rate, connect_words());
  const bool lost = row->action == Action::kHangUp && row->result;
  if (lost) tell_why();
  if (was_online && lost && at_.settings().dcd != 0) terminal_.carrier_lost();
  return true;
}

void Dce::begin_call() {
  end_fax();
  loop_allowed_ = false;
  const CallConfig config = call_config();
  fax_call_ = config.pump == fax::pump_type();
  line_.begin_call(config);
  last_call_.begin(role_, now_ms_);
}

void Dce::order(oh_pump_role role, std::string_view digits, bool stay) {
  if (state_ != State::kOnHook && state_ != State::kDialled) {
    at_.report(Result::kError);
    return;
  }
  role_ = role;
  digits_ = digits;
  digits_only_ = stay;
  deadline_ms_ = now_ms_ + 1000 * std::max<int>(at_.s(7), 1);
  handle(Event::kOrder);
}

// Records the reason before the line forgets the status of the call.
void Dce::record_end(Event event) {
  const CallStatus status = line_.status();
  last_call_.follow(status, data_carrier(status), now_ms_);
  const bool by_itself = event == Event::kFailed, by_network = !status.line_failure.empty();
  switch (event) {
    case Event::kNoDialTone:
      last_call_.end(OH_CALL_END_NO_DIAL_TONE, by_network ? "" : "check the line; X3 dials without");
      break;
    case Event::kBusy:
      last_call_.end(OH_CALL_END_BUSY);
      break;
    case Event::kNoAnswer:
      last_call_.end(OH_CALL_END_SET_UP_TIME_OUT, by_network ? "" : "no answer, reported by the network");
      break;
    case Event::kTooLong:
      last_call_.end(OH_CALL_END_SET_UP_TIME_OUT, fmt::format("{} s", std::max<int>(at_.s(7), 1)));
      break;
    case Event::kIncompatible:
      last_call_.end(OH_CALL_END_PROTOCOL_ERROR, "not the compression that +DS or +DS44 requires");
      break;
    case Event::kLost:
      record_loss(status);
      break;
    case Event::kDtrOff:
      last_call_.end(OH_CALL_END_DTR_OFF);
      break;
    case Event::kFaxOver:
      record_fax_end();
      break;
    default:
      last_call_.end(by_itself ? end_of(status) : OH_CALL_END_USER);
      break;
  }
  failed_calls_ += last_call_.failed();
  if (!by_itself) line_.note_end(last_call_.why());
}

void Dce::record_fax_end() {
  using End = fax::Class2::End;
  const End end = class2_->end();
  last_call_.end(end == End::kNormal     ? OH_CALL_END_CLEARED_DOWN
                 : end == End::kAborted  ? OH_CALL_END_USER
                 : end == End::kNoAnswer ? OH_CALL_END_SET_UP_TIME_OUT
                                         : OH_CALL_END_PROTOCOL_ERROR,
                 end == End::kNormal ? "" : std::string(fax::reason_of(end)));
}

void Dce::record_loss(const CallStatus& status) {
  if (status.progress == Progress::kBusy) {
    last_call_.end(OH_CALL_END_BUSY, "in a retrain; the far end has hung up");
  } else if (now_ms_ - data_ms_ > kRetrainMs) {
    last_call_.end(OH_CALL_END_RETRAIN_FAILED, fmt::format("no data for {} s", kRetrainMs / 1000));
  } else {
    const double silent_s = static_cast<double>(now_ms_ - heard_ms_) / 1000;
    last_call_.end(OH_CALL_END_CARRIER_LOST, fmt::format("nothing was heard for {:.0f} s", silent_s));
  }
}

std::string_view Dce::data_carrier(const CallStatus& status) const {
  return status.pump.state == OH_PUMP_DATA ? carrier_of(status.pump, carriers_) : "";
}

void Dce::tell_why() {
  if (at_.settings().report_end != 0) at_.information("+WHY: " + last_call_.reason());
}

// After a call the line must be on hook for some time. Otherwise the exchange treats the next call as a continuation.
// Dialling waits for that; characters meanwhile abort it as usual.
void Dce::follow_hook(std::int64_t now_ms) {
  if (hung_up_) line_ready_ms_ = now_ms + kOnHookMs;
  hung_up_ = false;
  if (now_ms < line_ready_ms_ || !handle(Event::kLineReady)) return;
  deadline_ms_ = now_ms + 1000 * std::max<int>(at_.s(7), 1);
}

std::string Dce::state_text() const {
  const char* role = role_ == OH_PUMP_CALL ? "call" : "answer";
  if (state_ == State::kOnHook) return was_ringing_ ? "ringing" : "on hook";
  const CallStatus s = line_.status();
  if (state_ == State::kDialled) return "off hook";
  if (state_ >= State::kFax) return fmt::format("online ({}), fax of class {}", role, class2_ != nullptr ? "2.0" : "1");
  if (state_ <= State::kConnecting)
    return s.dialling
               ? "dialling"
               : fmt::format("connecting ({}){}", role, s.progress == Progress::kRinging ? ", ringback heard" : "");
  constexpr std::array<std::array<const char*, 4>, 2> kCompression = {
      {{"", ", V.42bis sent", ", V.42bis received", ", V.42bis"}, {"", ", V.44 sent", ", V.44 received", ", V.44"}}};
  return fmt::format("online ({}), {} bit/s sent, {} received{}{}", role, s.pump.tx_bit_rate, s.pump.rx_bit_rate,
                     s.direct                ? ", no error control"
                     : s.link.mnp_class != 0 ? fmt::format(", MNP {}", s.link.mnp_class)
                                             : kCompression[s.link.v44 != 0 ? 1 : 0][s.link.compression & 3],
                     state_ == State::kOnHold          ? ", on hold"
                     : state_ == State::kReturning     ? ", back from hold"
                     : s.pump.hold == OH_HOLD_WAITING  ? ", held by the far end"
                     : tests(s)                        ? ", test loop"
                     : state_ == State::kOnlineCommand ? ", command state"
                                                       : "");
}

// V.253, formatted. Text from a far end is made safe for a terminal.
void Dce::tell_caller() {
  constexpr std::size_t kLongest = 64;
  const Caller caller = line_.caller();
  at_.information("NMBR = " + (caller.number.empty() ? "O" : printable(caller.number.substr(0, kLongest))));
  if (!caller.name.empty()) at_.information("NAME = " + printable(caller.name.substr(0, kLongest)));
}

void Dce::follow_ring() {
  const bool ringing = heeds_ring_ && state_ == State::kOnHook && line_.ringing();
  if (ringing && !was_ringing_) {
    at_.s(1) = static_cast<std::uint8_t>(at_.s(1) + 1);
    at_.report(Result::kRing);
    if (at_.s(1) == 1 && at_.settings().caller_id != 0) tell_caller();
    if (at_.s(0) > 0 && at_.s(1) >= at_.s(0)) answer();
  }
  if (state_ != State::kOnHook) at_.s(1) = 0;
  was_ringing_ = ringing;
}

void Dce::follow_call(std::int64_t now_ms) {
  if (!calling()) return;
  const CallStatus status = line_.status();
  const AtSettings& s = at_.settings();
  last_call_.follow(status, data_carrier(status), now_ms);
  if (status.dialling) deadline_ms_ = now_ms + 1000 * std::max<int>(s.s[7], 1);  // S7 counts from the last digit
  const bool data = status.pump.state == OH_PUMP_DATA;
  const oh_hold_state hold = status.pump.hold;
  const bool pending = status.order == OrderStatus::kPending;
  const bool held =
      pending || tests(status) || hold == OH_HOLD_ASKED || hold == OH_HOLD_AWAY || hold == OH_HOLD_WAITING;
  if (data || held || status.pump.rx_level_dbm0 > kSilenceDbm0) heard_ms_ = now_ms;
  if (data || held || state_ < State::kOnline) data_ms_ = now_ms;
  // In data mode the pump decides whether there is a carrier. In training, silence is
  // a part of the procedure; S10, in tenths of a second, can permit more silence than
  // the procedure needs. After a longer silence, the modem does not train again. The
  // same applies after a busy tone, or a long signal that is not a modem's.
  const std::int64_t silent_ms = std::max<std::int64_t>(100 * std::max<int>(s.s[10], 1), kSilentTrainingMs);
  const bool lost = (s.s[10] < kIgnoreCarrier && now_ms - heard_ms_ > silent_ms) || now_ms - data_ms_ > kRetrainMs ||
                    (!data && !held && status.progress == Progress::kBusy);
  const bool compressed = compression_suffices(s, status);
  allow_loop(status);
  const bool loop_denied = status.order == OrderStatus::kRefused || !tests(status);
  const std::array<std::pair<Event, bool>, 16> seen = {
      {{Event::kNoDialTone, status.progress == Progress::kNoDialTone},
       {Event::kDigitsOut, digits_only_ && !status.dialling},
       {Event::kBusy, role_ == OH_PUMP_CALL && s.extended >= kBusyDetected && status.progress == Progress::kBusy},
       {Event::kNoAnswer, status.progress == Progress::kNoAnswer},
       {Event::kFailed, !status.failure().empty()},
       {Event::kFaxCaller, !fax_call_ && adapts() && status.progress == Progress::kFaxCaller},
       {Event::kIncompatible, status.connected() && !compressed},
       {Event::kConnected, status.connected()},
       {Event::kTooLong, now_ms >= deadline_ms_},
       {Event::kHoldGranted, hold == OH_HOLD_AWAY},
       {Event::kHoldDenied, !held},
       {Event::kBack, data && !held},
       {Event::kTesting, !pending && status.loop == OH_LOOP_TESTING},
       {Event::kLooped, !pending && status.loop == OH_LOOP_LOOPED},
       {Event::kLoopDenied, !pending && loop_denied},
       {Event::kLost, lost}}};
  for (const auto& [event, is] : seen)
    if (is && handle(event)) return;
}

/// V.42 would receive its own frames as the far end's, so loops require calls without error control.
bool Dce::test_loop(oh_loop_order order) {
  const CallStatus status = line_.status();
  if (state_ != State::kOnlineCommand || !status.direct || tests(status) || !line_.loop(order)) return false;
  return handle(Event::kAskLoop);
}

void Dce::allow_loop(const CallStatus& status) {
  const bool allowed = at_.settings().loop_allowed != 0;
  if (state_ < State::kOnline || !status.direct || status.order == OrderStatus::kPending) return;
  if (allowed != loop_allowed_) line_.loop(allowed ? OH_LOOP_ALLOW : OH_LOOP_REFUSE);
  loop_allowed_ = allowed;
}

bool Dce::adapts() const {
  const AtSettings& s = at_.settings();
  return role_ == OH_PUMP_ANSWER && (s.adaptive_answer != 0 || s.adaptive_answer_2 != 0) && line_.can_fax();
}

CallConfig Dce::fax_config() const {
  return {.pump = fax::pump_type(), .role = role_};
}

CallConfig Dce::call_config() const {
  const AtSettings& s = at_.settings();
  CallConfig call = choose_modem(s, carriers_, role_);
  call.seek_fax = adapts();
  if (s.service_class != 0 && line_.can_fax() && !call.seek_fax) call = fax_config();
  call.role = role_;
  choose_start_up(&call);
  call.link = link(call.link.window);
  call.digits = digits_;
  call.digits_only = digits_only_;
  call.answer_delay_ms = static_cast<std::uint32_t>(100 * s.answer_delay);
  call.guard_tone_hz = std::array{0u, 550u, 1800u}[static_cast<std::size_t>(s.guard_tone)];
  call.hold_timeout = s.hold_disabled != 0 ? 0 : static_cast<std::uint32_t>(s.hold_timeout);
  call.plan = {.need_dial_tone = s.extended == 2 || s.extended == 4,
               .pause_s = s.s[6],
               .comma_s = s.s[8],
               .digit_ms = std::max<int>(s.s[11], 50)};
  // There is no second dial tone within a call.
  if (off_hook_before_) call.plan.need_dial_tone = false, call.plan.pause_s = 0;
  return call;
}

QuickProfiles::Key Dce::profile_key() const {
  return {card_, role_, role_ == OH_PUMP_CALL ? digits_ : line_.caller().number};
}

// Quick Connect, if the line is known and the program permits it.
void Dce::choose_start_up(CallConfig* call) const {
  constexpr int kFullSequence = 2;
  constexpr std::array<std::uint32_t, 4> kByPqc = {v90::kShortPhases, v90::kShortPhase1, v90::kShortPhase2, 0};
  const AtSettings& s = at_.settings();
  call->profile = profiles_->find(profile_key());
  if (call->profile.upstream_symbol_rate != 0 && s.short_sequence != kFullSequence)
    call->short_phases = kByPqc[static_cast<std::size_t>(s.quick_connect)];
}

void Dce::remember_line() {
  const oh_v90_profile profile = line_.status().profile;
  if (profile.upstream_symbol_rate != 0) profiles_->store(profile_key(), profile);
}

oh_link_config Dce::link(std::uint32_t window) const {
  const AtSettings& s = at_.settings();
  const bool call = role_ == OH_PUMP_CALL;
  constexpr int kInitiateMnp = 4;
  const int none_below = 2, required_from = call ? 2 : 4;
  oh_link_config link = s.link;
  link.error_control = (call ? s.es_request : s.es_answerer) < none_below         ? OH_ERROR_CONTROL_NONE
                       : (call ? s.es_originator : s.es_answerer) < required_from ? OH_ERROR_CONTROL_OPTIONAL
                                                                                  : OH_ERROR_CONTROL_REQUIRED;
  const int required = call ? s.es_originator + 2 : s.es_answerer;  // from 4: either, V.42, MNP
  link.protocols = required == 5                                             ? OH_PROTOCOL_V42
                   : required == 6 || (call && s.es_request == kInitiateMnp) ? OH_PROTOCOL_MNP
                                                                             : OH_PROTOCOL_V42 | OH_PROTOCOL_MNP;
  link.skip_detection = call && s.es_request == 2 ? 1 : 0;
  link.window = window;
  return link;
}

std::string Dce::connect_words() const {
  const int form = at_.settings().connect_words;
  const CallStatus status = line_.status();
  const bool mnp = status.link.mnp_class != 0;
  std::string words;
  if (form != kProtocol && form >= kArq && !status.direct) words += "/ARQ";
  if (form == kArqModulation || form == kAllWords) words += fmt::format("/{}", carrier_of(status.pump, carriers_));
  if (form < kAllWords || status.direct) return words;
  words += mnp ? "/MNP" : "/LAPM";
  if (compression_of(status) != 0) words += mnp ? "/MNP5" : status.link.v44 != 0 ? "/V44" : "/V42BIS";
  return words;
}

// In the order of V.250: modulation, error control, compression, local rate, CONNECT.
void Dce::report_connection() {
  const AtSettings& s = at_.settings();
  if (adapts() && s.service_class == 1) {
    at_.set_service_class(0);
    at_.report(Result::kData);
  }
  const CallStatus status = line_.status();
  if (s.report_modulation != 0) {
    at_.information(fmt::format("+MCR: {}", carrier_of(status.pump, carriers_)));
    at_.information(fmt::format("+MRR: {},{}", status.pump.tx_bit_rate, status.pump.rx_bit_rate));
  }
  if (s.report_error_control != 0)
    at_.information(status.direct ? "+ER: NONE" : status.link.mnp_class != 0 ? "+ER: ALT" : "+ER: LAPM");
  constexpr std::array<std::array<const char*, 4>, 3> kCompression = {{{"NONE", "V42B TD", "V42B RD", "V42B"},
                                                                       {"NONE", "V44 TD", "V44 RD", "V44"},
                                                                       {"NONE", "MNP5 TD", "MNP5 RD", "MNP5"}}};
  const std::size_t method = status.link.mnp_class != 0 ? 2 : status.link.v44 != 0 ? 1 : 0;
  if (s.report_compression != 0) at_.information(fmt::format("+DR: {}", kCompression[method][compression_of(status)]));
  if (s.report_local_rate != 0)
    at_.information(
        fmt::format("+ILRR: {}", s.dte_rate > 0 ? static_cast<std::uint32_t>(s.dte_rate) : terminal_.rate()));
}

std::size_t Dce::obey(char* bytes, std::size_t n) {
  const int flow = at_.settings().flow_by_dte;
  if (flow != 1 && flow != 3) return n;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool flow_character = bytes[i] == kXon || bytes[i] == kXoff;
    if (flow_character) held_ = bytes[i] == kXoff;
    if (!flow_character || flow == 3) bytes[kept++] = bytes[i];
  }
  return kept;
}

// RTS/CTS needs no action: a pseudo-terminal that is not read blocks its writer.
void Dce::throttle(std::size_t room, std::size_t xoff, std::size_t xon) {
  const bool wanted = at_.settings().flow_by_dce == 1 && room < (throttled_ ? xon : xoff);
  if (wanted == throttled_) return;
  throttled_ = wanted;
  terminal_.write({wanted ? &kXoff : &kXon, 1});
}

void Dce::receive_from_far() {
  std::array<char, 2048> bytes;
  while (!terminal_.congested() && !held_) {  // otherwise V.42 makes the far end wait
    const std::size_t n = line_.read(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
    if (n == 0) return;
    terminal_.write({bytes.data(), n});
  }
}

void Dce::send_to_far(std::int64_t now_ms) {
  std::array<char, 2048> bytes;
  const std::size_t room = std::min(line_.writable(), bytes.size());
  const int read = room == 0 ? 0 : terminal_.read(bytes.data(), static_cast<int>(room));
  open_ = read >= 0;
  const std::size_t n = read > 0 ? obey(bytes.data(), static_cast<std::size_t>(read)) : 0;
  if (n > 0) line_.write(reinterpret_cast<const std::uint8_t*>(bytes.data()), n);
  throttle(line_.writable(), kXoffRoom, kXonRoom);
  if (escape_.process({bytes.data(), n}, now_ms, at_.settings()) && heeds_commands_) handle(Event::kEscape);
  if (!open_ && at_.settings().dtr >= 2) handle(Event::kDtrOff);
}

void Dce::take_commands() {
  std::array<char, 2048> bytes;
  const int n = terminal_.read(bytes.data(), static_cast<int>(bytes.size()));
  if (n < 0 && open_ && at_.settings().dtr >= 2) handle(Event::kDtrOff);
  open_ = n >= 0;
  for (int i = 0; heeds_commands_ && i < n; ++i) {
    const char c = bytes[static_cast<std::size_t>(i)];
    if (state_ == State::kAskingHold || state_ == State::kAskingLoop) return;
    const bool aborts = state_ == State::kGuardTime || state_ == State::kConnecting || state_ == State::kReturning;
    if (!aborts) {
      at_.put(c);
      if (state_ != State::kFaxData) continue;
      // The bytes after the command are its data, except the rest of a line end.
      std::string_view rest(bytes.data() + i + 1, static_cast<std::size_t>(n - i - 1));
      take_fax_data(rest.starts_with('\n') ? rest.substr(1) : rest);
      return;
    } else if (c != '\n' && c != '\r') {  // but not the end of the command line itself
      handle(Event::kCharacter);
      return;
    }
  }
}

bool Dce::fax(FaxOrder order, int value) {
  if (class2_ != nullptr && order == FaxOrder::kJudgePage) {
    class2_->judge_page(value);
    at_.report(Result::kOk);
    return true;
  }
  if (!fax_ || fax_->busy() || (order >= FaxOrder::kSendCodedPage) != (class2_ != nullptr) || !handle(Event::kFaxOrder))
    return false;
  held_ = throttled_ = false;
  if (class1_ != nullptr) {
    order_class1(order, value);
  } else if (order == FaxOrder::kSendCodedPage) {
    class2_->send_page();
  } else if (order == FaxOrder::kReceiveCodedPage) {
    class2_->receive_page();
  } else {
    class2_->hang_up();
  }
  return fax_->busy() || handle(Event::kFaxDone);
}

void Dce::order_class1(FaxOrder order, int value) {
  const int wait_s = std::max<int>(at_.s(7), 1);
  switch (order) {
    case FaxOrder::kSendSilence:
      class1_->send_silence(10 * value);
      break;
    case FaxOrder::kAwaitSilence:
      class1_->await_silence(10 * value);
      break;
    case FaxOrder::kSendFrames:
      class1_->send_frames();
      break;
    case FaxOrder::kReceiveFrames:
      class1_->receive_frames(wait_s);
      break;
    case FaxOrder::kSendPage:
      class1_->send_page(value);
      break;
    default:
      class1_->receive_page(value, wait_s, at_.settings().adaptive_reception != 0);
      break;
  }
}

/// In data, XON and XOFF are ordinary octets: the control octet of a last frame, 0x13, equals XOFF.
void Dce::take_fax_data(std::string_view octets) {
  std::string kept(octets);
  if (!fax_->sends()) {
    kept.resize(obey(kept.data(), kept.size()));
    // The rest of a line end is not a character that aborts.
    std::erase_if(kept, [](char c) { return c == '\n' || c == '\r'; });
  }
  fax_->put(kept);
}

void Dce::exchange_fax_data() {
  std::array<char, 1024> bytes;
  const std::size_t room = std::min(fax_->room(), bytes.size());
  const int read = room == 0 ? 0 : terminal_.read(bytes.data(), static_cast<int>(room));
  open_ = read >= 0;
  if (read > 0) take_fax_data({bytes.data(), static_cast<std::size_t>(read)});
  throttle(fax_->room(), kFaxXoffRoom, kFaxXonRoom);
  if (!open_ && at_.settings().dtr >= 2) handle(Event::kDtrOff);
}

/// Octets and results in order. The class keeps them while the program does not read.
void Dce::give_fax_results() {
  while (fax_ && !terminal_.congested() && !held_) {
    if (const std::string_view octets = fax_->octets(); !octets.empty()) {
      constexpr std::size_t kAtOnce = 2048;
      terminal_.write(octets.substr(0, kAtOnce));
      fax_->drop(std::min(octets.size(), kAtOnce));
      continue;
    }
    const std::optional<fax::Outcome> outcome = fax_->take_outcome();
    if (!outcome) return;
    if (*outcome == fax::Outcome::kFramesInstead) {
      at_.information("+FRH:3");
      continue;
    }
    if (*outcome == fax::Outcome::kOver) {
      handle(Event::kFaxOver);
      return;
    }
    constexpr std::array<Result, 5> kResults = {Result::kConnect, Result::kOk, Result::kError, Result::kNoCarrier,
                                                Result::kOtherCarrier};
    if (*outcome == fax::Outcome::kConnect) {
      handle(Event::kFaxConnected);
    } else {
      throttle(kFaxXonRoom, kFaxXoffRoom, kFaxXonRoom);
      if (state_ == State::kConnecting) handle(Event::kFaxConnected);  // class 2.0, without data yet
      handle(Event::kFaxDone);
    }
    at_.report(kResults[static_cast<std::size_t>(*outcome)]);
  }
}

/// The pump may start later than the call. With SIP, it starts when the far end has answered.
void Dce::follow_fax() {
  const bool begins = fax_call_ && state_ == State::kConnecting && !digits_only_;
  if (begins && !fax_) {
    void* const pump = line_.fax_pump();
    if (pump == nullptr) return;
    begin_fax(pump);
    if (role_ == OH_PUMP_CALL) {
      fax_->call();
    } else {
      fax_->answer();
    }
  }
  if (!fax_) return;
  fax_->poll();
  give_fax_results();
}

void Dce::begin_fax(void* pump) {
  const AtSettings& s = at_.settings();
  if (s.service_class != kFaxClass2) {
    auto class1 = std::make_unique<fax::Class1>(pump);
    class1_ = class1.get();
    fax_ = std::move(class1);
    return;
  }
  fax::Class2Config config;
  config.own = {s.fax_resolution, s.fax_rate,       s.fax_width, s.fax_length,
                s.fax_format,     s.fax_correction, s.fax_files, s.fax_scan_time};
  config.ident = s.fax_ident;
  config.reversed = (s.fax_reversed & 1) != 0;
  config.tells_far = s.fax_tells_far != 0;
  config.tells_session = s.fax_tells_session != 0;
  config.tells_ident = s.fax_tells_ident != 0;
  auto class2 = std::make_unique<fax::Class2>(pump, config);
  class2_ = class2.get();
  fax_ = std::move(class2);
}

void Dce::end_fax() {
  fax_.reset();
  class1_ = nullptr;
  class2_ = nullptr;
}

void Dce::work(std::int64_t now_ms) {
  now_ms_ = now_ms;
  terminal_.flush();
  line_.work();
  follow_hook(now_ms);  // before any hang-up, because releasing a call takes time that is not on hook
  if (state_ == State::kOnline) {
    receive_from_far();
    send_to_far(now_ms);
  } else if (state_ == State::kFaxData) {
    exchange_fax_data();
  } else {
    take_commands();
  }
  follow_fax();
  follow_ring();
  follow_call(now_ms);
  terminal_.set_lines({.carrier = at_.settings().dcd == 0 || state_ >= State::kOnline, .ring = was_ringing_});
}

}  // namespace offhook::modem
