// SPDX-License-Identifier: MIT
//
// Samples of the instruction pointer on every CPU, by perf_event's CPU clock: no hardware counter is needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace offhook::measure {

struct IpSample {
  std::int64_t time = 0;  ///< CLOCK_MONOTONIC, ns
  std::uint64_t ip = 0;
  int cpu = 0, pid = 0;
  bool kernel = false;
};

class IpSampler {
 public:
  /// @throws std::runtime_error naming the missing permission (root or kernel.perf_event_paranoid)
  explicit IpSampler(int hz);
  ~IpSampler();
  IpSampler(const IpSampler&) = delete;
  IpSampler& operator=(const IpSampler&) = delete;
  void off();  ///< the rings keep about the newest 4096 samples per CPU
  /// In order of time. Call off() first.
  std::vector<IpSample> read() const;

 private:
  struct Ring;
  std::vector<Ring> rings_;
};

/// Names of kernel addresses, from /proc/kallsyms. Without permission to read it, names are empty.
class KernelSymbols {
 public:
  KernelSymbols();
  std::string name(std::uint64_t address) const;

 private:
  std::vector<std::pair<std::uint64_t, std::string>> symbols_;
};

}  // namespace offhook::measure
