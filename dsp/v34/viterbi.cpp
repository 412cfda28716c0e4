// SPDX-License-Identifier: MIT
#include "dsp/v34/viterbi.h"

namespace offhook::v34 {
namespace {

constexpr int kGroups = 4;

// The inputs that a code uses, packed: 16 states leave out Y4 and Y3, 32 states Y3.
constexpr int pack_input(TrellisCode code, int y) {
  switch (code) {
    case TrellisCode::k16:
      return y & 3;
    case TrellisCode::k32:
      return (y >> 1 & 4) | (y & 3);
    default:
      return y;
  }
}

constexpr int unpack_input(TrellisCode code, int packed) {
  switch (code) {
    case TrellisCode::k16:
      return packed;
    case TrellisCode::k32:
      return (packed << 1 & 8) | (packed & 3);
    default:
      return packed;
  }
}

// One bit for each value of Y4..Y1 with the unused inputs zero.
constexpr uint16_t kUsedInputs[] = {0x000F, 0x0F0F, 0xFFFF};

// A trellis sorted into groups. A place is group * inputs + place in the group; as a prior state and as a next state a
// state has two different places.
struct Trellis {
  int inputs;
  uint8_t next_state[kMaxTrellisStates];   // by next place
  uint8_t prior_state[kMaxTrellisStates];  // by prior place
  uint8_t next_place[kMaxTrellisStates];   // by prior place: the next place of the same state
  uint8_t prior_place[kMaxTrellisStates];  // by next place: the prior place of the same state
  uint8_t output[kGroups];                 // Y0 of all prior states of the group
};

constexpr Trellis make_trellis(TrellisCode code) {
  Trellis t{};
  const int states = trellis_states(code);
  t.inputs = states / kGroups;
  const auto next = [code](int state, int packed) { return trellis_next(code, state, unpack_input(code, packed)); };
  bool grouped[kMaxTrellisStates]{};
  int group = 0;
  for (int first = 0; first < states; ++first) {
    if (grouped[first]) continue;
    const int base = group * t.inputs;
    for (int h = 0; h < t.inputs; ++h) t.next_state[base + h] = static_cast<uint8_t>(next(first, h));
    for (int state = 0; state < states; ++state) {  // who else reaches the same states, and by which shift?
      for (int g = 0; g < t.inputs; ++g) {
        if (next(state, g) != t.next_state[base]) continue;
        t.prior_state[base + g] = static_cast<uint8_t>(state);
        grouped[state] = true;
      }
    }
    t.output[group++] = static_cast<uint8_t>(trellis_output(first));
  }
  for (int prior = 0; prior < states; ++prior) {
    for (int place = 0; place < states; ++place) {
      if (t.next_state[place] != t.prior_state[prior]) continue;
      t.next_place[prior] = static_cast<uint8_t>(place);
      t.prior_place[place] = static_cast<uint8_t>(prior);
    }
  }
  return t;
}

constexpr Trellis kTrellis[] = {make_trellis(TrellisCode::k16), make_trellis(TrellisCode::k32),
                                make_trellis(TrellisCode::k64)};

// The claim of the header, for every transition.
constexpr bool is_exclusive_or(TrellisCode code) {
  const Trellis& t = kTrellis[static_cast<int>(code)];
  for (int place = 0; place < trellis_states(code); ++place) {
    const int base = place / t.inputs * t.inputs;
    if (trellis_output(t.prior_state[place]) != t.output[place / t.inputs]) return false;
    for (int h = 0; h < t.inputs; ++h) {
      const int y = unpack_input(code, (place - base) ^ h);
      if (trellis_next(code, t.prior_state[place], y) != t.next_state[base + h]) return false;
    }
  }
  return true;
}
static_assert(is_exclusive_or(TrellisCode::k16) && is_exclusive_or(TrellisCode::k32) &&
              is_exclusive_or(TrellisCode::k64));

// The two pairs of subset labels of each 4D subset: by label parity and input, 8 s(2m) + s(2m+1).
struct PairTable {
  uint8_t pair[2][16][2];
};

constexpr PairTable make_pairs() {
  PairTable t{};
  int count[2][16]{};
  for (int s0 = 0; s0 < 8; ++s0) {
    for (int s1 = 0; s1 < 8; ++s1) {
      const int parity = (s0 ^ s1) & 1;
      const int y = trellis_input(s0, s1);
      t.pair[parity][y][count[parity][y]++] = static_cast<uint8_t>(8 * s0 + s1);
    }
  }
  return t;
}

constexpr PairTable kPairs = make_pairs();

// The two nearest values of v among offset + 4k.
struct Neighbours {
  int nearest;
  int second;
  float error;  // magnitude, of the nearest
};

Neighbours neighbours(float v, int offset) {
  constexpr int kBias = 128;  // makes the truncation a floor; v is within +-260
  const int k = static_cast<int>((v - static_cast<float>(offset)) * 0.25f + (kBias + 0.5f)) - kBias;
  const int nearest = offset + 4 * k;
  const float error = v - static_cast<float>(nearest);
  return error < 0 ? Neighbours{nearest, nearest - 4, -error} : Neighbours{nearest, nearest + 4, error};
}

float clamp_received(float v) {
  return v > -250.0f ? (v < 250.0f ? v : 250.0f) : -250.0f;
}  // NaN becomes -250

// The nearest point of each subset and its squared distance. A class of points modulo 4 holds two subsets, told apart
// by parity; when the nearest point is of one, the nearest of the other is a step of 4 away along the worse coordinate.
void slice(float re, float im, Point nearest[8], float distance[8]) {
  const Neighbours column[2] = {neighbours(clamp_received(re), 1), neighbours(clamp_received(re), 3)};
  const Neighbours row[2] = {neighbours(clamp_received(im), 1), neighbours(clamp_received(im), 3)};
  for (const Neighbours& y : row) {
    for (const Neighbours& x : column) {
      const Point near{static_cast<int16_t>(x.nearest), static_cast<int16_t>(y.nearest)};
      const bool step_re = x.error > y.error;
      const Point other =
          step_re ? Point{static_cast<int16_t>(x.second), near.im} : Point{near.re, static_cast<int16_t>(y.second)};
      const float d = x.error * x.error + y.error * y.error;
      const int label = subset_label(near);
      nearest[label] = near;
      distance[label] = d;
      nearest[label ^ 4] = other;
      distance[label ^ 4] = d + 16 - 8 * (step_re ? x.error : y.error);
    }
  }
}

}  // namespace

void ViterbiDecoder::reset(TrellisCode code, bool from_zero) {
  code_ = code;
  newest_ = 0;
  filled_ = 0;
  metric_step_ = 0;
  const Trellis& t = kTrellis[static_cast<int>(code)];
  for (int place = 0; place < kMaxTrellisStates; ++place) {
    metric_[place] = from_zero && t.next_state[place] != 0 ? 1e6f : 0.0f;
  }
}

// One step of the trellis: metric_ by next place, before and after. `branch` by Y0 and packed input.
template <int kInputs>
void ViterbiDecoder::step(const float branch[2][16], Step* s) {
  const Trellis& t = kTrellis[static_cast<int>(code_)];
  float shifted[2][kInputs][kInputs];  // [Y0][g][h]: branch metric of input g ^ h
  for (int y0 = 0; y0 < 2; ++y0) {
    for (int g = 0; g < kInputs; ++g) {
      for (int h = 0; h < kInputs; ++h) shifted[y0][g][h] = branch[y0][g ^ h];
    }
  }
  float old[kGroups * kInputs];  // by prior place
  for (int p = 0; p < kGroups * kInputs; ++p) old[p] = metric_[t.next_place[p]];
  for (int group = 0; group < kGroups; ++group) {
    const int base = group * kInputs;
    const auto& metric_of = shifted[t.output[group]];
    float best[kInputs];
    int32_t from[kInputs];
    for (int h = 0; h < kInputs; ++h) {
      best[h] = old[base] + metric_of[0][h];
      from[h] = 0;
    }
    for (int g = 1; g < kInputs; ++g) {
      for (int h = 0; h < kInputs; ++h) {
        const float m = old[base + g] + metric_of[g][h];
        from[h] = m < best[h] ? g : from[h];
        best[h] = m < best[h] ? m : best[h];
      }
    }
    for (int h = 0; h < kInputs; ++h) {
      metric_[base + h] = best[h];
      s->before[base + h] = t.next_place[base + from[h]];
    }
  }
}

bool ViterbiDecoder::decode(const float received[4], bool bit_inversion, Point decided[2]) {
  newest_ = newest_ + 1 == kHistory ? 0 : newest_ + 1;
  Step& s = history_[newest_];
  float distance[2][8];
  slice(received[0], received[1], s.nearest[0], distance[0]);
  slice(received[2], received[3], s.nearest[1], distance[1]);

  float branch[2][16];  // by Y0 and packed input
  const uint16_t used = kUsedInputs[static_cast<int>(code_)];
  for (int parity = 0; parity < 2; ++parity) {
    const int y0 = parity ^ bit_inversion;
    for (int y = 0; y < 16; ++y) {
      const uint8_t* pair = kPairs.pair[parity][y];
      const float m0 = distance[0][pair[0] >> 3] + distance[1][pair[0] & 7];
      const float m1 = distance[0][pair[1] >> 3] + distance[1][pair[1] & 7];
      const float m = m1 < m0 ? m1 : m0;
      const uint8_t best = m1 < m0 ? pair[1] : pair[0];
      const int packed = pack_input(code_, y);
      const bool first = used >> y & 1;  // of those inputs that this code does not tell apart
      const bool better = first || m < branch[y0][packed];
      branch[y0][packed] = better ? m : branch[y0][packed];
      s.pair[y0][packed] = better ? best : s.pair[y0][packed];
    }
  }

  switch (code_) {
    case TrellisCode::k16:
      step<4>(branch, &s);
      break;
    case TrellisCode::k32:
      step<8>(branch, &s);
      break;
    default:
      step<16>(branch, &s);
  }
  const int best = best_place();
  metric_step_ = metric_[best];
  for (int place = 0; place < trellis_states(code_); ++place) metric_[place] -= metric_step_;

  if (filled_ < kDelay) {
    ++filled_;
    return false;
  }
  int place = best;
  int at = newest_;
  for (int k = 0; k < kDelay; ++k) {
    place = history_[at].before[place];
    at = at == 0 ? kHistory - 1 : at - 1;
  }
  pair_of(history_[at], place, decided);
  return true;
}

void ViterbiDecoder::tentative(Point decided[2]) const {
  pair_of(history_[newest_], best_place(), decided);
}

int ViterbiDecoder::best_place() const {
  constexpr int kLanes = 8;  // independent minima, for the compiler to do at once
  float lane[kLanes];
  for (int k = 0; k < kLanes; ++k) lane[k] = metric_[k];
  const int states = trellis_states(code_);
  for (int at = kLanes; at < states; at += kLanes) {
    for (int k = 0; k < kLanes; ++k) lane[k] = metric_[at + k] < lane[k] ? metric_[at + k] : lane[k];
  }
  float least = lane[0];
  for (const float m : lane) least = m < least ? m : least;
  int best = 0;
  while (best < states - 1 && metric_[best] != least) ++best;
  return best;
}

// The pair of points of the transition that survives into `place`.
void ViterbiDecoder::pair_of(const Step& s, int place, Point decided[2]) const {
  const Trellis& t = kTrellis[static_cast<int>(code_)];
  const int input = (t.prior_place[s.before[place]] ^ place) & (t.inputs - 1);
  const uint8_t pair = s.pair[t.output[place / t.inputs]][input];
  decided[0] = s.nearest[0][pair >> 3];
  decided[1] = s.nearest[1][pair & 7];
}

}  // namespace offhook::v34
