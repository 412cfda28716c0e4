/* SPDX-License-Identifier: MIT
 *
 * A soft radio as a pump: bursts in slots, two ends in turn, on liquid-dsp.
 *
 * The caller gives the time. It sends in the even slots from its first sample on; the answerer listens until it hears a
 * burst, takes the slots from it and sends in the odd ones. Each burst's header says which slot it is, at what rate its
 * payload comes and at which the sender could receive; so the rate follows the signal-to-noise ratio, burst by burst
 * and in each direction. Data begin when both hear each other. A burst that is lost is not repeated: as many ones
 * are given as the burst before it had bits, and the loss is counted; the count of bits stays right unless the rate
 * changed, or data began, with the lost burst. That is what late blocks do to a radio, and the ratio of slots missed is
 * what its makers look at.
 *
 * The card has real samples, 4 million a second where nothing else is said, around a quarter of that: 1 MHz.
 *
 *   radio-burst  a single carrier, 1 Msymbol/s, slots of 0.625 ms (single_carrier.h)
 *   radio-ofdm   64 carriers, slots of 0.5 ms; with 2 or 8 million samples of the card 1 or 0.25 ms (ofdm.h)
 *
 * liquid-dsp allocates what it needs in init and nothing later. size, init and release of several radios may run on
 * several threads: they wait for each other, since FFTW's planner serves one at a time. Debian's links FFTW, which is
 * GPL: so is a program with this in it, as a whole.
 */
#ifndef OFFHOOK_DSP_RADIO_RADIO_H
#define OFFHOOK_DSP_RADIO_RADIO_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** init returns -ENOMEM besides. max_bit_rate: the highest rate that this end asks for and sends at; 0: all.
 * tx_level_dbm0: -48 to -12, the peaks of a higher level would clip. The delay between card and line may be as long as
 * it likes: slots are made ahead of time.
 */
OH_API const struct oh_pump_type* oh_radio_burst_type(void);
OH_API const struct oh_pump_type* oh_radio_ofdm_type(void);

/** What became of the slots. */
struct oh_radio_slots {
  uint64_t sent;    /**< bursts */
  uint64_t due;     /**< bursts of the far end that should have come, since data began */
  uint64_t missed;  /**< of these: not heard */
  uint64_t broken;  /**< of these: heard, and the header or the payload was not whole */
  uint64_t foreign; /**< bursts of another pair that were heard */
};
/** @param self  of either type. Real-time: yes. */
OH_API struct oh_radio_slots oh_radio_slot_counts(const void* self);

/** The address of the pair: what comes with another is not taken. 0 until it is set; between two calls of process().
 * @param self  of either type  @return 0, or -EINVAL for 4096 and more. Real-time: yes. */
OH_API int oh_radio_set_address(void* self, uint16_t address);

#ifdef __cplusplus
}
#endif
#endif
