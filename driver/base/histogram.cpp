// SPDX-License-Identifier: MIT
#include "driver/base/histogram.h"

#include <algorithm>
#include <cmath>

namespace offhook {

std::uint64_t LogLinearHistogram::low(std::size_t index, unsigned bits) {
  const std::size_t octave = index >> bits;
  if (octave <= 1) return index;  // the octave of 2^bits also has buckets of one value
  const std::size_t shift = octave - 1;
  if (shift >= 64 - bits) return 0;  // past the last bucket
  return static_cast<std::uint64_t>(index - (shift << bits)) << shift;
}

void LogLinearHistogram::add(const LogLinearHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

std::uint64_t LogLinearHistogram::quantile(double share) const {
  if (count_ == 0) return 0;
  const double exact_rank = std::ceil(share * static_cast<double>(count_));
  const std::uint64_t rank =
      std::clamp<std::uint64_t>(exact_rank < 1 ? 1 : static_cast<std::uint64_t>(exact_rank), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::min(high(i, kPrecisionBits), max_);
  }
  return max_;
}

std::vector<HistogramBar> LogLinearHistogram::bars(unsigned bits) const {
  std::vector<HistogramBar> out;
  std::size_t last = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const std::size_t coarse = index(low(i, kPrecisionBits), bits);
    if (coarse != last) out.push_back({low(coarse, bits), high(coarse, bits), 0});
    last = coarse;
    out.back().count += counts_[i];
  }
  return out;
}

void LiveHistogram::add(std::int64_t ns) {
  constexpr auto kRelaxed = std::memory_order_relaxed;  // one writer
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
  auto& count = counts_[std::min(LogLinearHistogram::index(value, kBits), counts_.size() - 1)];
  if (value > max_.load(kRelaxed)) max_.store(value, kRelaxed);
  count.store(count.load(kRelaxed) + 1, kRelaxed);
}

LogLinearHistogram LiveHistogram::read() const {
  LogLinearHistogram out;
  const std::uint64_t max = max_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const std::uint64_t n = counts_[i].load(std::memory_order_relaxed);
    if (n == 0) continue;
    const bool last = i + 1 == counts_.size();  // the last bucket takes all longer times
    out.add(last ? max : std::min(LogLinearHistogram::high(i, kBits), max), n);
  }
  return out;
}

std::uint64_t LinearHistogram::count_between(std::uint64_t low, std::uint64_t high) const {
  const std::size_t end = std::min<std::uint64_t>((high + width_ - 1) / width_, counts_.size());
  std::uint64_t sum = 0;
  for (std::size_t i = low / width_; i < end; ++i) sum += counts_[i];
  return sum;
}

}  // namespace offhook
