// SPDX-License-Identifier: MIT
#include "dsp/v32/viterbi.h"

namespace offhook::v32 {
namespace {

constexpr int kSubsets = 8;
constexpr int kMostPoints = 16;  // of a subset

/// The points of a rate, by number in their subset and subset: eight distances at a time.
struct Points {
  float re[kMostPoints][kSubsets], im[kMostPoints][kSubsets];
};
constexpr Points make_points(const Rate& rate) {
  Points points{};
  for (int label = 0; label < rate.count; ++label) {
    const int number = label % (rate.count / kSubsets), subset = label / (rate.count / kSubsets);
    points.re[number][subset] = rate.points[label].re;
    points.im[number][subset] = rate.points[label].im;
  }
  return points;
}
constexpr Points kPointsOf[] = {
    {}, make_points(kRates[1]), make_points(kRates[2]), make_points(kRates[3]), make_points(kRates[4])};

/// The four branches into each state, by rising state before.
struct Branches {
  uint8_t from[4][8], subset[4][8];
};
constexpr Branches make_branches() {
  Branches branches{};
  int count[8]{};
  for (int s = 0; s < 8; ++s) {
    for (int pair = 0; pair < 4; ++pair) {
      const int to = next_state(s, pair);
      branches.from[count[to]][to] = static_cast<uint8_t>(s);
      branches.subset[count[to]++][to] = static_cast<uint8_t>((s & 1) << 2 | pair);
    }
  }
  return branches;
}
constexpr Branches kBranches = make_branches();

}  // namespace

int ViterbiDecoder::best_state() const {
  int best = 0;
  for (int s = 1; s < 8; ++s) {
    if (metric_[s] < metric_[best]) best = s;
  }
  return best;
}

int ViterbiDecoder::put(Complex y) {
  const int uncoded = rate_->bits - 2;
  const Points& points = kPointsOf[rate_ - kRates];
  float distance[kSubsets];
  int number[kSubsets]{};
  for (float& d : distance) d = 1e30f;
  for (int n = 0; n < rate_->count / kSubsets; ++n) {
    for (int k = 0; k < kSubsets; ++k) {
      const float re = y.re - points.re[n][k], im = y.im - points.im[n][k];
      const float d = re * re + im * im;
      number[k] = d < distance[k] ? n : number[k];
      distance[k] = d < distance[k] ? d : distance[k];
    }
  }
  for (int k = 0; k < kSubsets; ++k) label_[k] = static_cast<uint8_t>(k << uncoded | number[k]);

  Step& step = step_[at_];
  float metric[8];
  float least = 1e30f;
  uint8_t before[8];  // the last block's start, of the best path into each state
  for (int to = 0; to < 8; ++to) {
    float best = 1e30f;
    int branch = 0;
    for (int b = 0; b < 4; ++b) {
      const float m = metric_[kBranches.from[b][to]] + distance[kBranches.subset[b][to]];
      branch = m < best ? b : branch;
      best = m < best ? m : best;
    }
    metric[to] = best;
    least = best < least ? best : least;
    step.from[to] = kBranches.from[branch][to];
    step.label[to] = label_[kBranches.subset[branch][to]];
    before[to] = at_ % kBlock == 0 ? step.from[to] : start_[at_ / kBlock][step.from[to]];
  }
  for (int s = 0; s < 8; ++s) {
    metric_[s] = metric[s] - least;
    start_[at_ / kBlock][s] = before[s];
  }
  const int best = best_state();
  best_label_ = step.label[best];
  const int newest = at_;
  at_ = at_ + 1 == kDepth ? 0 : at_ + 1;
  if (filled_ < kDepth) ++filled_;
  return filled_ < kDepth ? -1 : oldest_label(newest, best);
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
  return step_[k].label[state];
}

int ViterbiDecoder::finish(int* out) const {
  const int n = filled_ < kDepth ? filled_ : kDepth - 1;  // the oldest of a full history was given
  int state = best_state();
  for (int i = n - 1, k = at_; i >= 0; --i) {
    k = k == 0 ? kDepth - 1 : k - 1;
    out[i] = step_[k].label[state];
    state = step_[k].from[state];
  }
  return n;
}

}  // namespace offhook::v32
