// SPDX-License-Identifier: MIT
//
// The digital trunk as seen by the modem on the digital network. The trunk keeps the analogue modem's time, but here
// the octets set the pace. Each transmitted octet is one period of the network, in which the analogue modem runs its
// own periods. One octet waits on the way out: as the clocks differ, two periods of the network may fall into one
// period of the analogue modem.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "hostsim/call/connection.h"
#include "hostsim/channel/digital_trunk.h"

namespace offhook::hostsim {

class NetworkSide : private DigitalEnd {
 public:
  /// One sample period of the analogue modem. @param rx  [DigitalTrunk::kReceivedRatio]  @param tx  [1]
  using Analogue = std::function<void(const std::int16_t* rx, std::int16_t* tx)>;

  /// @throws std::invalid_argument as DigitalTrunk
  NetworkSide(const DigitalTrunkConfig& config, std::uint64_t seed, Analogue analogue);

  /// @param[in] played [n]  octets sent  @param[out] captured [n]  octets received.  No allocation.
  void exchange(const std::uint8_t* played, std::uint8_t* captured, std::size_t n);

 private:
  struct Octets {
    void push(std::uint8_t octet) { of[(first + count++) % of.size()] = octet; }
    std::uint8_t pop() {
      const std::uint8_t octet = of[first];
      first = (first + 1) % of.size();
      --count;
      return octet;
    }
    std::array<std::uint8_t, 4> of{};
    std::size_t first = 0, count = 0;
  };
  std::uint8_t process(std::uint8_t rx) override;

  Analogue analogue_;
  DigitalTrunk trunk_;
  Octets to_network_, from_network_;
  std::int16_t from_analogue_ = 0;
};

/// The card's samples converted to linear samples. @param played, captured [n]  octets of the trunk's law
void show_octets(const LineTap& tap, const DigitalTrunkConfig& trunk, const std::uint8_t* played,
                 const std::uint8_t* captured, std::size_t n);

}  // namespace offhook::hostsim
