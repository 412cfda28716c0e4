// SPDX-License-Identifier: MIT
#include "dsp/v32/viterbi.h"

namespace offhook::v32 {
namespace {

constexpr int kSubsets = 8;
constexpr int kMostPoints = 16;  // of a subset

// Four at a time. The states 0 to 3 follow from the even ones, 4 to 7 from the odd ones, and the distances of the
// subsets that lead there are those of Y0 = 0 and of Y0 = 1.
using Quad = float __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(16)));
constexpr int kHalves = 2, kLanes = 4;

/// The points of a rate, by number in their subset and subset.
struct Points {
  Quad re[kMostPoints][kHalves], im[kMostPoints][kHalves];
};
constexpr Points make_points(const Rate& rate) {
  float re[kMostPoints][kSubsets]{}, im[kMostPoints][kSubsets]{};
  for (int label = 0; label < rate.count; ++label) {
    const int number = label % (rate.count / kSubsets), subset = label / (rate.count / kSubsets);
    re[number][subset] = rate.points[label].re;
    im[number][subset] = rate.points[label].im;
  }
  Points points{};
  for (int n = 0; n < kMostPoints; ++n) {
    for (int h = 0; h < kHalves; ++h) {
      const float *r = re[n] + kLanes * h, *i = im[n] + kLanes * h;
      points.re[n][h] = Quad{r[0], r[1], r[2], r[3]};
      points.im[n][h] = Quad{i[0], i[1], i[2], i[3]};
    }
  }
  return points;
}
constexpr Points kPointsOf[] = {
    {}, make_points(kRates[1]), make_points(kRates[2]), make_points(kRates[3]), make_points(kRates[4])};

/// Branch b into state `to` comes from state 2b + to / 4; its subset, without Y0.
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

int ViterbiDecoder::label_of(const Step& step, int to) {
  return step.label[kLanes * (to / 4) + kBranches.pair[step.from[to] / 2][to]];
}

int ViterbiDecoder::best_state() const {
  int best = 0;
  for (int s = 1; s < 8; ++s) best = metric_[s] < metric_[best] ? s : best;
  return best;
}

int ViterbiDecoder::put(Complex y) {
  const int uncoded = rate_->bits - 2;
  const Points& points = kPointsOf[rate_ - kRates];
  Step& step = step_[at_];
  Quad best[kHalves];
  Ints branch[kHalves];
  for (int h = 0; h < kHalves; ++h) {
    Quad distance{1e30f, 1e30f, 1e30f, 1e30f};
    Ints number{};
    for (int n = 0; n < rate_->count / kSubsets; ++n) {
      const Quad re = y.re - points.re[n][h], im = y.im - points.im[n][h];
      const Quad d = re * re + im * im;
      const Ints less = d < distance;
      number = less ? Ints{n, n, n, n} : number;
      distance = less ? d : distance;
    }
    for (int k = 0; k < kLanes; ++k)
      step.label[kLanes * h + k] = static_cast<uint8_t>((kLanes * h + k) << uncoded | number[k]);
    if (h == 0) {
      best_branches<0>(metric_, distance, &best[h], &branch[h]);
    } else {
      best_branches<1>(metric_, distance, &best[h], &branch[h]);
    }
  }
  const Quad four = best[1] < best[0] ? best[1] : best[0];
  const Quad two = __builtin_shufflevector(four, four, 2, 3, 0, 1);
  const Quad lesser = two < four ? two : four;
  const float least = lesser[1] < lesser[0] ? lesser[1] : lesser[0];
  uint8_t* start = start_[at_ / kBlock];  // the last block's start, of the best path into each state
  const bool begins = at_ % kBlock == 0;
  uint8_t before[8];
  for (int to = 0; to < 8; ++to) {
    step.from[to] = static_cast<uint8_t>(2 * branch[to / kLanes][to % kLanes] + to / kLanes);
    before[to] = begins ? step.from[to] : start[step.from[to]];
    metric_[to] = best[to / kLanes][to % kLanes] - least;
  }
  for (int s = 0; s < 8; ++s) start[s] = before[s];
  const int state = best_state();
  best_label_ = label_of(step, state);
  const int newest = at_;
  at_ = at_ + 1 == kDepth ? 0 : at_ + 1;
  if (filled_ < kDepth) ++filled_;
  return filled_ < kDepth ? -1 : oldest_label(newest, state);
}

// Back by whole blocks, and by steps in the block in which the history begins.
int ViterbiDecoder::oldest_label(int newest, int state) const {
  int block = newest / kBlock;
  do {
    state = start_[block][state];
    block = block == 0 ? kBlocks - 1 : block - 1;
  } while (block != at_ / kBlock);
  int k = block * kBlock + kBlock - 1;
  for (; k > at_; --k) state = step_[k].from[state];
  return label_of(step_[k], state);
}

int ViterbiDecoder::finish(int* out) const {
  const int n = filled_ < kDepth ? filled_ : kDepth - 1;  // the oldest of a full history was given
  int state = best_state();
  for (int i = n - 1, k = at_; i >= 0; --i) {
    k = k == 0 ? kDepth - 1 : k - 1;
    out[i] = label_of(step_[k], state);
    state = step_[k].from[state];
  }
  return n;
}

}  // namespace offhook::v32
