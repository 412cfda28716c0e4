// SPDX-License-Identifier: MIT
//
// The messages of both ends after MEDLEY: the loading that a receiver requests, and whether it has received the
// other's.
//
//    start  flags  payload  check  frames per word  depth  first tone  tones  bits and gain of each tone  CRC-16  end
//
// Flags: 1 the far end's message was received, 2 with the trellis code.
//
// An octet symbol (training_signals.h) is start, end or a nibble, so that neither SEGUE nor REVERB is ever one of them.
#pragma once

#include <stdint.h>

#include "dsp/dmt/loading.h"

namespace offhook::dmt {

struct Message {
  Loading loading;
  bool acknowledge = false;  ///< the far end's message was read
};

inline constexpr uint8_t kMessageStart = 0xa5, kMessageEnd = 0x5a, kNibble = 0x10;
inline constexpr int kMostMessageOctets = 9 + kMostTones;
inline constexpr int kMostMessageSymbols = 2 * kMostMessageOctets + 2;

/// @param band  of the loading  @param[out] symbols  [kMostMessageSymbols] octets of the symbols
/// @return number of symbols. Real-time: yes, O(tones).
int write_message(const Band& band, const Message& message, uint8_t* symbols);

/// Reads octet symbols as they arrive.
class MessageReader {
 public:
  /// @param band  of this end's transmitter; the loading must be for it
  explicit MessageReader(const Band& band) : band_(band) {}
  void reset() { started_ = false; }
  /// @return true after a complete message with a good CRC. Real-time: yes; O(tones) at the end of a message.
  bool put(uint8_t symbol, Message* message);

 private:
  bool read(Message* message) const;
  const Band band_;
  bool started_ = false;
  int nibbles_ = 0;
  uint8_t octets_[kMostMessageOctets]{};
};

}  // namespace offhook::dmt
