/* SPDX-License-Identifier: MIT
 *
 * A soft radio as a pump: bursts in slots, two ends in turn, on liquid-dsp.
 *
 * The caller gives the time. It sends in the even slots from its first sample on; the answerer listens until it hears a
 * burst, takes the slots from it and sends in the odd ones. Each burst's header has its slot, the rate of its
 * payload and the rate that the sender could receive; so the rate follows the signal-to-noise ratio, burst by burst
 * and in each direction. Data begin when both hear each other. A lost burst is not repeated: the receiver gives as many
 * ones as the burst before it had bits, and counts the loss. The count of bits stays right unless the rate
 * changed, or data began, with the lost burst. That is the effect of late blocks on a radio, and the ratio of missed
 * slots is the measure that makers of radios use.
 *
 * The card has real samples, by default at 4 MHz, around a quarter of that: 1 MHz.
 *
 *   radio-burst  a single carrier, 1 Msymbol/s, slots of 0.625 ms (single_carrier.h)
 *   radio-ofdm   64 carriers, slots of 0.5 ms; with 2 or 8 million samples of the card 1 or 0.25 ms (ofdm.h)
 *
 * liquid-dsp allocates its memory in init and none later. size, init and release of several radios may run on
 * several threads: they wait for each other, since FFTW's planner serves one at a time. Debian's liquid-dsp links FFTW,
 * which is GPL: a program that contains this is GPL as a whole.
 */
#ifndef OFFHOOK_DSP_RADIO_RADIO_H
#define OFFHOOK_DSP_RADIO_RADIO_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** init can also return -ENOMEM. max_bit_rate: the highest rate that this end requests and sends; 0: all.
 * tx_level_dbm0: -48 to -12, because the peaks of a higher level would clip. The delay between card and line has no
 * limit, because slots are prepared in advance.
 */
OH_API const struct oh_pump_type* oh_radio_burst_type(void);
OH_API const struct oh_pump_type* oh_radio_ofdm_type(void);

/** Counters of the slots. */
struct oh_radio_slots {
  uint64_t sent;    /**< bursts */
  uint64_t due;     /**< bursts expected from the far end, since data began */
  uint64_t missed;  /**< of these: not detected */
  uint64_t broken;  /**< of these: detected, but header or payload was wrong */
  uint64_t foreign; /**< detected bursts of another pair */
};
/** @param self  of either type. Real-time: yes. */
OH_API struct oh_radio_slots oh_radio_slot_counts(const void* self);

/** The address of the pair; bursts with another are ignored. 0 until set. Not during a call of process().
 * @param self  of either type  @return 0, or -EINVAL from 4096 on. Real-time: yes. */
OH_API int oh_radio_set_address(void* self, uint16_t address);

#ifdef __cplusplus
}
#endif
#endif
