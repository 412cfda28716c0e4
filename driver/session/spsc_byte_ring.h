// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace offhook::modem {

/// Bytes from one thread to another without a lock. Neither thread ever waits.
template <std::size_t kCapacity>
class SpscByteRing {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  /// @return bytes taken, 0 to n. The writer's thread.
  std::size_t write(const std::uint8_t* bytes, std::size_t n) {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    n = std::min(n, kCapacity - (head - tail_.load(std::memory_order_acquire)));
    copy(head, n, [&](std::size_t at, std::size_t done, std::size_t k) { std::memcpy(&ring_[at], bytes + done, k); });
    head_.store(head + n, std::memory_order_release);
    return n;
  }
  /// @return bytes given, 0 to n. They stay until drop(). The reader's thread.
  std::size_t peek(std::uint8_t* bytes, std::size_t n) const {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    n = std::min(n, head_.load(std::memory_order_acquire) - tail);
    copy(tail, n, [&](std::size_t at, std::size_t done, std::size_t k) { std::memcpy(bytes + done, &ring_[at], k); });
    return n;
  }
  void drop(std::size_t n) { tail_.store(tail_.load(std::memory_order_relaxed) + n, std::memory_order_release); }
  std::size_t space() const {
    return kCapacity - (head_.load(std::memory_order_relaxed) - tail_.load(std::memory_order_acquire));
  }
  std::size_t size() const { return head_.load(std::memory_order_acquire) - tail_.load(std::memory_order_acquire); }

 private:
  template <class Piece>
  static void copy(std::size_t position, std::size_t n, Piece piece) {
    const std::size_t at = position % kCapacity;
    const std::size_t first = std::min(n, kCapacity - at);
    piece(at, 0, first);
    piece(0, first, n - first);
  }
  std::array<std::uint8_t, kCapacity> ring_;
  std::atomic<std::size_t> head_{0}, tail_{0};
};

}  // namespace offhook::modem
