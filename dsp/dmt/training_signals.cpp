// SPDX-License-Identifier: MIT
#include "dsp/dmt/training_signals.h"

namespace offhook::dmt {

int Medley::bit() {
  // The start is part of the sequence: what leaves is the oldest bit.
  const int length = downstream_ ? 9 : 6;
  const int out = static_cast<int>(register_ >> (length - 1) & 1);
  const uint32_t next = (register_ >> (length - 1) ^ register_ >> (downstream_ ? 3 : 4)) & 1;
  register_ = (register_ << 1 | next) & ((1u << length) - 1);
  return out;
}

void Medley::next(const Band& band, Complex* points) {
  for (int k = 0; k < band.tones(); ++k) {
    const int first = bit(), second = bit();
    points[k] = {};
    if (k < band.first || k > band.last) continue;
    points[k] = {first != 0 ? -kPilotPoint.re : kPilotPoint.re, second != 0 ? -kPilotPoint.im : kPilotPoint.im};
    if (k == band.pilot) points[k] = kPilotPoint;
  }
}

void reverb(const Band& band, Complex* points) {
  Medley(band).next(band, points);
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
