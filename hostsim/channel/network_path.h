// SPDX-License-Identifier: MIT
//
// One direction through a network of octets: a delay, and faults. On a circuit, slips: the elastic store of an exchange
// deletes or repeats an octet. In packets: whole packets are lost, and the far end's playout buffer moves.
//
//    octets --> store -------------------------------> playout: delay + 2 packets behind, and more after a jump
//                 ^ lost packets: silence, or the packet before once more
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hostsim/engine/random.h"

namespace offhook::hostsim {

struct NetworkFaults {
  double slip_every_s = 0;  ///< period in which an octet is deleted or, alternately, repeated; 0: never
  double packet_ms = 0;     ///< packet length in which octets travel; 0: a circuit
  double packet_loss = 0;   ///< share of the packets that are lost
  bool concealment = true;  ///< true: the previous packet replaces a lost one; false: silence
  double jump_every_s = 0;  ///< period in which the playout falls back or, alternately, comes forward, in alternating
                            ///< directions; 0: never
  double jump_ms = 20;      ///< length of a jump
};

class NetworkPath {
 public:
  /// @param silence  octet that means silence  @param random  numbers of this direction only
  /// @param late  delay of the faults' times as a share of a period, 0 to 1
  /// @throws std::invalid_argument naming the field and the expected value
  NetworkPath(const NetworkFaults& faults, std::size_t delay, std::uint8_t silence, Random random, double late);

  /// One octet in, one octet out, 8000 times per second. No allocation.
  std::uint8_t put(std::uint8_t octet);

 private:
  struct Times {
    std::uint64_t every = 0, next = 0;  // octets; 0: never
    bool back = false;                  // whether the next one falls back
    bool due(std::uint64_t now) {
      if (every == 0 || now < next) return false;
      next += every;
      back = !back;
      return true;
    }
  };
  std::uint8_t& at(std::uint64_t n) { return store_[n & (store_.size() - 1)]; }
  void end_packet();

  const std::size_t packet_, jump_;
  const double loss_;
  const bool concealment_;
  const std::uint8_t silence_;
  const Random random_;
  Times slips_, jumps_;
  std::uint64_t written_ = 0;
  std::size_t behind_;
  std::size_t silent_ = 0;  // remaining octets of silence after a jump
  std::vector<std::uint8_t> store_;
};

}  // namespace offhook::hostsim
