// SPDX-License-Identifier: MIT
//
// Sends and checks the pattern of a bit error rate test: the pseudo-random sequence of length 2^31 - 1, b(n) = b(n-28)
// xor b(n-31). The checker synchronises to the received bits. It synchronises again if every fifth bit of a million was
// wrong. Lost or inserted bits therefore cost one loss of synchronisation, not permanent bit errors.
//
// Source: ITU-T O.150 5.8 (the sequence), 6 (synchronisation is lost at an error ratio of 0.2, there of a second)
#pragma once

#include <cstddef>
#include <cstdint>

namespace offhook::hostsim {

/// The sent bits and the expected bits of both ends. The first bit is the least significant one of an octet, as in
/// oh_bit_port.
class BitErrorTester {
 public:
  explicit BitErrorTester(std::uint32_t start = 1) : sent_((start * 0x9e3779b1u & kMask) | 1u) {}

  /// The next n bits. @param[out] octets  [(n + 7) / 8]. Real-time: yes.
  void get(std::uint8_t* octets, std::size_t n);
  /// n received bits. Real-time: yes.
  void put(const std::uint8_t* octets, std::size_t n);

  /// Restarts the synchronisation: the following bits are from another part of the sequence.
  void restart();

  std::uint64_t sent() const { return count_sent_; }
  std::uint64_t received() const { return received_; }
  std::uint64_t compared() const { return compared_; }  ///< of these, while synchronised
  std::uint64_t wrong() const { return wrong_; }
  std::uint32_t losses() const { return losses_; }  ///< of synchronisation

 private:
  static constexpr std::uint32_t kMask = 0x7fffffff;
  static constexpr int kToFind = 31, kToBelieve = 64;  // bits that fill the register, and bits that must match after it
  static constexpr std::uint32_t kWindow = 1u << 20, kMostWrong = kWindow / 5;

  static constexpr unsigned kMostAtOnce = 24;  // whole octets of the 28 bits that next() could return

  /// The next m bits of a register, m at most kMostAtOnce; the oldest bit of the register is the lowest.
  static std::uint32_t next(std::uint32_t r, unsigned m) { return (r ^ r >> 3) & ((1u << m) - 1); }
  static std::uint32_t shifted(std::uint32_t r, std::uint32_t bits, unsigned m) { return r >> m | bits << (31 - m); }
  void check(std::uint32_t bits, unsigned m);

  std::uint32_t sent_, expected_ = 0;
  int filled_ = 0, right_ = 0;  // bits in the register; bits that matched after it
  bool found_ = false;
  std::uint32_t window_ = 0, wrong_in_window_ = 0, losses_ = 0;
  std::uint64_t count_sent_ = 0, received_ = 0, compared_ = 0, wrong_ = 0;
};

}  // namespace offhook::hostsim
