// SPDX-License-Identifier: MIT
//
// Histograms of fixed size. LogLinearHistogram covers all of 64 bits with a bounded relative error, as HdrHistogram
// does. Each value below 2^kPrecisionBits has its own bucket, and every octave above is divided into the same number of
// equal buckets. LiveHistogram lets a real-time thread fill one. LinearHistogram has equal buckets, as the paper's
// latency figures.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace offhook {

/// One bar: values in [low, high], both inclusive.
struct HistogramBar {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t count = 0;
};

class LogLinearHistogram {
 public:
  static constexpr unsigned kPrecisionBits = 7;  ///< relative error below 2^-7

  /// O(1), no allocation.
  void add(std::uint64_t value, std::uint64_t times = 1) {
    counts_[index(value, kPrecisionBits)] += times;
    count_ += times;
    sum_ += static_cast<double>(value) * static_cast<double>(times);
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  void add(const LogLinearHistogram& other);

  std::uint64_t count() const { return count_; }
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }  ///< exact
  std::uint64_t max() const { return max_; }                    ///< exact
  double mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }

  /// Nearest-rank quantile: the least value v with at least share * count values <= v.
  /// @param share 0 to 1.  @return at least the exact quantile and less than 2^-7 of it above; 0 when empty
  std::uint64_t quantile(double share) const;

  /// The non-empty bars, lowest first, with 2^bits bars per octave.  @pre bits <= kPrecisionBits
  std::vector<HistogramBar> bars(unsigned bits = 3) const;

  /// The bucket of a value, and its least and greatest value, with 2^bits buckets per octave.
  static std::size_t index(std::uint64_t value, unsigned bits) {
    const unsigned width = static_cast<unsigned>(std::bit_width(value));
    if (width <= bits) return value;
    const unsigned shift = width - 1 - bits;  // in this octave, each bucket is 2^shift wide
    return (static_cast<std::size_t>(shift) << bits) + static_cast<std::size_t>(value >> shift);
  }
  static std::uint64_t low(std::size_t index, unsigned bits);
  static std::uint64_t high(std::size_t index, unsigned bits) {
    const std::uint64_t next = low(index + 1, bits);  // 0 after the last bucket: wraps to the largest value
    return next - 1;
  }

 private:
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>((64 - kPrecisionBits + 1) << kPrecisionBits);
  std::uint64_t count_ = 0;
  std::uint64_t min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

/// Times in ns, counted by one real-time thread and read by other threads at any time: 32 buckets per octave, up to 18
/// s.
class LiveHistogram {
 public:
  void add(std::int64_t ns);  ///< real-time: yes; only for the one writer
  /// A copy of the counts so far. Each value is the greatest of its bucket; the maximum is exact.
  LogLinearHistogram read() const;

 private:
  static constexpr unsigned kBits = 5, kOctaves = 34;
  std::array<std::atomic<std::uint64_t>, kOctaves << kBits> counts_{};
  std::atomic<std::uint64_t> max_{0};
};

/// Equal buckets from 0; values beyond the last are counted in `beyond` and included in the maximum.
class LinearHistogram {
 public:
  LinearHistogram(std::uint64_t bucket_width, std::size_t buckets) : width_(bucket_width), counts_(buckets) {}

  void add(std::uint64_t value) {
    const std::uint64_t i = value / width_;
    if (i < counts_.size()) {
      counts_[i] += 1;
    } else {
      beyond_ += 1;
    }
    count_ += 1;
    if (value > max_) max_ = value;
  }
  std::uint64_t bucket_width() const { return width_; }
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  std::uint64_t beyond() const { return beyond_; }
  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }
  /// @return how many values lie in [low, high), rounded outwards to whole buckets.
  std::uint64_t count_between(std::uint64_t low, std::uint64_t high) const;

 private:
  std::uint64_t width_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t beyond_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace offhook
