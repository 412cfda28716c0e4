// SPDX-License-Identifier: MIT
#include "dsp/link/hdlc.h"

#include "dsp/link/crc.h"

namespace offhook::v42 {
namespace {

constexpr Crc<0x8408> kCrc16;      // V.42 8.1.1.6.1: x16 + x12 + x5 + 1
constexpr Crc<0xEDB88320> kCrc32;  // V.42 8.1.1.6.2
constexpr uint32_t kPreset16 = 0xFFFF, kPreset32 = 0xFFFFFFFF;
// The remainder after the check sequence (the Recommendation's values, mirrored).
constexpr uint32_t kRemainder16 = 0xF0B8, kRemainder32 = 0xDEBB20E3;

}  // namespace

void HdlcSender::init(uint8_t* buffer) {
  *this = HdlcSender{};
  buffer_ = buffer;
}

void HdlcSender::load(size_t n, bool fcs32) {
  uint32_t crc = fcs32 ? kPreset32 : kPreset16;
  for (size_t i = 0; i < n; ++i) crc = fcs32 ? kCrc32.add(crc, buffer_[i]) : kCrc16.add(crc, buffer_[i]);
  crc = ~crc;
  const size_t fcs = fcs32 ? 4 : 2;
  for (size_t i = 0; i < fcs; ++i) buffer_[n + i] = uint8_t(crc >> (8 * i));
  at_ = 0;
  end_ = uint32_t(8 * (n + fcs));
  ones_ = 0;
}

int HdlcSender::next() {
  if (ready()) flag_left_ = 8;
  if (flag_left_ > 0) {
    const int bit = (0x7E >> (8 - flag_left_)) & 1;
    if (--flag_left_ == 0) ++flags_;
    ones_ = 0;
    return bit;
  }
  int bit = 0;
  if (ones_ == 5) {
    ones_ = 0;
  } else {
    bit = (buffer_[at_ >> 3] >> (at_ & 7)) & 1;
    ++at_;
    ones_ = bit ? uint8_t(ones_ + 1) : uint8_t(0);
  }
  if (at_ == end_ && ones_ != 5) flag_left_ = 8;
  return bit;
}

void HdlcReceiver::init(uint8_t* buffer, size_t capacity) {
  *this = HdlcReceiver{};
  buffer_ = buffer;
  capacity_ = capacity;
}

void HdlcReceiver::restart() {
  size_ = 0;
  crc16_ = kPreset16;
  crc32_ = kPreset32;
  octet_ = bits_ = 0;
}

HdlcReceiver::Result HdlcReceiver::put(int bit) {
  if (bit) {
    if (ones_ < 7) ++ones_;
    if (ones_ == 7) {  // 8.1.4: abort, or an idle line
      const bool aborted = inside_ && size_ > 0;
      inside_ = false;
      flags_ = 0;
      return aborted ? kBadFrame : kNothing;
    }
    if (ones_ == 6) return kNothing;  // not data: the last bit of a flag, or an abort
  } else {
    const uint8_t ones = ones_;
    ones_ = 0;
    if (ones == 5) return kNothing;  // inserted by the sender
    if (ones == 6) {
      // The flag's zero and first five ones were read as data: after a whole number of octets, only those six remain.
      const bool whole = bits_ == 6;
      frame_ = size_;
      good16_ = whole && crc16_ == kRemainder16;
      good32_ = whole && crc32_ == kRemainder32;
      const bool open = inside_;
      inside_ = true;
      restart();
      if (!open || frame_ == 0) {
        ++flags_;
        return kFlag;
      }
      flags_ = 1;
      return good16_ || good32_ ? kFrame : kBadFrame;
    }
    if (ones == 7) return kNothing;
  }
  if (!inside_) return kNothing;
  octet_ = uint8_t(octet_ >> 1 | (bit ? 0x80 : 0));
  if (++bits_ == 8) {
    bits_ = 0;
    if (size_ < capacity_) buffer_[size_] = octet_;
    crc16_ = kCrc16.add(crc16_, octet_);
    crc32_ = kCrc32.add(crc32_, octet_);
    // 8.5.5: a sequence without a flag for twice the longest frame is not a frame.
    if (++size_ > 2 * capacity_ + 2) inside_ = false;
  }
  return kNothing;
}

}  // namespace offhook::v42
