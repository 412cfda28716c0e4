/* SPDX-License-Identifier: MIT
 *
 * The samples of one direction: their rate, their encoding, the size of the card's ring and the limits of a block. A
 * card describes both of its directions in this form; a pump declares the formats that it accepts.
 *
 * The rates of the two directions may differ by a whole ratio (ADSL: 1104 and 276
 * kHz). All time counts (positions, blocks, the transmit lead) are then in sample
 * periods of the slower direction, and the faster one has `ratio` samples in each.
 * */
#ifndef OFFHOOK_STREAM_H
#define OFFHOOK_STREAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum oh_encoding {
  OH_LINEAR16 = 0, /**< 16 bits, two's complement, in the host's byte order */
  OH_MULAW = 1,    /**< G.711 mu-law, one octet per sample, as on the trunk (even bits not inverted) */
  OH_ALAW = 2      /**< G.711 A-law, one octet per sample, even bits inverted */
};

/** One direction. */
struct oh_stream_format {
  uint32_t rate_hz;
  enum oh_encoding encoding;
  uint32_t ring_samples; /**< capacity of the card's ring in this direction, in whole sample periods */
  uint32_t block_min;    /**< sample periods; at least 1 */
  uint32_t block_max;    /**< sample periods; at most half of the smaller ring. Equal limits mean a fixed block */
};

/** Both directions of a card or a pump. */
struct oh_streams {
  struct oh_stream_format rx, tx;
};

/** @return octets of one sample; 0 for an encoding that does not exist */
static inline uint32_t oh_sample_bytes(enum oh_encoding encoding) {
  return encoding == OH_LINEAR16 ? 2 : encoding == OH_MULAW || encoding == OH_ALAW ? 1 : 0;
}

/** @return the octet that fills a silent sample. Source: ITU-T G.711, tables 1b and 2b: the code of +0 */
static inline uint8_t oh_silence(enum oh_encoding encoding) {
  return encoding == OH_MULAW ? 0xff : encoding == OH_ALAW ? 0xd5 : 0;
}

/** @return the rate of positions: the slower one, Hz */
static inline uint32_t oh_streams_rate_hz(const struct oh_streams* s) {
  return s->rx.rate_hz < s->tx.rate_hz ? s->rx.rate_hz : s->tx.rate_hz;
}

/** One direction's ring, in octets and sample periods. Position p is in slot p % periods. */
struct oh_ring {
  uint8_t* octets; /**< [periods * period_octets] */
  uint32_t periods;
  uint32_t period_octets; /**< octets of one sample period, which has as many samples as the ratio of the rates */
  uint8_t silence;
};

/** @return the ring of `direction` (&s->rx or &s->tx) in the memory at `samples`; periods is 0 if the encoding does not
 * exist, the rates have no integer ratio, or the ring does not hold whole periods */
static inline struct oh_ring oh_ring_of(const struct oh_streams* s, const struct oh_stream_format* direction,
                                        const void* samples) {
  const uint32_t slower = oh_streams_rate_hz(s);
  const uint32_t ratio = slower > 0 && direction->rate_hz % slower == 0 ? direction->rate_hz / slower : 0;
  struct oh_ring ring = {(uint8_t*)samples, 0, 0, oh_silence(direction->encoding)};
  if (ratio == 0 || direction->ring_samples % ratio != 0 || direction->ring_samples > UINT32_MAX / 2) return ring;
  ring.period_octets = ratio * oh_sample_bytes(direction->encoding);
  if (ring.period_octets > 0) ring.periods = direction->ring_samples / ratio;
  return ring;
}

/** Limits of a block that both directions permit. */
static inline uint32_t oh_streams_block_min(const struct oh_streams* s) {
  return s->rx.block_min > s->tx.block_min ? s->rx.block_min : s->tx.block_min;
}
static inline uint32_t oh_streams_block_max(const struct oh_streams* s) {
  return s->rx.block_max < s->tx.block_max ? s->rx.block_max : s->tx.block_max;
}

/** @return 1 if a card can have these streams */
static inline int oh_streams_are_valid(const struct oh_streams* s) {
  const struct oh_ring rx = oh_ring_of(s, &s->rx, NULL), tx = oh_ring_of(s, &s->tx, NULL);
  const uint32_t most = oh_streams_block_max(s);
  return oh_streams_block_min(s) >= 1 && oh_streams_block_min(s) <= most && most <= rx.periods / 2 &&
         most <= tx.periods / 2;
}

#ifdef __cplusplus
}
#endif
#endif
