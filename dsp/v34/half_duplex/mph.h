// SPDX-License-Identifier: MIT
//
// The MPh sequences of half-duplex operation (10.2.4.4, Tables 23 and 24). Source and recipient repeat them on the
// control channel. From the pair each computes the data rate of the primary channel and both rates of the control
// channel. They are framed as MP is.
#pragma once

#include <stdint.h>

#include "dsp/v34/session/mp.h"

namespace offhook::v34 {

struct Mph {
  static constexpr int kBitsType0 = 88;
  static constexpr int kBitsType1 = 188;

  bool type1;                     ///< with precoder coefficients; without them, the source keeps its own
  uint8_t max_rate;               ///< of the primary channel, in 2400 bit/s, 1..14
  bool control_2400;              ///< of the far end's control channel; otherwise 1200 bit/s
  TrellisCode trellis;            ///< for the source's primary channel, like the next two; only from the recipient
  bool nonlinear;                 ///< Theta = 0.3125, else 0
  bool expanded;                  ///< expanded constellation, otherwise minimum
  uint16_t rate_mask;             ///< bit k: (k+1) * 2400 bit/s is enabled, k = 0..13
  bool asymmetric_control;        ///< the control channel's two directions may differ
  PrecoderCoefficients precoder;  ///< type 1 only; zero in a decoded type 0

  int bits() const { return type1 ? kBitsType1 : kBitsType0; }
};

/// @param[out] bits  [mph.bits()] one per byte, in order of time.  @pre every field within its stated range.
/// @return mph.bits().  Real-time: yes, O(bits).
int encode(const Mph& mph, uint8_t* bits);

/// Read an MPh that may be damaged. @param[in] bits  [188] or, if the type bit is 0, [88]; each 0 or 1
/// @return true if sync, start bits and CRC are correct, the trellis code is defined and the rate is 1 to 14. Otherwise
/// `mph` has the fields as read. Reserved and fill bits are ignored.  Real-time: yes, O(bits).
bool decode(const uint8_t* bits, Mph* mph);

using MphReceiver = SequenceReceiver<Mph>;

/// The results of both MPh for the end that sent `own`.
struct HalfDuplexRates {
  uint8_t primary;       ///< in 2400 bit/s; 0: no rate in common
  bool tx_control_2400;  ///< of this end's control channel
  bool rx_control_2400;
  friend bool operator==(const HalfDuplexRates&, const HalfDuplexRates&) = default;
};
/// Source: 12.4.1.3, 12.4.2.4; Table 23, bits 27 and 50.  Real-time: yes, O(1).
HalfDuplexRates resolve_rates(const Mph& own, const Mph& far);

}  // namespace offhook::v34
