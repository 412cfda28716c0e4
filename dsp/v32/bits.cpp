// SPDX-License-Identifier: MIT
#include "dsp/v32/bits.h"

namespace offhook::v32 {
namespace {

constexpr int nearest(const Rate& rate, Complex y) {
  int best = 0;
  for (int k = 1; k < rate.count; ++k) {
    if (norm(y - complex(rate.points[k])) < norm(y - complex(rate.points[best]))) best = k;
  }
  return best;
}

}  // namespace

// Half the squared distance of points that trellis coding separates only by their neighbours, or not at all.
float BitReceiver::near() const {
  if (rate_->bits == 2) return 5;
  return !rate_->trellis || rate_->bits % 2 == 1 ? 1.f : 0.5f;
}

// @return whether the far end's preamble has lasted long enough to be one
bool BitReceiver::preamble(Complex y) {
  const bool same = scrambling_ == kGpc;  // AA; else AC
  const Complex difference = same ? y - before_ : y + before_;
  before_ = y;
  alike_ = norm(difference) < 0.5f * energy_ && norm(y) > 0.3f * energy_ ? alike_ + 1 : 0;
  return alike_ >= kPreamble;
}

void BitReceiver::begin_rate_signal() {
  stage_ = Stage::kRateSignal;
  b1_ = kB1AgainSymbols;
  alike_ = kDoubtful;
  run_ = bits_ = 0;
  word_ = 0;
}

Complex BitReceiver::put(Complex y) {
  ++symbols_;
  if (stage_ == Stage::kData) {
    Complex sent;
    int label;
    if (rate_->trellis) {
      label = viterbi_.put(y);
      sent = viterbi_.newest_point();
    } else {
      label = nearest(*rate_, y);
      sent = complex(rate_->points[label]);
    }
    const float error = norm(y - sent) / near();
    error_ += (1.f / 256) * (error - error_);
    far_share_ += (1.f / 1024) * ((error > 1 ? 1.f : 0.f) - far_share_);
    if (preamble(y)) {
      int last[ViterbiDecoder::kDepth];
      const int n = rate_->trellis ? viterbi_.finish(last) - kPreamble : 0;
      for (int k = 0; k < n; ++k) put_data(last[k]);
      begin_rate_signal();
    } else if (label >= 0) {
      put_data(label);
    }
    return sent;
  }
  alike_ = 0;
  const int label = nearest(kRates[0], y);
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
  const int q = kUndo4800(label, y_);
  y_ = label;
  for (int k = 1; k >= 0; --k) {
    word_ = word_ >> 1 | static_cast<uint32_t>(descrambler_.descramble(q >> k & 1)) << 31;
  }
  bits_ += 2;
  const auto now = static_cast<uint16_t>(word_ >> 16);
  RateSignal r;
  if (!RateSignal::decode(now, &r)) return;
  if (r.end) {
    // E counts only at its position: a whole number of sequences after the rate signal.
    if (run_ < kEqualSequences || bits_ % 16 != 0 || r.rates == 0) return;
    begin_data(highest(r.rates));
    return;
  }
  // A sequence may also resemble one at another position, so only a repetition 16 bits later counts.
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
  viterbi_ = ViterbiDecoder(rate_->trellis ? *rate_ : kRates[4]);
  symbols_ = rate_->trellis ? 0 : ViterbiDecoder::kDepth;
  error_ = far_share_ = 0;
  alike_ = 0;
}

void BitReceiver::put_data(int label) {
  const int uncoded = rate_->bits - 2;
  const int y = label >> uncoded & 3;
  const int q = rate_->trellis ? kUndo(y, y_) : kUndo4800(y, y_);
  y_ = y;
  const int n = rate_->bits;
  const int bits = q << uncoded | (label & ((1 << uncoded) - 1));
  const auto octet = static_cast<uint8_t>(descrambler_.descramble(static_cast<uint64_t>(reversed(bits, n)), n));
  if (!live()) return;
  bits_received_ += static_cast<uint64_t>(n);
  oh_port_put(&port_, &octet, static_cast<size_t>(n));
}

}  // namespace offhook::v32
