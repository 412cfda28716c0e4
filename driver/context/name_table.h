// SPDX-License-Identifier: MIT
//
// A table of objects with names and numbers, to which a program may add objects at start-up. Rows never move, so a
// reader needs no lock while another thread adds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace offhook {

template <typename Row, std::size_t kMost = 64>
class NameTable {
 public:
  /// @return its number, counted from 0. @throws std::invalid_argument for a name that is taken, std::length_error
  int add(std::string name, Row row) {
    const std::lock_guard lock(mutex_);
    const std::size_t n = size_.load(std::memory_order_relaxed);
    if (find(name) >= 0) throw std::invalid_argument("the name \"" + name + "\" is taken");
    if (n == kMost) throw std::length_error("no more than " + std::to_string(kMost) + " names");
    owned_[n] = std::move(name);
    names_[n] = owned_[n];
    rows_[n] = std::move(row);
    size_.store(n + 1, std::memory_order_release);
    return static_cast<int>(n);
  }
  /// @return -1: there is none
  int find(std::string_view name) const {
    for (std::size_t i = 0; i < names().size(); i++)
      if (names_[i] == name) return static_cast<int>(i);
    return -1;
  }
  const Row& operator[](int number) const { return rows_.at(static_cast<std::size_t>(number)); }
  std::span<const std::string_view> names() const { return {names_.data(), size_.load(std::memory_order_acquire)}; }

 private:
  std::mutex mutex_;
  std::atomic<std::size_t> size_{0};
  std::array<std::string, kMost> owned_;
  std::array<std::string_view, kMost> names_;
  std::array<Row, kMost> rows_;
};

}  // namespace offhook
