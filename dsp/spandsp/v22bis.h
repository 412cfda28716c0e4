/* SPDX-License-Identifier: MIT
 *
 * V.22bis (2400 and 1200 bit/s, full duplex by band splitting) as a pump: spandsp's modem with what it lacks.
 *
 * A call runs like this. The answerer is silent, sends the 2100 Hz answer tone (ITU-T V.25, 4.3), then unscrambled
 * ones; the caller waits for the end of the tone and trains (V.22bis, 6.3.1.1). In data mode every received symbol is
 * compared with the constellation and the received level with that of the training. When either says that the receiver
 * is lost, the modem goes silent; the far end sees the carrier drop, goes silent too, and both train again. That costs
 * about 2.5 s plus the round trip and is counted in `retrains`; V.22bis' own retrain (S1) does not work in spandsp
 * 0.0.6.
 *
 * Levels: 0 dBm0 is 3.14 dB below a full-scale sine of 16 bits (G.711 A-law; mu-law is 0.03 dB away), as spandsp's
 * DBM0_MAX_SINE_POWER has it.
 */
#ifndef OFFHOOK_DSP_SPANDSP_V22BIS_H
#define OFFHOOK_DSP_SPANDSP_V22BIS_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The V.22bis pump. max_bit_rate: 0 or at least 2400 gives 2400 (1200 when the far end
 * can no more), 1200 to 2399 gives 1200, less is refused. tx_level_dbm0: -48 to -3, the peaks of a higher level would
 * clip. Both bit callbacks are required. All state lives in the given memory; init allocates nothing. Every block
 * length gives the same samples: each sample is received and answered before the next is looked at. */
OH_API const struct oh_pump_type* oh_v22bis_type(void);

/** The same at 1200 bit/s and no more: V.22. */
OH_API const struct oh_pump_type* oh_v22_type(void);

/** Straight to unscrambled ones, V.8 and the answer tone being over by other means: the answerer sends them, the caller
 * waits for them (6.3.1.1). Until the far end answers the state is OH_PUMP_CONNECTING.
 * @param far_dbm0  the caller's: level at which the far end has been heard; -100: not known
 * @pre no data mode yet.  Real-time: yes. */
OH_API void oh_v22bis_begin(void* self, float far_dbm0);

#ifdef __cplusplus
}
#endif
#endif
