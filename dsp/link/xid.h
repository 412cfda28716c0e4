// SPDX-License-Identifier: MIT
//
// The information field of XID frames (ITU-T V.42, 12.2): the parameters that the two ends negotiate.
#ifndef OFFHOOK_DSP_V42_XID_H
#define OFFHOOK_DSP_V42_XID_H

#include <stddef.h>
#include <stdint.h>

#include "dsp/link/v44.h"

namespace offhook::v42 {

/// Directions of V.42bis in parameter P0. The initiator sends the command.
inline constexpr uint8_t kFromInitiator = 1, kToInitiator = 2;

/// 0 if a parameter is absent. Directions of LAPM are those of the sender.
struct Xid {
  bool srej = false;                  ///< selective retransmission, one frame per request (Table 11a, bit 3)
  bool test = false;                  ///< loop-back test (bit 14)
  bool fcs32 = false;                 ///< 32-bit frame check sequence (bit 17)
  uint16_t n401_tx = 0, n401_rx = 0;  ///< octets
  uint8_t k_tx = 0, k_rx = 0;         ///< frames
  bool v42bis = false;                ///< the next three are present (Table 11b); otherwise their defaults apply
  uint8_t compress = 0;               ///< P0
  uint16_t codewords = 512;           ///< P1; 65535 for more
  uint8_t max_string = 6;             ///< P2; 255 for more
  bool v44 = false;                   ///< V.44's set is present (V.44, Table A.1); otherwise the defaults
  uint8_t v44_directions = 3;         ///< P0, from the sender's view: 1 transmitted, 2 received
  v44::Parameters v44_tx, v44_rx;     ///< P1, P2, P3, also from the sender's view
};

/// Maximum number of octets that write_xid writes.
inline constexpr size_t kXidSize = 76;

/// @param[out] out [kXidSize]  @return octets written
/// @pre n401 1 to 8191 and k 1 to 127, in both directions
size_t write_xid(const Xid& xid, bool response, uint8_t* out);

/// Unknown parameters and groups are skipped (12.2.2).
/// @return 0, or 1 + the position of the wrong octet: no general-purpose format, a length that exceeds its container,
/// or a LAPM value out of range (V.42bis has its own rule for that)
size_t read_xid(const uint8_t* in, size_t n, Xid* xid);

}  // namespace offhook::v42
#endif
