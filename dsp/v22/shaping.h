// SPDX-License-Identifier: MIT
//
// The two channels of V.22bis (2.1), and the root raised cosine that both ends shape with (2.4), as tables.
//
// Both carriers turn a whole number of times in a symbol, so that one pulse with its carrier in it serves every symbol,
// and the receiver's filter takes unmixed samples of the line.
#pragma once

#include <stdint.h>

namespace offhook::v22 {

enum class Channel : uint8_t {
  kLow,
  kHigh
};  ///< the caller sends in the low channel, the answerer in the high one (6.1.1)

inline constexpr int kSymbolHz = 600;               // 2.5.1
inline constexpr int kCarrierHz = 1200;             // of the low channel; the high one has twice that
inline constexpr double kSymbolSamples = 40.0 / 3;  // samples of 8000 Hz
/// Mean square of a signal that is shaped twice: after the receiver's filter, relative to the line.
inline constexpr double kReceivedPower = 2 * (1 - 0.75 / 4);

/// A sample of 8000 Hz as one dot product with the newest symbols: real parts, then imaginary parts, the oldest first.
struct TransmitPulse {
  static constexpr int kSpan = 8;       ///< symbols
  static constexpr int kPhases = 40;    ///< phases of a symbol between samples
  static constexpr int kPerSample = 3;  ///< phases a sample
  float tap[kPhases][2 * kSpan];        ///< unit mean square for symbols of unit mean power
};
const TransmitPulse& transmit_pulse(Channel channel);

/// A sample of the complex baseband, apart from the carrier's phase, as two dot products with samples of the line. A
/// tone at the carrier keeps its peak.
struct ReceiveFilter {
  static constexpr int kTaps = 128;
  static constexpr int kPhases = 32;  ///< positions between two samples: half a step costs 55 dB
  static constexpr int kDelay = kTaps / 2 - 1;
  float re[kPhases][kTaps];  ///< for the signal kDelay samples and (phase + 1/2) / kPhases before the newest
  float im[kPhases][kTaps];
};
const ReceiveFilter& receive_filter(Channel channel);

}  // namespace offhook::v22
