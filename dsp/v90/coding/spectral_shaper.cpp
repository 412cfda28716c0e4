// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/spectral_shaper.h"

namespace offhook::v90 {
namespace {

// Whether a rule inverts the even and the odd places of a shaping frame; Table 5.
constexpr uint8_t kInverts[4][2] = {{0, 0}, {1, 1}, {1, 0}, {0, 1}};
// Figure 2: from state s by one of two rules, to state 0 and to state 1.
constexpr SpectralShaper::Rule kRules[2][2] = {{SpectralShaper::kA, SpectralShaper::kB},
                                               {SpectralShaper::kC, SpectralShaper::kD}};

}  // namespace

void SignEncoder::put(const uint8_t* bits, uint8_t* t) {
  if (shaping_bits_ == 0) {
    for (int i = 0; i < kFrameIntervals; ++i) t[i] = last_ ^= bits[i];
    return;
  }
  const int symbols = shaping_frame_symbols(shaping_bits_);
  for (int i = 0; i < kFrameIntervals; ++i) {
    const int k = i % symbols;
    uint8_t p = k == 0 ? 0 : *bits++;
    if (k % 2 == 1) p = odd_ ^= p;
    t[i] = t_[k] ^= p;
  }
}

// With q(k) a sign relative to the sign at the same place of the previous shaping frame: q(0) holds both frames' rules,
// as the even places do; the odd places hold the later frame's state, which is the earlier one's choice. The rest is p.
void SignDecoder::put(const uint8_t* signs, uint8_t* bits) {
  if (shaping_bits_ == 0) {
    for (int i = 0; i < kFrameIntervals; ++i) {
      bits[i] = signs[i] ^ signs_[0];
      signs_[0] = signs[i];
    }
    return;
  }
  const int symbols = shaping_frame_symbols(shaping_bits_);
  uint8_t first = 0;
  for (int i = 0; i < kFrameIntervals; ++i) {
    const int k = i % symbols;
    const uint8_t q = signs[i] ^ signs_[k];
    signs_[k] = signs[i];
    if (k == 0) {
      first = q;
    } else if (k % 2 == 0) {
      *bits++ = q ^ first;
    } else {
      *bits++ = static_cast<uint8_t>(q ^ odd_ ^ (k == 1 ? first : 0));
      odd_ = q;
    }
  }
}

SpectralShaper::SpectralShaper(int symbols, const ShapingFilter& filter)
    : symbols_(symbols), a1_(filter.a1 / 64.), a2_(filter.a2 / 64.), b1_(filter.b1 / 64.), b2_(filter.b2 / 64.) {}

double SpectralShaper::run(const Frame& frame, Rule rule, Memory* memory) const {
  double sum = 0;
  for (int k = 0; k < symbols_; ++k) {
    const bool positive = (frame.t[k] ^ kInverts[rule][k & 1]) != 0;
    const double x = positive ? frame.magnitude[k] : -frame.magnitude[k];
    const double y = x - b1_ * memory->x + a1_ * memory->y;
    const double v = y - b2_ * memory->y + a2_ * memory->v;
    *memory = {x, y, v};
    sum += v * v;
  }
  return sum;
}

double SpectralShaper::best(const Frame* frames, int n, int state, const Memory& memory) const {
  if (n == 0) return 0;
  double least = 0;
  for (int next = 0; next < 2; ++next) {
    Memory m = memory;
    const double w = run(frames[0], kRules[state][next], &m);
    const double sum = w + best(frames + 1, n - 1, next, m);
    if (next == 0 || sum < least) least = sum;
  }
  return least;
}

SpectralShaper::Rule SpectralShaper::put(const Frame* frames, int n, uint8_t* signs) {
  int chosen = 0;
  double least = 0;
  Memory memory{};
  for (int next = 0; next < 2; ++next) {
    Memory m = memory_;
    const double w = run(frames[0], kRules[state_][next], &m);
    const double sum = w + best(frames + 1, n - 1, next, m);
    if (next > 0 && sum >= least) continue;
    least = sum;
    chosen = next;
    memory = m;
  }
  const Rule rule = kRules[state_][chosen];
  for (int k = 0; k < symbols_; ++k) signs[k] = frames[0].t[k] ^ kInverts[rule][k & 1];
  state_ = chosen;
  memory_ = memory;
  return rule;
}

}  // namespace offhook::v90
