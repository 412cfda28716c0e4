/* SPDX-License-Identifier: MIT
 *
 * The event log: the only record from which figures are derived.
 *
 * One ring per CPU, one reader. An interrupt may nest inside a write at any point, and writers on several CPUs
 * are allowed. A compare-and-swap reserves a slot, and the store of its second word publishes it, so events are read in
 * order of reservation. Times may be out of order by the length of a nested interrupt. Writing never blocks: if the
 * ring is full, the new event is dropped and counted. The log is complete up to the first loss, and the number of lost
 * events is known. A writer stopped half way delays the reader, never another writer. */
#ifndef OFFHOOK_DRIVER_CORE_EVENT_LOG_H
#define OFFHOOK_DRIVER_CORE_EVENT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kind of event. Each kind defines `id` and `argument`; ids of entities (interrupts, DPCs, threads) are in the name
 * table of the log file's header. Numbers are part of the file format, so only append. */
enum oh_event_kind {
  OH_EV_NONE = 0,
  /* use of the CPU */
  OH_EV_RUN = 1,    /**< entity `id` gets the CPU (start or resume); argument 1 when its job starts */
  OH_EV_IDLE = 2,   /**< the CPU is idle */
  OH_EV_FINISH = 3, /**< entity `id` finished a job; argument: response time, us */
  /* the card */
  OH_EV_INTERRUPT = 10,   /**< card `id` raised its interrupt; argument: samples since the previous interrupt, of the
                             slower direction (as everywhere here) */
  OH_EV_RX_OVERRUN = 11,  /**< card `id` overwrote unread samples; argument: their number, counted by the card */
  OH_EV_TX_UNDERRUN = 12, /**< card `id` played unwritten samples; argument: their number, counted by the card */
  OH_EV_CARD_RATE = 13,   /**< card `id` started or changed its sample rate; argument: Hz, of the slower direction */
  /* the driver; id: driver instance */
  OH_EV_ISR_ENTER = 20, /**< argument: interrupts raised so far */
  OH_EV_ISR_EXIT = 21,
  OH_EV_SERVICE_REQUEST = 22,   /**< service was requested from the context; argument: blocks owed */
  OH_EV_SERVICE_BEGIN = 23,     /**< the input of one block was read; argument: samples */
  OH_EV_OUTPUT_READY = 24,      /**< its output was queued; argument: samples that were too late (0: on time) */
  OH_EV_SERVICE_END = 25,       /**< argument: received samples pending now */
  OH_EV_FILL_IN = 26,           /**< argument: samples that were lost and concealed */
  OH_EV_SERVICE_RUN_BEGIN = 27, /**< the context entered service() (one wake-up; several blocks may follow) */
  OH_EV_SERVICE_RUN_END = 28,   /**< the context left service(); argument: blocks served; chunks count
                                 */
  /* the pump and the link; id: end (0 near, 1 far) */
  OH_EV_PUMP_STATE = 40,      /**< argument: enum oh_pump_state */
  OH_EV_SYMBOL = 41,          /**< received constellation point: re in the low, im in the high 16 bits, Q4.12 */
  OH_EV_LINK_STATE = 42,      /**< argument: enum oh_lapm_state; from bit 8: class of MNP, 0: V.42 */
  OH_EV_LINK_RETRANSMIT = 43, /**< V.42: argument: I-frames sent again in this recovery */
  OH_EV_LINK_BAD_FRAME = 44,  /**< V.42: argument: frames with a bad check sequence so far; ADSL: superframes */
  OH_EV_LINK_BYTES = 45,      /**< argument: user bytes delivered in order so far */
  OH_EV_PUMP_RATES = 46,      /**< data mode begins, with every OH_PUMP_DATA; argument: sent bit/s / 100 in the low,
                                 received in the high 16 bits; 0x7f00 to 0x7f3f: 4000/3 bit/s times the low 6 bits; up
                                 to 0x7fff: 3.2 Mbit/s and 32 kbit/s per step; then bit/s in the low 15 bits */
  OH_EV_PUMP_INSTRUMENT = 47, /**< argument: enum oh_instrument in the high 8 bits, 100 times the
                                  value in the low 24, two's complement, saturated */
  OH_EV_PUMP_TAP = 48,        /**< one of the equaliser's taps: its index in the high 8 bits, its level against the
                                   largest in -0.01 dB in the low 24; index 0 begins a new set */
  OH_EV_PUMP_HOLD = 49,       /**< modem-on-hold; argument: enum oh_hold_state, and T1's code in the high 16 bits */
  OH_EV_PUMP_SEQUENCE = 50,   /**< three octets of a sequence, the first in the low 8 bits, zero after its end; bits 24
                                 to 27: number, from 0; bits 28 to 31: enum oh_sequence */
  OH_EV_CALL_END = 51,        /**< argument: reason, a code of V.59 (Cor. 2, Table 17) */

  /* competitors */
  OH_EV_TIMER_CALLBACK = 60, /**< the 1 ms callback of entity `id` ran; argument: ns since its last run */
  /* the call */
  OH_EV_PHASE = 80, /**< the call's phase; argument enum oh_call_phase of the host's call script */
  OH_EV_MARK = 81   /**< free for tests */
};

/** 16 bytes, little-endian in files. */
struct oh_event {
  uint64_t time_ns; /**< the host's clock, from its start */
  uint8_t kind;     /**< enum oh_event_kind */
  uint8_t cpu;
  uint16_t id;
  uint32_t argument;
};

/** One CPU's ring in the caller's memory. Fields are private to event_log.c. */
struct oh_event_log {
  struct oh_event* events; /**< [mask + 1]; a slot is empty while its kind is OH_EV_NONE */
  uint64_t mask;
  uint64_t head; /**< slots reserved by writers */
  uint64_t tail; /**< slots read and emptied, by the reader only */
  uint64_t lost; /**< events dropped because the ring was full */
  uint8_t cpu;
};

/** @param events [capacity], cleared here; capacity is a power of two.  @return 0 or -EINVAL */
OH_API int oh_event_log_init(struct oh_event_log* log, struct oh_event* events, size_t capacity, uint8_t cpu);

/** Appends one event whose kind is not OH_EV_NONE. Real-time: yes; lock-free, with a retry only if another write
 * interfered (a nested interrupt, another CPU). A NULL log has no effect. */
OH_API void oh_event_log_write(struct oh_event_log* log, uint64_t time_ns, enum oh_event_kind kind, uint16_t id,
                               uint32_t argument);

/** Moves up to n events out, oldest first.  @return their number. One reader, on any CPU. */
OH_API size_t oh_event_log_read(struct oh_event_log* log, struct oh_event* out, size_t n);

/** @return events dropped so far. */
OH_API uint64_t oh_event_log_lost(const struct oh_event_log* log);

#ifdef __cplusplus
}
#endif
#endif
