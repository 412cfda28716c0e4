/* SPDX-License-Identifier: MIT
 *
 * One end of a modem connection: a datapump and the link above it, in memory that its owner provides.
 *
 *     samples <-> pump <-> bits <-> link <-> octets
 *
 * Every owner of a modem uses this object: the C ABI (offhook/modem.h), live calls, the simulator and the kernel
 * driver. An owner adds only the parts of its environment: memory, threads, queues, floating-point sections.
 *
 * The link is one of four kinds:
 * - V.42 (LAPM), MNP or either, required or optional. If it is optional and the far end does not have it, V.14 replaces
 *   it.
 * - V.14: start-stop characters without error control.
 * - ATM cells, for DMT pumps.
 * - raw: the owner's own bit port. Octets cannot be written or read.
 * `direct` means that no error control runs: V.14, cells or raw. Then the end is connected when the pump is in data
 * mode; otherwise when LAPM is connected.
 *
 * Life of an end:
 * 1. oh_modem_end_size() and oh_modem_end_init(). The end is silent.
 * 2. oh_modem_end_start(). From the next sample on the pump runs.
 * 3. Pass each block of samples exactly once and in order: to oh_modem_end_process() or, if it was lost, to
 * oh_modem_end_report_gap(). Their number is the only clock. Time counts for LAPM's timers only while the pump carries
 * bits, so that a training does not exhaust them.
 * 4. oh_modem_end_hang_up(). The link is released first, then the pump clears down; both send a message to the far end.
 * While the far end waits on hold (V.92), the link cannot send, so the pump clears down at once.
 * 5. oh_modem_end_release().
 *
 * If V.42 is required, its detection waits 21 s. One end may be in data mode while the far end still trains, for up to
 * 15 s and five round trips of 1.2 s (V.90 9.4.1). If V.42 is optional, its detection waits 3 s, enough for a round
 * trip of 1.2 s and the far end's answer; V.14 begins after that. If MNP is also permitted, a caller sends link
 * requests after these 3 s; it repeats both for at least 21 s if one is required.
 *
 * Freestanding: no operating system, allocation, exceptions or RTTI. All functions but size, init and release are
 * real-time safe. All use floating-point registers: a kernel calls them in a section that saves these. One thread at a
 * time.
 */
#ifndef OFFHOOK_DRIVER_MODEM_MODEM_END_H
#define OFFHOOK_DRIVER_MODEM_MODEM_END_H

#include <stddef.h>
#include <stdint.h>

#include "dsp/link/cells.h"
#include "dsp/link/lapm.h"
#include "offhook/event_log.h"
#include "offhook/link.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

struct oh_modem_end;

enum oh_link_kind {
  OH_LINK_OCTETS = 0, /**< V.42 or V.14, depending on oh_link_config */
  OH_LINK_CELLS,
  OH_LINK_RAW
};

struct oh_modem_end_config {
  const struct oh_pump_type* pump OH_BY_DEFAULT(NULL); /**< any type; it outlives the end */
  enum oh_pump_role role OH_BY_DEFAULT(OH_PUMP_CALL);
  struct oh_pump_format format OH_BY_DEFAULT({}); /**< of the card's samples, one of the pump's; all zero: its first */
  enum oh_link_kind kind OH_BY_DEFAULT(OH_LINK_OCTETS);
  struct oh_link_config link OH_BY_DEFAULT({}); /**< of OH_LINK_OCTETS */
  struct oh_bit_port raw OH_BY_DEFAULT({});     /**< of OH_LINK_RAW */
  /* as in oh_pump_config */
  uint32_t max_bit_rate OH_BY_DEFAULT(0), min_bit_rate OH_BY_DEFAULT(0);
  uint32_t modulations OH_BY_DEFAULT(0), io_delay_samples OH_BY_DEFAULT(0), guard_tone_hz OH_BY_DEFAULT(0);
  /** An answerer's silence before its pump begins, ms. The pump then adds its silence before the answer tone: 0.2 s
   * with V.8 (V.8 8.2.1), otherwise 1.9 s (V.25 4.3). */
  uint32_t answer_delay_ms OH_BY_DEFAULT(0);
  /** Set of enum oh_modulation that V.42 cannot run over. If V.42 is required, the pump may not use them. */
  uint32_t without_v42 OH_BY_DEFAULT(0);
  uint32_t hold_timeout
      OH_BY_DEFAULT(0); /**< the answer to a far end that requests hold, as in oh_pump_type::allow_hold; 0: denied */
  /* the event log: states, rates, retransmissions and, on request, the pump's symbols, instruments and taps */
  struct oh_event_log* log OH_BY_DEFAULT(NULL); /**< NULL: none, and no clock */
  uint64_t (*now_ns)(void* clock) OH_BY_DEFAULT(NULL);
  void* clock OH_BY_DEFAULT(NULL);
  uint16_t id OH_BY_DEFAULT(0);          /**< of the end, in the log */
  uint32_t log_symbols OH_BY_DEFAULT(0); /**< not 0: the pump's observations are logged, one symbol of eight */
};

/** The pump's newest measurements of the line; 0: not known. */
struct oh_modem_end_line {
  float snr_db, clock_ppm, carrier_hz, echo_return_loss_db;
  float round_trip_ms, tx_symbol_rate, rx_symbol_rate;
  uint32_t retrains[OH_RETRAIN_TIMEOUT + 1]; /**< by enum oh_retrain_cause */
  uint32_t start_up;                         /**< enum oh_start_up, the newest */
  uint32_t slips;                            /**< of the receiver */
  uint8_t sequence[OH_SEQUENCES][OH_SEQUENCE_OCTETS];
  uint8_t sequence_octets[OH_SEQUENCES]; /**< by enum oh_sequence; 0: not exchanged */
};

/** Why a call ended. Source: V.59 (11/2000) as corrected by Cor. 2 (03/2002), Table 17. */
enum oh_call_end {
  OH_CALL_END_UNIDENTIFIED = 0,
  OH_CALL_END_DTR_OFF = 32,
  OH_CALL_END_SET_UP_TIME_OUT = 44,
  OH_CALL_END_NO_DIAL_TONE = 47,
  OH_CALL_END_BUSY = 51,
  OH_CALL_END_CARRIER_LOST = 60,
  OH_CALL_END_TRAINING_FAILED = 61,
  OH_CALL_END_NOTHING_IN_COMMON = 62,
  OH_CALL_END_RETRAIN_FAILED = 63,
  OH_CALL_END_CLEARED_DOWN = 65,
  OH_CALL_END_PROTOCOL_ERROR = 80,
  OH_CALL_END_USER = 90
};

struct oh_modem_end_status {
  struct oh_pump_status pump OH_BY_DEFAULT({});
  struct oh_lapm_status link OH_BY_DEFAULT({});   /**< all zero if no LAPM runs: error control off, cells, raw */
  struct oh_cells_status cells OH_BY_DEFAULT({}); /**< of OH_LINK_CELLS */
  uint32_t direct OH_BY_DEFAULT(0);               /**< not 0: no error control */
  uint32_t unsent OH_BY_DEFAULT(0); /**< octets written that the far end has not acknowledged or, if direct, that the
                                         pump has not taken */
  struct oh_modem_end_line line OH_BY_DEFAULT({});
  uint32_t released OH_BY_DEFAULT(0); /**< not 0: the release begun by oh_modem_end_hang_up() is done */
};

/** @param reason  set to a literal if the result is 0; may be NULL
 * @return bytes of memory, aligned to 64, that init needs; 0: the configuration is not possible */
size_t oh_modem_end_size(const struct oh_modem_end_config* config, const char** reason);
/** Copies the configuration.  @param memory  [oh_modem_end_size()] that is not moved
 * @return the end, at `memory`; NULL: the configuration was refused */
struct oh_modem_end* oh_modem_end_init(void* memory, const struct oh_modem_end_config* config);
/** Releases the memory that the pump allocated elsewhere. @param end  may be NULL */
void oh_modem_end_release(struct oh_modem_end* end);

void oh_modem_end_start(struct oh_modem_end* end);
/** Processes n periods, as oh_pump::process does. O(n) */
void oh_modem_end_process(struct oh_modem_end* end, const void* rx, void* tx, size_t n);
/** Skips n lost periods, as oh_pump::report_gap does. O(n) */
void oh_modem_end_report_gap(struct oh_modem_end* end, size_t n);

/** @return octets that are taken as one unit: OH_CELL_OCTETS or 1 */
size_t oh_modem_end_unit(const struct oh_modem_end* end);
/** @return octets that a write would take; 0 until it is known whether V.42 or V.14 carries them, if V.42 is optional
 */
size_t oh_modem_end_writable(const struct oh_modem_end* end);
/** @return octets taken, a multiple of the unit */
size_t oh_modem_end_write(struct oh_modem_end* end, const uint8_t* octets, size_t n);
/** @return octets given, a multiple of the unit */
size_t oh_modem_end_read(struct oh_modem_end* end, uint8_t* octets, size_t n);

/** Ends the connection. This takes some round trips, or LAPM's timers if the far end does not answer. */
void oh_modem_end_hang_up(struct oh_modem_end* end);
/** Modem-on-hold (offhook/hold.h).  @return 0, or -EINVAL: not possible now, or never with this pump */
int oh_modem_end_hold(struct oh_modem_end* end, enum oh_hold_order order);

void oh_modem_end_get_status(const struct oh_modem_end* end, struct oh_modem_end_status* status);
/** Parts of it. */
void oh_modem_end_pump_status(const struct oh_modem_end* end, struct oh_pump_status* status);
void oh_modem_end_link_status(const struct oh_modem_end* end, struct oh_lapm_status* status);
int oh_modem_end_direct(const struct oh_modem_end* end);
uint32_t oh_modem_end_unsent(const struct oh_modem_end* end);
int oh_modem_end_released(const struct oh_modem_end* end);
/** Whether the connection is over: released, or ended by the pump, by the far end or, unless this end hangs up, by
 * LAPM. */
int oh_modem_end_ended(const struct oh_modem_end* end);
/** The `self` of the pump's operations. */
void* oh_modem_end_pump_memory(struct oh_modem_end* end);

/** @return whether octets pass */
static inline int oh_modem_end_is_connected(const struct oh_modem_end_status* s) {
  return s->direct ? s->pump.state == OH_PUMP_DATA : s->link.state == OH_LAPM_CONNECTED;
}
/** @return why the connection ended by itself, as a literal; "" while it continues */
const char* oh_modem_end_failure(const struct oh_modem_end_status* status);
/** @return the code of that reason */
enum oh_call_end oh_modem_end_cause(const struct oh_modem_end_status* status);

#ifdef __cplusplus
}
#endif
#endif
