// SPDX-License-Identifier: MIT
//
// Time series of fixed size, whatever the length of the call. Time is divided into buckets of 2^n ns. When the call
// needs more buckets, neighbours are merged into buckets of twice the length. No extreme value is lost: a bucket keeps
// its least and its greatest value with their exact times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace offhook {

struct SeriesPoint {
  std::uint64_t time_ns = 0;
  double value = 0;
  bool operator==(const SeriesPoint&) const = default;
};

/// Keeps the extremes of each bucket.
class ExtremaSeries {
 public:
  explicit ExtremaSeries(std::size_t buckets = 4096) : capacity_(buckets) {}
  /// Times may be slightly out of order. Amortised O(1).
  void add(std::uint64_t time_ns, double value);
  /// At most two points per bucket, in order of time. If no bucket has more than two values, these are all values.
  std::vector<SeriesPoint> points() const;
  std::uint64_t count() const { return count_; }
  std::uint64_t bucket_ns() const { return std::uint64_t{1} << shift_; }

 private:
  struct Bucket {
    SeriesPoint least;
    SeriesPoint greatest;
    std::uint64_t count = 0;
  };
  static void merge(Bucket& into, const Bucket& from);

  std::size_t capacity_;
  unsigned shift_ = 20;  // about a millisecond
  std::uint64_t count_ = 0;
  std::vector<Bucket> buckets_;
};

/// Sums of values per bucket: time, samples.
class SumSeries {
 public:
  explicit SumSeries(std::size_t buckets = 1024) : capacity_(buckets) {}
  void add(std::uint64_t time_ns, double amount);
  /// Distributes `end_ns - begin_ns` over the buckets that the interval covers.
  void add_interval(std::uint64_t begin_ns, std::uint64_t end_ns);
  const std::vector<double>& sums() const { return sums_; }
  std::uint64_t bucket_ns() const { return std::uint64_t{1} << shift_; }
  /// Merges buckets until they are at least this long, so that several series can share one time axis.
  void coarsen(std::uint64_t bucket_ns);

 private:
  double& at(std::uint64_t time_ns);
  void halve();

  std::size_t capacity_;
  unsigned shift_ = 20;
  std::vector<double> sums_;
};

/// A uniform sample of a stream: every 2^n-th item, where n grows so that at most `capacity` items are kept.
template <typename Item>
class ThinnedSample {
 public:
  explicit ThinnedSample(std::size_t capacity) : capacity_(capacity) {}
  void add(const Item& item) {
    if (seen_++ % stride_ != 0) return;
    if (items_.size() == capacity_) {
      for (std::size_t i = 0; 2 * i < items_.size(); ++i) items_[i] = items_[2 * i];
      items_.resize((items_.size() + 1) / 2);
      stride_ *= 2;
      if ((seen_ - 1) % stride_ != 0) return;
    }
    items_.push_back(item);
  }
  const std::vector<Item>& items() const { return items_; }
  std::uint64_t seen() const { return seen_; }

 private:
  std::size_t capacity_;
  std::uint64_t stride_ = 1;
  std::uint64_t seen_ = 0;
  std::vector<Item> items_;
};

}  // namespace offhook
