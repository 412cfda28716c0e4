/* SPDX-License-Identifier: MIT
 *
 * The driver: from the card's interrupt to the datapump and back, the same code in every host and context.
 *
 * isr() acknowledges the interrupt, counts the block as owed, programs the length of a later block, and requests
 * service from the context. It takes a few microseconds. service() takes the received samples of each owed block, runs
 * the pump, and queues the same number of transmit samples.
 *
 * Positions, blocks and the transmit lead count sample periods of the card's slower direction (offhook/stream.h),
 * called samples here; only copied data are scaled.
 *
 * The transmit lead is the number of samples queued ahead of the codec when no block is owed: the driver starts by
 * queueing that much silence. At the interrupt of an N-sample block, lead - N samples are left to play; that is the
 * time for service. Positions are exact: late output is dropped, never shifted, so the far end sees a hole but no jump
 * in time.
 *
 * A host in which time passes during a service (the simulator) calls its three parts itself: begin (input taken, the
 * pump has run), output (transmit samples queued), end (counted). oh_driver_service() is exactly these three in a row.
 *
 * An interrupt that covers several blocks (coalesced) makes one larger owed block; service takes it in chunks of at
 * most the card's longest block. Received samples that were overwritten before service are reported to the pump by
 * report_gap() with their exact number, and the matching transmit positions are skipped.
 *
 * Concurrency: isr() may interrupt service() at any point, on the same or another CPU; neither is re-entered.
 */
#ifndef OFFHOOK_DRIVER_CORE_DRIVER_H
#define OFFHOOK_DRIVER_CORE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/abi.h"
#include "offhook/card.h"
#include "offhook/context.h"
#include "offhook/event_log.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

enum oh_service_policy {
  OH_SERVICE_ONE_BLOCK, /**< one block per run, as in the vendor's driver, which has one run per interrupt */
  OH_SERVICE_DRAIN_ALL  /**< all blocks owed at the start of the run; later blocks have their own request */
};

enum { OH_BLOCK_PLAN_MAX = 8, OH_OWED_MAX = 512 };

struct oh_driver_config {
  struct oh_card card;
  struct oh_pump pump;
  struct oh_context context;
  uint64_t (*now_ns)(void* clock); /**< the host's clock, callable in any context */
  void* clock;
  struct oh_event_log* log; /**< may be NULL */
  uint16_t id;              /**< id of this driver in the log */
  /** [oh_driver_staging_size(&card)], aligned to 8: one block's samples of both directions; must outlive the driver.
   * NULL requires a NULL pump.process: samples are then neither examined nor copied, but all else is unchanged. */
  void* staging;
  enum oh_service_policy policy;
  uint32_t transmit_lead_samples;         /**< at least the longest block, at most the transmit ring */
  uint32_t block_plan[OH_BLOCK_PLAN_MAX]; /**< samples per interrupt, repeated: for example 105, 105, 90 */
  uint32_t block_plan_length;
};

struct oh_driver_counters {
  uint64_t interrupts; /**< isr() calls */
  uint64_t blocks_served;
  uint64_t samples_served;
  uint64_t blocks_late;       /**< blocks with at least one output sample that missed its position */
  uint64_t samples_late;      /**< output samples dropped because their position was already played */
  uint64_t samples_filled_in; /**< received samples that were lost before service */
  uint32_t pending_max;       /**< largest number of samples pending after a block */
  uint32_t pending_last;
};

/** Plain data; the fields are private to the driver. */
struct oh_driver {
  struct oh_driver_config config;
  struct oh_driver_counters counters;
  /* the owed blocks: pushed by isr, popped by service */
  uint64_t owed_end[OH_OWED_MAX]; /**< end positions */
  uint64_t owed_head;             /**< blocks pushed, isr's */
  uint64_t owed_tail;             /**< blocks popped, service's */
  /* the block plan: published by service with a sequence number (odd while it is being written), adopted by isr */
  uint32_t plan_sequence;
  uint32_t new_plan[OH_BLOCK_PLAN_MAX];
  uint32_t new_plan_length;
  /* isr's own */
  uint64_t boundary; /**< end of the newest owed block */
  uint32_t plan[OH_BLOCK_PLAN_MAX];
  uint32_t plan_length;
  uint32_t plan_next;
  uint32_t plan_adopted; /**< the sequence number of `plan` */
  /* service's own */
  uint64_t rx_read;       /**< next received position to read */
  uint64_t tx_next;       /**< position of the next transmit sample */
  int in_run;             /**< whether a service run has begun and not ended */
  uint64_t run_head;      /**< owed_head at the beginning of the run, which bounds it */
  uint32_t run_chunks;    /**< served in it */
  uint32_t chunk_samples; /**< of the chunk that is being served */
  int chunk_ends_block;
  int block_late;
  /* the card's rings, and one chunk of each in the staging memory */
  struct oh_ring rx_ring, tx_ring;
  uint8_t *rx, *tx;
};

/** @return octets of staging memory for a driver of this card; 0 if the card's stream formats are invalid */
OH_API size_t oh_driver_staging_size(const struct oh_card* card);

/** Checks the configuration, queues the transmit lead and programs the first block. The card must not interrupt before
 * this returns. The first length of the plan is used twice at the start, because the first interrupt can only program
 * the block after the current one. @return 0 or -EINVAL. Not real-time. */
OH_API int oh_driver_init(struct oh_driver* driver, const struct oh_driver_config* config);

/** Sets a new block plan from the next block on (the modem changed phase or rate). No length may exceed the transmit
 * lead. Call it in the context of service. Real-time: yes.  @return 0, or -EINVAL and the old plan remains */
OH_API int oh_driver_set_block_plan(struct oh_driver* driver, const uint32_t* samples, uint32_t length);

/** The card's interrupt. Real-time: yes, O(1). */
OH_API void oh_driver_isr(struct oh_driver* driver);

/** One service run: serves what the policy permits. Real-time: yes. @return number of blocks served */
OH_API uint32_t oh_driver_service(struct oh_driver* driver);

/** Takes the oldest owed block (or its next chunk) and runs the pump on it. Blocks that were overwritten completely are
 * concealed and skipped. @return its samples, or 0 if no block is owed. */
OH_API uint32_t oh_driver_service_begin(struct oh_driver* driver);
/** Queues the output of that block. */
OH_API void oh_driver_service_output(struct oh_driver* driver);
/** Counts the block. @return 1 if this run must continue: the rest of the block, or another owed block.
 * */
OH_API int oh_driver_service_end(struct oh_driver* driver);

/** @return number of blocks owed now */
OH_API uint32_t oh_driver_owed(const struct oh_driver* driver);
/** @return received samples that were captured but not read. */
OH_API uint32_t oh_driver_pending(const struct oh_driver* driver);

#ifdef __cplusplus
}
#endif
#endif
