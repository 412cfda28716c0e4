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

std::string_view text_of(CallEnd why) {
  return std::find_if(std::begin(kTexts), std::end(kTexts), [why](const EndText& t) { return t.why == why; })->text;
}

}  // namespace

CallEnd end_of(const CallStatus& status) {
  const oh_pump_status& pump = status.pump;
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
  if (!status.failure().empty()) failure_ = status.failure();
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
  return fmt::format("{},{}{}; reached: {}", static_cast<int>(why_), text_of(why_),
                     failure_.empty() ? "" : fmt::format(" (the modem {})", failure_), reached);
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
  lines.push_back(fmt::format("retrains: {}, recovered {}", retrains_, recoveries_));
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
  return {
      fmt::format("callProgressResult{{{}}}", result),
      fmt::format("callTerminate{{{}}}", ended_ ? fmt::format("{}", static_cast<int>(why_)) : "NULL"),
      fmt::format("txCarrier{{{}}}", carrier),
      fmt::format("rxCarrier{{{}}}", carrier),
      fmt::format("txDataHistory{{{}}}", tx_bit_rate_ > 0 ? fmt::format("{}", tx_bit_rate_) : "NULL"),
      fmt::format("rxDataHistory{{{}}}", rx_bit_rate_ > 0 ? fmt::format("{}", rx_bit_rate_) : "NULL"),
      fmt::format("rxLevelEstimate{{{}}}",
                  reached_ == Reached::kData ? fmt::format("{:.0f}dBm0", static_cast<double>(rx_level_dbm0_)) : "NULL"),
      fmt::format("retrainRequests{{{}}}", counted(retrains_)),
      fmt::format("retrainSuccesses{{{}}}", counted(recoveries_)),
      fmt::format("duration{{{}}}", duration()),
      fmt::format("caller{{{}}}", caller_ ? "TRUE" : "FALSE")};
}

}  // namespace offhook::modem
