// SPDX-License-Identifier: MIT
#include "driver/fax/service_class.h"

#include <utility>

namespace offhook::fax {

namespace {
constexpr std::size_t kMostOctets = 1 << 17;  // for a program that does not read: 72 s of a page at 14 400 bit/s
}

char Unstuffer::put(char c, std::string& data) {
  const bool second = std::exchange(after_dle_, !after_dle_ && c == kDle);
  if (!second) {
    if (c != kDle) data += c;
    return 0;
  }
  if (c != kDle && c != kSub) return c;
  data.append(c == kSub ? 2 : 1, kDle);
  return 0;
}

std::string stuffed(std::string_view octets) {
  std::string out;
  for (const char c : octets) out.append(c == kDle ? 2 : 1, c);
  return out;
}

void ServiceClass::say(std::string_view octets) {
  if (items_.empty() || items_.back().outcome) items_.emplace_back();
  std::string& text = items_.back().octets;
  if (text.size() + octets.size() <= kMostOctets) text += octets;
}

void ServiceClass::say(Outcome outcome) {
  say(std::string_view());
  items_.back().outcome = outcome;
}

std::string_view ServiceClass::octets() const {
  return items_.empty() ? std::string_view() : std::string_view(items_.front().octets);
}

void ServiceClass::drop(std::size_t n) {
  if (!items_.empty()) items_.front().octets.erase(0, n);
}

std::optional<Outcome> ServiceClass::take_outcome() {
  if (items_.empty() || !items_.front().octets.empty() || !items_.front().outcome) return std::nullopt;
  const Outcome outcome = *items_.front().outcome;
  items_.pop_front();
  return outcome;
}

}  // namespace offhook::fax
