// SPDX-License-Identifier: MIT
#include "dsp/link/detection.h"

namespace offhook::v42 {
namespace {

// Characters as octets whose lowest bit is sent first (7.2.1.2 and Table 3).
constexpr uint8_t kDc1Even = 0x11, kDc1Odd = 0x91, kE = 0x45, kC = 0x43, kNul = 0x00;
constexpr uint8_t kFill = 8;                    // ones after each character; 8 to 16 are allowed
constexpr uint8_t kCharacterBits = 10 + kFill;  // start, 8 bits, stop, fill

constexpr uint32_t four(uint8_t a, uint8_t b) {
  return uint32_t(a) << 24 | uint32_t(b) << 16 | uint32_t(a) << 8 | b;
}

}  // namespace

int PatternSender::next() {
  if (pattern_ == kMarks) return 1;
  const uint8_t first = pattern_ == kOriginator ? kDc1Even : kE;
  const uint8_t second = pattern_ == kOriginator ? kDc1Odd : kC;
  const uint8_t character = at_ < kCharacterBits ? first : second;
  const uint8_t at = uint8_t(at_ % kCharacterBits);
  if (++at_ == 2 * kCharacterBits) {
    at_ = 0;
    ++repeats_;
  }
  if (at == 0) return 0;
  return at <= 8 ? (character >> (at - 1)) & 1 : 1;
}

PatternReceiver::Result PatternReceiver::put(int bit) {
  if (bits_ == 0) {
    if (bit) {
      if (ones_ < 255) ++ones_;
    } else {
      if (ones_ < 8 || ones_ > 16) known_ = 0;  // not adjacent to the previous character
      bits_ = 1;
    }
    return kNothing;
  }
  if (++bits_ <= 9) {
    character_ = uint8_t(character_ >> 1 | (bit ? 0x80 : 0));
    return kNothing;
  }
  bits_ = 0;
  ones_ = 0;
  if (!bit) {
    known_ = 0;
    return kNothing;
  }
  last_ = last_ << 8 | character_;
  if (known_ < 4) ++known_;
  if (known_ < 4) return kNothing;
  if (last_ == four(kDc1Even, kDc1Odd) || last_ == four(kDc1Odd, kDc1Even)) return kOriginator;
  if (last_ == four(kE, kC) || last_ == four(kC, kE)) return kAnswerer;
  if (last_ == four(kE, kNul) || last_ == four(kNul, kE)) return kRefused;
  return kNothing;
}

}  // namespace offhook::v42
