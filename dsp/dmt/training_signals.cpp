// SPDX-License-Identifier: MIT
#include "dsp/dmt/training_signals.h"

namespace offhook::dmt {

namespace {

/// The next bit of d. The start is part of the sequence: the output is the oldest bit.
int next_bit(bool downstream, uint32_t* state) {
  const int length = downstream ? 9 : 6;
  const int out = static_cast<int>(*state >> (length - 1) & 1);
  const uint32_t next = (*state >> (length - 1) ^ *state >> (downstream ? 3 : 4)) & 1;
  *state = (*state << 1 | next) & ((1u << length) - 1);
  return out;
}

/// @param bit  is called twice for each tone of the band's transform
template <typename Bit>
void random_points(const Band& band, Bit bit, Complex* points) {
  for (int k = 0; k < band.tones(); ++k) {
    const int first = bit(), second = bit();
    points[k] = {};
    if (k < band.first || k > band.last) continue;
    points[k] = {first != 0 ? -kPilotPoint.re : kPilotPoint.re, second != 0 ? -kPilotPoint.im : kPilotPoint.im};
    if (k == band.pilot) points[k] = kPilotPoint;
  }
}

}  // namespace

int Medley::bit() {
  const auto second = static_cast<int>(long_ >> 22 & 1);
  long_ = (long_ << 1 | ((long_ >> 22 ^ long_ >> 17) & 1)) & ((1u << 23) - 1);
  return next_bit(downstream_, &register_) ^ second;
}

void Medley::next(const Band& band, Complex* points) {
  random_points(
      band, [this] { return bit(); }, points);
}

void reverb(const Band& band, Complex* points) {
  const bool downstream = band.points > 64;
  uint32_t state = downstream ? 0x1ff : 0x3f;
  random_points(
      band, [&] { return next_bit(downstream, &state); }, points);
}

void octet_symbol(const Band& band, const Complex* reverb, uint8_t octet, Complex* points) {
  for (int k = 0; k < band.tones(); ++k)
    points[k] = k == band.pilot ? reverb[k] : turned(reverb[k], static_cast<unsigned>(octet) >> 2 * (k % 4));
}

void tones_symbol(const Band& band, const int* tones, int n, Complex* points) {
  for (int k = 0; k < band.tones(); ++k) points[k] = {};
  for (int k = 0; k < n; ++k) points[tones[k]] = kPilotPoint;
}

}  // namespace offhook::dmt
