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

// A received point against the points of each subset. The subsets repeat with period 8 along both axes: a subset has
// two of the 16 nearest points, one for each of two places along the axes.
constexpr int kPeriod = 8, kPlaces = kPeriod / 2;
struct TwoPlaces {
  std::uint8_t re[2], im[2];
};
constexpr std::array<TwoPlaces, kLabels> kPlacesOf = [] {
  std::array<TwoPlaces, kLabels> all{};
  int count[kLabels]{};
  for (int re = 0; re < kPlaces; ++re) {
    for (int im = 0; im < kPlaces; ++im) {
      const int label =
          v34::subset_label({static_cast<std::int16_t>(2 * re + 1), static_cast<std::int16_t>(2 * im + 1)});
      const int k = count[label]++;
      all[static_cast<std::size_t>(label)].re[k] = static_cast<std::uint8_t>(re);
      all[static_cast<std::size_t>(label)].im[k] = static_cast<std::uint8_t>(im);
    }
  }
  return all;
}();

// The nearest odd number of each residue modulo 8, and its squared distance.
struct Axis {
  float number[kPlaces], squared[kPlaces];
  explicit Axis(float v) {
    constexpr float kMost = 250;
    const float near = v > -kMost ? std::min(v, kMost) : -kMost;  // NaN, too
    for (int k = 0; k < kPlaces; ++k) {
      const auto offset = static_cast<float>(2 * k + 1);
      number[k] = offset + kPeriod * std::floor((near - offset) / kPeriod + 0.5f);
      squared[k] = (v - number[k]) * (v - number[k]);
    }
  }
};
struct Nearest {
  Axis re, im;
  float squared[kLabels];
  explicit Nearest(Cf y) : re(y.real()), im(y.imag()) {
    for (int label = 0; label < kLabels; ++label) {
      const float first = at(label, 0), second = at(label, 1);
      squared[label] = second < first ? second : first;
      if (!(squared[label] < kNever)) squared[label] = kNever;
    }
  }
  v34::Point point(int label) const {
    const TwoPlaces& places = kPlacesOf[static_cast<std::size_t>(label)];
    const int k = at(label, 1) < at(label, 0);
    return {static_cast<std::int16_t>(re.number[places.re[k]]), static_cast<std::int16_t>(im.number[places.im[k]])};
  }

 private:
  float at(int label, int k) const {
    const TwoPlaces& places = kPlacesOf[static_cast<std::size_t>(label)];
    return re.squared[places.re[k]] + im.squared[places.im[k]];
  }
};

// Inputs of a code that lead from a state to the same one: the 16-state code takes Y1 and Y2, the one of 32 Y4, too.
constexpr int classes(v34::TrellisCode code) {
  return 4 << static_cast<int>(code);
}
constexpr int class_of(v34::TrellisCode code, int input) {
  return code == v34::TrellisCode::k32 ? (input & 3) | (input >> 3) << 2 : input & (classes(code) - 1);
}

// The cost of each transition, and its best pair of labels.
struct Branches {
  float squared[2][kInputs];      // by parity of the labels, and by class of the input
  std::uint8_t pair[2][kInputs];  // kLabels s0 + s1
};
struct BranchPlace {
  std::uint8_t parity, input_class;
};
constexpr auto kBranchPlaces = [] {
  std::array<std::array<BranchPlace, kLabels * kLabels>, 3> all{};
  for (std::size_t code = 0; code < all.size(); ++code) {
    for (int s0 = 0; s0 < kLabels; ++s0) {
      for (int s1 = 0; s1 < kLabels; ++s1) {
        const int input = class_of(static_cast<v34::TrellisCode>(code), v34::trellis_input(s0, s1));
        all[code][static_cast<std::size_t>(kLabels * s0 + s1)] = {static_cast<std::uint8_t>((s0 ^ s1) & 1),
                                                                  static_cast<std::uint8_t>(input)};
      }
    }
  }
  return all;
}();
Branches branches_of(const Nearest& first, const Nearest& second, v34::TrellisCode code) {
  const auto& places = kBranchPlaces[static_cast<std::size_t>(code)];
  Branches b;
  for (auto& row : b.squared) std::fill_n(row, classes(code), kNever);
  for (std::size_t s0 = 0; s0 < kLabels; ++s0) {
    for (std::size_t s1 = 0; s1 < kLabels; ++s1) {
      const auto [parity, input] = places[kLabels * s0 + s1];
      const float squared = first.squared[s0] + second.squared[s1];
      if (squared >= b.squared[parity][input]) continue;
      b.squared[parity][input] = squared;
      b.pair[parity][input] = static_cast<std::uint8_t>(kLabels * s0 + s1);
    }
  }
  return b;
}

struct Transitions {
  std::uint8_t next[v34::kMaxTrellisStates][kInputs];  // by class of the input
};
constexpr std::array<Transitions, 3> kTransitions = [] {
  std::array<Transitions, 3> all{};
  for (std::size_t code = 0; code < all.size(); ++code) {
    const auto c = static_cast<v34::TrellisCode>(code);
    for (int s = 0; s < v34::trellis_states(c); ++s) {
      for (int i = 0; i < kInputs; ++i)
        all[code].next[s][class_of(c, i)] = static_cast<std::uint8_t>(v34::trellis_next(c, s, i));
    }
  }
  return all;
}();

struct Survivor {
  std::uint8_t from = 0, pair = 0;
};

// The pair of symbols at a place, and the place of the next one. @return whether V0 inverts
bool advance(TrellisPlace& place) {
  const bool inversion = place.frame.bit_inversion(place.group);
  if (++place.group == v34::kGroupsPerMappingFrame) {
    place.group = 0;
    place.frame.advance();
  }
  return inversion;
}

std::vector<float> first_metric(std::size_t states, int state) {
  std::vector<float> metric(states, state == kAnyState ? 0 : kNever);
  if (state != kAnyState) metric[static_cast<std::size_t>(state)] = 0;
  return metric;
}

// The distance alone. @return more than `most`, if it is more
double distance_of(std::span<const Branches> pairs, v34::TrellisCode code, TrellisPlace from, double most) {
  const auto states = static_cast<std::size_t>(v34::trellis_states(code));
  const int inputs = classes(code);
  const auto& next = kTransitions[static_cast<std::size_t>(code)].next;
  std::vector<float> metric = first_metric(states, from.state), after(states);
  double sum = 0;
  for (const Branches& b : pairs) {
    const bool inversion = advance(from);
    const float least = *std::min_element(metric.begin(), metric.end());
    sum += least;
    if (sum > most) return sum;
    std::fill(after.begin(), after.end(), kNever);
    for (std::size_t s = 0; s < states; ++s) {
      const float before = metric[s] - least;
      const auto& branch = b.squared[v34::trellis_output(static_cast<int>(s)) ^ static_cast<int>(inversion)];
      for (int i = 0; i < inputs; ++i) {
        float& into = after[next[s][i]];
        into = std::min(into, before + branch[i]);
      }
    }
    metric.swap(after);
  }
  return sum + *std::min_element(metric.begin(), metric.end());
}

std::vector<Branches> branches_of(std::span<const Cf> y, v34::TrellisCode code) {
  std::vector<Branches> all;
  for (std::size_t k = 0; k + 1 < y.size(); k += 2) all.push_back(branches_of(Nearest(y[k]), Nearest(y[k + 1]), code));
  return all;
}

}  // namespace

TrellisPlace place_in_superframe(const v34::Framing& framing, std::size_t symbol) {
  TrellisPlace place{v34::FramePosition(framing), static_cast<int>(symbol % v34::kSymbolsPerMappingFrame / 2),
                     kAnyState};
  for (std::size_t k = 0; k < symbol / v34::kSymbolsPerMappingFrame; ++k) place.frame.advance();
  return place;
}

std::vector<double> distances_by_place(std::span<const Cf> y, v34::TrellisCode code, const v34::Framing& framing,
                                       std::size_t first, double enough) {
  // Every place has the same number of pairs, at an odd one from the second symbol on.
  const std::size_t symbols = y.size() % 2 == 0 ? y.size() - 1 : y.size();
  const std::vector<Branches> pairs[2] = {branches_of(y.first(symbols - 1), code),
                                          branches_of(y.subspan(1, symbols - 1), code)};
  const auto places = static_cast<std::size_t>(framing.symbols_per_data_frame() * framing.data_frames);
  std::vector<double> all(places);
  double best = kNever;
  for (std::size_t k = 0; k < places; ++k) {
    const std::size_t place = (first + k) % places, odd = place % 2;
    all[place] = distance_of(pairs[odd], code, place_in_superframe(framing, place + odd), best + enough);
    best = std::min(best, all[place]);
  }
  return all;
}

LikelySequence likely_sequence(std::span<const Cf> y, v34::TrellisCode code, TrellisPlace from, std::optional<int> to) {
  const auto states = static_cast<std::size_t>(v34::trellis_states(code));
  const int inputs = classes(code);
  const auto& next = kTransitions[static_cast<std::size_t>(code)].next;
  const std::size_t pairs = y.size() / 2;
  std::vector<Survivor> survivors(pairs * states);
  std::vector<float> metric = first_metric(states, from.state), after(states);
  LikelySequence found;
  for (std::size_t t = 0; t < pairs; ++t) {
    const Branches b = branches_of(Nearest(y[2 * t]), Nearest(y[2 * t + 1]), code);
    const int inversion = advance(from) ? 1 : 0;
    const float least = *std::min_element(metric.begin(), metric.end());
    found.squared += least;
    std::fill(after.begin(), after.end(), kNever);
    Survivor* const into = &survivors[t * states];
    for (std::size_t s = 0; s < states; ++s) {
      const float before = metric[s] - least;
      if (before >= kNever / 2) continue;
      const int parity = v34::trellis_output(static_cast<int>(s)) ^ inversion;
      for (int i = 0; i < inputs; ++i) {
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
    found.points[2 * t] = Nearest(y[2 * t]).point(s.pair / kLabels);
    found.points[2 * t + 1] = Nearest(y[2 * t + 1]).point(s.pair % kLabels);
    state = found.states[t] = s.from;
  }
  return found;
}

}  // namespace offhook::decode
