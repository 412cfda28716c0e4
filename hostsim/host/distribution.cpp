// SPDX-License-Identifier: MIT
#include "hostsim/host/distribution.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "hostsim/engine/random.h"

namespace offhook::hostsim {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("latency distribution: " + what);
}

/// latency = least + (greatest - least) (ln(1/longer) / ln(count))^k, as a list of points.
std::vector<LatencyPoint> weibull(double least_ms, double greatest_ms, double log_count, double k) {
  constexpr int kPieces = 200;
  std::vector<LatencyPoint> points = {{1, least_ms}};
  for (int i = 1; i <= kPieces; i++) {
    const double share = static_cast<double>(i) / kPieces;
    points.push_back(
        {natural_exp(-log_count * share), least_ms + (greatest_ms - least_ms) * natural_exp(k * natural_log(share))});
  }
  points.back().latency_ms = greatest_ms;
  return points;
}

}  // namespace

LatencyDistribution::LatencyDistribution(std::vector<LatencyPoint> points) : points_(std::move(points)) {
  if (points_.empty() || points_.front().longer != 1) refuse("expected a first point below every wait");
  for (std::size_t i = 0; i < points_.size(); i++) {
    const LatencyPoint& p = points_[i];
    if (!(p.latency_ms >= 1e-9 && p.latency_ms <= 1e12)) refuse("expected latencies from 1e-9 to 1e12 ms");
    if (!(p.longer >= 1e-300)) refuse("expected frequencies above 0");
    if (i > 0 && !(p.longer < points_[i - 1].longer * (1 - 1e-12) && p.latency_ms >= points_[i - 1].latency_ms))
      refuse("expected rarer waits to be longer");
    pieces_.push_back({natural_log(p.longer), natural_log(p.latency_ms), 0});
    if (i > 0) {
      Piece& before = pieces_[i - 1];
      before.slope = (pieces_[i].log_latency - before.log_latency) / (before.log_longer - pieces_[i].log_longer);
    }
  }
}

LatencyDistribution LatencyDistribution::through_worst_cases(double least_ms, std::span<const double> worst_ms,
                                                             std::span<const double> waits) {
  if (worst_ms.size() != waits.size()) refuse("expected as many worst cases as numbers of waits");
  std::vector<LatencyPoint> points = {{1, least_ms}};
  for (std::size_t i = 0; i < waits.size(); i++) points.push_back({1 / waits[i], worst_ms[i]});
  return LatencyDistribution(std::move(points));
}

LatencyDistribution LatencyDistribution::through_moments(double least_ms, double mean_ms, double greatest_ms,
                                                         double count) {
  if (!(0 < least_ms && least_ms < mean_ms && mean_ms < greatest_ms)) refuse("expected least < mean < greatest");
  if (!(count > 1)) refuse("expected more than one wait");
  const double log_count = natural_log(count);
  double low = 1e-3, high = 100;  // the mean decreases with k
  for (int i = 0; i < 60; i++) {
    const double k = (low + high) / 2;
    (LatencyDistribution(weibull(least_ms, greatest_ms, log_count, k)).mean_ms() > mean_ms ? low : high) = k;
  }
  return LatencyDistribution(weibull(least_ms, greatest_ms, log_count, low));
}

LatencyDistribution LatencyDistribution::more_often(double factor) const {
  std::vector<LatencyPoint> points = {points_.front()};
  for (std::size_t i = 1; i < points_.size(); i++) {
    if (const double longer = points_[i].longer * factor; longer < 1) points.push_back({longer, points_[i].latency_ms});
  }
  return LatencyDistribution(std::move(points));
}

double LatencyDistribution::latency_ms(double longer) const {
  if (longer <= points_.back().longer) return points_.back().latency_ms;
  // The first rarer point ends the piece.
  const auto after =
      std::partition_point(points_.begin() + 1, points_.end(), [&](const auto& p) { return p.longer >= longer; });
  const Piece& piece = pieces_[static_cast<std::size_t>(after - points_.begin()) - 1];
  return natural_exp(piece.log_latency + piece.slope * (piece.log_longer - natural_log(longer)));
}

double LatencyDistribution::longer_than(double latency_ms) const {
  if (latency_ms < points_.front().latency_ms) return 1;
  if (latency_ms >= points_.back().latency_ms) return 0;
  std::size_t i = points_.size() - 1;
  while (points_[i].latency_ms > latency_ms) i--;
  const Piece& piece = pieces_[i];
  return natural_exp(piece.log_longer - (natural_log(latency_ms) - piece.log_latency) / piece.slope);
}

double LatencyDistribution::mean_ms() const {
  double sum = points_.back().longer * points_.back().latency_ms;
  for (std::size_t i = 0; i + 1 < points_.size(); i++) {
    // The integral of latency over the shares of this piece: x u^a over (v, u], where x is the latency at u.
    const double u = points_[i].longer, v = points_[i + 1].longer, x = points_[i].latency_ms, a = pieces_[i].slope;
    const double log_ratio = pieces_[i].log_longer - pieces_[i + 1].log_longer;
    sum += std::abs(1 - a) < 1e-9 ? x * u * log_ratio : x * (u - v * natural_exp(a * log_ratio)) / (1 - a);
  }
  return sum;
}

const LatencyDistribution& HostLatencies::to(Modality modality, int priority) const {
  if (modality == Modality::kInterrupt) return interrupt;
  if (modality == Modality::kThread) return to_thread(ThreadKind::kRealTime, priority);
  if (!dpc) throw std::invalid_argument("this host has no DPCs");
  return *dpc;
}

const LatencyDistribution& HostLatencies::to_thread(ThreadKind kind, int priority) const {
  const LatencyDistribution* found = priority >= high_priority ? &high_thread : &thread;
  for (const MeasuredThread& m : more) {
    if (m.kind == kind && (kind != ThreadKind::kRealTime || m.priority <= priority)) found = &m.latency;
  }
  return *found;
}

bool HostLatencies::knows(ThreadKind kind) const {
  return kind == ThreadKind::kRealTime ||
         std::any_of(more.begin(), more.end(), [kind](const MeasuredThread& m) { return m.kind == kind; });
}

}  // namespace offhook::hostsim
