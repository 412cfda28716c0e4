/* SPDX-License-Identifier: MIT
 *
 * The V.34 datapump: V.8, line probing, training, and data at 2400 to 33 600 bit/s in both directions at once.
 *
 *    V.8 (dsp/v8) -> Phase 2 (phase2.h) -> Phases 3 and 4, data mode (session.h), modulator, receiver (dsp/qam)
 *                       ^------------------------ retrain, INFO1 again -----------'
 *
 * It runs at 8000 Hz. Its state is oh_pump_type.size() bytes of plain memory; it uses no other memory. Filters are
 * designed when a training begins. The call of process() in which Phase 2 ends costs half a million instructions, half
 * of them to clear memory.
 */
#ifndef OFFHOOK_DSP_V34_PUMP_H
#define OFFHOOK_DSP_V34_PUMP_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @return operations of the V.34 pump; never NULL */
OH_API const struct oh_pump_type* oh_v34_type(void);

/** Starts with Phase 2, because V.8 and its silence were done elsewhere. @pre no data mode so far.  Real-time: yes. */
OH_API void oh_v34_begin(void* self);

/** Requests the auxiliary channel of 200 bit/s in addition to the primary one, whose rate is unchanged (5.1, 8.3). Data
 * mode has it if both ends request it; its bits then pass through `port`. `port` is copied. @pre
 * oh_port_is_whole(port), and Phase 4 has not begun; it applies to all following trainings.  Real-time: yes.
 */
OH_API void oh_v34_want_auxiliary(void* self, const struct oh_bit_port* port);

/** Measurements of a connection. Unknown values, such as rates, are zero. */
struct oh_v34_instruments {
  float tx_symbol_rate_hz, rx_symbol_rate_hz;
  float tx_carrier_hz, rx_carrier_hz;
  uint8_t tx_pre_emphasis, rx_pre_emphasis;
  uint8_t tx_trellis_states, rx_trellis_states; /**< 16, 32, 64 */
  uint8_t tx_nonlinear, rx_nonlinear;           /**< non-linear encoding */
  uint8_t tx_precoding, rx_precoding;
  uint8_t auxiliary;             /**< the auxiliary channel is in use: both ends requested it */
  uint8_t tx_power_reduction_db; /**< as requested by the far end in Phase 2 */
  uint8_t rx_power_reduction_db; /**< our request: probing found the line to this end overloaded; 0: not */
  uint8_t high_pass;             /**< probing found DC or mains hum, and a high-pass removes them */
  uint8_t trainings_in_vain;     /**< successive trainings without ten seconds of data */
  float data_loss_db;            /**< SNR of the training minus that of data, if at least 1.5 dB; otherwise 0 */
  uint32_t round_trip_samples;
  float snr_db;                 /**< of the equalised symbols, before the decoder */
  float path_variance;          /**< of the Viterbi decoder's best path, grid units squared per dimension */
  float clock_ppm;              /**< of the far symbol clock, relative to this end's */
  float frequency_offset_hz;    /**< of the received carrier, relative to nominal */
  float echo_return_loss_db;    /**< cancelled echo; 0: none */
  uint32_t renegotiations;      /**< retrains begun by either end */
  enum oh_retrain_cause cause;  /**< reason for the last training except the first */
  const float *tap_re, *tap_im; /**< of the equaliser, T/2 apart */
  int taps;
};

/** Snapshot of the pump at `self`. Real-time: yes, O(1). */
OH_API void oh_v34_get_instruments(const void* self, struct oh_v34_instruments* instruments);

/** In data mode: end the connection (11.7), change rates or resynchronise (11.6), train again (11.5). Otherwise no
 * effect. Real-time: yes. */
OH_API void oh_v34_cleardown(void* self);
OH_API void oh_v34_renegotiate(void* self);
OH_API void oh_v34_retrain(void* self);

#ifdef __cplusplus
}
#endif
#endif
