/* SPDX-License-Identifier: MIT
 *
 * What the driver sees of a card: two rings that the hardware moves on by itself, positions, and an interrupt at the
 * end of each block. What the rings hold say the formats of the two directions (offhook/stream.h); their memory belongs
 * to whoever owns the card.
 *
 * Positions count sample periods since the card was started and never wrap; position p lives in slot p % ring. The
 * hardware writes received samples at rx_position and plays transmitted ones at tx_position, whether or not anybody
 * kept up: what the reader did not fetch in time is overwritten (overrun), where the writer was late the codec plays
 * what the slot held before (underrun). The card counts both; the driver only learns of them by comparing positions.
 */
#ifndef OFFHOOK_DRIVER_CORE_CARD_H
#define OFFHOOK_DRIVER_CORE_CARD_H

#include <stdint.h>

#include "offhook/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All are mandatory. */
struct oh_card_ops {
  /** Quiet the interrupt.  @return position at which the latest block ended (the receive position when it was raised).
   * After coalesced interrupts this covers all of them. */
  uint64_t (*acknowledge)(void* self);
  uint64_t (*rx_position)(void* self); /**< sample periods captured so far */
  uint64_t (*tx_position)(void* self); /**< sample periods played so far */
  /** Length of the blocks after the one under way, within the limits of the streams.  @return 0 or -EINVAL */
  int (*set_block)(void* self, uint32_t periods);
  /** The driver has queued transmit samples up to this position (exclusive), or read received ones up to it: what the
   * card compares with to count underruns and overruns. */
  void (*tx_written)(void* self, uint64_t position);
  void (*rx_read)(void* self, uint64_t position);
  /** Received samples before this position that were not read by now never will be: the device lost some of them. 0
   * from a card that loses samples by overwriting alone. */
  uint64_t (*rx_lost_before)(void* self);
};

struct oh_card {
  const struct oh_card_ops* ops;
  void* self;
  struct oh_streams streams;
  const void* rx_ring; /**< [streams.rx.ring_samples] */
  void* tx_ring;       /**< [streams.tx.ring_samples] */
};

#ifdef __cplusplus
}
#endif
#endif
