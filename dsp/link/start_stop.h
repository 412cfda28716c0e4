// SPDX-License-Identifier: MIT
//
// Start-stop characters on a synchronous bit stream (ITU-T V.14): a start bit, eight data bits with the least
// significant first, a stop bit; ones between characters. A far end whose terminal is faster than the line leaves out
// stop bits now and then. Real-time: yes.
#ifndef OFFHOOK_DSP_V14_START_STOP_H
#define OFFHOOK_DSP_V14_START_STOP_H

#include <stdint.h>

#include "dsp/blocks/byte_ring.h"
#include "offhook/pump.h"

namespace offhook::v14 {

class Sender {
 public:
  /// The stop bit was sent: call put() now, or next() sends ones.
  bool ready() const { return left_ == 0; }
  void put(uint8_t c) { bits_ = 0x200u | uint32_t(c) << 1, left_ = 10; }  ///< @pre ready()
  int next();

 private:
  uint32_t bits_ = 0;
  uint8_t left_ = 0;
};

class Receiver {
 public:
  enum Result : uint8_t { kNothing, kCharacter, kBreak };
  /// kBreak: two characters in a row without stop bits, which
  /// no terminal sends; bits up to the next one are lost.
  Result put(int bit);
  uint8_t character() const { return character_; }  ///< after kCharacter

 private:
  uint8_t at_ = 0;  // bits of the character so far, start bit included; 0: idle
  uint8_t character_ = 0;
  bool no_stop_ = false;   // the previous character had none
  bool breaking_ = false;  // until a one comes
};

/// Bytes to and from a pump without error control, so errors of a noisy line are delivered.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  oh_bit_port port();
  uint32_t write(const uint8_t* bytes, uint32_t n);  ///< @return bytes taken
  uint32_t read(uint8_t* bytes, uint32_t n);         ///< @return bytes given
  uint32_t writable() const { return out_.free(); }
  uint32_t unsent() const { return out_.used(); }  ///< bytes written whose bits were not yet taken
  uint64_t lost() const { return lost_; }          ///< characters that arrived while earlier ones were unread
  uint64_t breaks() const { return breaks_; }

 private:
  static constexpr uint32_t kBytes = 8192;
  int next_bit();
  void put_bit(int bit);
  Sender sender_;
  Receiver receiver_;
  uint8_t out_bytes_[kBytes], in_bytes_[kBytes];
  ByteRing out_{out_bytes_, kBytes}, in_{in_bytes_, kBytes};
  uint64_t lost_ = 0, breaks_ = 0;
};

}  // namespace offhook::v14
#endif
