// SPDX-License-Identifier: MIT
#include "src/measure/hgrm.h"

#include <fmt/format.h>

namespace offhook::measure {

std::string to_hgrm(const LogLinearHistogram& histogram, double unit) {
  std::string out =
      fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
  const double all = static_cast<double>(histogram.count());
  std::uint64_t sum = 0;
  for (const HistogramBar& bar : histogram.bars(LogLinearHistogram::kPrecisionBits)) {
    sum += bar.count;
    const double share = static_cast<double>(sum) / all;
    const double value = static_cast<double>(std::min(bar.high, histogram.max())) / unit;
    if (sum < histogram.count()) {
      out += fmt::format("{:12.3f} {:2.12f} {:10} {:14.2f}\n", value, share, sum, 1 / (1 - share));
    } else {
      out += fmt::format("{:12.3f} {:2.12f} {:10}\n", value, 1.0, sum);
    }
  }
  out += fmt::format("#[Mean    = {:12.3f}, Max     = {:12.3f}]\n#[Total count    = {:12}]\n", histogram.mean() / unit,
                     static_cast<double>(histogram.max()) / unit, histogram.count());
  return out;
}

}  // namespace offhook::measure
