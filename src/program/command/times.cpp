// SPDX-License-Identifier: MIT
#include "src/program/command/times.h"

#include <fmt/format.h>

namespace offhook::command {
namespace {

using Histogram = LogLinearHistogram;
using HistogramKeys = record::Written<Histogram>;

double us(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-3;
}

record::Value bars(const Histogram& h) {
  record::Values all;
  for (const HistogramBar& bar : h.bars(5)) all.emplace_back(record::Values{us(bar.low), us(bar.high), bar.count});
  return all;
}

constexpr record::Row kTimesRows[] = {
    HistogramKeys::of("unit", "", "unit of the times: us", [](const Histogram&) { return "us"; }),
    HistogramKeys::of<&Histogram::count>("count", "", "number of times"),
    HistogramKeys::of("min", "us", "shortest", [](const Histogram& h) { return us(h.min()); }),
    HistogramKeys::of("mean", "us", "mean", [](const Histogram& h) { return h.mean() * 1e-3; }),
    HistogramKeys::of("p50", "us", "median", [](const Histogram& h) { return us(h.quantile(0.5)); }),
    HistogramKeys::of("p99", "us", "99th percentile", [](const Histogram& h) { return us(h.quantile(0.99)); }),
    HistogramKeys::of("p99.9", "us", "99.9th percentile", [](const Histogram& h) { return us(h.quantile(0.999)); }),
    HistogramKeys::of("p99.99", "us", "99.99th percentile", [](const Histogram& h) { return us(h.quantile(0.9999)); }),
    HistogramKeys::of("max", "us", "longest", [](const Histogram& h) { return us(h.max()); }),
    HistogramKeys::of("bars", "us", "[from, to, count] of each bar of the histogram",
                      [](const Histogram& h) { return bars(h); })
        .with(&record::Row::list, 2)
        .with(&record::Row::type, "number"),
};
constexpr record::Row kQuantilesRows[] = {
    HistogramKeys::of<&Histogram::count>("count", "", "number of times"),
    HistogramKeys::of("p50_us", "us", "median", [](const Histogram& h) { return us(h.quantile(0.5)); }),
    HistogramKeys::of("p99_us", "us", "99th percentile", [](const Histogram& h) { return us(h.quantile(0.99)); }),
    HistogramKeys::of("p999_us", "us", "99.9th percentile", [](const Histogram& h) { return us(h.quantile(0.999)); }),
    HistogramKeys::of("max_us", "us", "longest", [](const Histogram& h) { return us(h.max()); }),
};

}  // namespace

constexpr record::Table kTimes{kTimesRows, "times"}, kQuantiles{kQuantilesRows, "quantiles"};

void add_times(Table& table, const LogLinearHistogram& service, const LogLinearHistogram& dispatch) {
  const auto row = [&table](const char* name, const LogLinearHistogram& h) {
    table.row({fmt::format("{}, us: median, 99 %, 99.9 %, max", name),
               fmt::format("{:.1f}  {:.1f}  {:.1f}  {:.1f}", us(h.quantile(0.5)), us(h.quantile(0.99)),
                           us(h.quantile(0.999)), us(h.max()))});
  };
  row("service", service);
  row("request to service", dispatch);
}

}  // namespace offhook::command
