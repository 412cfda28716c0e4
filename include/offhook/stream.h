/* SPDX-License-Identifier: MIT
 *
 * What the samples of one direction are: their rate, their encoding, how many of them the card's ring holds and how
 * long a block may be. A card describes both of its directions so; a pump says which it can take.
 *
 * The rates of the two directions may differ by a whole ratio (ADSL: 1104 and 276 kHz). Everything that counts time
 * (positions, blocks, the transmit lead) then counts sample periods of the slower direction, and the faster one has
 * `ratio` samples in each.
 */
#ifndef OFFHOOK_STREAM_H
#define OFFHOOK_STREAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum oh_encoding {
  OH_LINEAR16 = 0, /**< 16 bits, two's complement, of the host's byte order */
  OH_MULAW = 1,    /**< G.711 mu-law, one octet a sample, as it goes over the trunk (even bits not inverted) */
  OH_ALAW = 2      /**< G.711 A-law, one octet a sample, even bits inverted */
};

/** @return octets of one sample, 0 for an encoding that does not exist */
static inline uint32_t oh_sample_bytes(enum oh_encoding encoding) {
  return encoding == OH_LINEAR16 ? 2 : encoding == OH_MULAW || encoding == OH_ALAW ? 1 : 0;
}

/** One direction. */
struct oh_stream_format {
  uint32_t rate_hz;
  enum oh_encoding encoding;
  uint32_t ring_samples; /**< that the card's ring of this direction holds */
  uint32_t block_min;    /**< sample periods of the slower direction; at least 1 */
  uint32_t block_max;    /**< at most half of the ring */
};

#ifdef __cplusplus
}
#endif
#endif
