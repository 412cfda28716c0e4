// SPDX-License-Identifier: MIT
#include "dsp/v32/viterbi.h"

#include "dsp/blocks/instruction_set.h"

namespace offhook::v32 {
namespace {

constexpr int kSubsets = 8;

// Four at a time. The states 0 to 3 follow from the even ones, 4 to 7 from the odd ones, by the subsets with Y0 = 0 and
// with Y0 = 1.
using Quad = float __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(16)));
using Shorts = int16_t __attribute__((vector_size(8)));
constexpr int kHalves = 2, kLanes = 4;

/// One coordinate of a grid's points: first, first + spacing, ..; `last` of them after the first.
struct Axis {
  float first = 0, last = 0;
};
/// A rectangle of points.
struct Rectangle {
  Axis re, im;
};
/// The points of a subset: those of two rectangles, which may overlap.
struct Subset {
  Rectangle part[2];
};

constexpr int kMostPoint = 9, kTableSide = 2 * kMostPoint + 1;
constexpr int kMostSide = 5;  // points along one side of a rectangle

/// The positions of a subset's points.
struct Places {
  bool at[kTableSide][kTableSide]{};  // by im and re
  constexpr Places(const Rate& rate, int subset) {
    const int n = rate.count / kSubsets;
    for (int k = subset * n; k < (subset + 1) * n; ++k) {
      at[rate.points[k].im + kMostPoint][rate.points[k].re + kMostPoint] = true;
    }
  }
  constexpr bool has(int re, int im) const {
    return re <= kMostPoint && im <= kMostPoint && at[im + kMostPoint][re + kMostPoint];
  }
};
// The largest rectangle of the subset with a point at its lower left.
constexpr Rectangle rectangle_from(const Places& places, Point from, int spacing) {
  Rectangle largest{};
  int most = 0;
  int rows = kMostSide;
  for (int columns = 1; columns <= kMostSide; ++columns) {
    const int re = from.re + spacing * (columns - 1);
    int run = 0;
    while (run < rows && places.has(re, from.im + spacing * run)) ++run;
    rows = run;
    if (columns * rows <= most) continue;
    most = columns * rows;
    largest = {{static_cast<float>(from.re), static_cast<float>(columns - 1)},
               {static_cast<float>(from.im), static_cast<float>(rows - 1)}};
  }
  return largest;
}
constexpr bool is_in(const Rectangle& r, Complex p, float spacing) {
  const float re = (p.re - r.re.first) / spacing, im = (p.im - r.im.first) / spacing;
  return re >= 0 && re <= r.re.last && im >= 0 && im <= r.im.last && re == static_cast<float>(static_cast<int>(re)) &&
         im == static_cast<float>(static_cast<int>(im));
}
constexpr int points_of(const Rectangle& r) {
  return static_cast<int>((r.re.last + 1) * (r.im.last + 1));
}
constexpr bool is_all_of(const Subset& s, const Rate& rate, int subset, float spacing) {
  const int n = rate.count / kSubsets;
  for (int k = subset * n; k < (subset + 1) * n; ++k) {
    const Complex p = complex(rate.points[k]);
    if (!is_in(s.part[0], p, spacing) && !is_in(s.part[1], p, spacing)) return false;
  }
  return true;
}
// @return whether there are two such rectangles
constexpr bool find_subset(const Rate& rate, int subset, float spacing, Subset* s) {
  constexpr int kMostPoints = 16;
  const int n = rate.count / kSubsets;
  const Places places(rate, subset);
  Rectangle from[kMostPoints];
  for (int k = 0; k < n; ++k) from[k] = rectangle_from(places, rate.points[subset * n + k], static_cast<int>(spacing));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (points_of(from[i]) + points_of(from[j]) < n) continue;
      *s = {{from[i], from[j]}};
      if (is_all_of(*s, rate, subset, spacing)) return true;
    }
  }
  return false;
}

/// A rate's subsets, four per vector, and its labels by coordinates.
struct Points {
  struct Side {
    Quad first, last;
  };
  float spacing = 0;
  Side re[kHalves][2]{}, im[kHalves][2]{};
  uint8_t label[kTableSide][kTableSide]{};
};
constexpr Points make_points(const Rate& rate) {
  Points points{};
  Subset subset[kSubsets]{};
  for (float spacing = 4; spacing <= 8 && points.spacing == 0; spacing += 4) {
    bool found = true;
    for (int s = 0; s < kSubsets; ++s) found = found && find_subset(rate, s, spacing, &subset[s]);
    if (found) points.spacing = spacing;
  }
  for (int h = 0; h < kHalves; ++h) {
    for (int part = 0; part < 2; ++part) {
      const auto side = [&](auto axis) {
        const Axis a[] = {axis(subset[4 * h]), axis(subset[4 * h + 1]), axis(subset[4 * h + 2]),
                          axis(subset[4 * h + 3])};
        return Points::Side{{a[0].first, a[1].first, a[2].first, a[3].first},
                            {a[0].last, a[1].last, a[2].last, a[3].last}};
      };
      points.re[h][part] = side([=](const Subset& s) { return s.part[part].re; });
      points.im[h][part] = side([=](const Subset& s) { return s.part[part].im; });
    }
  }
  for (int k = 0; k < rate.count; ++k) {
    points.label[rate.points[k].im + kMostPoint][rate.points[k].re + kMostPoint] = static_cast<uint8_t>(k);
  }
  return points;
}
constexpr Points kPointsOf[] = {
    {}, make_points(kRates[1]), make_points(kRates[2]), make_points(kRates[3]), make_points(kRates[4])};
static_assert(kPointsOf[1].spacing > 0 && kPointsOf[2].spacing > 0 && kPointsOf[3].spacing > 0 &&
              kPointsOf[4].spacing > 0);

// The nearest coordinate for each lane.
inline Quad nearest(float v, const Points::Side& side, float spacing) {
  constexpr float kToWhole = 3 << 22;  // adding and subtracting it rounds to an integer
  Quad n = (v - side.first) * (1 / spacing) + kToWhole - kToWhole;
  n = n < side.last ? n : side.last;  // NaN, too
  n = n > 0.0f ? n : Quad{};
  return side.first + spacing * n;
}

/// Branch b into state `to` comes from state 2b + to / 4; this is its subset without Y0.
struct Branches {
  int pair[4][8];
};
constexpr Branches make_branches() {
  Branches branches{};
  for (int s = 0; s < 8; ++s) {
    for (int pair = 0; pair < 4; ++pair) branches.pair[s / 2][next_state(s, pair)] = pair;
  }
  return branches;
}
constexpr Branches kBranches = make_branches();
constexpr bool halves_are_apart() {
  for (int s = 0; s < 8; ++s) {
    for (int pair = 0; pair < 4; ++pair) {
      const int to = next_state(s, pair);
      if (to / 4 != s % 2 || kBranches.pair[s / 2][to] != pair) return false;
    }
  }
  return true;
}
static_assert(halves_are_apart());

template <int b, int half>
inline void try_branch(const float* metric, Quad distance, Quad* best, Ints* branch) {
  constexpr const int* kPair = kBranches.pair[b] + kLanes * half;
  const Quad m =
      metric[2 * b + half] + __builtin_shufflevector(distance, distance, kPair[0], kPair[1], kPair[2], kPair[3]);
  const Ints less = m < *best;
  *branch = less ? Ints{b, b, b, b} : *branch;
  *best = less ? m : *best;
}

/// The best branch into each state of a half, and its metric.
template <int half>
inline void best_branches(const float* metric, Quad distance, Quad* best, Ints* branch) {
  *best = Quad{1e30f, 1e30f, 1e30f, 1e30f};
  *branch = Ints{};
  try_branch<0, half>(metric, distance, best, branch);
  try_branch<1, half>(metric, distance, best, branch);
  try_branch<2, half>(metric, distance, best, branch);
  try_branch<3, half>(metric, distance, best, branch);
}

}  // namespace

int ViterbiDecoder::subset_of(const Step& step, int to) {
  return kLanes * (to / 4) + kBranches.pair[step.from[to] / 2][to];
}

int ViterbiDecoder::label_of(const Step& step, int to) const {
  const int subset = subset_of(step, to);
  return kPointsOf[rate_ - kRates].label[step.im[subset] + kMostPoint][step.re[subset] + kMostPoint];
}

int ViterbiDecoder::newest() const {
  return label_of(step_[newest_], best_);
}

Complex ViterbiDecoder::newest_point() const {
  const Step& step = step_[newest_];
  const int subset = subset_of(step, best_);
  return {static_cast<float>(step.re[subset]), static_cast<float>(step.im[subset])};
}

int ViterbiDecoder::put(Complex y) {
  const Points& points = kPointsOf[rate_ - kRates];
  newest_ = newest_ + 1 == kDepth ? 0 : newest_ + 1;
  Step& step = step_[newest_];
  Quad best[kHalves];
  Ints branch[kHalves];
  for (int h = 0; h < kHalves; ++h) {
    Quad re[2], im[2], distance[2];
    for (int part = 0; part < 2; ++part) {
      re[part] = nearest(y.re, points.re[h][part], points.spacing);
      im[part] = nearest(y.im, points.im[h][part], points.spacing);
      const Quad error_re = y.re - re[part], error_im = y.im - im[part];
      distance[part] = error_re * error_re + error_im * error_im;
    }
    const Ints second = distance[1] < distance[0];
    reinterpret_cast<Unaligned<Shorts>*>(step.re + kLanes * h)->v =
        __builtin_convertvector(second ? re[1] : re[0], Shorts);
    reinterpret_cast<Unaligned<Shorts>*>(step.im + kLanes * h)->v =
        __builtin_convertvector(second ? im[1] : im[0], Shorts);
    const Quad least = second ? distance[1] : distance[0];
    if (h == 0) {
      best_branches<0>(metric_, least, &best[h], &branch[h]);
    } else {
      best_branches<1>(metric_, least, &best[h], &branch[h]);
    }
    for (int k = 0; k < kLanes; ++k) step.from[kLanes * h + k] = static_cast<uint8_t>(2 * branch[h][k] + h);
  }
  // The best state: first of each lane's two, then between lanes.
  const Ints upper = best[1] < best[0];
  const Quad four = upper ? best[1] : best[0];
  const Ints state = Ints{0, 1, 2, 3} + (upper & kLanes);
  const Ints other = __builtin_shufflevector(state, state, 2, 3, 0, 1);
  const Quad four_other = __builtin_shufflevector(four, four, 2, 3, 0, 1);
  const Ints less = four_other < four;
  const Quad two = less ? four_other : four;
  const Ints two_states = less ? other : state;
  const bool last = two[1] < two[0];
  best_ = last ? two_states[1] : two_states[0];
  const float least = last ? two[1] : two[0];
  for (int h = 0; h < kHalves; ++h) reinterpret_cast<Unaligned<Quad>*>(metric_ + kLanes * h)->v = best[h] - least;
  if (filled_ < kDepth) ++filled_;
  if (filled_ < kDepth) return -1;
  if (ahead_ == 0) trace();
  return traced_[--ahead_];
}

// Labels of the oldest steps; the first one is decided now.
void ViterbiDecoder::trace() {
  int state = best_, at = newest_;
  for (int age = 0; age < kDepth - kBatch; ++age) {
    state = step_[at].from[state];
    at = before(at);
  }
  for (uint8_t& label : traced_) {
    label = static_cast<uint8_t>(label_of(step_[at], state));
    state = step_[at].from[state];
    at = before(at);
  }
  ahead_ = kBatch;
}

int ViterbiDecoder::finish(int* out) const {
  const int n = filled_ < kDepth ? filled_ : kDepth - 1;  // the oldest one of a full history was given
  int state = best_;
  for (int i = n - 1, at = newest_; i >= 0; --i) {
    out[i] = i < ahead_ ? traced_[ahead_ - 1 - i] : label_of(step_[at], state);
    state = step_[at].from[state];
    at = before(at);
  }
  return n;
}

}  // namespace offhook::v32
