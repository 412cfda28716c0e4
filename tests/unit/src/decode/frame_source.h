// SPDX-License-Identifier: MIT
//
// Bits of HDLC frames like LAPM's I frames, without end, their octets in a row a count.
#pragma once

#include <cstdint>

#include "dsp/link/hdlc.h"
#include "offhook/pump.h"

namespace offhook::decode {

class FrameSource {
 public:
  static constexpr int kOctets = 20;  ///< of information

  FrameSource() { hdlc_.init(frame_); }
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;
  oh_bit_port port() { return {next, nullptr, this}; }

 private:
  static int next(void* self) {
    auto* s = static_cast<FrameSource*>(self);
    if (s->hdlc_.ready()) {
      std::uint8_t* f = s->hdlc_.buffer();
      f[0] = 3;
      f[1] = static_cast<std::uint8_t>(2 * (s->number_ & 127));
      f[2] = 0;
      for (int k = 0; k < kOctets; ++k) f[3 + k] = static_cast<std::uint8_t>(s->number_ * kOctets + k);
      ++s->number_;
      s->hdlc_.load(3 + kOctets, false);
    }
    return s->hdlc_.next();
  }

  std::uint8_t frame_[64];
  v42::HdlcSender hdlc_;
  int number_ = 0;
};

}  // namespace offhook::decode
