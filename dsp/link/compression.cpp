// SPDX-License-Identifier: MIT
#include "dsp/link/compression.h"

#include <new>

namespace offhook::v42 {
namespace {

size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

size_t aligned(size_t n) {
  return (n + 63) / 64 * 64;
}

size_t encoder_size(const oh_link_config& c) {
  return larger(larger(c.compression ? Dictionary::size(uint16_t(c.codewords)) : 0,
                       c.v44 ? v44::Encoder::size(parameters_of(c.v44_tx)) : 0),
                permits_mnp5(c) ? aligned(sizeof(mnp5::Encoder)) : 0);
}

size_t decoder_size(const oh_link_config& c) {
  return larger(larger(c.compression ? Dictionary::size(uint16_t(c.codewords)) : 0,
                       c.v44 ? v44::Decoder::size(parameters_of(c.v44_rx)) : 0),
                permits_mnp5(c) ? aligned(sizeof(mnp5::Decoder)) : 0);
}

}  // namespace

v44::Parameters parameters_of(const oh_v44_parameters& p) {
  return {uint16_t(p.codewords), uint8_t(p.max_string), uint16_t(p.history)};
}

static bool possible_of_v44(const oh_v44_parameters& p) {
  return p.codewords <= UINT16_MAX && p.history <= UINT16_MAX && p.max_string <= UINT8_MAX && parameters_of(p).valid();
}

bool Compression::possible(const oh_link_config& c) {
  const bool v42bis = c.codewords >= kMinCodewords && c.codewords <= UINT16_MAX && c.max_string >= kMinString &&
                      c.max_string <= kMaxString;
  const bool v44 = possible_of_v44(c.v44_tx) && possible_of_v44(c.v44_rx);
  return c.compression <= 3 && c.v44 <= 3 && (c.compression == 0 || v42bis) && (c.v44 == 0 || v44);
}

size_t Compression::size(const oh_link_config& c) {
  return encoder_size(c) + decoder_size(c);
}

void Compression::init(uint8_t* memory, const oh_link_config& c) {
  encoder_memory_ = memory;
  decoder_memory_ = memory + encoder_size(c);
}

void Compression::start(const oh_lapm_status& agreed) {
  v44_ = agreed.v44;
  mnp5_ = agreed.mnp_class == 5;
  if (mnp5_) {
    mnp5_encoder_ = new (encoder_memory_) mnp5::Encoder;
    mnp5_decoder_ = new (decoder_memory_) mnp5::Decoder;
  } else if (v44_) {
    v44_encoder_.init(encoder_memory_, parameters_of(agreed.v44_tx));
    v44_decoder_.init(decoder_memory_, parameters_of(agreed.v44_rx));
  } else {
    encoder_.init(encoder_memory_, agreed.codewords, agreed.max_string);
    decoder_.init(decoder_memory_, agreed.codewords, agreed.max_string);
  }
}

}  // namespace offhook::v42
