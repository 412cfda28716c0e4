// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/encoder.h"

#include "dsp/blocks/level.h"
#include "dsp/v34/coding/shell_mapper.h"

namespace offhook::v34 {
namespace {

// C0 of 9.6.3.3: whether the sums of the components of c(2m)/2 and of c(2m+1)/2 differ in parity.
int modulo_encoder(Point c0, Point c1) {
  return (c0.re + c0.im + c1.re + c1.im) / 2 & 1;
}

// Mean |u|^2 of the ideal constellation with its shell mapping, with high and low frames weighted.
double mapped_energy(const Framing& framing) {
  double probability[2][kMaxRings];  // of low frames, whose last shell bit is 0, and of high frames
  const int k = framing.shell_bits;
  shell_ring_probability(framing.rings, k > 0 ? k - 1 : 0, probability[0]);
  shell_ring_probability(framing.rings, k, probability[1]);
  const double high = static_cast<double>(framing.high_frames) / framing.mapping_frames;
  const int points = 1 << framing.point_bits;
  double energy = 0;
  for (int ring = 0; ring < framing.rings; ++ring) {
    double sum = 0;
    for (int n = 0; n < points; ++n) {
      const Point p = quarter_point(ring * points + n);
      sum += p.re * p.re + p.im * p.im;
    }
    energy += ((1 - high) * probability[0][ring] + high * probability[1][ring]) * sum / points;
  }
  return energy;
}

// Variance of the remainder of a normal variable modulo 2w. The square wave of parabolas y^2 on [-w, w] is a Fourier
// series, each of whose cosines has the mean exp(-(pi k)^2 variance / (2 w^2)). A variable that almost never leaves
// [-w, w] keeps its variance.
double folded_variance(double variance, double w) {
  constexpr double kPi = 3.14159265358979323846, kNepersToDb = 8.68588963806503655302;
  if (variance < w * w / 16) return variance;  // 4 sigma
  const double decay = kPi * kPi * variance / (2 * w * w);
  double sum = w * w / 3;
  for (int k = 1; k <= 8 && decay * k * k < 40; ++k) {
    sum += (k % 2 != 0 ? -4 : 4) * w * w / (kPi * kPi * k * k) * db_to_gain(-kNepersToDb * decay * k * k);
  }
  return sum;
}

// dither_energy() if the mapper's points have the energy u. The sent signal contains both. Behind the filter it is
// taken as white and normal. Its remainder is the dither, so this is a fixed point.
double dither_of(double u, double w, const PrecoderCoefficients& h) {
  double gain = 0;  // of the filter
  for (const auto& tap : h.h) {
    const double re = tap.re / 16384.0, im = tap.im / 16384.0;
    gain += re * re + im * im;
  }
  double dither = 0;
  for (int k = 0; k < 8; ++k) dither = 2 * folded_variance(gain * (u + dither) / 2, w);
  return dither;
}

}  // namespace

Encoder::Encoder(const CodingParameters& parameters, const EncoderStart& start)
    : framing_(parameters.framing),
      position_(parameters.framing),
      scrambler_(parameters.scrambling),
      trellis_(parameters.trellis, start.trellis_state),
      precoder_(parameters.precoder, parameters.framing.precoder_scale),
      z_(start.quadrant) {
  for (int k = 0; k < start.frame; ++k) position_.advance();
}

void Encoder::parse_frame(const FrameBits& primary, int aux, MappingFrame* bits) {
  const int n = primary_bits();
  FrameBits scrambled;
  scrambled.low = scrambler_.scramble(primary.low, n < 64 ? n : 64);
  if (n > 64) scrambled.high = scrambler_.scramble(primary.high, n - 64);
  parse(framing_, position_.in_data_frame(), scrambled, aux, bits);
}

void Encoder::frame(const FrameBits& primary, int aux, Symbol* symbols) {
  MappingFrame bits;
  uint8_t ring[8];
  parse_frame(primary, aux, &bits);
  shell_map(framing_.rings, bits.shell, ring);

  for (int j = 0; j < kGroupsPerMappingFrame; ++j) {  // the order of Table 11
    const auto& g = bits.group[j];
    z_ = (z_ + g.i2 + 2 * g.i3) & 3;
    const auto point = [&](int k) { return quarter_point(g.q[k] + (ring[2 * j + k] << framing_.point_bits)); };
    Symbol& s0 = symbols[2 * j];
    Symbol& s1 = symbols[2 * j + 1];
    const Point c0 = precoder_.offset();
    s0.x = precoder_.encode(rotate_cw(point(0), z_), &s0.y);
    const Point c1 = precoder_.offset();
    const int u0 = trellis_.output() ^ modulo_encoder(c0, c1) ^ position_.bit_inversion(j);
    s1.x = precoder_.encode(rotate_cw(point(1), z_ + 2 * g.i1 + u0), &s1.y);
    trellis_.put(s0.y, s1.y);
  }
  position_.advance();
}

Decoder::Decoder(const CodingParameters& parameters, const EncoderStart& start)
    : framing_(parameters.framing),
      position_(parameters.framing),
      descrambler_(parameters.scrambling),
      precoder_(parameters.precoder, parameters.framing.precoder_scale),
      z_(start.quadrant) {
  for (int k = 0; k < start.frame; ++k) position_.advance();
}

int Decoder::frame(const Point* y, FrameBits* primary, uint8_t* aux, FixedPoint* x) {
  const int limit = framing_.points() / 4;
  MappingFrame bits{};
  uint8_t ring[8];
  for (int j = 0; j < kGroupsPerMappingFrame; ++j) {
    auto& g = bits.group[j];
    Point c[2];
    int turns[2];
    for (int k = 0; k < 2; ++k) {
      const int n = 2 * j + k;
      c[k] = precoder_.offset();
      const Point u = precoder_.decode(y[n], x != nullptr ? &x[n] : nullptr);
      turns[k] = quadrant(u);
      const int label = quarter_label(rotate_cw(u, -turns[k]), limit);
      ring[n] = static_cast<uint8_t>(label >> framing_.point_bits);
      g.q[k] = static_cast<uint8_t>(label & ((1 << framing_.point_bits) - 1));
    }
    // Y0 ^ V0 is the parity of the labels, so U0 needs neither the trellis state nor the superframe.
    const int u0 = ((subset_label(y[2 * j]) ^ subset_label(y[2 * j + 1])) & 1) ^ modulo_encoder(c[0], c[1]);
    const int i23 = (turns[0] - z_) & 3;
    z_ = turns[0];
    g.i1 = static_cast<uint8_t>((turns[1] - z_ - u0) >> 1 & 1);
    g.i2 = i23 & 1;
    g.i3 = static_cast<uint8_t>(i23 >> 1);
  }
  bits.shell = static_cast<uint32_t>(shell_unmap(framing_.rings, ring));  // bits above K occur only after line errors
  return deparse_frame(bits, primary, aux);
}

int Decoder::deparse_frame(const MappingFrame& bits, FrameBits* primary, uint8_t* aux) {
  const int n = primary_bits();
  const FrameBits scrambled = deparse(framing_, position_.in_data_frame(), bits, aux);
  primary->low = descrambler_.descramble(scrambled.low, n < 64 ? n : 64);
  primary->high = n > 64 ? descrambler_.descramble(scrambled.high, n - 64) : 0;
  position_.advance();
  return n;
}

float mean_energy(const Framing& framing, bool precoding) {
  const double w = framing.precoder_scale;
  return static_cast<float>(mapped_energy(framing) + (precoding ? 2 * w * w / 3 : 0));
}

float mean_energy(const Framing& framing, const PrecoderCoefficients& h) {
  const double u = mapped_energy(framing);
  return static_cast<float>(u + dither_of(u, framing.precoder_scale, h));
}

float dither_energy(const Framing& framing, const PrecoderCoefficients& h) {
  return static_cast<float>(dither_of(mapped_energy(framing), framing.precoder_scale, h));
}

}  // namespace offhook::v34
