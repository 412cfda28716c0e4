// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/hold_sequence.h"

#include "dsp/blocks/sequence.h"

namespace offhook::v90 {
namespace {

constexpr uint32_t kFrameSync = 0b01110010;  // of all INFO sequences, too
constexpr int kFill = 4;

// Four bits as printed, the left-most first in time; fields are sent from the least significant bit on.
constexpr uint8_t reversed(uint8_t v) {
  return static_cast<uint8_t>((v & 1) << 3 | (v & 2) << 1 | (v & 4) >> 1 | (v & 8) >> 3);
}

constexpr bool is_defined(uint8_t signal) {
  return (signal & 1) != 0 && signal != 0b0001 && signal != 0b1111;
}

}  // namespace

void encode(const HoldMessage& message, uint8_t* bits) {
  FieldWriter io(bits);
  io.fixed(0b1111, kFill);
  io.fixed(kFrameSync, 8);
  io.field(reversed(static_cast<uint8_t>(message.signal)), 4);
  io.field(reversed(message.information), 4);
  io.crc();
  io.fixed(0b1111, kFill);
}

bool decode(const uint8_t* bits, HoldMessage* message) {
  FieldReader io(bits + kFill);
  uint8_t signal = 0, information = 0;
  io.fixed(kFrameSync, 8);
  io.field(signal, 4);
  io.field(information, 4);
  io.crc();
  signal = reversed(signal);
  if (!io.good() || !is_defined(signal)) return false;
  *message = {static_cast<HoldSignal>(signal), reversed(information)};
  return true;
}

}  // namespace offhook::v90
