/* SPDX-License-Identifier: MIT
 *
 * Interface of the kernel driver: ioctl on /dev/offhookN. One program at a time can open it; closing it ends the call.
 * read() and write() carry the user's octets over V.42, or as start-stop characters (V.14) without error control. Over
 * a DMT pump they carry ATM cells of 52 octets (dsp/link/cells.h): a write takes whole cells only, and less than one is
 * EINVAL. poll() waits for both.
 *
 * mmap() of the device gives the ring of the event log, read-only: OH_KERNEL_LOG_EVENTS events of offhook/event_log.h.
 * A slot is empty while its kind is OH_EV_NONE; events appear in the order of the slots. After reading n of them,
 * OH_KERNEL_RELEASE_LOG releases their slots.
 *
 * The modem has a serial port, /dev/ttySMN, for dialling programs (DTE). OH_KERNEL_TERMINAL
 * returns its other end to the program that handles the AT commands (DCE), `offhook modem
 * kernel:N`: a descriptor that never blocks. read() returns the DTE's output, and fails with EIO
 * while DTR is off; write() is the DTE's input; poll() works as for a pseudo-terminal. Without
 * that program the port is a modem that is switched off: DSR and DCD are off, and output is lost.
 * */
#ifndef OFFHOOK_KERNEL_MODEM_H
#define OFFHOOK_KERNEL_MODEM_H

#include <linux/ioctl.h>
#include <stdint.h>

#include "offhook/context.h"
#include "offhook/driver.h"
#include "offhook/hold.h"
#include "offhook/link.h"
#include "offhook/pump.h"
#include "offhook/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { OH_KERNEL_LOG_EVENTS = 1 << 16, OH_KERNEL_PUMP_NAME = 16, OH_KERNEL_OCTETS = 1 << 16, OH_KERNEL_PLACE = 96 };

/** Sample periods of a modem's card that the pump processes in one FPU section: 1 ms of the line, or about 50 us of a
 * pump that needs a twentieth of the CPU. */
enum { OH_KERNEL_SLICE = 8 };

/** The same number for a card of another rate. */
static inline uint32_t oh_kernel_slice(uint32_t rate_hz) {
  const uint32_t periods = rate_hz / 1000;
  return periods > 0 ? periods : 1;
}

/** A call. */
struct oh_kernel_call {
  uint32_t struct_size;
  enum oh_pump_role role;
  char pump[OH_KERNEL_PUMP_NAME]; /**< "v34", "v32bis" or "v22bis", terminated by 0. "v90" on a card with its samples
                                     (dsp/v90/session/pump.h); "dmt" on a subscriber loop, where the remote end calls
                                     and the central end answers */
  uint32_t max_bit_rate;          /**< bit/s; 0: the pump's highest rate */
  struct oh_link_config link;
  uint32_t hold_timeout; /**< duration granted to a far end that requests hold: oh_pump_type.allow_hold */
  /* the driver */
  enum oh_service_policy policy;
  uint32_t transmit_lead_samples;
  uint32_t block_plan[OH_BLOCK_PLAN_MAX];
  uint32_t block_plan_length;
};

enum oh_kernel_card_state { OH_KERNEL_NO_CALL = 0, OH_KERNEL_IN_CALL = 1, OH_KERNEL_CARD_FAILED = 2 };

enum oh_kernel_order {
  OH_KERNEL_ORDER_NONE = 0,    /**< no command was given, or it was executed */
  OH_KERNEL_ORDER_PENDING = 1, /**< the context has not executed it yet */
  OH_KERNEL_ORDER_REFUSED = 2  /**< the pump does not support it, or it was not possible */
};

struct oh_kernel_status {
  uint32_t struct_size;
  uint32_t card; /**< enum oh_kernel_card_state */
  /* the pump and the link */
  uint32_t pump;   /**< enum oh_pump_state */
  uint32_t link;   /**< enum oh_lapm_state; undefined if `direct` */
  uint32_t direct; /**< not 0: no error control, start-stop characters (V.14) */
  uint32_t tx_bit_rate, rx_bit_rate, retrains;
  uint32_t unsent;       /**< octets written that were not sent, or that the far end has not acknowledged */
  uint32_t compression;  /**< negotiated: a set of enum oh_lapm_compression */
  uint32_t v44;          /**< not 0: the compression is V.44, otherwise V.42bis */
  uint32_t ringing;      /**< the card detects ring voltage; outside of calls */
  uint32_t hold;         /**< enum oh_hold_state */
  uint32_t hold_timeout; /**< code of T1, see oh_pump_status */
  uint32_t hold_order;   /**< enum oh_kernel_order: state of the last OH_KERNEL_HOLD */
  float rx_level_dbm0;
  uint64_t samples;  /**< processed and concealed */
  uint64_t log_lost; /**< events dropped because the ring was full */
  /* the card's interrupt */
  uint64_t interrupts;        /**< interrupts with at least one new descriptor */
  uint64_t coalesced;         /**< descriptors without their own interrupt */
  uint64_t spurious;          /**< interrupts without a new descriptor */
  uint64_t bad;               /**< malformed descriptors (bad sequence number or position) */
  uint64_t storms;            /**< how often the interrupt was masked because of spurious interrupts */
  uint64_t overrun, underrun; /**< sample periods counted by the card */
  /* the driver's */
  uint64_t blocks, blocks_late, samples_late, samples_filled_in;
  uint32_t pending_max;
  uint32_t longest_section_ns; /**< time in FPU sections */
  /** The code addresses at which it began and ended, in the kernel's %pS format; empty: none. */
  char longest_section_from[OH_KERNEL_PLACE], longest_section_to[OH_KERNEL_PLACE];
  struct oh_context_latency latency;
  /* ATM cells of a DMT pump */
  uint64_t cells_sent, cells_received; /**< the user's */
  uint64_t cells_idle;                 /**< received */
  uint64_t hec_errors;                 /**< cells dropped because of a wrong header check (HEC) */
  uint64_t delineation_losses;
  uint64_t cells_unread;     /**< part of cells_received: dropped because earlier ones were unread */
  struct oh_streams streams; /**< the card's samples, which determine the possible pumps */
  uint32_t mnp_class;        /**< negotiated class of MNP; 0: V.42 */
};

#define OH_KERNEL_START _IOW('O', 0x40, struct oh_kernel_call)
#define OH_KERNEL_STOP _IO('O', 0x41)
/** May be called before and during a call. */
#define OH_KERNEL_SET_CONTEXT _IOW('O', 0x42, struct oh_context_spec)
#define OH_KERNEL_GET_STATUS _IOWR('O', 0x43, struct oh_kernel_status)
/** The argument is the number of events, not a pointer. */
#define OH_KERNEL_RELEASE_LOG _IO('O', 0x44)
/** Releases first the link, then the connection, each with a message to the far end. */
#define OH_KERNEL_HANG_UP _IO('O', 0x45)
/** @return a descriptor of the serial port's other end; EBUSY if another program has it */
#define OH_KERNEL_TERMINAL _IO('O', 0x46)
/** The argument is an enum oh_hold_order, not a pointer. hold_order and hold of the status report its progress.
 * ENOTCONN if there is no call. */
#define OH_KERNEL_HOLD _IO('O', 0x47)

/* On that descriptor. */
/** The argument is a set of TIOCM_DSR, TIOCM_CTS, TIOCM_CAR and TIOCM_RI: the new state of the lines for the DTE. If
 * the carrier drops, the port is hung up, unless CLOCAL is set. */
#define OH_TERMINAL_SET_LINES _IO('O', 0x50)
/** bit/s, as set by the DTE; 0: it is not open */
#define OH_TERMINAL_GET_RATE _IOR('O', 0x51, uint32_t)

#ifdef __cplusplus
}
#endif
#endif
