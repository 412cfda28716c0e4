/* SPDX-License-Identifier: MIT
 *
 * A processing context calls the driver's service routine and decides when. The interrupt routine requests service by
 * request(); the context calls the routine later: at once, from a queue of deferred work, on a thread at some priority,
 * or on a thread with a CPU reservation. Implementations are small and independent of modems: simulated ones
 * (hostsim/host), threads of a Linux process (driver/context), and those of a kernel.
 *
 *   owner    start() -> ... reconfigure() ... -> stop()
 *   driver   request(), from isr()
 *
 * The operations start, request and stop are mandatory; oh_driver_init() refuses a table without them. The others are
 * optional: if an implementation leaves one NULL, the function below uses the default that it describes. Call those
 * functions, never the pointers. New operations may be appended: offhook/abi.h.
 *
 * A specification names a context. Its text form has one grammar everywhere (driver/context/context_spec.h):
 * "INT", "THR 24", "FIFO 50", "RES 2/8 strict", "RES 2ms/8ms" ...
 */
#ifndef OFFHOOK_CONTEXT_H
#define OFFHOOK_CONTEXT_H

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#include "offhook/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum oh_context_kind {
  OH_CONTEXT_INTERRUPT,   /**< INT: the interrupt routine itself */
  OH_CONTEXT_DPC,         /**< DPC: Windows NT's deferred procedure call */
  OH_CONTEXT_THREAD,      /**< THR p: a thread at priority p of Windows NT */
  OH_CONTEXT_RESERVATION, /**< RES x/y: a thread with X of every Y of CPU time */
  OH_CONTEXT_THREADED,    /**< THREADED: the interrupt's handler is a thread, as on PREEMPT_RT */
  OH_CONTEXT_SOFTIRQ,     /**< SOFTIRQ: Linux's deferred work */
  OH_CONTEXT_FIFO,        /**< FIFO p: SCHED_FIFO, 1 to 99 */
  OH_CONTEXT_ROUND_ROBIN, /**< RR p: SCHED_RR, 1 to 99 */
  OH_CONTEXT_WORKER,      /**< WORKER: a worker thread of normal priority */
  OH_CONTEXT_NORMAL,      /**< OTHER n: SCHED_OTHER at nice n, -20 to 19 */
  OH_CONTEXT_OWN,         /**< this value and higher ones: added by a program, see add_context_form() */
  OH_CONTEXT_LAST = 63
};

struct oh_context_spec {
  OH_STRUCT_SIZE(struct oh_context_spec);
  enum oh_context_kind kind;
  int32_t priority; /**< THR, FIFO, RR; a higher value is more urgent */
  int32_t nice;     /**< OTHER */
  int32_t x_ticks;  /**< RES: X of every Y in clock interrupts of the host, unless period_ns is set */
  int32_t y_ticks;
  int64_t budget_ns; /**< RES: X of every Y as times; both 0: use ticks */
  int64_t period_ns;
  bool strict; /**< RES: never run outside the slots, if the host distinguishes that */
};

/** Waiting times of service requests so far. */
struct oh_context_latency {
  uint64_t count; /**< number of served requests; 0: the other members are undefined */
  uint64_t last_ns;
  uint64_t max_ns;
};

struct oh_context_ops {
  OH_STRUCT_SIZE(struct oh_context_ops);

  /* Mandatory. */
  int (*start)(void* self);    /**< @return 0, or a negative errno such as -EPERM or -EBUSY. Not real-time */
  void (*request)(void* self); /**< from isr(): requests one service run. Real-time: yes, never blocks */
  void (*stop)(void* self);    /**< the current service run ends first, and no other run starts. Not real-time */

  /* Optional. */
  int (*reconfigure)(void* self, const struct oh_context_spec* spec);
  void (*latency)(void* self, struct oh_context_latency* latency);
  size_t (*describe)(void* self, char* text, size_t size);
};

struct oh_context {
  const struct oh_context_ops* ops;
  void* self;
};

/** Whether an operation is present. */
#define OH_CONTEXT_HAS(context, operation)                                                                          \
  ((context)->ops->struct_size >= offsetof(struct oh_context_ops, operation) + sizeof((context)->ops->operation) && \
   (context)->ops->operation != NULL)

/** @return whether all mandatory operations are present */
static inline bool oh_context_is_complete(const struct oh_context* context) {
  return context->ops != NULL && OH_CONTEXT_HAS(context, start) && OH_CONTEXT_HAS(context, request) &&
         OH_CONTEXT_HAS(context, stop);
}

/** Switches to another context while the driver is running: another priority, reservation or, if the host supports it,
 * kind. It takes effect between two service runs; requests are kept. Not real-time. @return 0, or a negative errno if
 * nothing was changed: -EINVAL if it is not a context of this host, -EPERM if not permitted, -EBUSY if not admitted,
 * -EOPNOTSUPP (95 on Linux; the default) if not supported */
static inline int oh_context_reconfigure(const struct oh_context* context, const struct oh_context_spec* spec) {
  return OH_CONTEXT_HAS(context, reconfigure) ? context->ops->reconfigure(context->self, spec) : -95;
}

/** Waiting times of requests so far. From any thread. The default returns a count of 0. */
static inline struct oh_context_latency oh_context_latency_of(const struct oh_context* context) {
  struct oh_context_latency latency = {0, 0, 0};
  if (OH_CONTEXT_HAS(context, latency)) context->ops->latency(context->self, &latency);
  return latency;
}

/** The context in the grammar ("FIFO 50"), truncated to `size` including the terminating 0. The default is an empty
 * text. @return the length of the whole text */
static inline size_t oh_context_describe(const struct oh_context* context, char* text, size_t size) {
  if (OH_CONTEXT_HAS(context, describe)) return context->ops->describe(context->self, text, size);
  if (size > 0) text[0] = 0;
  return 0;
}

#ifdef __cplusplus
}
#endif
#endif
