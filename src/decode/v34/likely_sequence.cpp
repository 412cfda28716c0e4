// SPDX-License-Identifier: MIT
#include "src/decode/v34/likely_sequence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace offhook::decode {
namespace {

constexpr int kLabels = 8, kInputs = 16;
constexpr float kNever = 1e30f;

// The point of each subset that is nearest to one received.
struct Nearest {
  v34::Point point[kLabels];
  float squared[kLabels];
};
Nearest nearest_of(Cf y) {
  constexpr int kPeriod = 8;  // of the subsets along both axes
  static constexpr float kMost = 250;
  const auto place = [](float v, int offset) {
    v = v > -kMost ? std::min(v, kMost) : -kMost;  // NaN, too
    const float k = std::floor((v - static_cast<float>(offset)) / kPeriod + 0.5f);
    return static_cast<std::int16_t>(offset + kPeriod * static_cast<int>(k));
  };
  std::int16_t re[kPeriod / 2], im[kPeriod / 2];
  for (int k = 0; k < kPeriod / 2; ++k) re[k] = place(y.real(), 2 * k + 1), im[k] = place(y.imag(), 2 * k + 1);
  Nearest n;
  std::fill(std::begin(n.squared), std::end(n.squared), kNever);
  for (const std::int16_t a : re) {
    for (const std::int16_t b : im) {
      const v34::Point p{a, b};
      const int label = v34::subset_label(p);
      const float squared = std::norm(y - Cf(a, b));
      if (squared >= n.squared[label]) continue;
      n.squared[label] = squared;
      n.point[label] = p;
    }
  }
  return n;
}

// The cost of each transition, and its best pair of labels.
struct Branches {
  float squared[2][kInputs];      // by parity of the labels, and by input
  std::uint8_t pair[2][kInputs];  // kLabels s0 + s1
};
Branches branches_of(const Nearest& first, const Nearest& second) {
  Branches b;
  for (auto& row : b.squared) std::fill(std::begin(row), std::end(row), kNever);
  for (int s0 = 0; s0 < kLabels; ++s0) {
    for (int s1 = 0; s1 < kLabels; ++s1) {
      const int parity = (s0 ^ s1) & 1, input = v34::trellis_input(s0, s1);
      const float squared = first.squared[s0] + second.squared[s1];
      if (squared >= b.squared[parity][input]) continue;
      b.squared[parity][input] = squared;
      b.pair[parity][input] = static_cast<std::uint8_t>(kLabels * s0 + s1);
    }
  }
  return b;
}

struct Transitions {
  std::uint8_t next[v34::kMaxTrellisStates][kInputs];
};
constexpr std::array<Transitions, 3> kTransitions = [] {
  std::array<Transitions, 3> all{};
  for (std::size_t code = 0; code < all.size(); ++code) {
    const auto c = static_cast<v34::TrellisCode>(code);
    for (int s = 0; s < v34::trellis_states(c); ++s) {
      for (int i = 0; i < kInputs; ++i) all[code].next[s][i] = static_cast<std::uint8_t>(v34::trellis_next(c, s, i));
    }
  }
  return all;
}();

struct Survivor {
  std::uint8_t from = 0, pair = 0;
};

}  // namespace

LikelySequence likely_sequence(std::span<const Cf> y, v34::TrellisCode code, TrellisPlace from, std::optional<int> to) {
  const auto states = static_cast<std::size_t>(v34::trellis_states(code));
  const auto& next = kTransitions[static_cast<std::size_t>(code)].next;
  const std::size_t pairs = y.size() / 2;
  std::vector<Survivor> survivors(pairs * states);
  std::vector<float> metric(states, kNever), after(states);
  metric[static_cast<std::size_t>(from.state)] = 0;
  LikelySequence found;
  for (std::size_t t = 0; t < pairs; ++t) {
    const Branches b = branches_of(nearest_of(y[2 * t]), nearest_of(y[2 * t + 1]));
    const int inversion = from.frame.bit_inversion(from.group) ? 1 : 0;
    if (++from.group == v34::kGroupsPerMappingFrame) {
      from.group = 0;
      from.frame.advance();
    }
    const float least = *std::min_element(metric.begin(), metric.end());
    found.squared += least;
    std::fill(after.begin(), after.end(), kNever);
    Survivor* const into = &survivors[t * states];
    for (std::size_t s = 0; s < states; ++s) {
      const float before = metric[s] - least;
      if (before >= kNever / 2) continue;
      const int parity = v34::trellis_output(static_cast<int>(s)) ^ inversion;
      for (int i = 0; i < kInputs; ++i) {
        const std::size_t state = next[s][i];
        const float m = before + b.squared[parity][i];
        if (m >= after[state]) continue;
        after[state] = m;
        into[state] = {static_cast<std::uint8_t>(s), b.pair[parity][i]};
      }
    }
    metric.swap(after);
  }
  auto state = to ? static_cast<std::size_t>(*to)
                  : static_cast<std::size_t>(std::min_element(metric.begin(), metric.end()) - metric.begin());
  found.squared += metric[state];
  found.points.resize(2 * pairs);
  found.states.resize(pairs);
  for (std::size_t t = pairs; t-- > 0;) {
    const Survivor s = survivors[t * states + state];
    found.points[2 * t] = nearest_of(y[2 * t]).point[s.pair / kLabels];
    found.points[2 * t + 1] = nearest_of(y[2 * t + 1]).point[s.pair % kLabels];
    state = found.states[t] = s.from;
  }
  return found;
}

}  // namespace offhook::decode
