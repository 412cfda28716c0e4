// SPDX-License-Identifier: MIT
//
// How each benchmark of the host is repeated, timed and counted.
#pragma once

#include "src/measure/counters.h"
#include "src/measure/host.h"

namespace offhook::measure {

/// @throws std::runtime_error with the text of errno
[[noreturn]] void fail(const std::string& what);

/// Work that the compiler must not remove.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// The parts of one repetition, of which only `work` is measured.
struct Body {
  std::function<void()> work;
  double operations = 1;  ///< in one repetition
  std::function<void()> before = [] {}, after = [] {};
  int at_most = 1 << 20;  ///< repetitions if each takes long
};

class Bench {
 public:
  Bench(const HostConfig& config, HostResult& result, const std::function<bool(double, const std::string&)>& progress)
      : config_(config), result_(result), progress_(progress), counters_(counters_here()) {
    result_.counters = counters_.statement;
  }

  /// @return whether there is time to measure this row
  bool next(const std::string& name) {
    stopped_ = stopped_ || !progress_(static_cast<double>(done_++) / kRows, name);
    return !stopped_;
  }

  bool keep_going(const std::string& name) {
    stopped_ = stopped_ || !progress_(done_ / kRows, name);
    return !stopped_;
  }

  /// @param scale  ns per unit; 0: the unit is MB/s, and an operation is one byte
  void row(const std::string& name, const std::string& what, const std::string& unit, double scale, const Body& body,
           const std::string& remark = "");
  void skip(const std::string& name, const std::string& what, const std::string& why) {
    if (!next(name)) return;
    result_.rows.push_back({name, what, "", {}, {}, why, ""});
  }
  void take(HostRow row) { result_.rows.push_back(std::move(row)); }
  HostRow& last() { return result_.rows.back(); }
  bool stopped() const { return stopped_; }
  void correct_by(double null_ns) { null_ns_ = null_ns; }
  const HostConfig& config() const { return config_; }
  HostResult& result() { return result_; }

 private:
  static constexpr double kRows = 20;
  const HostConfig& config_;
  HostResult& result_;
  const std::function<bool(double, const std::string&)>& progress_;
  CountersHere counters_;
  double null_ns_ = 0;
  int done_ = 0;
  bool stopped_ = false;
};

// The benchmarks, by subject.
void files(Bench& bench);
void memory(Bench& bench);
void bitblt(Bench& bench);

}  // namespace offhook::measure
