// SPDX-License-Identifier: MIT
//
// The start-stop, octet-oriented framing of MNP (ITU-T V.42 of 1993 and 1996, A.3): characters of ten bits,
//
//     SYN DLE STX  header and information  DLE ETX  FCS FCS
//
// in which each DLE of the frame is sent twice. The check sequence covers the frame without these second DLEs, and the
// ETX. It goes low octet first. Ones between frames. The interface is that of HdlcSender and HdlcReceiver. Real-time
// safe, no memory of its own.
#ifndef OFFHOOK_DSP_V42_OCTET_FRAMES_H
#define OFFHOOK_DSP_V42_OCTET_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "dsp/link/start_stop.h"

namespace offhook::v42 {

/// Converts frames to bits.
class OctetFrameSender {
 public:
  /// @param buffer [largest frame] holds a frame before load()
  void init(uint8_t* buffer);
  /// True between frames: call load() now, or next() sends ones.
  bool ready() const { return part_ == kIdle && characters_.ready() && pause_ == 0; }
  /// Sends buffer[0..n).  @pre ready()
  void load(size_t n);
  /// Sends ones for more than a character first, so that a receiver that saw flags finds the first start bit.
  void pause() { pause_ = kPauseBits; }
  /// @return the next bit, 0 or 1
  int next();

 private:
  enum Part : uint8_t { kIdle, kSyn, kStartDle, kStx, kBody, kSecondDle, kEndDle, kEtx, kFcsLow, kFcsHigh };
  static constexpr uint8_t kPauseBits = 12;
  uint8_t octet();
  const uint8_t* buffer_ = nullptr;
  size_t n_ = 0, at_ = 0;
  uint32_t crc_ = 0;
  Part part_ = kIdle;
  uint8_t pause_ = 0;
  v14::Sender characters_;
};

/// Finds frames in bits.
class OctetFrameReceiver {
 public:
  enum Result : uint8_t { kNothing, kFrame, kBadFrame };
  /// @param buffer [capacity] the frame without flags and check sequence
  void init(uint8_t* buffer, size_t capacity);
  /// kFrame: data() and size() describe it until the next call. kBadFrame: wrong check sequence or DLE sequence, or
  /// longer than the capacity.
  Result put(int bit);
  const uint8_t* data() const { return buffer_; }
  size_t size() const { return size_; }

 private:
  enum Part : uint8_t { kOutside, kAfterDle, kBody, kDleInBody, kFcsLow, kFcsHigh };
  Result put_octet(uint8_t c);
  Result put_body(uint8_t c);
  uint8_t* buffer_ = nullptr;
  size_t capacity_ = 0, size_ = 0;
  uint32_t crc_ = 0;
  Part part_ = kOutside;
  uint8_t fcs_low_ = 0;
  v14::Receiver characters_;
};

}  // namespace offhook::v42
#endif
