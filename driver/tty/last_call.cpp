// SPDX-License-Identifier: MIT
#include "driver/tty/last_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "dsp/v8/menu.h"

namespace offhook::modem {

namespace {

struct EndText {
  oh_call_end why;
  std::string_view text;
};
constexpr EndText kTexts[] = {
    {OH_CALL_END_UNIDENTIFIED, "unknown"},
    {OH_CALL_END_DTR_OFF, "the program closed the terminal"},
    {OH_CALL_END_SET_UP_TIME_OUT, "no connection within S7"},
    {OH_CALL_END_NO_DIAL_TONE, "no dial tone"},
    {OH_CALL_END_BUSY, "busy tone"},
    {OH_CALL_END_CARRIER_LOST, "the carrier was lost"},
    {OH_CALL_END_TRAINING_FAILED, "training failed"},
    {OH_CALL_END_NOTHING_IN_COMMON, "no modulation in common"},
    {OH_CALL_END_RETRAIN_FAILED, "a retrain failed"},
    {OH_CALL_END_CLEARED_DOWN, "the far end cleared down"},
    {OH_CALL_END_PROTOCOL_ERROR, "error control or compression failed"},
    {OH_CALL_END_USER, "ended here"},
};

/// The last awaited event, by enum oh_start_up.
std::string_view missing(std::uint32_t start_up, bool v32) {
  constexpr std::string_view kV34[] = {"",
                                       "an answer tone was heard, but no V.8 menu",
                                       "V.8: no menu of the far end",
                                       "Phase 2: no INFO0",
                                       "Phase 2: INFO0 was received, but line probing did not end",
                                       "Phase 3: no S of the far end",
                                       "Phase 3: S was received, but the far end's training was not",
                                       "Phase 3: no answer to this end's training",
                                       "Phase 4: no MP or E was received"};
  constexpr std::string_view kV32[] = {"no tone AA or AC of the far end", "no S of the far end",
                                       "S was received, but TRN or the rates were not",
                                       "no answer to this end's training", "no rates or E were received"};
  static_assert(std::size(kV34) == OH_START_UP_RATES + 1 && std::size(kV32) == OH_START_UP_RATES - 3);
  if (start_up > OH_START_UP_RATES) return "";
  return v32 && start_up >= OH_START_UP_PROBING ? kV32[start_up - OH_START_UP_PROBING] : kV34[start_up];
}

/// V.59 6.2.2, dataSequence: words in hexadecimal.
std::string data_sequence(std::span<const std::uint8_t> octets, std::size_t word) {
  std::string text;
  for (std::size_t k = 0; k < octets.size(); k += word) {
    if (k > 0) text += ';';
    for (std::size_t i = word; i-- > 0;) text += fmt::format("{:02X}", k + i < octets.size() ? octets[k + i] : 0);
  }
  return text.empty() ? "NULL" : text;
}

std::span<const std::uint8_t> octets_of(const oh_modem_end_line& line, oh_sequence which) {
  return {line.sequence[which], line.sequence_octets[which]};
}

/// V.59, Table 6.
std::string v8_result(const oh_modem_end_line& line) {
  constexpr int kCommon = 0, kNothingInCommon = 1, kNoV8 = 2;
  v8::Menu jm;
  const auto octets = octets_of(line, OH_SEQUENCE_JM);
  v8::decode(octets.data(), static_cast<int>(octets.size()), &jm);
  return std::to_string(octets.empty() ? kNoV8 : jm.modulations != 0 ? kCommon : kNothingInCommon);
}

/// How often each cause led to a retrain: "; 2 by the far end".
std::string causes(const oh_modem_end_line& line) {
  constexpr std::string_view kCauses[] = {"of unknown cause", "requested here", "by the far end", "signal lost",
                                          "time-out in a procedure"};
  static_assert(std::size(kCauses) == std::size(decltype(line.retrains){}));
  std::string text;
  for (std::size_t k = 0; k < std::size(kCauses); ++k)
    if (line.retrains[k] > 0) text += fmt::format("; {} {}", line.retrains[k], kCauses[k]);
  return text;
}

/// V.59 (11/2000), Table 1; -1 if it is not in the table.
int symbol_rate_code(float symbols_per_second) {
  constexpr int kRates[] = {8000, 3429, 3000, 3200, 2800, 2743, 2400, 1600, 1200, 600};
  const auto found = std::find(std::begin(kRates), std::end(kRates), static_cast<int>(symbols_per_second + 0.5f));
  return found == std::end(kRates) ? -1 : static_cast<int>(found - std::begin(kRates));
}

}  // namespace

std::string_view text_of(std::uint32_t end) {
  const auto found =
      std::find_if(std::begin(kTexts), std::end(kTexts), [end](const EndText& t) { return t.why == end; });
  return found == std::end(kTexts) ? kTexts[0].text : found->text;
}

// INFO0, V.34 (10/96), Table 14: bits 12 to 14 symbol rates, 24 CME, 25 constellations of 1664 points.
std::string offer_text(oh_sequence which, std::span<const std::uint8_t> octets) {
  constexpr std::string_view kNames[] = {"CM", "JM", "INFO0 sent", "INFO0 received"};
  std::string text(kNames[which]);
  if (which == OH_SEQUENCE_CM || which == OH_SEQUENCE_JM) {
    v8::Menu menu;
    v8::decode(octets.data(), static_cast<int>(octets.size()), &menu);
    for (unsigned bit = 1; bit <= v8::kV21; bit <<= 1)
      if ((menu.modulations & bit) != 0)
        text += bit == v8::kPcm ? " V.90" : fmt::format(" {}", v8::modulation_name(static_cast<std::uint16_t>(bit)));
    return menu.modulations == 0 ? text + " no modulation" : text;
  }
  const unsigned bits = octets.size() < 2 ? 0 : octets[0] | octets[1] << 8;
  text += fmt::format(" 2400{}{} 3000 3200{} symbols/s", (bits & 1) != 0 ? " 2743" : "", (bits & 2) != 0 ? " 2800" : "",
                      (bits & 4) != 0 ? " 3429" : "");
  return text + ((bits >> 13 & 1) != 0 ? ", 1664 points" : "") + ((bits >> 12 & 1) != 0 ? ", CME" : "");
}

oh_call_end end_of(const CallStatus& status) {
  if (status.line_failure.empty()) return oh_modem_end_cause(&status);
  return status.pump.bits_received > 0 ? OH_CALL_END_CLEARED_DOWN : OH_CALL_END_UNIDENTIFIED;
}

void LastCall::begin(oh_pump_role role, std::int64_t now_ms) {
  *this = {};
  begun_ = true;
  caller_ = role == OH_PUMP_CALL;
  began_ms_ = last_ms_ = now_ms;
}

void LastCall::follow(const CallStatus& status, std::string_view carrier, std::int64_t now_ms) {
  if (!begun_ || ended_) return;
  last_ms_ = now_ms;
  const oh_pump_status& pump = status.pump;
  const auto reach = [this](Reached r) { reached_ = std::max(reached_, r); };
  if (caller_ && !status.dialling && status.progress != Progress::kNoDialTone) reach(Reached::kDialled);
  if (status.progress == Progress::kRinging) reach(Reached::kRinging);
  busy_ |= status.progress == Progress::kBusy;
  no_dial_tone_ |= status.progress == Progress::kNoDialTone;
  // Ringback and the other tones of the exchange are heard while connecting. A modulation in use proves a modem.
  if (pump.state == OH_PUMP_CONNECTING && pump.modulation != OH_MODULATION_NONE) reach(Reached::kHeard);
  if (status.line.start_up != OH_START_UP_NONE) reach(Reached::kHeard);
  if (pump.state == OH_PUMP_TRAINING) reach(Reached::kTraining);
  if (!carrier.empty()) carrier_ = carrier;
  modulations_tried_ |= pump.modulation;
  if (pump.retrains > 0) retrains_ = pump.retrains;
  const bool again = pump.state == OH_PUMP_TRAINING && reached_ == Reached::kData;
  if (training_again_ && pump.state == OH_PUMP_DATA) ++recoveries_;
  if (pump.state == OH_PUMP_TRAINING || pump.state == OH_PUMP_DATA) training_again_ = again;
  line_failure_ = status.line_failure;
  if (line_failure_.empty() && !status.failure().empty()) failure_ = status.failure();
  frames_again_ = std::max(frames_again_, status.link.retransmitted);
  bad_frames_ = std::max(bad_frames_, status.link.bad_frames);
  lost_samples_ = std::max(lost_samples_, pump.filled_in);
  oh_modem_end_line line = status.line;
  if (pump.state != OH_PUMP_DATA && reached_ == Reached::kData) {  // of data, not of a later training
    line.snr_db = line_.snr_db, line.carrier_hz = line_.carrier_hz, line.clock_ppm = line_.clock_ppm;
  }
  furthest_ = pump.state == OH_PUMP_DATA ? std::uint32_t{OH_START_UP_NONE} : std::max(furthest_, line.start_up);
  if (pump.state != OH_PUMP_IDLE) line_ = line;
  if (pump.state != OH_PUMP_DATA) return;
  reach(Reached::kData);
  tx_bit_rate_ = pump.tx_bit_rate;
  rx_bit_rate_ = pump.rx_bit_rate;
  rx_level_dbm0_ = pump.rx_level_dbm0;
  direct_ = status.direct;
  mnp_class_ = status.link.mnp_class;
  quick_connect_ = status.quick_connect;
}

void LastCall::end(oh_call_end why, std::string detail) {
  if (!begun_ || ended_) return;
  ended_ = true;
  why_ = why;
  detail_ = std::move(detail);
}

std::string LastCall::duration() const {
  const std::int64_t s = (last_ms_ - began_ms_) / 1000;
  return fmt::format("{:02}H{:02}M{:02}S", s / 3600, s / 60 % 60, s % 60);
}

std::string LastCall::reached() const {
  constexpr std::string_view kReached[] = {
      "dialling", "dialled, nothing recognised", "ringback heard", "modem heard", "training", "data"};
  return std::string(!caller_ && reached_ == Reached::kNothing ? "off hook, nothing recognised"
                                                               : kReached[static_cast<int>(reached_)]);
}

std::string LastCall::offers(std::string_view between) const {
  std::string text;
  for (const oh_sequence which : {OH_SEQUENCE_CM, OH_SEQUENCE_JM, OH_SEQUENCE_INFO0_SENT, OH_SEQUENCE_INFO0_RECEIVED}) {
    const auto octets = octets_of(line_, which);
    if (!octets.empty()) text += fmt::format("{}{}", text.empty() ? "" : between, offer_text(which, octets));
  }
  return text;
}

std::string LastCall::reason() const {
  std::string more = !line_failure_.empty() ? fmt::format(" (the line: {})", line_failure_)
                     : failure_.empty()     ? ""
                                            : fmt::format(" (the modem {})", failure_);
  if (!detail_.empty()) more += ": " + detail_;
  std::string text = fmt::format("{},{}{}; reached: {}", static_cast<int>(why_), text_of(why_), more, reached());
  const bool v32 = (modulations_tried_ & (OH_MODULATION_V34 | OH_MODULATION_V90)) == 0;
  const std::string_view waited = missing(furthest_, v32);
  const bool in_training = why_ == OH_CALL_END_TRAINING_FAILED || why_ == OH_CALL_END_RETRAIN_FAILED ||
                           why_ == OH_CALL_END_CARRIER_LOST || why_ == OH_CALL_END_SET_UP_TIME_OUT;
  if (in_training && !waited.empty()) text += fmt::format("; {}", waited);
  if (line_.slips > 0) text += fmt::format("; slips: {}", line_.slips);
  const std::string offered = offers(", ");
  return offered.empty() ? text : fmt::format("{}; offered: {}", text, offered);
}

std::vector<std::string> LastCall::facts() const {
  if (!begun_) return {"no call yet"};
  std::vector<std::string> lines = {fmt::format("role: {}", caller_ ? "caller" : "answerer"),
                                    ended_ ? "end: " + reason() : "end: the call has not ended",
                                    fmt::format("duration: {}", duration())};
  if (!carrier_.empty()) lines.push_back(fmt::format("modulation: {}", carrier_));
  if (quick_connect_) lines.emplace_back("start-up: Quick Connect");
  if (reached_ == Reached::kData) {
    lines.push_back(fmt::format("last rates: {} bit/s sent, {} bit/s received", tx_bit_rate_, rx_bit_rate_));
    lines.push_back(fmt::format("received level in data: {:.1f} dBm0", static_cast<double>(rx_level_dbm0_)));
    lines.push_back(fmt::format("error control: {}", direct_           ? "none"
                                                     : mnp_class_ != 0 ? fmt::format("MNP class {}", mnp_class_)
                                                                       : "V.42"));
  }
  if (line_.rx_symbol_rate > 0)
    lines.push_back(
        fmt::format("symbol rates: {:.0f} sent, {:.0f} received", line_.tx_symbol_rate, line_.rx_symbol_rate));
  if (line_.snr_db != 0)
    lines.push_back(fmt::format("SNR: {:.1f} dB; carrier {:+.1f} Hz, clock {:+.0f} ppm", line_.snr_db, line_.carrier_hz,
                                line_.clock_ppm));
  if (line_.echo_return_loss_db > 0)
    lines.push_back(fmt::format("echo cancelled: {:.0f} dB", line_.echo_return_loss_db));
  if (line_.round_trip_ms > 0) lines.push_back(fmt::format("round trip: {:.0f} ms", line_.round_trip_ms));
  if (const std::string offered = offers("; "); !offered.empty()) lines.push_back("offered: " + offered);
  lines.push_back(fmt::format("retrains: {}, recovered {}{}", retrains_, recoveries_, causes(line_)));
  lines.push_back(fmt::format("slips: {}", line_.slips));
  if (!direct_ && reached_ == Reached::kData)
    lines.push_back(fmt::format("V.42 frames: {} sent again, {} received damaged", frames_again_, bad_frames_));
  if (lost_samples_ > 0) lines.push_back(fmt::format("samples lost by this host: {}", lost_samples_));
  return lines;
}

// Sources: V.59 (11/2000) 6.7 to 6.11, Tables 6, 16 and 17, and its Corrigendum 2.
std::vector<std::string> LastCall::objects() const {
  constexpr int kNoCall = 0, kNoDialTone = 1, kBusyTone = 4, kAnswerTone = 6, kAnsam = 7, kUnknownSignal = 20,
                kConnected = 40, kMost = 255;
  if (!begun_) return {fmt::format("callProgressResult{{{}}}", kNoCall)};
  const int result = reached_ == Reached::kData                             ? kConnected
                     : no_dial_tone_                                        ? kNoDialTone
                     : busy_                                                ? kBusyTone
                     : caller_ && line_.sequence_octets[OH_SEQUENCE_CM] > 0 ? kAnsam
                     : caller_ && furthest_ != OH_START_UP_NONE             ? kAnswerTone
                                                                            : kUnknownSignal;
  const std::string carrier = carrier_.empty() ? "NULL" : carrier_;
  const auto counted = [](std::uint32_t n) { return std::min<std::uint32_t>(n, kMost); };
  const auto symbol_rate = [](float rate) {
    const int code = symbol_rate_code(rate);
    return code < 0 ? std::string("NULL") : std::to_string(code);
  };
  return {
      fmt::format("callProgressResult{{{}}}", result),
      fmt::format("callTerminate{{{}}}", ended_ ? fmt::format("{}", static_cast<int>(why_)) : "NULL"),
      fmt::format("txCarrier{{{}}}", carrier),
      fmt::format("rxCarrier{{{}}}", carrier),
      fmt::format("txDataHistory{{{}}}", tx_bit_rate_ > 0 ? fmt::format("{}", tx_bit_rate_) : "NULL"),
      fmt::format("rxDataHistory{{{}}}", rx_bit_rate_ > 0 ? fmt::format("{}", rx_bit_rate_) : "NULL"),
      fmt::format("rxLevelEstimate{{{}}}",
                  reached_ == Reached::kData ? fmt::format("{:.0f}dBm0", static_cast<double>(rx_level_dbm0_)) : "NULL"),
      fmt::format("txSymbolRate{{{}}}", symbol_rate(line_.tx_symbol_rate)),
      fmt::format("rxSymbolRate{{{}}}", symbol_rate(line_.rx_symbol_rate)),
      fmt::format("roundTripDelay{{{}}}",
                  line_.round_trip_ms > 0 ? fmt::format("{:.0f}ms", line_.round_trip_ms) : "NULL"),
      fmt::format("cm{{{}}}", data_sequence(octets_of(line_, OH_SEQUENCE_CM), 1)),
      fmt::format("jm{{{}}}", data_sequence(octets_of(line_, OH_SEQUENCE_JM), 1)),
      fmt::format("v8ResultCode{{{}}}", v8_result(line_)),
      fmt::format("iNFO0Tx{{{}}}", data_sequence(octets_of(line_, OH_SEQUENCE_INFO0_SENT), 2)),
      fmt::format("iNFO0Rx{{{}}}", data_sequence(octets_of(line_, OH_SEQUENCE_INFO0_RECEIVED), 2)),
      fmt::format("frameSlipsDetected{{{}}}", std::min<std::uint32_t>(line_.slips, 256)),
      fmt::format("framesRetransmitted{{{}}}", std::min<std::uint32_t>(frames_again_, 65'535)),
      fmt::format("retrainRequests{{{}}}", counted(retrains_)),
      fmt::format("retrainSuccesses{{{}}}", counted(recoveries_)),
      fmt::format("duration{{{}}}", duration()),
      fmt::format("caller{{{}}}", caller_ ? "TRUE" : "FALSE")};
}

}  // namespace offhook::modem
