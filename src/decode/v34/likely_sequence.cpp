// SPDX-License-Identifier: MIT
#include "src/decode/v34/likely_sequence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "dsp/v34/coding/viterbi_step.h"

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

// The cost of each transition, and its best pair of labels.
struct Branches {
  float squared[2][kInputs];      // by parity of the labels, and by input without the bits that the code ignores
  std::uint8_t pair[2][kInputs];  // kLabels s0 + s1
};
using Four = float __attribute__((vector_size(16)));
using FourInts = std::int32_t __attribute__((vector_size(16)));
Four load(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Pairs of labels below 4, by parity, by Y3 and by Y2 and Y1; Y4 of each is 0. Another 4 in one label makes it 1, and
// another 4 in both leaves the input as it is.
struct LowPairs {
  int s0[2][2][4], s1[2][2][4];
};
constexpr LowPairs kLowPairs = [] {
  LowPairs all{};
  for (int s0 = 0; s0 < 4; ++s0) {
    for (int s1 = 0; s1 < 4; ++s1) {
      const int parity = (s0 ^ s1) & 1, y = v34::trellis_input(s0, s1);
      all.s0[parity][y >> 2 & 1][y & 3] = s0;
      all.s1[parity][y >> 2 & 1][y & 3] = s1;
    }
  }
  return all;
}();
static_assert([] {
  for (int s0 = 0; s0 < 4; ++s0) {
    for (int s1 = 0; s1 < 4; ++s1) {
      const int y = v34::trellis_input(s0, s1);
      if (y >> 3 != 0 || v34::trellis_input(s0 + 4, s1 + 4) != y || v34::trellis_input(s0, s1 + 4) != y + 8 ||
          v34::trellis_input(s0 + 4, s1) != y + 8)
        return false;
    }
  }
  return true;
}());

// Four inputs side by side: the cost of each, and its pair of labels.
struct Costs {
  Four squared;
  FourInts pair;
};
// Of equal ones that with the lower labels.
Costs lower(const Costs& a, const Costs& b) {
  const FourInts second = (b.squared < a.squared) | ((b.squared == a.squared) & (b.pair < a.pair));
  return {second ? b.squared : a.squared, second ? b.pair : a.pair};
}
Four of_labels(const Nearest& n, const int (&labels)[4], int more) {
  return Four{n.squared[labels[0] + more], n.squared[labels[1] + more], n.squared[labels[2] + more],
              n.squared[labels[3] + more]};
}

void put(Branches& b, int parity, int first, const Costs& costs) {
  for (int k = 0; k < 4; ++k) {
    b.squared[parity][first + k] = std::min(costs.squared[k], kNever);
    b.pair[parity][first + k] = static_cast<std::uint8_t>(costs.pair[k]);
  }
}

Branches branches_of(const Nearest& first, const Nearest& second, v34::TrellisCode code) {
  Branches b;
  for (int parity = 0; parity < 2; ++parity) {
    Costs of[2][2];  // by Y4 and Y3
    for (int y3 = 0; y3 < 2; ++y3) {
      const auto& s0 = kLowPairs.s0[parity][y3];
      const auto& s1 = kLowPairs.s1[parity][y3];
      const Four low0 = of_labels(first, s0, 0), high0 = of_labels(first, s0, 4);
      const Four low1 = of_labels(second, s1, 0), high1 = of_labels(second, s1, 4);
      const FourInts pair = kLabels * FourInts{s0[0], s0[1], s0[2], s0[3]} + FourInts{s1[0], s1[1], s1[2], s1[3]};
      of[0][y3] = lower({low0 + low1, pair}, {high0 + high1, pair + 4 * kLabels + 4});
      of[1][y3] = lower({low0 + high1, pair + 4}, {high0 + low1, pair + 4 * kLabels});
    }
    for (int y4 = 0; y4 < 2; ++y4) {
      if (code == v34::TrellisCode::k64) {
        for (int y3 = 0; y3 < 2; ++y3) put(b, parity, 8 * y4 + 4 * y3, of[y4][y3]);
      } else {
        of[y4][0] = lower(of[y4][0], of[y4][1]);
        if (code == v34::TrellisCode::k32) put(b, parity, 4 * y4, of[y4][0]);
      }
    }
    if (code == v34::TrellisCode::k16) put(b, parity, 0, lower(of[0][0], of[1][0]));
  }
  return b;
}

// A trellis by groups of states (dsp/v34/coding/viterbi_step.h). Paths have the place of their state as a next state.
struct Trellis {
  v34::GroupedTrellis grouped;
  std::uint8_t order[v34::kMaxTrellisStates];  // the priors of each group, by state: of equal paths the first is taken
  explicit Trellis(v34::TrellisCode code) : grouped(v34::grouped_trellis(code)) {
    for (int base = 0; base < states(); base += grouped.inputs) {
      std::uint8_t* const here = order + base;
      std::iota(here, here + grouped.inputs, std::uint8_t{0});
      std::sort(here, here + grouped.inputs,
                [&](int a, int b) { return grouped.prior_state[base + a] < grouped.prior_state[base + b]; });
    }
  }
  int states() const { return v34::kTrellisGroups * grouped.inputs; }
  int place_of(int state) const {
    return static_cast<int>(std::find(grouped.next_state, grouped.next_state + states(), state) - grouped.next_state);
  }
};
const Trellis& trellis_of(v34::TrellisCode code) {
  static const Trellis all[] = {Trellis(v34::TrellisCode::k16), Trellis(v34::TrellisCode::k32),
                                Trellis(v34::TrellisCode::k64)};
  return all[static_cast<std::size_t>(code)];
}

// One pair. Within a group the input is the exclusive or of both places.
// @param before, after  distances, by place  @param[out] from  place of the best prior state in its group
template <int kBlocks>  // of four inputs
void step(const Trellis& t, const Branches& b, bool inversion, float least, const float* before, float* after,
          std::uint8_t* from) {
  Four shifted[2][4][kBlocks];
  for (int parity = 0; parity < 2; ++parity) {
    for (int k = 0; k < kBlocks; ++k) {
      const Four v = load(b.squared[parity] + 4 * k);
      shifted[parity][0][k] = v;
      shifted[parity][1][k] = __builtin_shufflevector(v, v, 1, 0, 3, 2);
      shifted[parity][2][k] = __builtin_shufflevector(v, v, 2, 3, 0, 1);
      shifted[parity][3][k] = __builtin_shufflevector(v, v, 3, 2, 1, 0);
    }
  }
  for (int group = 0, base = 0; group < v34::kTrellisGroups; ++group, base += 4 * kBlocks) {
    const auto& branch = shifted[t.grouped.output[group] ^ static_cast<int>(inversion)];
    Four best[kBlocks];
    FourInts index[kBlocks]{};
    for (Four& v : best) v = Four{kNever, kNever, kNever, kNever};
    for (int n = 0; n < 4 * kBlocks; ++n) {
      const int prior = t.order[base + n];
      const float path = before[t.grouped.next_place[base + prior]] - least;
      for (int k = 0; k < kBlocks; ++k) {
        const Four squared = path + branch[prior & 3][k ^ prior >> 2];
        const FourInts better = squared < best[k];
        best[k] = better ? squared : best[k];
        index[k] = better ? FourInts{prior, prior, prior, prior} : index[k];
      }
    }
    for (int k = 0; k < kBlocks; ++k) {
      std::memcpy(after + base + 4 * k, &best[k], sizeof best[k]);
      for (int lane = 0; lane < 4; ++lane) from[base + 4 * k + lane] = static_cast<std::uint8_t>(index[k][lane]);
    }
  }
}
void step(const Trellis& t, const Branches& b, bool inversion, float least, const float* before, float* after,
          std::uint8_t* from) {
  switch (t.grouped.inputs) {
    case 4:
      return step<1>(t, b, inversion, least, before, after, from);
    case 8:
      return step<2>(t, b, inversion, least, before, after, from);
    default:
      return step<4>(t, b, inversion, least, before, after, from);
  }
}

// The pair of symbols at a place, and the place of the next one. @return whether V0 inverts
bool advance(TrellisPlace& place) {
  const bool inversion = place.frame.bit_inversion(place.group);
  if (++place.group == v34::kGroupsPerMappingFrame) {
    place.group = 0;
    place.frame.advance();
  }
  return inversion;
}

std::vector<float> first_metric(const Trellis& t, int state) {
  std::vector<float> metric(static_cast<std::size_t>(t.states()), state == kAnyState ? 0 : kNever);
  if (state != kAnyState) metric[static_cast<std::size_t>(t.place_of(state))] = 0;
  return metric;
}

// The distance alone. @return more than `most`, if it is more
double distance_of(std::span<const Branches> pairs, v34::TrellisCode code, TrellisPlace from, double most) {
  const Trellis& trellis = trellis_of(code);
  std::vector<float> metric = first_metric(trellis, from.state), after(metric.size());
  std::uint8_t priors[v34::kMaxTrellisStates];
  double sum = 0;
  for (const Branches& b : pairs) {
    const bool inversion = advance(from);
    const float least = *std::min_element(metric.begin(), metric.end());
    sum += least;
    if (sum > most) return sum;
    step(trellis, b, inversion, least, metric.data(), after.data(), priors);
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
  const auto places =
      static_cast<std::size_t>(framing.symbols_per_data_frame()) * static_cast<std::size_t>(framing.data_frames);
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
  const Trellis& trellis = trellis_of(code);
  const v34::GroupedTrellis& grouped = trellis.grouped;
  const auto states = static_cast<std::size_t>(trellis.states());
  const std::size_t pairs = y.size() / 2;
  std::vector<float> metric = first_metric(trellis, from.state), after(states);
  std::vector<std::uint8_t> priors(pairs * states);
  struct Labels {
    std::uint8_t pair[2][kInputs];
    bool inversion;
  };
  std::vector<Labels> labels(pairs);
  LikelySequence found;
  for (std::size_t t = 0; t < pairs; ++t) {
    const Branches b = branches_of(Nearest(y[2 * t]), Nearest(y[2 * t + 1]), code);
    std::memcpy(labels[t].pair, b.pair, sizeof b.pair);
    labels[t].inversion = advance(from);
    const float least = *std::min_element(metric.begin(), metric.end());
    found.squared += least;
    step(trellis, b, labels[t].inversion, least, metric.data(), after.data(), &priors[t * states]);
    metric.swap(after);
  }
  int place = to ? trellis.place_of(*to) : 0;
  for (int other = 1; !to && other < trellis.states(); ++other) {
    const float here = metric[static_cast<std::size_t>(place)], there = metric[static_cast<std::size_t>(other)];
    if (there < here || (there == here && grouped.next_state[other] < grouped.next_state[place])) place = other;
  }
  found.squared += metric[static_cast<std::size_t>(place)];
  found.points.resize(2 * pairs);
  found.states.resize(pairs);
  for (std::size_t t = pairs; t-- > 0;) {
    const int group = place / grouped.inputs, prior = priors[t * states + static_cast<std::size_t>(place)];
    const int parity = grouped.output[group] ^ static_cast<int>(labels[t].inversion);
    const int pair = labels[t].pair[parity][place % grouped.inputs ^ prior];
    found.points[2 * t] = Nearest(y[2 * t]).point(pair / kLabels);
    found.points[2 * t + 1] = Nearest(y[2 * t + 1]).point(pair % kLabels);
    const int position = group * grouped.inputs + prior;
    found.states[t] = grouped.prior_state[position];
    place = grouped.next_place[position];
  }
  return found;
}

}  // namespace offhook::decode
