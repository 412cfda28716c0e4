/* SPDX-License-Identifier: MIT
 *
 * The driver's view of a card: two rings that the hardware advances by itself, positions, and an interrupt at the end
 * of each block. The stream formats define the ring contents (offhook/stream.h); the owner of the card also owns the
 * memory of the rings.
 *
 * Positions count sample periods since the card was started and never wrap; position p is in slot p % ring. The
 * hardware writes received samples at rx_position and plays transmitted ones at tx_position, even if software is
 * late. Samples not read in time are overwritten (overrun). Instead of samples not written in time, the codec plays
 * the old contents of the slot (underrun). The card counts both; the driver detects them only by comparing positions.
 * */
#ifndef OFFHOOK_DRIVER_CORE_CARD_H
#define OFFHOOK_DRIVER_CORE_CARD_H

#include <stdint.h>

#include "offhook/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All are mandatory. */
struct oh_card_ops {
  /** Acknowledges the interrupt. @return position at which the latest block ended (the receive position when it was
   * raised), which covers all coalesced interrupts. */
  uint64_t (*acknowledge)(void* self);
  uint64_t (*rx_position)(void* self); /**< sample periods captured so far */
  uint64_t (*tx_position)(void* self); /**< sample periods played so far */
  /** Length of the blocks after the current one, within the limits of the streams.  @return 0 or -EINVAL */
  int (*set_block)(void* self, uint32_t periods);
  /** The driver has queued transmit samples, or read received samples, up to this position (exclusive). The card
   * compares with these positions to count underruns and overruns. */
  void (*tx_written)(void* self, uint64_t position);
  void (*rx_read)(void* self, uint64_t position);
  /** Unread samples before this position are lost, because the device lost some of them. A card that loses samples only
   * by overwriting returns 0. */
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
