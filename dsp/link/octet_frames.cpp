// SPDX-License-Identifier: MIT
#include "dsp/link/octet_frames.h"

#include "dsp/link/crc.h"

namespace offhook::v42 {
namespace {

constexpr uint8_t kStx = 0x02, kEtx = 0x03, kDle = 0x10, kSyn = 0x16;  // International Alphabet No. 5
constexpr Crc<0xA001> kCrc;  // A.3.6: x16 + x15 + x2 + 1, begins with zero, is not inverted

}  // namespace

void OctetFrameSender::init(uint8_t* buffer) {
  *this = OctetFrameSender{};
  buffer_ = buffer;
}

void OctetFrameSender::load(size_t n) {
  n_ = n;
  at_ = 0;
  crc_ = 0;
  part_ = kSyn;
}

// The octet of this part; the next part follows it.
uint8_t OctetFrameSender::octet() {
  const Part part = part_;
  switch (part) {
    case kBody: {
      const uint8_t c = buffer_[at_++];
      crc_ = kCrc.add(crc_, c);
      part_ = c == kDle ? kSecondDle : at_ < n_ ? kBody : kEndDle;
      return c;
    }
    case kSecondDle:
      part_ = at_ < n_ ? kBody : kEndDle;
      return kDle;
    case kEtx:
      crc_ = kCrc.add(crc_, v42::kEtx);
      part_ = kFcsLow;
      return v42::kEtx;
    case kFcsHigh:
      part_ = kIdle;
      return uint8_t(crc_ >> 8);
    default:
      part_ = Part(part + 1);
      return part == kSyn ? v42::kSyn : part == kStx ? v42::kStx : part == kFcsLow ? uint8_t(crc_) : kDle;
  }
}

int OctetFrameSender::next() {
  if (pause_ > 0) {
    --pause_;
    return 1;
  }
  if (characters_.ready() && part_ != kIdle) characters_.put(octet());
  return characters_.next();
}

void OctetFrameReceiver::init(uint8_t* buffer, size_t capacity) {
  *this = OctetFrameReceiver{};
  buffer_ = buffer;
  capacity_ = capacity;
}

OctetFrameReceiver::Result OctetFrameReceiver::put(int bit) {
  switch (characters_.put(bit)) {
    case v14::Receiver::kNothing:
      return kNothing;
    case v14::Receiver::kCharacter:
      return put_octet(characters_.character());
    case v14::Receiver::kBreak: {
      const bool inside = part_ >= kBody;
      part_ = kOutside;
      return inside ? kBadFrame : kNothing;
    }
  }
  return kNothing;
}

OctetFrameReceiver::Result OctetFrameReceiver::put_octet(uint8_t c) {
  switch (part_) {
    case kOutside:  // the SYN may be lost: DLE STX suffices
      if (c == kDle) part_ = kAfterDle;
      return kNothing;
    case kAfterDle:
      part_ = c == kStx ? kBody : c == kDle ? kAfterDle : kOutside;
      size_ = 0;
      crc_ = 0;
      return kNothing;
    case kBody:
      if (c != kDle) return put_body(c);
      part_ = kDleInBody;
      return kNothing;
    case kDleInBody:
      part_ = kBody;
      if (c == kDle) return put_body(c);
      if (c == kStx) {  // the end of the frame was lost, and another one begins
        size_ = 0;
        crc_ = 0;
        return kBadFrame;
      }
      crc_ = kCrc.add(crc_, c);
      part_ = c == kEtx ? kFcsLow : kOutside;
      return c == kEtx ? kNothing : kBadFrame;
    case kFcsLow:
      fcs_low_ = c;
      part_ = kFcsHigh;
      return kNothing;
    case kFcsHigh:
      part_ = kOutside;
      return crc_ == (uint32_t(c) << 8 | fcs_low_) ? kFrame : kBadFrame;
  }
  return kNothing;
}

OctetFrameReceiver::Result OctetFrameReceiver::put_body(uint8_t c) {
  if (size_ == capacity_) {
    part_ = kOutside;
    return kBadFrame;
  }
  buffer_[size_++] = c;
  crc_ = kCrc.add(crc_, c);
  return kNothing;
}

}  // namespace offhook::v42
