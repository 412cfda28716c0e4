// SPDX-License-Identifier: MIT
#include "driver/tty/dce.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "driver/tty/modulation.h"

namespace offhook::modem {

namespace {

// Exchanges take a shorter break for a flash of the hook, or for nothing at all.
constexpr std::int64_t kOnHookMs = 250;
constexpr std::int64_t kRetrainMs = 30'000;  // V.34's takes 15 s at a round trip of 1.2 s
constexpr float kSilenceDbm0 = -48;          // V.22bis and V.34 alike know no carrier below it

constexpr char kXon = 0x11, kXoff = 0x13;
constexpr std::size_t kXoffRoom = 4096, kXonRoom = 12'288;  // bytes free on the way to the far end

}  // namespace

Dce::Dce(Session& session, CardRings& rings, Terminal& terminal)
    : session_(session),
      rings_(rings),
      terminal_(terminal),
      at_(*this, [this](std::string_view text) { terminal_.write(text); }) {}

std::string_view Dce::carriers() const {
  static const std::string all = [] {
    std::string s;
    for (const config::ModemType& m : config::kModemTypes) {
      if (!m.carrier.empty()) s += (s.empty() ? "" : ",") + std::string(m.carrier);
    }
    return s;
  }();
  return all;
}

void Dce::begin(oh_pump_role role, std::string_view digits) {
  role_ = role;
  digits_ = digits;
  begins_ = true;
  state_ = State::kConnecting;
}

// After a call the line has to be on hook for some time, or the exchange takes the next call for the rest of it. To
// dial waits for that; characters meanwhile are heard, and abort as ever.
void Dce::follow_hook(std::int64_t now_ms) {
  if (hung_up_) hook_free_ms_ = now_ms + kOnHookMs;
  hung_up_ = false;
  if (!begins_ || now_ms < hook_free_ms_) return;
  begins_ = false;
  try {
    session_.begin_call(call_config());
  } catch (const std::invalid_argument&) {  // no carrier of +MS can do its rates
    end_with(Result::kError);
    return;
  }
  rings_.off_hook.store(1);
  deadline_ms_ = now_ms + 1000 * std::max<int>(at_.s(7), 1);
}

void Dce::dial(std::string_view digits) {
  if (state_ != State::kOnHook) {
    at_.report(Result::kError);
    return;
  }
  begin(OH_PUMP_CALL, digits);
}

void Dce::answer() {
  if (state_ != State::kOnHook) {
    at_.report(Result::kError);
    return;
  }
  begin(OH_PUMP_ANSWER);
}

bool Dce::go_online() {
  if (state_ != State::kOnlineCommand) return false;
  state_ = State::kOnline;
  at_.report(Result::kConnect, session_.status().pump.rx_bit_rate);
  return true;
}

void Dce::hang_up() {
  session_.end_call();
  if (rings_.off_hook.exchange(0) != 0) hung_up_ = true;
  begins_ = false;
  state_ = State::kOnHook;
}

void Dce::end_with(Result result) {
  const bool was_online = state_ >= State::kOnline;
  hang_up();
  at_.report(result);
  if (was_online && at_.settings().dcd != 0) terminal_.carrier_lost();
}

std::string Dce::state_text() const {
  const char* role = role_ == OH_PUMP_CALL ? "call" : "answer";
  if (state_ == State::kOnHook) return was_ringing_ ? "ringing" : "on hook";
  const CallStatus s = session_.status();
  if (state_ == State::kConnecting)
    return s.dialling
               ? "dialling"
               : fmt::format("connecting ({}){}", role, s.progress == Progress::kRinging ? ", ringback heard" : "");
  constexpr std::array<const char*, 4> kCompression = {"", ", V.42bis sent", ", V.42bis received", ", V.42bis"};
  return fmt::format("online ({}), {} bit/s sent, {} received{}{}", role, s.pump.tx_bit_rate, s.pump.rx_bit_rate,
                     s.direct ? ", no error control" : kCompression[s.link.compression & 3],
                     state_ == State::kOnlineCommand ? ", command state" : "");
}

void Dce::follow_ring() {
  const bool ringing = rings_.ringing.load() != 0 && state_ == State::kOnHook;
  if (ringing && !was_ringing_) {
    at_.s(1) = static_cast<std::uint8_t>(at_.s(1) + 1);
    at_.report(Result::kRing);
    if (at_.s(0) > 0 && at_.s(1) >= at_.s(0)) begin(OH_PUMP_ANSWER);
  }
  if (state_ != State::kOnHook) at_.s(1) = 0;
  was_ringing_ = ringing;
}

void Dce::follow_call(std::int64_t now_ms) {
  if (state_ == State::kOnHook || begins_) return;
  const CallStatus status = session_.status();
  if (status.dialling) deadline_ms_ = now_ms + 1000 * std::max<int>(at_.s(7), 1);  // S7 counts from the last digit
  if (status.progress == Progress::kNoDialTone) {
    end_with(Result::kNoDialtone);
  } else if (state_ == State::kConnecting && role_ == OH_PUMP_CALL && status.progress == Progress::kBusy) {
    end_with(Result::kBusy);
  } else if (!status.failure().empty()) {
    end_with(Result::kNoCarrier);
  } else if (state_ == State::kConnecting && status.connected()) {
    connected(status);
  } else if (state_ == State::kConnecting && now_ms >= deadline_ms_) {
    end_with(Result::kNoCarrier);
  }
  // A modem that hears nothing at all will not train again: S10, in tenths of a second.
  if (status.pump.state == OH_PUMP_DATA || status.pump.rx_level_dbm0 > kSilenceDbm0) heard_ms_ = now_ms;
  if (status.pump.state == OH_PUMP_DATA || state_ < State::kOnline) data_ms_ = now_ms;
  // What is no modem, such as the exchange's tones, will not either.
  const bool silent = now_ms - heard_ms_ > 100 * std::max<int>(at_.s(10), 1);
  if (state_ >= State::kOnline && (silent || now_ms - data_ms_ > kRetrainMs)) end_with(Result::kNoCarrier);
}

CallConfig Dce::call_config() const {
  const AtSettings& s = at_.settings();
  const ModemChoice modem = choose_modem(s);
  return {.pump = modem.type->ops(),
          .role = role_,
          .modulations = modem.modulations,
          .min_bit_rate = modem.min_rate,
          .max_bit_rate = modem.max_rate,
          .window = hostsim::v42_window(modem.type->kind),
          .error_control = error_control(),
          .digits = digits_,
          .plan = {.need_dial_tone = s.extended == 2 || s.extended == 4,
                   .pause_s = s.s[6],
                   .comma_s = s.s[8],
                   .digit_ms = std::max<int>(s.s[11], 50)}};
}

ErrorControl Dce::error_control() const {
  const AtSettings& s = at_.settings();
  const bool call = role_ == OH_PUMP_CALL;
  const int none_below = 2, required_from = call ? 2 : 4;
  return {.mode = (call ? s.es_request : s.es_answerer) < none_below         ? ErrorControl::kNone
                  : (call ? s.es_originator : s.es_answerer) < required_from ? ErrorControl::kOptional
                                                                             : ErrorControl::kRequired,
          .detect = !call || s.es_request != 2,
          .compression = static_cast<std::uint8_t>(s.compression),
          .codewords = static_cast<std::uint16_t>(s.dictionary),
          .max_string = static_cast<std::uint8_t>(s.max_string)};
}

// In the order of V.250: modulation, error control, compression, local rate, CONNECT.
void Dce::connected(const CallStatus& status) {
  const AtSettings& s = at_.settings();
  const int compression = status.direct ? 0 : status.link.compression;
  if (s.compression_required && compression != s.compression) {
    end_with(Result::kNoCarrier);
    return;
  }
  if (s.report_modulation) {
    at_.information(fmt::format("+MCR: {}", carrier_of(status.pump)));
    at_.information(fmt::format("+MRR: {},{}", status.pump.tx_bit_rate, status.pump.rx_bit_rate));
  }
  if (s.report_error_control) at_.information(status.direct ? "+ER: NONE" : "+ER: LAPM");
  constexpr std::array<const char*, 4> kCompression = {"NONE", "V42B TD", "V42B RD", "V42B"};
  if (s.report_compression)
    at_.information(fmt::format("+DR: {}", kCompression[static_cast<std::size_t>(compression)]));
  if (s.report_local_rate) at_.information(fmt::format("+ILRR: {}", s.dte_rate > 0 ? s.dte_rate : terminal_.rate()));
  state_ = State::kOnline;
  held_ = throttled_ = false;
  at_.report(Result::kConnect, status.pump.rx_bit_rate);
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

// RTS/CTS needs no doing: a pseudo-terminal that is not read from holds its writer up.
void Dce::throttle() {
  const bool wanted = at_.settings().flow_by_dce == 1 && session_.writable() < (throttled_ ? kXonRoom : kXoffRoom);
  if (wanted == throttled_) return;
  throttled_ = wanted;
  terminal_.write({wanted ? &kXoff : &kXon, 1});
}

void Dce::move_data(std::int64_t now_ms) {
  std::array<char, 2048> bytes;
  if (state_ == State::kOnline) {
    terminal_.flush();
    while (!terminal_.congested() && !held_) {  // else V.42 tells the far end to wait
      const std::size_t n = session_.read(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
      if (n == 0) break;
      terminal_.write({bytes.data(), n});
    }
    const std::size_t room = std::min(session_.writable(), bytes.size());
    int n = room == 0 ? 0 : terminal_.read(bytes.data(), static_cast<int>(room));
    open_ = n >= 0;
    if (n > 0) n = static_cast<int>(obey(bytes.data(), static_cast<std::size_t>(n)));
    if (n > 0) session_.write(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<std::size_t>(n));
    throttle();
    if (escape_.look({bytes.data(), static_cast<std::size_t>(std::max(n, 0))}, now_ms, at_.settings())) {
      state_ = State::kOnlineCommand;
      at_.report(Result::kOk);
    }
    if (n < 0 && at_.settings().dtr >= 2) hang_up();  // the program closed the port: DTR is off
    return;
  }
  const int n = terminal_.read(bytes.data(), static_cast<int>(bytes.size()));
  if (n < 0) {
    if (open_ && at_.settings().dtr >= 2 && state_ != State::kOnHook) hang_up();
    open_ = false;
    return;
  }
  open_ = true;
  for (int i = 0; i < n; ++i) {
    if (state_ == State::kConnecting) {  // any character aborts (V.250 5.6.1), but what ends the command line itself
      if (bytes[static_cast<std::size_t>(i)] == '\n' || bytes[static_cast<std::size_t>(i)] == '\r') continue;
      end_with(Result::kNoCarrier);
      return;
    }
    at_.put(bytes[static_cast<std::size_t>(i)]);
  }
}

void Dce::work(std::int64_t now_ms) {
  now_ms_ = now_ms;
  terminal_.flush();
  move_data(now_ms);
  follow_ring();
  follow_hook(now_ms);
  follow_call(now_ms);
}

}  // namespace offhook::modem
