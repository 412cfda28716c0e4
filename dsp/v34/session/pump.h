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

/** Straight to Phase 2: V.8 and its silence are completed by other means. @pre no data mode yet.  Real-time: yes. */
OH_API void oh_v34_begin(void* self);

/** Request the auxiliary channel of 200 bit/s next to the primary one, whose rate stays as it is (5.1, 8.3). Data mode
 * has it if both ends request it; its bits then pass through `port`. `port` is copied. @pre oh_port_is_whole(port), and
 * Phase 4 has not begun; it applies to all following trainings.  Real-time: yes.
 */
OH_API void oh_v34_want_auxiliary(void* self, const struct oh_bit_port* port);

/** Measurements of a connection. Rates and so on are zero before they are known. */
struct oh_v34_instruments {
  float tx_symbol_rate_hz, rx_symbol_rate_hz;
  float tx_carrier_hz, rx_carrier_hz;
  uint8_t tx_pre_emphasis, rx_pre_emphasis;
  uint8_t tx_trellis_states, rx_trellis_states; /**< 16, 32, 64 */
  uint8_t tx_nonlinear, rx_nonlinear;           /**< non-linear encoding */
  uint8_t tx_precoding, rx_precoding;
  uint8_t auxiliary;             /**< the auxiliary channel is in use: both ends requested it */
  uint8_t tx_power_reduction_db; /**< the far end's request in Phase 2 */
  uint8_t rx_power_reduction_db; /**< this end's request: probing found the line towards it overloaded; 0: not */
  uint8_t high_pass;             /**< probing found DC or mains hum, and a high-pass removes them */
  uint8_t trainings_in_vain;     /**< trainings in a row without ten seconds of data */
  float data_loss_db;            /**< SNR of the training less that of data, from 1.5 dB on; else 0 */
  uint32_t round_trip_samples;
  float snr_db;                 /**< of the equalised symbols, as the decoder gets them */
  float path_variance;          /**< of the Viterbi decoder's best path, grid units squared a dimension */
  float clock_ppm;              /**< far symbol clock against ours */
  float frequency_offset_hz;    /**< received carrier against nominal */
  float echo_return_loss_db;    /**< cancelled echo; 0: none */
  uint32_t renegotiations;      /**< begun by either end */
  enum oh_retrain_cause cause;  /**< why the last training but the first began */
  const float *tap_re, *tap_im; /**< of the equaliser, T/2 apart */
  int taps;
};

/** Snapshot of the pump at `self`. Real-time: yes, O(1). */
OH_API void oh_v34_get_instruments(const void* self, struct oh_v34_instruments* instruments);

/** In data mode, else nothing: end the connection (11.7), change rates or resynchronise (11.6), train again (11.5).
 * Real-time: yes. */
OH_API void oh_v34_cleardown(void* self);
OH_API void oh_v34_renegotiate(void* self);
OH_API void oh_v34_retrain(void* self);

#ifdef __cplusplus
}
#endif
#endif
