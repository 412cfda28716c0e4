// SPDX-License-Identifier: MIT
#include "hostsim/call/network_side.h"

#include <utility>
#include <vector>

#include "hostsim/channel/g711.h"
#include "offhook/stream.h"

namespace offhook::hostsim {

NetworkSide::NetworkSide(const DigitalTrunkConfig& config, std::uint64_t seed, Analogue analogue)
    : analogue_(std::move(analogue)), trunk_(config, seed, *this) {
  to_network_.push(oh_silence(config.law == "a-law" ? OH_ALAW : OH_MULAW));
}

void NetworkSide::exchange(const std::uint8_t* played, std::uint8_t* captured, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    to_network_.push(played[k]);
    while (from_network_.count == 0) {
      std::array<std::int16_t, DigitalTrunk::kReceivedRatio> rx;
      trunk_.exchange(from_analogue_, rx.data());
      analogue_(rx.data(), &from_analogue_);
    }
    captured[k] = from_network_.pop();
  }
}

std::uint8_t NetworkSide::process(std::uint8_t rx) {
  from_network_.push(rx);
  return to_network_.pop();
}

void show_octets(const LineTap& tap, const DigitalTrunkConfig& trunk, const std::uint8_t* played,
                 const std::uint8_t* captured, std::size_t n) {
  std::vector<std::int16_t> linear(2 * n);
  for (std::size_t k = 0; k < n; ++k) {
    const bool a_law = trunk.law == "a-law";
    linear[k] = a_law ? a_law_decode(captured[k]) : mu_law_decode(captured[k]);
    linear[n + k] = a_law ? a_law_decode(played[k]) : mu_law_decode(played[k]);
  }
  tap({linear.data(), n}, {linear.data() + n, n});
}

}  // namespace offhook::hostsim
