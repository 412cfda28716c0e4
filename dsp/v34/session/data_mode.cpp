// SPDX-License-Identifier: MIT
#include "dsp/v34/session/data_mode.h"

#include "dsp/blocks/preemption_point.h"
#include "dsp/v34/coding/shell_mapper.h"

namespace offhook::v34 {
namespace {

constexpr int kFrameOctets = 16;  // of FrameBits
static_assert(kMaxMappingFrameBits <= 8 * kFrameOctets);

// The encoder gives x with 7 fractional bits.
constexpr float kXUnit = 1.f / 128;

// The odd number that is nearest to v.
float nearest_odd(float v) {
  constexpr float kMost = 255;
  v = v < kMost ? v : kMost;
  v = v > -kMost ? v : -kMost;  // NaN became kMost
  const float half = 0.5f * v;
  const int k = static_cast<int>(half);
  return static_cast<float>(2 * (k - (static_cast<float>(k) > half)) + 1);  // floor without a branch: v is random
}

Complex nearest(Complex y) {
  return {nearest_odd(y.re), nearest_odd(y.im)};
}

}  // namespace

bool DataParameters::precoding() const {
  for (const auto& h : coding.precoder.h) {
    if (h.re != 0 || h.im != 0) return true;
  }
  return false;
}

float DataParameters::mean_energy() const {
  return v34::mean_energy(coding.framing, coding.precoder);
}

float DataParameters::transmitted_energy() const {
  const float mean = mean_energy();
  if (!nonlinear) return mean;
  // Mean of Phi^2 |x|^2 over the points with their frequencies; the precoder's dither moves each in a square around it,
  // which adds its energy and hardly changes Phi.
  const Framing& f = coding.framing;
  double probability[2][kMaxRings];
  shell_ring_probability(f.rings, f.shell_bits > 0 ? f.shell_bits - 1 : 0, probability[0]);
  shell_ring_probability(f.rings, f.shell_bits, probability[1]);
  const double high = static_cast<double>(f.high_frames) / f.mapping_frames;
  const int points = 1 << f.point_bits;
  const float dither = dither_energy(f, coding.precoder);
  double energy = 0;
  for (int ring = 0; ring < f.rings; ++ring) {
    oh_preemption_point();
    double sum = 0;
    for (int n = 0; n < points; ++n) {
      const Point p = quarter_point(ring * points + n);
      const float e = static_cast<float>(p.re * p.re + p.im * p.im) + dither;
      const float gain = qam::nonlinear_gain(kNonlinearTheta * e / mean);
      sum += gain * gain * e;
    }
    energy += ((1 - high) * probability[0][ring] + high * probability[1][ring]) * sum / points;
  }
  return static_cast<float>(energy);
}

qam::SymbolFormat DataParameters::format() const {
  qam::SymbolFormat f;
  f.energy = transmitted_energy();
  if (nonlinear) f.warp = qam::NonlinearEncoder(kNonlinearTheta, mean_energy()).zeta_per_energy();
  for (int k = 0; k < 3; ++k) {
    const auto& h = coding.precoder.h[k];
    f.whitening[k] = {static_cast<float>(h.re) / 16384, static_cast<float>(h.im) / 16384};
  }
  return f;
}

DataTransmitter::DataTransmitter(const DataParameters& p)
    : encoder_(p.coding),
      nonlinear_(p.nonlinear ? kNonlinearTheta : 0, p.mean_energy() / (kXUnit * kXUnit)),
      scale_(kXUnit / square_root(p.transmitted_energy())),
      frames_left_of_b1_(p.coding.framing.mapping_frames) {}

void DataTransmitter::make_frame(const DataPort& port, bool live) {
  const bool b1 = frames_left_of_b1_ > 0;
  if (b1) --frames_left_of_b1_;
  FrameBits primary = FrameBits::ones();
  if (!b1 && live) {
    const int n = encoder_.primary_bits();
    uint8_t octets[kFrameOctets]{};
    oh_port_get(&port.primary, octets, static_cast<size_t>(n));
    bits_ += static_cast<uint64_t>(n);
    primary = FrameBits::of_octets(octets);
  }
  int aux = 1;
  if (!b1 && encoder_.takes_aux() && oh_port_is_whole(&port.auxiliary)) aux = oh_port_get_bit(&port.auxiliary);
  FixedPoint x[kSymbolsPerMappingFrame];
  encoder_.frame(primary, aux, x);
  for (int n = 0; n < kSymbolsPerMappingFrame; ++n) {
    Complex s{static_cast<float>(x[n].re), static_cast<float>(x[n].im)};
    nonlinear_.encode(&s.re, &s.im);
    symbols_[n] = scale_ * s;
  }
}

Complex DataTransmitter::next(const DataPort& port, bool live) {
  if (frame_sent()) {
    make_frame(port, live);
    next_ = 0;
  }
  const Complex s = symbols_[next_++];
  b1_sent_ |= frames_left_of_b1_ == 0 && frame_sent();
  return s;
}

DataReceiver::DataReceiver(const DataParameters& p)
    : decoder_(p.coding),
      ahead_(p.coding.framing),
      frames_left_of_b1_(p.coding.framing.mapping_frames),
      b1_symbols_(p.coding.framing.symbols_per_data_frame()),
      b1_(p.coding) {
  viterbi_.reset(p.coding.trellis, true);
}

Complex DataReceiver::decide(Complex y) {
  received_[2 * second_] = y.re;
  received_[2 * second_ + 1] = y.im;
  if (second_) decode_pair();
  Point p;
  if (symbols_ < b1_symbols_) {
    if (symbols_ % kSymbolsPerMappingFrame == 0) b1_.frame(FrameBits::ones(), 1, known_);
    p = known_[symbols_ % kSymbolsPerMappingFrame].y;
    b1_sum_ += norm(y - to_complex(p));
  } else if (second_) {
    Point pair[2];
    viterbi_.tentative(pair);
    p = pair[1];
  } else {
    return nearest(y);
  }
  return to_complex(p);
}

void DataReceiver::decode_pair() {
  since_inversion_ = ahead_.in_half_data_frame(pair_);
  ready_ = viterbi_.decode(received_, ahead_.bit_inversion(pair_), decided_ + decided_count_);
  if (ready_) toss_up_ = viterbi_.toss_up();
  if (++pair_ == kGroupsPerMappingFrame) {
    pair_ = 0;
    ahead_.advance();
  }
  constexpr float kDimensions = 4;
  const float step = viterbi_.path_metric_step() / kDimensions;
  variance_ = step < 1 ? step : 1;  // NaN too
  const Complex y[2] = {{received_[0], received_[1]}, {received_[2], received_[3]}};
  const float grid = (norm(y[0] - nearest(y[0])) + norm(y[1] - nearest(y[1]))) / kDimensions;
  grid_variance_ = grid < 1 ? grid : 1;
}

void DataReceiver::put(const DataPort& port, bool live) {
  if (symbols_ < b1_symbols_) ++symbols_;
  second_ = !second_;
  if (second_ || !ready_ || (decided_count_ += 2) < kSymbolsPerMappingFrame) return;
  decided_count_ = 0;
  FrameBits bits;
  uint8_t aux = 0;
  const bool gives_aux = decoder_.gives_aux();
  const int n = decoder_.frame(decided_, &bits, &aux);
  if (frames_left_of_b1_ > 0) {
    --frames_left_of_b1_;
    for (int k = 0; k < n; ++k) b1_errors_ += bits.take(1) == 0;
    return;
  }
  give(port, live, gives_aux, n, bits, aux);
}

void DataReceiver::give(const DataPort& port, bool live, bool with_aux, int n, const FrameBits& bits, uint8_t aux) {
  if (!live) return;
  bits_ += static_cast<uint64_t>(n);
  uint8_t octets[kFrameOctets];
  bits.to_octets(octets);
  oh_port_put(&port.primary, octets, static_cast<size_t>(n));
  if (with_aux && oh_port_is_whole(&port.auxiliary)) oh_port_put_bit(&port.auxiliary, aux);
}

}  // namespace offhook::v34
