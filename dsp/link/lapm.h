/* SPDX-License-Identifier: MIT
 *
 * LAPM, the error control of ITU-T V.42 (03/2002, Corrigendum 07/2003): bits to and from the pump on one side, a byte
 * stream that arrives complete and in order, or not at all, on the other.
 *
 * A link goes through detection (both ends show that they have V.42), negotiation (XID), establishment (SABME, UA) and
 * then carries data in numbered frames. A lost frame is requested again (REJ, or SREJ for it alone) or, when
 * nothing follows it, found by a timer. Time is counted in samples of the line, given to oh_lapm_advance(). It is best
 * not to count the time in which the pump carries no bits (training): then a retrain does not age the link.
 *
 * If MNP is permitted (offhook/link.h), the link may use it instead of LAPM. An originator sends its link request when
 * V.42 was not detected within T400. An answerer takes the protocol that comes first. States and functions are then
 * those of LAPM: NEGOTIATION after the originator's link request, ESTABLISHMENT after the answerer's, RELEASE while the
 * link disconnect is sent. Source: ITU-T V.42 (03/93 and 10/96), Annex A, through descriptions (docs/mnp.md).
 *
 * All functions are real-time safe: no allocation, no lock, O(1) or linear in the bytes they move. One thread at a
 * time.
 */
#ifndef OFFHOOK_DSP_V42_LAPM_H
#define OFFHOOK_DSP_V42_LAPM_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/abi.h"
#include "offhook/link.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** These numbers are logged (OH_EV_LINK_STATE), so only append. */
enum oh_lapm_state {
  OH_LAPM_DETECTION = 0, /**< 7.2.1 */
  OH_LAPM_NEGOTIATION,   /**< originator: XID sent */
  OH_LAPM_ESTABLISHMENT, /**< originator: SABME sent; answerer: waits for it */
  OH_LAPM_CONNECTED,     /**< data flows */
  OH_LAPM_RELEASE,       /**< DISC sent */
  OH_LAPM_DISCONNECTED,  /**< released by either end */
  OH_LAPM_UNSUPPORTED,   /**< the far end has no permitted protocol, or refuses V.42 */
  OH_LAPM_FAILED         /**< terminated (8.4.9); cause in the status */
};

/** Why a link is OH_LAPM_FAILED or, for OH_LAPM_NO_CLOCK, OH_LAPM_UNSUPPORTED. */
enum oh_lapm_cause {
  OH_LAPM_NO_CAUSE = 0,
  OH_LAPM_NO_ANSWER,       /**< N400 attempts without an answer */
  OH_LAPM_REFUSED,         /**< DM; in MNP, unacceptable parameters or a link disconnect to a link request */
  OH_LAPM_FRAME_REJECTED,  /**< a frame that 8.5.5 forbids, or FRMR from the far end */
  OH_LAPM_BAD_NR,          /**< the far end acknowledged a frame that was never sent (8.5.2) */
  OH_LAPM_RESET,           /**< SABME during data */
  OH_LAPM_BAD_COMPRESSION, /**< octets or parameters that are invalid in V.42bis (5.1, 5.8) or V.44 (7.4, 7.15) */
  OH_LAPM_NO_CLOCK         /**< oh_lapm_do_without() */
};

enum oh_lapm_event {
  OH_LAPM_EVENT_STATE = 0,  /**< argument: enum oh_lapm_state */
  OH_LAPM_EVENT_RETRANSMIT, /**< argument: I frames that will be sent again in this recovery */
  OH_LAPM_EVENT_BAD_FRAME,  /**< argument: frames with a bad check sequence so far */
  OH_LAPM_EVENT_BREAK,      /**< argument: octet 2 of the BRK message in bits 8 to 15 (bit 15: discard, 14: expedite),
                                 length in 10 ms in bits 0 to 7, 0: default (12.3.1) */
  OH_LAPM_EVENT_BREAK_DONE, /**< the far end acknowledged oh_lapm_send_break() */
  OH_LAPM_EVENT_TEST_DONE   /**< the frame of oh_lapm_send_test() returned undamaged */
};

/** oh_lapm_default_config() sets all members. */
struct oh_lapm_config {
  enum oh_pump_role role;     /**< OH_PUMP_CALL is V.42's originator */
  uint32_t sample_rate_hz;    /**< unit of oh_lapm_advance() */
  uint32_t bit_rate;          /**< bit/s in both directions, until oh_lapm_set_bit_rates() is called */
  struct oh_link_config link; /**< what is offered or allowed; error_control is not read. A window of 15 is the default
                                   of 9.2.4; with srej, at most 64 frames are used, half the modulus */
  uint8_t srej;               /**< offer (originator) or allow selective retransmission */
  uint8_t fcs32;              /**< offer or allow the 32-bit check sequence */
  uint16_t n401;              /**< longest information field, requested: 128 (the default of 9.2.3) to 1024 octets */
  uint16_t n400;              /**< attempts of one procedure, at least 1 */
  uint16_t detections;        /**< with MNP, an originator's rounds of both patterns and link requests, at least 1 */
  uint32_t t400_ms;           /**< wait for the far end's pattern; an answerer repeats its own for at most that time */
  uint32_t t401_ms;           /**< acknowledgement; 0: from the bit rates, for round trips of up to 1.2 s */
  uint32_t t403_ms;           /**< inactivity; 0: never enquires */
  uint32_t buffer_bytes;      /**< of each of the user's two byte buffers; at least 2 * n401 */
  void (*event)(void* user, enum oh_lapm_event event, uint32_t argument); /**< may be NULL; must be real-time safe */
  void* user;
};

struct oh_lapm_status {
  enum oh_lapm_state state;
  enum oh_lapm_cause cause;
  uint16_t n401_tx, n401_rx; /**< octets, as negotiated */
  uint8_t k_tx, k_rx;
  uint8_t srej, fcs32;
  uint8_t compression; /**< negotiated: a set of enum oh_lapm_compression */
  uint8_t v44;         /**< V.44 is used, with the two parameter sets below; otherwise V.42bis, with the two values */
  uint16_t codewords;
  uint8_t max_string;
  uint8_t protocols; /**< permitted: a set of enum oh_link_protocol */
  uint8_t mnp_class; /**< negotiated: 2 to 5; 0: LAPM */
  struct oh_v44_parameters v44_tx, v44_rx;
  uint8_t busy, far_busy;                    /**< own-receiver and peer-receiver busy condition */
  uint32_t unacknowledged;                   /**< user bytes written and not yet acknowledged */
  uint64_t bytes_sent;                       /**< user bytes acknowledged by the far end */
  uint64_t bytes_delivered;                  /**< user bytes received in order; with compression, the bytes read */
  uint64_t octets_sent, octets_delivered;    /**< the same bytes in I frames, possibly compressed */
  uint32_t frames_sent, frames_received;     /**< of all types; received ones with a correct check sequence */
  uint32_t i_frames_sent, i_frames_received; /**< the sent ones include repetitions */
  uint32_t retransmitted;                    /**< I frames sent again */
  uint32_t duplicates;                       /**< I frames received again */
  uint32_t bad_frames;                       /**< bad check sequence, aborted, or not a whole number of octets */
  uint32_t rej_sent, rej_received, srej_sent, srej_received, rnr_sent, rnr_received;
  uint32_t timeouts;   /**< T401 expired; in MNP also damaged frames before the link exists */
  uint32_t violations; /**< tolerated protocol violations by the far end */
};

struct oh_lapm;

/** N401 128, k 15, SREJ, N400 10, T400 750 ms, T403 10 s, buffers of 8192 bytes, samples of 8000 Hz, and the
 * link's defaults (offhook/link.h). */
OH_API void oh_lapm_default_config(struct oh_lapm_config* config, enum oh_pump_role role, uint32_t bit_rate);

/** @return bytes of memory, aligned to 64, that init needs; 0 when a value is out of its range */
OH_API size_t oh_lapm_size(const struct oh_lapm_config* config);

/** Starts a link; its first bits are those of the detection phase.  @return `memory`, or NULL for a configuration that
 * oh_lapm_size() refuses. The memory must not be moved, and may be freed at any time. */
OH_API struct oh_lapm* oh_lapm_init(void* memory, const struct oh_lapm_config* config);

/** The pump's side, into *port. */
OH_API void oh_lapm_port(struct oh_lapm* lapm, struct oh_bit_port* port);

/** n samples of line time have passed. */
OH_API void oh_lapm_advance(struct oh_lapm* lapm, uint32_t n);

/** Sets the bit rates of this end. Computes T401 again (9.2.1), unless the
 * configuration has it; a running T401 ends as if started with the new
 * value. @param tx_bit_rate, rx_bit_rate  bit/s; if one is 0 nothing changes */
OH_API void oh_lapm_set_bit_rates(struct oh_lapm* lapm, uint32_t tx_bit_rate, uint32_t rx_bit_rate);

/** @return bytes taken, 0 to n. Data written before the link is connected wait. */
OH_API size_t oh_lapm_write(struct oh_lapm* lapm, const void* bytes, size_t n);
/** @return bytes that a write would take. */
OH_API size_t oh_lapm_writable(const struct oh_lapm* lapm);
/** @return bytes given, 0 to n. If they are not read, the far end gets RNR (not ready). Compressed data are
 * decompressed here; if that fails, the link is released. */
OH_API size_t oh_lapm_read(struct oh_lapm* lapm, void* bytes, size_t n);

/** The user's own-receiver busy condition. A full buffer also causes one. */
OH_API void oh_lapm_set_busy(struct oh_lapm* lapm, int busy);

/** Reports that the line carries bits without a clock, so V.42 is not possible: OH_LAPM_UNSUPPORTED, as if the far end
 * had none. Real-time: yes. */
OH_API void oh_lapm_do_without(struct oh_lapm* lapm);

/** Releases the link (8.7). Unacknowledged data are lost. */
OH_API void oh_lapm_disconnect(struct oh_lapm* lapm);

/** Sends a break (8.13). @param handling octet 2 of 12.3.1  @param length in 10 ms, 0: default
 * @return 0, -EAGAIN while an earlier one is not acknowledged, or -ENOTCONN */
OH_API int oh_lapm_send_break(struct oh_lapm* lapm, uint8_t handling, uint8_t length);

/** Sends a loop-back test frame (8.11) of up to 64 octets.
 * @return 0, -EINVAL, -EAGAIN while an earlier test is running, -ENOTCONN, or -EOPNOTSUPP if not negotiated */
OH_API int oh_lapm_send_test(struct oh_lapm* lapm, const void* bytes, size_t n);

OH_API void oh_lapm_get_status(const struct oh_lapm* lapm, struct oh_lapm_status* status);

#ifdef __cplusplus
}
#endif
#endif
