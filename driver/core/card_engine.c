/* SPDX-License-Identifier: MIT */
#include "offhook/card_engine.h"

#ifndef EINVAL
#define EINVAL 22 /* Linux's value; no OS header here */
#endif

enum { ALIGNMENT = 64 };

static size_t aligned(size_t octets) {
  return (octets + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}
static size_t ring_octets(const struct oh_ring* ring) {
  return aligned((size_t)ring->periods * ring->period_octets);
}
static uint64_t acquire(const uint64_t* field) {
  return __atomic_load_n(field, __ATOMIC_ACQUIRE);
}
static void release(uint64_t* field, uint64_t value) {
  __atomic_store_n(field, value, __ATOMIC_RELEASE);
}
static void add(uint64_t* counter, uint64_t n) { /* one writer */
  __atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

size_t oh_card_size(const struct oh_streams* streams) {
  if (!oh_streams_are_valid(streams)) return 0;
  const struct oh_ring rx = oh_ring_of(streams, &streams->rx, NULL), tx = oh_ring_of(streams, &streams->tx, NULL);
  return aligned(sizeof(struct oh_card_state)) + ring_octets(&rx) + ring_octets(&tx);
}

static void rings_of(struct oh_card* card, void* memory) {
  uint8_t* rings = (uint8_t*)memory + aligned(sizeof(struct oh_card_state));
  const struct oh_ring rx = oh_ring_of(&card->streams, &card->streams.rx, NULL);
  card->rx_ring = rings;
  card->tx_ring = rings + ring_octets(&rx);
}

int oh_card_init(void* memory, const struct oh_streams* streams) {
  const size_t size = oh_card_size(streams);
  if (size == 0) return -EINVAL;
  struct oh_card_state* state = memory;
  __builtin_memset(memory, 0, size);
  state->magic = OH_CARD_MAGIC;
  state->version = OH_CARD_VERSION;
  state->streams = *streams;
  state->rate_hz = oh_streams_rate_hz(streams);
  state->block = oh_streams_block_max(streams);
  struct oh_card card = {.streams = *streams};
  rings_of(&card, memory);
  const struct oh_ring rx = oh_ring_of(streams, &streams->rx, card.rx_ring);
  const struct oh_ring tx = oh_ring_of(streams, &streams->tx, card.tx_ring);
  __builtin_memset(rx.octets, rx.silence, (size_t)rx.periods * rx.period_octets);
  __builtin_memset(tx.octets, tx.silence, (size_t)tx.periods * tx.period_octets);
  return 0;
}

static uint64_t op_acknowledge(void* self) {
  return acquire(&((struct oh_card_state*)self)->finished_end);
}
static uint64_t op_position(void* self) {
  return acquire(&((struct oh_card_state*)self)->position);
}
static int op_set_block(void* self, uint32_t periods) {
  struct oh_card_state* state = self;
  if (periods < oh_streams_block_min(&state->streams) || periods > oh_streams_block_max(&state->streams))
    return -EINVAL;
  __atomic_store_n(&state->block, periods, __ATOMIC_RELAXED);
  return 0;
}
static void op_tx_written(void* self, uint64_t position) {
  release(&((struct oh_card_state*)self)->tx_written, position);
}
static void op_rx_read(void* self, uint64_t position) {
  release(&((struct oh_card_state*)self)->rx_read, position);
}
static uint64_t op_rx_lost_before(void* self) {
  return acquire(&((struct oh_card_state*)self)->rx_lost_before);
}

int oh_card_attach(struct oh_card* card, void* memory, size_t size) {
  static const struct oh_card_ops ops = {.acknowledge = op_acknowledge,
                                         .rx_position = op_position,
                                         .tx_position = op_position,
                                         .set_block = op_set_block,
                                         .tx_written = op_tx_written,
                                         .rx_read = op_rx_read,
                                         .rx_lost_before = op_rx_lost_before};
  const struct oh_card_state* state = memory;
  if (size < sizeof *state || state->magic != OH_CARD_MAGIC || state->version != OH_CARD_VERSION) return -EINVAL;
  /* Read once: from here on only the copy counts. */
  __builtin_memcpy(&card->streams, &state->streams, sizeof card->streams);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const size_t whole = oh_card_size(&card->streams);
  if (whole == 0 || whole > size) return -EINVAL;
  card->ops = &ops;
  card->self = memory;
  rings_of(card, memory);
  return 0;
}

uint64_t oh_card_position(const struct oh_card_state* state) {
  return acquire(&state->position);
}
struct oh_card_counters oh_card_counts(const struct oh_card_state* state) {
  const struct oh_card_counters counters = {__atomic_load_n(&state->interrupts, __ATOMIC_RELAXED),
                                            __atomic_load_n(&state->overrun, __ATOMIC_RELAXED),
                                            __atomic_load_n(&state->underrun, __ATOMIC_RELAXED)};
  return counters;
}
void oh_card_set_off_hook(struct oh_card_state* state, int off_hook) {
  __atomic_store_n(&state->off_hook, off_hook != 0, __ATOMIC_RELEASE);
}
int oh_card_off_hook(const struct oh_card_state* state) {
  return __atomic_load_n(&state->off_hook, __ATOMIC_ACQUIRE) != 0;
}
void oh_card_set_ringing(struct oh_card_state* state, int ringing) {
  __atomic_store_n(&state->ringing, ringing != 0, __ATOMIC_RELEASE);
}
int oh_card_ringing(const struct oh_card_state* state) {
  return __atomic_load_n(&state->ringing, __ATOMIC_ACQUIRE) != 0;
}

static void record(const struct oh_card_report* report, uint64_t now_ns, enum oh_event_kind kind, uint64_t argument) {
  oh_event_log_write(report->log, now_ns, kind, report->id, argument > UINT32_MAX ? UINT32_MAX : (uint32_t)argument);
}

/* @return the growth of the counter */
static uint64_t grown(uint64_t* logged, uint64_t counter) {
  const uint64_t before = *logged;
  *logged = counter;
  return counter > before ? counter - before : 0;
}

void oh_card_log_changes(struct oh_card_report* report, const struct oh_card_state* state, uint64_t now_ns) {
  if (report == NULL || report->log == NULL) return;
  const uint32_t rate_hz = __atomic_load_n(&state->rate_hz, __ATOMIC_RELAXED);
  const uint64_t finished_end = acquire(&state->finished_end);
  if (report->rate_hz == 0) report->finished_end = finished_end;
  if (rate_hz != report->rate_hz) record(report, now_ns, OH_EV_CARD_RATE, rate_hz);
  report->rate_hz = rate_hz;
  const struct oh_card_counters counters = oh_card_counts(state);
  const uint64_t overrun = grown(&report->overrun, counters.overrun_samples);
  const uint64_t underrun = grown(&report->underrun, counters.underrun_samples);
  const uint64_t finished = grown(&report->finished_end, finished_end);
  if (overrun > 0) record(report, now_ns, OH_EV_RX_OVERRUN, overrun);
  if (underrun > 0) record(report, now_ns, OH_EV_TX_UNDERRUN, underrun);
  if (finished > 0) record(report, now_ns, OH_EV_INTERRUPT, finished);
}

void oh_card_engine_init(struct oh_card_engine* engine, const struct oh_card* card, struct oh_card_report* report) {
  engine->state = card->self;
  engine->report = report;
  engine->streams = card->streams;
  engine->rx = oh_ring_of(&engine->streams, &engine->streams.rx, card->rx_ring);
  engine->tx = oh_ring_of(&engine->streams, &engine->streams.tx, card->tx_ring);
  engine->position = engine->block_end = 0;
  engine->rx_slot = engine->tx_slot = 0;
}

static void find_slots(struct oh_card_engine* engine) {
  engine->rx_slot = (uint32_t)(engine->position % engine->rx.periods);
  engine->tx_slot = (uint32_t)(engine->position % engine->tx.periods);
}

/* The driver may be another process, and the memory may hold any values. */
static uint32_t next_block(const struct oh_card_engine* engine) {
  const uint32_t least = oh_streams_block_min(&engine->streams), most = oh_streams_block_max(&engine->streams);
  const uint32_t block = __atomic_load_n(&engine->state->block, __ATOMIC_RELAXED);
  return block < least ? least : block > most ? most : block;
}

void oh_card_engine_start(struct oh_card_engine* engine, uint64_t now_ns) {
  engine->position = __atomic_load_n(&engine->state->position, __ATOMIC_RELAXED);
  find_slots(engine);
  engine->block_end = engine->position + next_block(engine);
  release(&engine->state->finished_end, engine->position);
  if (engine->report != NULL) engine->report->finished_end = engine->position;
  oh_card_log_changes(engine->report, engine->state, now_ns);
}

void oh_card_engine_set_rate(struct oh_card_engine* engine, uint32_t rate_hz, uint64_t now_ns) {
  __atomic_store_n(&engine->state->rate_hz, rate_hz, __ATOMIC_RELAXED);
  oh_card_log_changes(engine->report, engine->state, now_ns);
}

/* Positions of the next samples, up to target, that are at or beyond limit. */
static uint64_t beyond(const struct oh_card_engine* engine, uint64_t limit, uint64_t target) {
  const uint64_t from = limit < engine->position ? engine->position : limit;
  return from < target ? target - from : 0;
}

static void advance_to(struct oh_card_engine* engine, uint64_t target, uint64_t overrun, uint64_t underrun,
                       uint64_t now_ns) {
  if (overrun > 0) add(&engine->state->overrun, overrun);
  if (underrun > 0) add(&engine->state->underrun, underrun);
  engine->position = target;
  release(&engine->state->position, target);
  if (overrun + underrun > 0) oh_card_log_changes(engine->report, engine->state, now_ns);
}

void oh_card_engine_pass(struct oh_card_engine* engine, const struct oh_line_end* line, uint64_t n, uint64_t now_ns) {
  const uint64_t target = engine->position + n;
  /* A sample is lost if its slot holds one that was not read; it is repeated if its slot was not written. */
  const uint64_t overrun = beyond(engine, acquire(&engine->state->rx_read) + engine->rx.periods, target);
  const uint64_t underrun = beyond(engine, acquire(&engine->state->tx_written), target);
  for (uint64_t left = line->exchange != NULL ? n : 0; left > 0;) {
    const uint32_t to_rx_end = engine->rx.periods - engine->rx_slot, to_tx_end = engine->tx.periods - engine->tx_slot;
    const uint32_t run = to_rx_end < to_tx_end ? to_rx_end : to_tx_end;
    const uint32_t piece = left < run ? (uint32_t)left : run;
    line->exchange(line->self, engine->tx.octets + (size_t)engine->tx_slot * engine->tx.period_octets,
                   engine->rx.octets + (size_t)engine->rx_slot * engine->rx.period_octets, piece);
    engine->rx_slot = piece == to_rx_end ? 0 : engine->rx_slot + piece;
    engine->tx_slot = piece == to_tx_end ? 0 : engine->tx_slot + piece;
    left -= piece;
  }
  advance_to(engine, target, overrun, underrun, now_ns);
}

int oh_card_engine_end_block(struct oh_card_engine* engine, uint64_t now_ns) {
  if (engine->position < engine->block_end) return 0;
  const uint32_t block = next_block(engine);
  const uint64_t more = (engine->position - engine->block_end) / block;
  release(&engine->state->finished_end, engine->block_end + more * block);
  engine->block_end += (more + 1) * block;
  add(&engine->state->interrupts, 1);
  oh_card_log_changes(engine->report, engine->state, now_ns);
  return 1;
}

uint32_t oh_card_engine_run(struct oh_card_engine* engine, const struct oh_line_end* line, uint32_t n,
                            uint64_t now_ns) {
  uint32_t ended = 0;
  while (n > 0) {
    const uint32_t left = oh_card_engine_left(engine), now = n < left ? n : left;
    oh_card_engine_pass(engine, line, now, now_ns);
    ended += (uint32_t)oh_card_engine_end_block(engine, now_ns);
    n -= now;
  }
  return ended;
}

struct copies {
  const struct oh_card_engine* engine;
  uint8_t* played;
  const uint8_t* captured;
};

static void copy(void* self, const void* played, void* captured, size_t n) {
  struct copies* to = self;
  const size_t out = n * to->engine->tx.period_octets, in = n * to->engine->rx.period_octets;
  __builtin_memcpy(to->played, played, out);
  __builtin_memcpy(captured, to->captured, in);
  to->played += out;
  to->captured += in;
}

uint32_t oh_card_engine_copy(struct oh_card_engine* engine, void* played, const void* captured, uint32_t n,
                             uint64_t now_ns) {
  struct copies copies = {engine, played, captured};
  const struct oh_line_end line = {copy, &copies};
  return oh_card_engine_run(engine, &line, n, now_ns);
}

int oh_card_engine_skip(struct oh_card_engine* engine, uint64_t n, uint64_t now_ns) {
  if (n == 0) return 0;
  const uint64_t target = engine->position + n;
  release(&engine->state->rx_lost_before, target);
  advance_to(engine, target, n, beyond(engine, acquire(&engine->state->tx_written), target), now_ns);
  find_slots(engine);
  return oh_card_engine_end_block(engine, now_ns);
}
