// SPDX-License-Identifier: MIT
#include "driver/tty/last_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace offhook::modem {

namespace {

struct EndText {
  CallEnd why;
  std::string_view text;
};
constexpr EndText kTexts[] = {
    {CallEnd::kUnidentified, "unknown"},
    {CallEnd::kDtrOff, "the program closed the terminal"},
    {CallEnd::kSetUpTimeOut, "no connection within S7"},
    {CallEnd::kNoDialTone, "no dial tone"},
    {CallEnd::kBusy, "busy tone"},
    {CallEnd::kCarrierLost, "the carrier was lost"},
    {CallEnd::kTrainingFailed, "training failed"},
    {CallEnd::kNothingInCommon, "no modulation in common"},
    {CallEnd::kRetrainFailed, "a retrain failed"},
    {CallEnd::kClearedDown, "the far end cleared down"},
    {CallEnd::kProtocolError, "error control or compression failed"},
    {CallEnd::kUser, "ended here"},
};

/// How often each cause led to a retrain: "; 2 by the far end".
std::string causes(const oh_modem_end_line& line) {
  constexpr std::string_view kCauses[] = {"of unknown cause", "asked for here", "by the far end", "signal lost",
                                          "time-out in a procedure"};
  static_assert(std::size(kCauses) == std::size(decltype(line.retrains){}));
  std::string text;
  for (std::size_t k = 0; k < std::size(kCauses); ++k)
    if (line.retrains[k] > 0) text += fmt::format("; {} {}", line.retrains[k], kCauses[k]);
  return text;
}

/// V.59 (11/2000), Table 1; -1: not among them.
int symbol_rate_code(float symbols_per_second) {
  constexpr int kRates[] = {8000, 3429, 3000, 3200, 2800, 2743, 2400, 1600, 1200, 600};
  const auto found = std::find(std::begin(kRates), std::end(kRates), static_cast<int>(symbols_per_second + 0.5f));
  return found == std::end(kRates) ? -1 : static_cast<int>(found - std::begin(kRates));
}

std::string_view text_of(CallEnd why) {
  return std::find_if(std::begin(kTexts), std::end(kTexts), [why](const EndText& t) { return t.why == why; })->text;
}

}  // namespace

CallEnd end_of(const CallStatus& status) {
  const oh_pump_status& pump = status.pump;
  if (!status.line_failure.empty()) return pump.bits_received > 0 ? CallEnd::kClearedDown : CallEnd::kUnidentified;
  if (pump.state == OH_PUMP_FAILED) {
    if (pump.failure == OH_PUMP_NOTHING_IN_COMMON) return CallEnd::kNothingInCommon;
    if (pump.failure == OH_PUMP_TOO_SLOW || pump.bits_received == 0) return CallEnd::kTrainingFailed;
    return pump.retrains > 0 ? CallEnd::kRetrainFailed : CallEnd::kCarrierLost;
  }
  if (pump.state == OH_PUMP_IDLE && pump.bits_received > 0) return CallEnd::kClearedDown;
  if (status.link.state == OH_LAPM_DISCONNECTED) return CallEnd::kClearedDown;
  return CallEnd::kProtocolError;
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
  if (caller_ && !status.dialling) reach(Reached::kDialled);
  if (status.progress == Progress::kRinging) reach(Reached::kRinging);
  busy_ |= status.progress == Progress::kBusy;
  no_dial_tone_ |= status.progress == Progress::kNoDialTone;
  // Ringback and the other tones of the exchange are heard while connecting: a modulation in use is a modem.
  if (pump.state == OH_PUMP_CONNECTING && pump.modulation != OH_MODULATION_NONE) reach(Reached::kHeard);
  if (pump.state == OH_PUMP_TRAINING) reach(Reached::kTraining);
  if (!carrier.empty()) carrier_ = carrier;
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
  if (pump.state != OH_PUMP_DATA && reached_ == Reached::kData) {  // of data, not of a training that follows
    line.snr_db = line_.snr_db, line.carrier_hz = line_.carrier_hz, line.clock_ppm = line_.clock_ppm;
  }
  if (pump.state != OH_PUMP_IDLE) line_ = line;
  if (pump.state != OH_PUMP_DATA) return;
  reach(Reached::kData);
  tx_bit_rate_ = pump.tx_bit_rate;
  rx_bit_rate_ = pump.rx_bit_rate;
  rx_level_dbm0_ = pump.rx_level_dbm0;
  direct_ = status.direct;
}

void LastCall::end(CallEnd why) {
  if (!begun_ || ended_) return;
  ended_ = true;
  why_ = why;
}

std::string LastCall::duration() const {
  const std::int64_t s = (last_ms_ - began_ms_) / 1000;
  return fmt::format("{:02}H{:02}M{:02}S", s / 3600, s / 60 % 60, s % 60);
}

std::string LastCall::reason() const {
  constexpr std::string_view kReached[] = {
      "dialling", "dialled, nothing recognised", "ringback heard", "modem heard", "training", "data"};
  const std::string_view reached =
      !caller_ && reached_ == Reached::kNothing ? "off hook, nothing recognised" : kReached[static_cast<int>(reached_)];
  const std::string more = !line_failure_.empty() ? fmt::format(" (the line: {})", line_failure_)
                           : failure_.empty()     ? ""
                                                  : fmt::format(" (the modem {})", failure_);
  return fmt::format("{},{}{}; reached: {}", static_cast<int>(why_), text_of(why_), more, reached);
}

std::vector<std::string> LastCall::facts() const {
  if (!begun_) return {"no call yet"};
  std::vector<std::string> lines = {fmt::format("role: {}", caller_ ? "caller" : "answerer"),
                                    ended_ ? "end: " + reason() : "end: the call has not ended",
                                    fmt::format("duration: {}", duration())};
  if (!carrier_.empty()) lines.push_back(fmt::format("modulation: {}", carrier_));
  if (reached_ == Reached::kData) {
    lines.push_back(fmt::format("last rates: {} bit/s sent, {} bit/s received", tx_bit_rate_, rx_bit_rate_));
    lines.push_back(fmt::format("received level in data: {:.1f} dBm0", static_cast<double>(rx_level_dbm0_)));
    lines.push_back(fmt::format("error control: {}", direct_ ? "none" : "V.42"));
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
  lines.push_back(fmt::format("retrains: {}, recovered {}{}", retrains_, recoveries_, causes(line_)));
  if (!direct_ && reached_ == Reached::kData)
    lines.push_back(fmt::format("V.42 frames: {} sent again, {} received damaged", frames_again_, bad_frames_));
  if (lost_samples_ > 0) lines.push_back(fmt::format("samples lost by this host: {}", lost_samples_));
  return lines;
}

// Sources: V.59 (11/2000) 6.9 and 6.11, Tables 16 and 17.
std::vector<std::string> LastCall::objects() const {
  constexpr int kNoCall = 0, kNoDialTone = 1, kBusyTone = 4, kUnknownSignal = 20, kConnected = 40, kMost = 255;
  if (!begun_) return {fmt::format("callProgressResult{{{}}}", kNoCall)};
  const int result = reached_ == Reached::kData ? kConnected
                     : no_dial_tone_            ? kNoDialTone
                     : busy_                    ? kBusyTone
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
      fmt::format("framesRetransmitted{{{}}}", std::min<std::uint32_t>(frames_again_, 65'535)),
      fmt::format("retrainRequests{{{}}}", counted(retrains_)),
      fmt::format("retrainSuccesses{{{}}}", counted(recoveries_)),
      fmt::format("duration{{{}}}", duration()),
      fmt::format("caller{{{}}}", caller_ ? "TRUE" : "FALSE")};
}

}  // namespace offhook::modem
