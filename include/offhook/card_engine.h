/* SPDX-License-Identifier: MIT
 *
 * The card engine: the hardware side of every card without hardware of its own. It moves samples between the two rings
 * and a line, and ends blocks. It counts samples that were overwritten before they were read, and samples that were
 * played before they were written, and writes both counts to the event log. A clock drives it: the virtual one of a
 * simulation, a timer, a sound device, a kernel's timer.
 *
 * Hardware and driver share one piece of memory: counters and the two rings. Each field has one writer, there are no
 * locks, and positions only grow. Both sides may be threads, or processes that map the memory at different places. Each
 * side checks the values that it reads, because the other side may be another program.
 *
 * Freestanding; uses no floating-point register.
 */
#ifndef OFFHOOK_CARD_ENGINE_H
#define OFFHOOK_CARD_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/abi.h"
#include "offhook/card.h"
#include "offhook/event_log.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The line at a codec: one end of a telephone line. exchange: the next n sample periods. The codec plays `played` into
 * the line and captures `captured` from it, in different memory: n sample periods each, in the formats of the card. n
 * is at most the shorter ring. Calls are in order of time and without gaps. Batch boundaries are arbitrary: the result
 * may depend on the samples only. The captured samples of a period may depend on all samples played up to it. NULL:
 * samples are not examined. */
struct oh_line_end {
  void (*exchange)(void* self, const void* played, void* captured, size_t n);
  void* self;
};

struct oh_card_counters {
  uint64_t interrupts;
  uint64_t overrun_samples;  /**< sample periods */
  uint64_t underrun_samples; /**< sample periods */
};

enum { OH_CARD_MAGIC = 0x5243484f /* "OHCR" */, OH_CARD_VERSION = 3 };

/** The shared memory's head; the rings follow. Its fields are private to the engine: use the functions below. */
struct oh_card_state {
  uint32_t magic, version;
  struct oh_streams streams;
  /* the driver's */
  uint32_t block; /* of the blocks after the current one */
  uint32_t off_hook;
  uint64_t rx_read, tx_written;
  /* the hardware's */
  uint32_t rate_hz; /* current rate of the slower direction */
  uint32_t ringing;
  uint64_t position;       /* sample periods captured and played */
  uint64_t finished_end;   /* of the newest finished block */
  uint64_t rx_lost_before; /* unread samples before this position are lost */
  uint64_t interrupts, overrun, underrun;
};

/** @return octets of memory, aligned to 64, of a card with these streams; 0 if they are invalid */
OH_API size_t oh_card_size(const struct oh_streams* streams);
/** Initialises the memory of a card. Not real-time: clears it.  @return 0 or -EINVAL */
OH_API int oh_card_init(void* memory, const struct oh_streams* streams);
/** The driver's view of a card, from either side. @param size of the available memory @return 0, or -EINVAL if it is
 * not a card of this build or incomplete */
OH_API int oh_card_attach(struct oh_card* card, void* memory, size_t size);

/* State in a card's memory, from any thread. Real-time: yes. */
OH_API uint64_t oh_card_position(const struct oh_card_state* state);
OH_API struct oh_card_counters oh_card_counts(const struct oh_card_state* state);
/* The line interface: the driver's side goes off hook, the hardware's side signals ringing. */
OH_API void oh_card_set_off_hook(struct oh_card_state* state, int off_hook);
OH_API int oh_card_off_hook(const struct oh_card_state* state);
OH_API void oh_card_set_ringing(struct oh_card_state* state, int ringing);
OH_API int oh_card_ringing(const struct oh_card_state* state);

/** A card's events from its counters: rate, interrupts and losses. The engine has the report, or the driver's side if
 * the hardware's process has no log. Initially all members are zero except log and id. */
struct oh_card_report {
  struct oh_event_log* log; /**< NULL: none */
  uint16_t id;              /**< of the card in the log */
  /* logged so far */
  uint32_t rate_hz;
  uint64_t finished_end, overrun, underrun;
};
/** Writes all changes since the last call. Real-time: yes, O(1). */
OH_API void oh_card_log_changes(struct oh_card_report* report, const struct oh_card_state* state, uint64_t now_ns);

/** The hardware side. For one thread; plain data. */
struct oh_card_engine {
  struct oh_card_state* state;
  struct oh_card_report* report; /**< may be NULL */
  struct oh_ring rx, tx;
  struct oh_streams streams; /* our own copy */
  uint64_t position;
  uint32_t rx_slot, tx_slot; /* of the position, in periods */
  uint64_t block_end;
};

/** @param card from oh_card_attach()  @param report may be NULL; must outlive the engine */
OH_API void oh_card_engine_init(struct oh_card_engine* engine, const struct oh_card* card,
                                struct oh_card_report* report);
/** Starts the first block, which the driver has already programmed. */
OH_API void oh_card_engine_start(struct oh_card_engine* engine, uint64_t now_ns);
/** Sets the rate. @param rate_hz of the slower direction; the ratio is unchanged */
OH_API void oh_card_engine_set_rate(struct oh_card_engine* engine, uint32_t rate_hz, uint64_t now_ns);

/** Sample periods until the current block ends; 0 if it has ended without a call of end_block. */
static inline uint32_t oh_card_engine_left(const struct oh_card_engine* engine) {
  return engine->block_end > engine->position ? (uint32_t)(engine->block_end - engine->position) : 0;
}
/** Advances by n sample periods, without ending the blocks that end in them. Real-time: if the line is. */
OH_API void oh_card_engine_pass(struct oh_card_engine* engine, const struct oh_line_end* line, uint64_t n,
                                uint64_t now_ns);
/** Ends the current block if its samples have passed, and all later blocks that have passed completely. @return 1 if
 * one interrupt must be raised for all of them, else 0 */
OH_API int oh_card_engine_end_block(struct oh_card_engine* engine, uint64_t now_ns);
/** Advances by n sample periods and ends the blocks in them. @return number of ended blocks; if not 0, raise the
 * interrupt */
OH_API uint32_t oh_card_engine_run(struct oh_card_engine* engine, const struct oh_line_end* line, uint32_t n,
                                   uint64_t now_ns);
/** As oh_card_engine_run(), for a remote line. @param[out] played, [in] captured: n sample periods each */
OH_API uint32_t oh_card_engine_copy(struct oh_card_engine* engine, void* played, const void* captured, uint32_t n,
                                    uint64_t now_ns);
/** Skips n sample periods in which the device neither captured nor played. Unread samples before them are also lost.
 * @return 1 if a block ended, else 0 */
OH_API int oh_card_engine_skip(struct oh_card_engine* engine, uint64_t n, uint64_t now_ns);

#ifdef __cplusplus
}
#endif
#endif
