// SPDX-License-Identifier: MIT
//
// HDLC framing (ITU-T V.42, 8.1): flags, zero insertion, abort, and both frame check sequences. Bits in transmission
// order; octets go least significant bit first. Real-time safe, no memory of its own.
#ifndef OFFHOOK_DSP_V42_HDLC_H
#define OFFHOOK_DSP_V42_HDLC_H

#include <stddef.h>
#include <stdint.h>

namespace offhook::v42 {

/// Octets that the longer check sequence adds to a frame.
inline constexpr size_t kMaxFcs = 4;

/// Converts frames to bits, and sends flags between frames. A closing flag opens the next frame.
class HdlcSender {
 public:
  /// @param buffer [largest frame + kMaxFcs] holds a frame before load()
  void init(uint8_t* buffer);
  uint8_t* buffer() { return buffer_; }
  /// True after a flag was sent: call load() now, or next() sends another flag.
  bool ready() const { return flag_left_ == 0 && at_ == end_ && ones_ != 5; }
  /// Sends buffer()[0..n) with a check sequence of 2 or 4 octets.  @pre ready()
  void load(size_t n, bool fcs32);
  /// @return the next bit, 0 or 1
  int next();
  /// Flags completed since init.
  uint32_t flags() const { return flags_; }

 private:
  uint8_t* buffer_ = nullptr;
  uint32_t at_ = 0, end_ = 0;  // bits
  uint32_t flags_ = 0;
  uint8_t flag_left_ = 8, ones_ = 0;
};

/// Finds frames in bits.
class HdlcReceiver {
 public:
  enum Result : uint8_t { kNothing, kFlag, kFrame, kBadFrame };
  /// @param buffer [capacity] the frame without flags, check sequence included
  void init(uint8_t* buffer, size_t capacity);
  /// kFrame: data(), size(), fcs16(), fcs32() and oversize() describe it until the next call. kBadFrame: aborted, not a
  /// whole number of octets, or both check sequences wrong. A flag that ends no frame returns kFlag.
  Result put(int bit);
  const uint8_t* data() const { return buffer_; }
  /// Octets received, including the check sequence. It may exceed the capacity; then data() has only the first octets.
  size_t size() const { return frame_; }
  bool fcs16() const { return good16_; }
  bool fcs32() const { return good32_; }
  bool oversize() const { return frame_ > capacity_; }
  /// Consecutive flags with nothing between them.
  uint32_t flags() const { return flags_; }

 private:
  void restart();
  uint8_t* buffer_ = nullptr;
  size_t capacity_ = 0, size_ = 0, frame_ = 0;
  uint32_t crc16_ = 0, crc32_ = 0, flags_ = 0;
  uint8_t octet_ = 0, bits_ = 0, ones_ = 0;
  bool inside_ = false, good16_ = false, good32_ = false;
};

}  // namespace offhook::v42
#endif
