// SPDX-License-Identifier: MIT
#include "dsp/v32/bits.h"

namespace offhook::v32 {
namespace {

constexpr int nearest_4800(Complex y) {
  int best = 0;
  for (int k = 1; k < 4; ++k) {
    if (norm(y - complex(kPoints4800[k])) < norm(y - complex(kPoints4800[best]))) best = k;
  }
  return best;
}

}  // namespace

Complex BitReceiver::put(Complex y) {
  ++symbols_;
  if (stage_ == Stage::kData) {
    Complex sent;
    int label = nearest_4800(y);
    if (rate_->bits == 2) {
      sent = complex(kPoints4800[label]);
    } else {
      label = viterbi_.put(y);
      sent = complex(rate_->points[viterbi_.newest()]);
    }
    // Points of a diagram lie at least 2 / sqrt 2 from their neighbours of the same grid, 4800's sqrt 20.
    const float near = rate_->bits == 2 ? 5.f : rate_->bits == 3 || rate_->bits == 5 ? 1.f : 0.5f;
    error_ += (1.f / 256) * (norm(y - sent) / near - error_);
    if (label >= 0) put_data(label);
    return sent;
  }
  const int label = nearest_4800(y);
  if (stage_ == Stage::kTrn) {
    const int known = trn_.next();
    y_ = known;
    if (symbols_ >= kLeastTrn) {
      stage_ = Stage::kRateSignal;
      y_ = label;
      return complex(kPoints4800[label]);
    }
    return complex(kPoints4800[known]);
  }
  put_dibit(label);
  return complex(kPoints4800[label]);
}

void BitReceiver::put_dibit(int label) {
  const int q = undo(differential_4800, label, y_);
  y_ = label;
  for (int k = 1; k >= 0; --k) {
    word_ = word_ >> 1 | static_cast<uint32_t>(descrambler_.descramble(q >> k & 1)) << 31;
  }
  bits_ += 2;
  const auto now = static_cast<uint16_t>(word_ >> 16);
  RateSignal r;
  if (!RateSignal::decode(now, &r)) return;
  if (r.end) {
    // E counts where it has to come: a whole number of sequences after the rate signal.
    if (run_ < kEqualSequences || bits_ % 16 != 0 || r.rates == 0) return;
    int rate = 0;
    while (!(r.rates >> rate & 1)) ++rate;
    begin_data(rate);
    return;
  }
  // A sequence may look like one at another place as well: what counts is the same one 16 bits later.
  if (now == static_cast<uint16_t>(word_)) {
    if (run_ > 0 && bits_ < 16) return;
    run_ = run_ > 0 && bits_ == 16 && now == last_ ? run_ + 1 : 2;
    last_ = now;
    rates_ = r;
    bits_ = 0;
  }
}

void BitReceiver::begin_data(int rate) {
  stage_ = Stage::kData;
  rate_ = &kRates[rate];
  energy_ = mean_power(*rate_);
  viterbi_ = ViterbiDecoder(rate_->bits > 2 ? *rate_ : kRates[4]);
  symbols_ = rate_->bits > 2 ? 0 : ViterbiDecoder::kDepth;
  error_ = 0;
}

void BitReceiver::put_data(int label) {
  const int uncoded = rate_->bits - 2;
  const int y = label >> uncoded & 3;
  const int q = uncoded > 0 ? undo(differential, y, y_) : undo(differential_4800, y, y_);
  y_ = y;
  const int bits = q << uncoded | (label & ((1 << uncoded) - 1));
  for (int k = rate_->bits - 1; k >= 0; --k) {
    const int bit = descrambler_.descramble(bits >> k & 1);
    if (!live()) continue;
    ++bits_received_;
    port_.put_bit(port_.user, bit);
  }
}

}  // namespace offhook::v32
