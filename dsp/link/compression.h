// SPDX-License-Identifier: MIT
//
// The data compression of a link, V.42bis, V.44 or MNP 5: one encoder, one decoder, and the memory of the negotiated
// one.
#ifndef OFFHOOK_DSP_V42_COMPRESSION_H
#define OFFHOOK_DSP_V42_COMPRESSION_H

#include "dsp/link/lapm.h"
#include "dsp/link/mnp5.h"
#include "dsp/link/v42bis.h"
#include "dsp/link/v44.h"

namespace offhook::v42 {

v44::Parameters parameters_of(const oh_v44_parameters& p);

/// MNP 5 compresses both directions.
inline bool permits_mnp5(const oh_link_config& c) {
  return (c.protocols & OH_PROTOCOL_MNP) && (c.mnp_class == 0 || c.mnp_class == 5) && c.compression == 3;
}

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
  size_t put(uint8_t c, uint8_t* out) {
    if (mnp5_) return mnp5_encoder_->put(c, out);
    return v44_ ? v44_encoder_.put(c, out) : encoder_.put(c, out);
  }
  size_t flush(uint8_t* out) {
    if (mnp5_) return mnp5_encoder_->flush(out);
    return v44_ ? v44_encoder_.flush(out) : encoder_.flush(out);
  }
  /// As Decoder::put().
  size_t decode(const uint8_t* octets, size_t size, size_t* used, uint8_t* out, size_t n) {
    if (mnp5_) return mnp5_decoder_->put(octets, size, used, out, n);
    return v44_ ? v44_decoder_.put(octets, size, used, out, n) : decoder_.put(octets, size, used, out, n);
  }
  /// MNP 5 has no invalid octets.
  bool failed() const { return !mnp5_ && (v44_ ? v44_decoder_.failed() : decoder_.failed()); }

 private:
  static_assert(kMaxStep >= mnp5::Encoder::kMaxStep);
  uint8_t *encoder_memory_, *decoder_memory_;
  Encoder encoder_;
  Decoder decoder_;
  v44::Encoder v44_encoder_;
  v44::Decoder v44_decoder_;
  mnp5::Encoder* mnp5_encoder_;
  mnp5::Decoder* mnp5_decoder_;
  bool v44_, mnp5_;
};

}  // namespace offhook::v42
#endif
