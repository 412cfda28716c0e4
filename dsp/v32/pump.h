/* SPDX-License-Identifier: MIT
 *
 * The V.32bis datapump: 4800 to 14 400 bit/s in both directions at once, 2400 symbols/s around 1800 Hz, the modem's own
 * echo taken off. Calls begin with V.8 (dsp/v8); where the far end has none, with the answer tone alone (clause 6).
 *
 *   V.8 or ANS -> AA/AC, reversals: round trip -> S, TRN: receiver and echo canceller -> R1, R2, R3, E -> data
 *                 ^------------------------------ retrain (clause 7) --------------------------------------'
 *
 * Modulator, receiver and echo canceller are those of dsp/v34. It runs at 8000 Hz, and its state is oh_pump_ops.size()
 * bytes of plain memory.
 */
#ifndef OFFHOOK_DSP_V32_PUMP_H
#define OFFHOOK_DSP_V32_PUMP_H

#include "dsp/pump/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @return operations of the V.32bis pump; never NULL. max_bit_rate: 0 or at least 4800; rates between those of the
 * Recommendation count as the next lower one. tx_level_dbm0: -48 to -3. */
const struct oh_pump_ops* oh_v32bis_ops(void);

/** Straight to AA or AC (6.1, 6.2), V.8 and the answer tone being over by other means. Until the far end answers them
 * the state is OH_PUMP_CONNECTING. @pre no data mode yet.  Real-time: yes. */
void oh_v32bis_begin(void* self);

#ifdef __cplusplus
}
#endif
#endif
