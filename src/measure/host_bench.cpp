// SPDX-License-Identifier: MIT
#include "src/measure/host_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "src/measure/real_time.h"

namespace offhook::measure {

void fail(const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

void Bench::row(const std::string& name, const std::string& what, const std::string& unit, double scale,
                const Body& body, const std::string& remark) {
  if (!next(name)) return;
  HostRow row{.name = name, .what = what, .unit = unit, .values = {}, .counters = {}, .skipped = {}, .remark = remark};
  const double counted = scale > 0 ? body.operations : 1;  // per transfer, not per byte
  const int repetitions = std::min(config_.repetitions, body.at_most);
  try {
    const std::uint64_t interrupts = interrupts_so_far();
    for (int k = -1; k < repetitions; ++k) {  // the first one is a warm-up
      body.before();
      const std::int64_t begin = now_ns();
      body.work();
      const double ns = std::max(0.0, static_cast<double>(now_ns() - begin) - null_ns_) / body.operations;
      body.after();
      if (k >= 0) row.values.push_back(scale > 0 ? ns / scale : 1e3 / std::max(ns, 1e-6));
    }
    row.counters.emplace_back("interrupts of the machine",
                              static_cast<double>(interrupts_so_far() - interrupts) / ((repetitions + 1) * counted));
    for (const CounterKind* kind : counters_.kinds) {
      Counter counter(*kind);
      const int series = std::max(1, repetitions / 5);
      double sum = 0;
      for (int k = 0; k < series; ++k) {
        body.before();
        counter.start();
        body.work();
        sum += counter.stop();
        body.after();
      }
      row.counters.emplace_back(kind->name, sum / (series * counted));
    }
  } catch (const std::exception& e) {
    row.values.clear();
    row.skipped = e.what();
  }
  result_.rows.push_back(std::move(row));
}
}  // namespace offhook::measure
