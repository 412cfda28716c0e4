// SPDX-License-Identifier: MIT
#include "hostsim/call/bit_error_tester.h"

#include <algorithm>
#include <bit>

namespace offhook::hostsim {

namespace {

constexpr unsigned kOctet = 8;

}  // namespace

void BitErrorTester::get(std::uint8_t* octets, std::size_t n) {
  count_sent_ += n;
  while (n > 0) {
    const auto m = static_cast<unsigned>(std::min<std::size_t>(n, kMostAtOnce));
    const std::uint32_t bits = next(sent_, m);
    for (unsigned k = 0; k < m; k += kOctet) *octets++ = static_cast<std::uint8_t>(bits >> k);
    sent_ = shifted(sent_, bits, m);
    n -= m;
  }
}

void BitErrorTester::put(const std::uint8_t* octets, std::size_t n) {
  received_ += n;
  while (n > 0) {
    const auto m = static_cast<unsigned>(std::min<std::size_t>(n, kMostAtOnce));
    std::uint32_t bits = 0;
    for (unsigned k = 0; k < m; k += kOctet) bits |= std::uint32_t{*octets++} << k;
    check(bits & ((1u << m) - 1), m);
    n -= m;
  }
}

void BitErrorTester::check(std::uint32_t bits, unsigned m) {
  const std::uint32_t predicted = next(expected_, m);
  const std::uint32_t differ = predicted ^ bits;
  const auto wrong = differ == 0 ? 0 : static_cast<std::uint32_t>(std::popcount(differ));
  if (!found_) {
    // A sequence of zeros satisfies the rule of the pattern, but is not the pattern.
    const bool follows = filled_ >= kToFind && wrong == 0 && expected_ != 0;
    right_ = follows ? right_ + static_cast<int>(m) : 0;
    filled_ += static_cast<int>(m);
    expected_ = shifted(expected_, bits, m);
    found_ = right_ >= kToBelieve;
    window_ = wrong_in_window_ = 0;
    return;
  }
  expected_ = shifted(expected_, predicted, m);
  compared_ += m;
  wrong_ += wrong;
  window_ += m;
  wrong_in_window_ += wrong;
  if (window_ < kWindow) return;
  if (wrong_in_window_ > kMostWrong) {
    ++losses_;
    restart();
  }
  window_ = wrong_in_window_ = 0;
}

void BitErrorTester::restart() {
  found_ = false;
  filled_ = right_ = 0;
}

}  // namespace offhook::hostsim
