/* SPDX-License-Identifier: MIT
 *
 * oh_event_log_write() for a log with a single writer: one thread, and no interrupt that also writes. The simulated
 * host is such a writer: its interrupts are virtual. It writes tens of millions of events per second, and the
 * compare-and-swap took a sixth of its time (docs/speed.md). Both functions may write to one log in turn, and the
 * reader may run on any CPU.
 */
#ifndef OFFHOOK_DRIVER_CORE_EVENT_LOG_ONE_WRITER_H
#define OFFHOOK_DRIVER_CORE_EVENT_LOG_ONE_WRITER_H

#include "offhook/event_log.h"

#ifdef __cplusplus
extern "C" {
#endif

/** As oh_event_log_write(), for little-endian machines.  @pre there is no other writer to this log meanwhile.
 * Real-time: yes. */
static inline void oh_event_log_write_alone(struct oh_event_log* log, uint64_t time_ns, enum oh_event_kind kind,
                                            uint16_t id, uint32_t argument) {
  typedef uint64_t __attribute__((may_alias)) aliased_u64;
  if (log == NULL) return;
  const uint64_t head = log->head;
  if (head - __atomic_load_n(&log->tail, __ATOMIC_ACQUIRE) > log->mask) {
    __atomic_store_n(&log->lost, log->lost + 1, __ATOMIC_RELAXED);
    return;
  }
  __atomic_store_n(&log->head, head + 1, __ATOMIC_RELAXED);
  struct oh_event* event = &log->events[head & log->mask];
  event->time_ns = time_ns;
  __atomic_store_n((aliased_u64*)(void*)&event->kind,
                   (uint64_t)kind | (uint64_t)log->cpu << 8 | (uint64_t)id << 16 | (uint64_t)argument << 32,
                   __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif
#endif
