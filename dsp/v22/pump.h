/* SPDX-License-Identifier: MIT
 *
 * The V.22bis datapump: 2400 bit/s in both directions at once, 600 symbols/s around 1200 Hz (from the caller) and 2400
 * Hz (from the answerer); with V.22 far ends, or if one end limits the rate, 1200 bit/s. Calls begin with V.25's
 * answer tone, or at the end of V.8 (oh_v22bis_begin).
 *
 *   ANS -> unscrambled ones -> S1 from the caller, S1 from the answerer -> scrambled ones, 1200 then 2400 bit/s -> data
 *                  '-> scrambled ones, 1200 bit/s -> data           ^------- retrain: S1 (6.4) ----------------'
 *
 * The pump waits through a gap in the signal: loops, equaliser and clock stop in it. A receiver that has lost the
 * signal trains again. It runs at 8000 Hz, and its state is oh_pump_type.size() bytes of plain memory.
 */
#ifndef OFFHOOK_DSP_V22_PUMP_H
#define OFFHOOK_DSP_V22_PUMP_H

#include "offhook/abi.h"
#include "offhook/loop.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @return operations of the V.22bis pump; never NULL. max_bit_rate: 0 or at least 1200; values below 2400 mean 1200.
 * tx_level_dbm0: -48 to -3, for the whole signal. hang_up: immediate silence. */
OH_API const struct oh_pump_type* oh_v22bis_type(void);

/** The same for 1200 bit/s only: V.22. */
OH_API const struct oh_pump_type* oh_v22_type(void);

/** Bell 212A at 1200 bit/s: V.22's signals with another beginning. The answerer sends 2225 Hz instead of ANS and
 * unscrambled ones, until it receives scrambled ones. oh_v22bis_begin() begins with that tone. There is no guard tone.
 */
OH_API const struct oh_pump_type* oh_bell212a_type(void);

/** Begins with unscrambled ones, after V.8 and the answer tone were done elsewhere: the answerer sends them, the caller
 * waits for them (6.3.1.1). Until the far end answers the state is OH_PUMP_CONNECTING.
 * @param far_dbm0  received level of the far end; it is measured again
 * @pre no data mode so far.  Real-time: yes. */
OH_API void oh_v22bis_begin(void* self, float far_dbm0);

/** Trains again (6.4) if it is in data mode at 2400 bit/s, otherwise does nothing. Real-time: yes. */
OH_API void oh_v22bis_retrain(void* self);

/** A test loop (7.1), for V.22bis and V.22. @return 0, or -EINVAL if not possible now. Real-time: yes. */
OH_API int oh_v22bis_loop(void* self, enum oh_loop_order order);
/** The results of these commands. Real-time: yes. */
OH_API enum oh_loop_state oh_v22bis_loop_state(const void* self);

#ifdef __cplusplus
}
#endif
#endif
