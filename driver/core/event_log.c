/* SPDX-License-Identifier: MIT */
#include "offhook/event_log.h"

#ifndef EINVAL
#define EINVAL 22 /* Linux's value; no OS header here */
#endif

/* All of an event except its time, in the word whose store publishes the slot. */
union tail_word {
  struct {
    uint8_t kind;
    uint8_t cpu;
    uint16_t id;
    uint32_t argument;
  } field;
  uint64_t word;
};
_Static_assert(sizeof(struct oh_event) == 16, "the file format");
_Static_assert(offsetof(struct oh_event, kind) == 8, "the second word of an event begins with its kind");

typedef uint64_t __attribute__((may_alias)) aliased_u64;

static aliased_u64* tail_word_of(struct oh_event* event) {
  return (aliased_u64*)(void*)&event->kind;
}

int oh_event_log_init(struct oh_event_log* log, struct oh_event* events, size_t capacity, uint8_t cpu) {
  if (events == NULL || capacity == 0 || (capacity & (capacity - 1)) != 0) return -EINVAL;
  __builtin_memset(events, 0, capacity * sizeof *events);
  log->events = events;
  log->mask = capacity - 1;
  log->head = 0;
  log->tail = 0;
  log->lost = 0;
  log->cpu = cpu;
  return 0;
}

void oh_event_log_write(struct oh_event_log* log, uint64_t time_ns, enum oh_event_kind kind, uint16_t id,
                        uint32_t argument) {
  if (log == NULL) return;
  uint64_t head = __atomic_load_n(&log->head, __ATOMIC_RELAXED);
  do {
    /* Acquire: this writer may fill the slot only after the reader has emptied it. A stale head may be behind the tail;
     * the compare-and-swap then fails. */
    if ((int64_t)(head - __atomic_load_n(&log->tail, __ATOMIC_ACQUIRE)) > (int64_t)log->mask) {
      __atomic_fetch_add(&log->lost, 1, __ATOMIC_RELAXED);
      return;
    }
  } while (!__atomic_compare_exchange_n(&log->head, &head, head + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));

  struct oh_event* event = &log->events[head & log->mask];
  union tail_word tail = {.field = {(uint8_t)kind, log->cpu, id, argument}};
  event->time_ns = time_ns;
  __atomic_store_n(tail_word_of(event), tail.word, __ATOMIC_RELEASE);
}

size_t oh_event_log_read(struct oh_event_log* log, struct oh_event* out, size_t n) {
  uint64_t tail = log->tail;
  size_t got = 0;
  for (; got < n; ++got, ++tail) {
    struct oh_event* event = &log->events[tail & log->mask];
    union tail_word word = {.word = __atomic_load_n(tail_word_of(event), __ATOMIC_ACQUIRE)};
    if (word.field.kind == OH_EV_NONE) break;
    out[got] = (struct oh_event){event->time_ns, word.field.kind, word.field.cpu, word.field.id, word.field.argument};
    __atomic_store_n(tail_word_of(event), 0, __ATOMIC_RELAXED);
    /* Release, slot by slot: a writer that finds the ring full must not wait for the whole batch. */
    __atomic_store_n(&log->tail, tail + 1, __ATOMIC_RELEASE);
  }
  return got;
}

uint64_t oh_event_log_lost(const struct oh_event_log* log) {
  return __atomic_load_n(&log->lost, __ATOMIC_RELAXED);
}
