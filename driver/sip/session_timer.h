// SPDX-License-Identifier: MIT
//
// Session timers: both ends of a call agree on an interval, in which one of them, the refresher, repeats a request. A
// call that is not refreshed ends, so that no end keeps a call which the other has forgotten. Source: RFC 4028.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offhook::sip {

inline constexpr std::uint32_t kLeastInterval = 90;  ///< seconds; RFC 4028 4 permits no smaller value
inline constexpr std::uint32_t kMostInterval = 86'400;

/// The sender of a request (client) or of its response (server).
enum class TransactionSide : std::uint8_t { kUnnamed, kClient, kServer };

/// Session-Expires.
struct SessionInterval {
  std::uint32_t seconds = 0;
  TransactionSide refresher = TransactionSide::kUnnamed;
  bool operator==(const SessionInterval&) const = default;
};

/// The value of Session-Expires or Min-SE, from an untrusted source. @return nothing if it is not an interval
std::optional<SessionInterval> parse_session_interval(std::string_view value);
/// "1800;refresher=uac"
std::string session_interval_text(const SessionInterval& interval);

/// The interval that the receiver of a request accepts. @param offered  by the request; at least kLeastInterval
/// @param client_can  the request has Supported: timer. A client without it is not the refresher.
SessionInterval accepted_interval(const SessionInterval& offered, bool client_can);

/// Times after the last refresh. The refresher repeats at half of the interval; an end that sees no refresh ends the
/// call before the interval is over, by a third of it but at most 32 s. Source: RFC 4028 7.2, 10
constexpr std::uint64_t refresh_after_ms(std::uint32_t interval_s) {
  return std::uint64_t{interval_s} * 500;
}
constexpr std::uint64_t end_after_ms(std::uint32_t interval_s) {
  const std::uint32_t before = interval_s / 3 < 32 ? interval_s / 3 : 32;
  return std::uint64_t{interval_s - before} * 1000;
}

}  // namespace offhook::sip
