// SPDX-License-Identifier: MIT
#include "dsp/qam/receiver_lowpass.h"

#include <utility>

#include "dsp/blocks/lowpass.h"

namespace offhook::qam {
namespace {

constexpr double kPassed = 0.6;  // relative to the symbol rate, on each side of the carrier

// V.34 Tables 1 and 2; 2400 symbols/s at 1800 Hz also belongs to V.32bis.
constexpr Band kBands[] = {{{1, 1}, {2, 3}}, {{1, 1}, {3, 4}}, {{8, 7}, {3, 5}}, {{8, 7}, {2, 3}},
                           {{7, 6}, {3, 5}}, {{7, 6}, {2, 3}}, {{5, 4}, {3, 5}}, {{5, 4}, {2, 3}},
                           {{4, 3}, {4, 7}}, {{4, 3}, {3, 5}}, {{10, 7}, {4, 7}}};
constexpr int kCount = sizeof kBands / sizeof kBands[0];

template <int kBand>
constexpr Interpolator::Lowpass kLowpass = make_lowpass(kBands[kBand].carrier_hz(), kPassed* kBands[kBand].symbol_hz());

template <int... kBand>
const Interpolator::Lowpass& lowpass_at(int band, std::integer_sequence<int, kBand...>) {
  static constexpr const Interpolator::Lowpass* kAll[] = {&kLowpass<kBand>...};
  return *kAll[band];
}

}  // namespace

const Interpolator::Lowpass& receiver_lowpass(const Band& band) {
  int k = kCount - 1;
  while (k > 0 && !(kBands[k] == band)) --k;
  return lowpass_at(k, std::make_integer_sequence<int, kCount>());
}

}  // namespace offhook::qam
