// SPDX-License-Identifier: MIT
#include "src/lab/analysis/series.h"

#include <algorithm>

namespace offhook {

void ExtremaSeries::merge(Bucket& into, const Bucket& from) {
  if (from.count == 0) return;
  if (into.count == 0 || from.least.value < into.least.value) into.least = from.least;
  if (into.count == 0 || from.greatest.value > into.greatest.value) into.greatest = from.greatest;
  into.count += from.count;
}

void ExtremaSeries::add(std::uint64_t time_ns, double value) {
  while ((time_ns >> shift_) >= capacity_) {
    shift_ += 1;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      if (i % 2 == 0) {
        buckets_[i / 2] = buckets_[i];
      } else {
        merge(buckets_[i / 2], buckets_[i]);
      }
    }
    buckets_.resize((buckets_.size() + 1) / 2);
  }
  const std::size_t i = static_cast<std::size_t>(time_ns >> shift_);
  if (i >= buckets_.size()) buckets_.resize(i + 1);
  merge(buckets_[i], {{time_ns, value}, {time_ns, value}, 1});
  count_ += 1;
}

std::vector<SeriesPoint> ExtremaSeries::points() const {
  std::vector<SeriesPoint> out;
  for (const Bucket& bucket : buckets_) {
    if (bucket.count == 0) continue;
    const bool least_first = bucket.least.time_ns <= bucket.greatest.time_ns;
    out.push_back(least_first ? bucket.least : bucket.greatest);
    if (bucket.least != bucket.greatest) out.push_back(least_first ? bucket.greatest : bucket.least);
  }
  return out;
}

void SumSeries::halve() {
  shift_ += 1;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (i % 2 == 0) {
      sums_[i / 2] = sums_[i];
    } else {
      sums_[i / 2] += sums_[i];
    }
  }
  sums_.resize((sums_.size() + 1) / 2);
}

double& SumSeries::at(std::uint64_t time_ns) {
  while ((time_ns >> shift_) >= capacity_) halve();
  const std::size_t i = static_cast<std::size_t>(time_ns >> shift_);
  if (i >= sums_.size()) sums_.resize(i + 1);
  return sums_[i];
}

void SumSeries::add(std::uint64_t time_ns, double amount) {
  at(time_ns) += amount;
}

void SumSeries::add_interval(std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (end_ns <= begin_ns) return;
  double& last = at(end_ns - 1);  // determines the bucket length
  if (begin_ns >> shift_ == (end_ns - 1) >> shift_) {
    last += static_cast<double>(end_ns - begin_ns);
    return;
  }
  while (begin_ns < end_ns) {
    const std::uint64_t stop = std::min(end_ns, ((begin_ns >> shift_) + 1) << shift_);
    at(begin_ns) += static_cast<double>(stop - begin_ns);
    begin_ns = stop;
  }
}

void SumSeries::coarsen(std::uint64_t bucket_ns) {
  while (this->bucket_ns() < bucket_ns) halve();
}

}  // namespace offhook
