/* SPDX-License-Identifier: MIT
 *
 * The one card engine: the hardware side of every card that has none of its own. It moves samples between the two rings
 * and a line, ends blocks, counts what was overwritten unread and what was played unwritten, and writes to the event
 * log what it counted. A clock drives it: the virtual one of a simulation, a timer, a sound device, a kernel's timer.
 *
 * All that hardware and driver share is one piece of memory: counters and the two rings. One writer a field, no locks,
 * positions only ever grow; the two may be threads, or processes that map the memory at different places. What either
 * side reads there is checked, for the other one may be another program.
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

/** What a codec is plugged into: one end of a line.
 * exchange: the next n sample periods. The codec plays `played` into the line and captures `captured` from it, n times
 * the samples of a period each, in the formats of the card, never the same memory; n is at most the shorter ring.
 * Called in order of time and without gaps, but in batches whose lengths mean nothing: the result may depend on the
 * samples only. What is captured in a period may depend on what was played up to it. NULL: nobody looks at a sample. */
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

/** The shared memory's head; the rings follow. Its fields are the engine's: others use the functions below. */
struct oh_card_state {
  uint32_t magic, version;
  struct oh_streams streams;
  /* the driver's */
  uint32_t block; /* of the blocks after the one under way */
  uint32_t off_hook;
  uint64_t rx_read, tx_written;
  /* the hardware's */
  uint32_t rate_hz; /* of the slower direction, now */
  uint32_t ringing;
  uint64_t position;       /* sample periods captured and played */
  uint64_t finished_end;   /* of the newest finished block */
  uint64_t rx_lost_before; /* what was not read before this position is lost */
  uint64_t interrupts, overrun, underrun;
};

/** @return octets of memory, aligned to 64, of a card with these streams; 0 when there can be none */
OH_API size_t oh_card_size(const struct oh_streams* streams);
/** Makes the memory of a card. Not real-time: clears it.  @return 0 or -EINVAL */
OH_API int oh_card_init(void* memory, const struct oh_streams* streams);
/** The driver's view of it, from either side.
 * @param size of the memory at hand  @return 0, or -EINVAL: no card of this build, or not all of it */
OH_API int oh_card_attach(struct oh_card* card, void* memory, size_t size);

/* Of a card's memory, from any thread. Real-time: yes. */
OH_API uint64_t oh_card_position(const struct oh_card_state* state);
OH_API struct oh_card_counters oh_card_counts(const struct oh_card_state* state);
/* The line interface: the driver's side takes the line, the hardware's side rings. */
OH_API void oh_card_set_off_hook(struct oh_card_state* state, int off_hook);
OH_API int oh_card_off_hook(const struct oh_card_state* state);
OH_API void oh_card_set_ringing(struct oh_card_state* state, int ringing);
OH_API int oh_card_ringing(const struct oh_card_state* state);

/** A card's events: its rate, its interrupts, its losses, as the counters tell of them. The engine has one; where the
 * hardware's process has no log, the driver's side has one instead. Zeroed at first but for log and id. */
struct oh_card_report {
  struct oh_event_log* log; /**< NULL: none */
  uint16_t id;              /**< of the card in the log */
  /* logged so far */
  uint32_t rate_hz;
  uint64_t finished_end, overrun, underrun;
};
/** Writes what has changed since the last time. Real-time: yes, O(1). */
OH_API void oh_card_log_changes(struct oh_card_report* report, const struct oh_card_state* state, uint64_t now_ns);

/** The hardware side. One thread; plain data. */
struct oh_card_engine {
  struct oh_card_state* state;
  struct oh_card_report* report; /**< may be NULL */
  struct oh_ring rx, tx;
  struct oh_streams streams; /* our own copy */
  uint64_t position;
  uint32_t rx_slot, tx_slot; /* of the position, in periods */
  uint64_t block_end;
};

/** @param card as oh_card_attach() gave it  @param report may be NULL; outlives the engine */
OH_API void oh_card_engine_init(struct oh_card_engine* engine, const struct oh_card* card,
                                struct oh_card_report* report);
/** The first block begins; before this the driver has programmed it. */
OH_API void oh_card_engine_start(struct oh_card_engine* engine, uint64_t now_ns);
/** From now on. @param rate_hz of the slower direction; the ratio stays */
OH_API void oh_card_engine_set_rate(struct oh_card_engine* engine, uint32_t rate_hz, uint64_t now_ns);

/** Sample periods until the block under way ends; 0: it has ended and nobody said so yet. */
static inline uint32_t oh_card_engine_left(const struct oh_card_engine* engine) {
  return engine->block_end > engine->position ? (uint32_t)(engine->block_end - engine->position) : 0;
}
/** n sample periods pass; a block that ends in them is not ended yet. Real-time: as the line is. */
OH_API void oh_card_engine_pass(struct oh_card_engine* engine, const struct oh_line_end* line, uint64_t n,
                                uint64_t now_ns);
/** End the block under way, if its samples have passed, and those after it that have passed as a whole.
 * @return 1: raise the interrupt, one for all of them; else 0 */
OH_API int oh_card_engine_end_block(struct oh_card_engine* engine, uint64_t now_ns);
/** n sample periods pass, and blocks end in them. @return how many: 1 interrupt or more is to be raised */
OH_API uint32_t oh_card_engine_run(struct oh_card_engine* engine, const struct oh_line_end* line, uint32_t n,
                                   uint64_t now_ns);
/** The same for a line that is elsewhere. @param[out] played, [in] captured: n sample periods each */
OH_API uint32_t oh_card_engine_copy(struct oh_card_engine* engine, void* played, const void* captured, uint32_t n,
                                    uint64_t now_ns);
/** n sample periods have passed in which the device neither captured nor played. Those before them that nobody has read
 * are given up too.  @return 1 when a block ended, else 0 */
OH_API int oh_card_engine_skip(struct oh_card_engine* engine, uint64_t n, uint64_t now_ns);

#ifdef __cplusplus
}
#endif
#endif
