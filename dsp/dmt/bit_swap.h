// SPDX-License-Identifier: MIT
//
// Bit swap: during data mode, a receiver whose noise has changed requests that the far transmitter move bits from tones
// with a small margin to tones with a larger one. The rate stays.
//
// The messages use the overhead octets that are otherwise unused (frame.h), one operation per superframe:
//
//    request      0xff  id  changes  (tone  command) for each  CRC-16        command 1: a bit more, 2: a bit less
//    acknowledge  0xf0  id  superframe  CRC-16                               both ends change with that superframe
//
// A request is repeated until it is acknowledged, an acknowledgement until its superframe begins. Superframes are
// counted on the line, from the start of data, modulo 256. After G.992.1 clause 11, as far as known: header
// and commands are of that form; the number of changes, the id, the CRC and the repetition were chosen here.
#pragma once

#include <stdint.h>

#include "dsp/dmt/frame.h"
#include "dsp/dmt/loading.h"

namespace offhook::dmt {

struct SwapRequest {
  static constexpr int kMost = 16;
  struct Change {
    uint8_t tone;
    bool more;  ///< one bit more, otherwise one less
  };
  uint8_t id = 0;
  int count = 0;
  Change changes[kMost]{};
};

struct Operation {
  enum class Kind : uint8_t { kNone, kRequest, kAcknowledge };
  Kind kind = Kind::kNone;
  SwapRequest request;     ///< of kRequest
  uint8_t id = 0;          ///< of kAcknowledge
  uint8_t superframe = 0;  ///< of kAcknowledge
};

/// @param[out] octets  [kOperationOctets]; unused octets are zero. Real-time: yes, O(kOperationOctets).
void write_operation(const Operation& operation, uint8_t* octets);
/// @param[in] octets  [kOperationOctets] with any content  @return Kind::kNone if they are not an operation
Operation read_operation(const uint8_t* octets);

/// @return whether the change of `loading` was possible; otherwise it is unchanged. The change must keep the sum of the
/// bits and leave room for the frame. Each tone must have no bits, or kLeastBits up to the band's greatest number.
/// Real-time: yes, O(tones).
bool swap_bits(const Band& band, const SwapRequest& request, Loading* loading);

/// SNR of a tone over the requirement of its bits at the coding gain without margin, as a ratio. @param error  mean
/// square of the points, unit power. @pre the tone carries bits
float margin_of(const Loading& loading, int tone, float error);

/// Moves bits from the tone with the least margin to the one with the most. Repeats this while a tone has less than
/// kMarginDb / 2 and the least margin of the two gains 1 dB. @param[in] margin  [band.tones()] current margin_of(); 0:
/// not known, or no bits.  @return whether there is any change. Real-time: yes, O(tones), and again for each change.
bool propose_swap(const Band& band, const Loading& loading, const float* margin, SwapRequest* request);

}  // namespace offhook::dmt
