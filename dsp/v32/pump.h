/* SPDX-License-Identifier: MIT
 *
 * The V.32bis datapump: 4800 to 14 400 bit/s in both directions at once, 2400 symbols/s around 1800 Hz, with echo
 * cancellation; with V.32 far ends 4800 and 9600 bit/s. Calls begin with V.8 (dsp/v8); if the far end has no V.8, with
 * the answer tone alone (clause 6).
 *
 *   V.8 or ANS -> AA/AC, reversals: round trip -> S, TRN: receiver and echo canceller -> R1, R2, R3, E -> data
 *                 ^------------------------------ retrain (clause 7) --------------------------------------'
 *                                                        renegotiation (clause 8): preamble, R4, R5, E -'
 *
 * In data mode it monitors the line. If there is too much noise for the rate, it renegotiates to a lower one (with a
 * V.32 far end it retrains). If there is much less for long, it renegotiates to a higher one. If the signal cannot be
 * decoded, it retrains. Modulator, receiver and echo canceller are those of dsp/qam. It runs at 8000 Hz, and its state
 * is oh_pump_type.size() bytes of plain memory.
 */
#ifndef OFFHOOK_DSP_V32_PUMP_H
#define OFFHOOK_DSP_V32_PUMP_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @return operations of the V.32bis pump; never NULL. max_bit_rate: 0 or at least 4800; other rates mean the next
 * lower one of the Recommendation. tx_level_dbm0: -48 to -3. hang_up: a rate signal without rates. */
OH_API const struct oh_pump_type* oh_v32bis_type(void);

/** Begins with AA or AC (6.1, 6.2), after V.8 and the answer tone were done elsewhere. Until the far end answers them
 * the state is OH_PUMP_CONNECTING. After V.8, an answerer that receives no reply sends the answer tone once, because
 * some callers wait for it. @pre no data mode yet.  Real-time: yes. */
OH_API void oh_v32bis_begin(void* self, int after_v8);

/** Between init and the first sample: selects V.25's answer tone instead of V.8. The answerer sends ANS for 3.3 s after
 * a silence of 1.8 s, the caller waits for 1 s of it. With V.8, the caller also treats plain ANS or AC as a modem
 * without V.8, and the answerer treats AA so. Real-time: yes. */
OH_API void oh_v32bis_without_v8(void* self);

/** Between init and the first sample: selects V.32, with 4800 and 9600 bit/s, without renegotiation. V.8 has one bit
 * for both Recommendations. Real-time: yes. */
OH_API void oh_v32bis_only_v32(void* self, int trellis);

/** Measurements of a connection; zero before they are known. */
struct oh_v32bis_instruments {
  uint8_t far_v32;             /**< whether the far end's rate signals are V.32's */
  uint32_t round_trip_samples; /**< as measured by the reversals */
  float snr_db;                /**< of the equalised symbols */
  float clock_ppm;             /**< of the far symbol clock, relative to this end's */
  float frequency_offset_hz;   /**< of the received carrier, relative to nominal */
  float echo_return_loss_db;   /**< cancelled echo; 0: none */
  uint32_t renegotiations;     /**< retrains begun by either end */
  enum oh_retrain_cause cause; /**< reason for the last training except the first */
};

/** Snapshot of the pump at `self`. Real-time: yes, O(1). */
OH_API void oh_v32bis_get_instruments(const void* self, struct oh_v32bis_instruments* instruments);

/** Only in data mode; otherwise no effect. renegotiate changes the rate to the highest that the line carries, at most
 * max_bit_rate (0: the pump's highest), without training (clause 8; no effect with a V.32 far end). retrain trains
 * again (clause 7). Real-time: yes. */
OH_API void oh_v32bis_renegotiate(void* self, uint32_t max_bit_rate);
OH_API void oh_v32bis_retrain(void* self);

#ifdef __cplusplus
}
#endif
#endif
