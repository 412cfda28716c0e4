// SPDX-License-Identifier: MIT
//
// The data compression of a link, V.42bis or V.44: one encoder, one decoder, and the memory of the negotiated one.
#ifndef OFFHOOK_DSP_V42_COMPRESSION_H
#define OFFHOOK_DSP_V42_COMPRESSION_H

#include "dsp/link/lapm.h"
#include "dsp/link/v42bis.h"
#include "dsp/link/v44.h"

namespace offhook::v42 {

v44::Parameters parameters_of(const oh_v44_parameters& p);

class Compression {
 public:
  /// Maximum number of octets from put() and flush().
  static constexpr size_t kMaxStep =
      Encoder::kMaxStep > v44::Encoder::kMaxStep ? Encoder::kMaxStep : v44::Encoder::kMaxStep;

  static bool wanted(const oh_link_config& c) { return c.compression != 0 || c.v44 != 0; }
  static bool possible(const oh_link_config& c);
  /// @return bytes of memory for the configuration's limits, 0 if it has no compression  @pre possible(c)
  static size_t size(const oh_link_config& c);
  /// @param memory  [size(c)], aligned to 64
  void init(uint8_t* memory, const oh_link_config& c);
  /// C-INIT: starts with the negotiated parameters.
  void start(const oh_lapm_status& agreed);

  /// @param[out] out [kMaxStep]  @return octets
  size_t put(uint8_t c, uint8_t* out) { return v44_ ? v44_encoder_.put(c, out) : encoder_.put(c, out); }
  size_t flush(uint8_t* out) { return v44_ ? v44_encoder_.flush(out) : encoder_.flush(out); }
  /// As Decoder::put().
  size_t decode(const uint8_t* octets, size_t size, size_t* used, uint8_t* out, size_t n) {
    return v44_ ? v44_decoder_.put(octets, size, used, out, n) : decoder_.put(octets, size, used, out, n);
  }
  bool failed() const { return v44_ ? v44_decoder_.failed() : decoder_.failed(); }

 private:
  uint8_t *encoder_memory_, *decoder_memory_;
  Encoder encoder_;
  Decoder decoder_;
  v44::Encoder v44_encoder_;
  v44::Decoder v44_decoder_;
  bool v44_;
};

}  // namespace offhook::v42
#endif
