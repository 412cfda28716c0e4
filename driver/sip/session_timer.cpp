// SPDX-License-Identifier: MIT
#include "driver/sip/session_timer.h"

#include <fmt/format.h>

#include <charconv>

#include "driver/base/words.h"

namespace offhook::sip {

std::optional<SessionInterval> parse_session_interval(std::string_view value) {
  SessionInterval interval;
  const std::string_view seconds = trimmed(value.substr(0, value.find(';')));
  const auto [end, error] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), interval.seconds);
  if (error != std::errc() || end != seconds.data() + seconds.size()) return std::nullopt;
  for (std::size_t at = value.find(';'); at != std::string_view::npos; at = value.find(';')) {
    value.remove_prefix(at + 1);
    const std::string_view parameter = value.substr(0, value.find(';'));
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos || !same_word(trimmed(parameter.substr(0, equals)), "refresher")) continue;
    const std::string_view side = trimmed(parameter.substr(equals + 1));
    if (same_word(side, "uac")) interval.refresher = TransactionSide::kClient;
    if (same_word(side, "uas")) interval.refresher = TransactionSide::kServer;
  }
  return interval;
}

std::string session_interval_text(const SessionInterval& interval) {
  constexpr const char* kParameters[] = {"", ";refresher=uac", ";refresher=uas"};
  return fmt::format("{}{}", interval.seconds, kParameters[static_cast<int>(interval.refresher)]);
}

SessionInterval accepted_interval(const SessionInterval& offered, bool client_can) {
  SessionInterval accepted = offered;
  accepted.seconds = std::clamp(offered.seconds, kLeastInterval, kMostInterval);
  if (!client_can) accepted.refresher = TransactionSide::kServer;
  if (accepted.refresher == TransactionSide::kUnnamed) accepted.refresher = TransactionSide::kClient;
  return accepted;
}

}  // namespace offhook::sip
