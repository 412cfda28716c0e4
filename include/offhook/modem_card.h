/* SPDX-License-Identifier: MIT
 *
 * The modem card: properties of the paper's vendor card, and the default of every card here.
 */
#ifndef OFFHOOK_MODEM_CARD_H
#define OFFHOOK_MODEM_CARD_H

#include "offhook/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rate of the telephone network's codecs (ITU-T G.711, 2), and the ring of the vendor's card (Jones and Saroiu, 4). */
enum { OH_MODEM_RATE_HZ = 8000, OH_MODEM_RING_SAMPLES = 512 };

/** 16-bit samples at one rate in both directions, rings of 512, blocks of any length up to half a ring. */
static inline struct oh_streams oh_modem_streams(uint32_t rate_hz) {
  const struct oh_stream_format format = {rate_hz, OH_LINEAR16, OH_MODEM_RING_SAMPLES, 1, OH_MODEM_RING_SAMPLES / 2};
  const struct oh_streams streams = {format, format};
  return streams;
}

#ifdef __cplusplus
}
#endif
#endif
