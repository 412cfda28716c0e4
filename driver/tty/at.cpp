// SPDX-License-Identifier: MIT
#include "driver/tty/at.h"

#include <fmt/format.h>

#include <algorithm>

namespace offhook::modem {

namespace {

/// A result in the form of ATV1, and the settings of X that print it. The others print NO CARRIER (V.250 6.2.7).
struct ResultText {
  Result result;
  std::string_view text;
  unsigned x = 0b11111;          // bit n: Xn
  std::string_view number = {};  // text of ATV0, if it is not the number of the result
};
constexpr ResultText kResults[] = {{Result::kOk, "OK"},
                                   {Result::kConnect, "CONNECT"},
                                   {Result::kRing, "RING"},
                                   {Result::kNoCarrier, "NO CARRIER"},
                                   {Result::kError, "ERROR"},
                                   {Result::kNoDialtone, "NO DIALTONE", 0b10100},
                                   {Result::kBusy, "BUSY", 0b11000},
                                   {Result::kNoAnswer, "NO ANSWER"},
                                   {Result::kOtherCarrier, "+FCERROR", 0b11111, "+F4"},
                                   {Result::kFax, "FAX"},
                                   {Result::kData, "DATA"}};

const ResultText& shown(Result result, int x) {
  const auto of = [](Result r) -> const ResultText& {
    return *std::find_if(std::begin(kResults), std::end(kResults),
                         [r](const ResultText& row) { return row.result == r; });
  };
  const ResultText& row = of(result);
  return (row.x >> x & 1) != 0 ? row : of(Result::kNoCarrier);
}

}  // namespace

AtSettings::AtSettings() {
  s[2] = 43;  // +
  s[3] = 13;
  s[4] = 10;
  s[5] = 8;
  s[6] = 2;    // s before dialling
  s[7] = 60;   // s to wait for carrier
  s[8] = 2;    // s a comma
  s[10] = 14;  // 0.1 s without carrier
  s[11] = 95;  // ms per DTMF digit
  s[12] = 50;  // 1/50 s guard time
}

AtInterpreter::AtInterpreter(AtHost& host, std::function<void(std::string_view)> dte)
    : host_(host), dte_(std::move(dte)) {}

void AtInterpreter::information(std::string_view text) {
  const std::string end = {static_cast<char>(settings_.s[3]), static_cast<char>(settings_.s[4])};
  dte_((settings_.verbose != 0 ? end : "") + std::string(text) + end);
}

void AtInterpreter::report(Result result, std::uint32_t rate, std::string_view words) {
  if (settings_.quiet != 0) return;
  const ResultText& row = shown(result, settings_.extended);
  if (settings_.verbose == 0) {
    const std::string number =
        row.number.empty() ? std::to_string(static_cast<int>(row.result)) : std::string(row.number);
    dte_(number + static_cast<char>(settings_.s[3]));
  } else if (result == Result::kConnect && settings_.extended > 0 && rate > 0) {
    information(fmt::format("{} {}{}", row.text, rate, words));
  } else {
    information(row.text);
  }
}

void AtInterpreter::put(char c) {
  if (settings_.echo != 0) dte_({&c, 1});
  c = static_cast<char>(c & 0x7f);  // 7-bit programs send a parity bit
  switch (line_.put(c, static_cast<char>(settings_.s[3]), static_cast<char>(settings_.s[5]))) {
    case AtLine::Action::kRun:
    case AtLine::Action::kRepeat:
      run(line_.body());
      break;
    case AtLine::Action::kRefuse:
      report(Result::kError);
      break;
    default:
      break;
  }
}

bool EscapeDetector::process(std::string_view characters, std::int64_t now_ms, const AtSettings& settings) {
  const std::int64_t guard = settings.s[12] * 20;
  const char escape = static_cast<char>(settings.s[2]);
  if (settings.s[2] > 127) return false;  // disabled
  const bool paused = now_ms - last_ms_ >= guard;
  if (characters.empty()) {
    if (seen_ == 3 && paused) {
      seen_ = 0;
      return true;
    }
    return false;
  }
  // The three may arrive together or one by one; any other character among them cancels the sequence until the next
  // pause.
  if (paused) seen_ = 0;
  const bool escapes = std::all_of(characters.begin(), characters.end(), [escape](char c) { return c == escape; });
  const bool continues = seen_ > 0 || (seen_ == 0 && paused);
  seen_ = continues && escapes && static_cast<std::size_t>(seen_) + characters.size() <= 3
              ? seen_ + static_cast<int>(characters.size())
              : -1;
  last_ms_ = now_ms;
  return false;
}

}  // namespace offhook::modem
