/* SPDX-License-Identifier: MIT
 *
 * What the driver sees of a card: two rings of 512 samples that the hardware moves on by itself, positions, and an
 * interrupt at the end of each block.
 *
 * Positions count samples since the card was started and never wrap; position p lives in ring slot p % 512. The
 * hardware writes received samples at rx_position and plays transmitted ones at tx_position, whether or not anybody
 * kept up: what the reader did not fetch in time is overwritten (overrun), where the writer was late the codec plays
 * what the slot held before (underrun). The card counts both; the driver only learns of them by comparing positions.
 */
#ifndef OFFHOOK_DRIVER_CORE_CARD_H
#define OFFHOOK_DRIVER_CORE_CARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { OH_RING_SAMPLES = 512 };

struct oh_card_ops {
  /** Quiet the interrupt.  @return position at which the latest block ended (the receive position when it was raised).
   * After coalesced interrupts this covers all of them. */
  uint64_t (*acknowledge)(void* self);
  uint64_t (*rx_position)(void* self); /**< samples captured so far */
  uint64_t (*tx_position)(void* self); /**< samples played so far */
  /** Length of the blocks after the one under way, 1 to OH_RING_SAMPLES / 2.  @return 0 or -EINVAL */
  int (*set_block)(void* self, uint32_t samples);
  /** The driver has queued transmit samples up to this position (exclusive), or read received ones up to it: what the
   * card compares with to count underruns and overruns. */
  void (*tx_written)(void* self, uint64_t position);
  void (*rx_read)(void* self, uint64_t position);
  /** Received samples before this position that were not read by now never will be: the device lost some of them. May
   * be NULL, for a card that loses samples by overwriting alone. */
  uint64_t (*rx_lost_before)(void* self);
};

struct oh_card {
  const struct oh_card_ops* ops;
  void* self;
  const int16_t* rx_ring; /**< [OH_RING_SAMPLES] */
  int16_t* tx_ring;       /**< [OH_RING_SAMPLES] */
};

#ifdef __cplusplus
}
#endif
#endif
