// SPDX-License-Identifier: MIT
//
// Publishes a value of one thread to others, always complete. The writer never waits; a reader retries if a write came
// in between. A sequence number, odd during a write, protects words that are each atomic, so there is no data race. A
// reader that gets a new word also gets the number that was stored before it. No fences, which ThreadSanitizer does not
// support (H. Boehm, "Can seqlocks get along with programming language memory models?", MSPC 2012).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace offhook::modem {

template <typename T>
class Snapshot {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// One writer. Real-time: yes, O(size of T).
  void store(const T& value) {
    std::array<std::uint32_t, kWords> words{};
    std::memcpy(words.data(), &value, sizeof value);
    const std::uint32_t s = sequence_.load(std::memory_order_relaxed);
    sequence_.store(s + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
    sequence_.store(s + 2, std::memory_order_release);
  }
  /// From any thread. @return the last stored value; a T of zeros if none was stored
  T load() const {
    std::array<std::uint32_t, kWords> words;
    std::uint32_t before = 0;
    do {
      before = sequence_.load(std::memory_order_acquire);
      for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
    } while ((before & 1) != 0 || sequence_.load(std::memory_order_relaxed) != before);
    T value;
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
    return value;
  }

 private:
  static constexpr std::size_t kWords = (sizeof(T) + 3) / 4;
  std::atomic<std::uint32_t> sequence_{0};
  std::array<std::atomic<std::uint32_t>, kWords> words_{};
};

}  // namespace offhook::modem
