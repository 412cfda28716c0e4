// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/regehr_runs.h"

#include <utility>

namespace offhook::reproduce {

Axis plain_axis(std::string text) {
  Axis a;
  a.text = std::move(text);
  return a;
}

std::vector<double> numbers(const std::vector<RegehrResult>& results, double RegehrResult::*field) {
  std::vector<double> out;
  for (const RegehrResult& r : results) out.push_back(r.*field);
  return out;
}

std::vector<std::vector<RegehrResult>> run_all(const Run& run, const std::vector<RegehrRun>& runs,
                                               std::size_t repetitions) {
  std::vector<std::vector<RegehrResult>> out(runs.size(), std::vector<RegehrResult>(repetitions));
  const RegehrMachine machine;
  run.parallel(runs.size() * repetitions, [&](std::size_t i) {
    RegehrRun one = runs[i / repetitions];
    one.seed = run.seed;
    one.repetition = i % repetitions;
    out[i / repetitions][i % repetitions] = run_regehr(machine, one);
  });
  return out;
}

void add_mean(Series& series, double x, const std::vector<double>& values, double scale) {
  const MeanInterval m = mean_interval(values);
  series.x.push_back(x);
  series.y.push_back(m.mean * scale);
  series.interval.push_back(m.half_width * scale);
}

}  // namespace offhook::reproduce
