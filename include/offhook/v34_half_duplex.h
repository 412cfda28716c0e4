/* SPDX-License-Identifier: MIT
 *
 * The V.34 half-duplex datapump (ITU-T V.34, 10/96, clause 12): pages at 2400 to 33,600 bit/s in one direction, and a
 * control channel of 1200 or 2400 bit/s in both directions before, between and after the pages. It is the modem of
 * facsimile group 3 at these rates.
 *
 *    V.8 -> Phase 2 -> training -> control channel -> turn -> primary channel -> turn -> control channel -> ...
 *
 * One end is the source, which sends the pages. The other is the recipient. Either may call. The configuration's port
 * is the primary channel's: a source takes bits from it, a recipient gives bits to it. The control channel has a port
 * of its own. Each end turns to the other channel by itself: the owners agree on that over the control channel, and the
 * recipient must have turned before the source's page begins (70 ms and more after the source has turned).
 *
 * It runs at 8000 Hz. Its state is oh_pump_type.size() bytes of plain memory; it uses no other memory.
 */
#ifndef OFFHOOK_V34_HALF_DUPLEX_H
#define OFFHOOK_V34_HALF_DUPLEX_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @return operations of one end; never NULL. oh_pump_config::max_bit_rate limits the primary channel. */
OH_API const struct oh_pump_type* oh_v34_source_type(void);
OH_API const struct oh_pump_type* oh_v34_recipient_type(void);

/** The channel that carries user data. */
enum oh_v34_channel { OH_V34_CHANNEL_NONE = 0, OH_V34_CHANNEL_CONTROL, OH_V34_CHANNEL_PRIMARY };

struct oh_v34_half_duplex_status {
  OH_STRUCT_SIZE(struct oh_v34_half_duplex_status);
  enum oh_v34_channel channel;
  uint32_t primary_bit_rate;    /**< bit/s; 0: unknown */
  uint32_t control_tx_bit_rate; /**< bit/s; 0: unknown */
  uint32_t control_rx_bit_rate; /**< bit/s; 0: unknown */
  float symbol_rate_hz;         /**< of the primary channel; 0: unknown */
  float carrier_hz;             /**< of the primary channel; 0: unknown */
  uint64_t primary_bits;        /**< bits that a source takes from the port, or a recipient gives to it */
  uint64_t control_bits_sent;
  uint64_t control_bits_received;
  uint32_t control_retrains; /**< times begun by either end (12.8) */
  uint32_t primary_retrains; /**< times begun by either end (12.7), including repeated trainings (12.3.3) */
};

/** The functions below accept the memory of both types. All are real-time safe. */

/** The control channel's bits. Without a port, ones are sent and received bits are dropped. `port` is copied.
 * @pre oh_port_is_whole(port), and Phase 2 has not begun */
OH_API void oh_v34_half_duplex_set_control_port(void* self, const struct oh_bit_port* port);

/** Starts with Phase 2, because V.8 and its silence were done elsewhere. @pre Phase 2 has not begun */
OH_API void oh_v34_half_duplex_begin(void* self);

/** Changes to the other channel: circuit 105 (12.5.3, 12.6.3). A recipient of a page also changes by itself when it
 * receives the source's control channel. @return 0, or -EAGAIN if no channel is in use that could be left */
OH_API int oh_v34_half_duplex_turn(void* self);

/** Sets limits that are negotiated when the control channel next begins (12.6.1.1, 12.6.2.3). @param max_bit_rate  of
 * the primary channel, bit/s; 0: none  @param control_bit_rate  that this end wants to receive: 1200 or 2400 */
OH_API void oh_v34_half_duplex_change(void* self, uint32_t max_bit_rate, uint32_t control_bit_rate);

/** Trains the control channel again (12.8), if it is in use. */
OH_API void oh_v34_half_duplex_retrain_control(void* self);
/** After the start-up: probes the line and trains the primary channel again (12.7). Before that it has no effect. */
OH_API void oh_v34_half_duplex_retrain_primary(void* self);

/** A snapshot, without the members that the caller's struct_size does not have. */
OH_API void oh_v34_half_duplex_get_status(const void* self, struct oh_v34_half_duplex_status* status);

#ifdef __cplusplus
}
#endif
#endif
