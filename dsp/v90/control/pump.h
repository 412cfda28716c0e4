/* SPDX-License-Identifier: MIT
 *
 * ITU-T V.90 (09/98) as one pump whose format says which of the two modems it is: the digital modem sends and takes
 * octets of G.711 at 8000 a second; the analogue modem takes 16000 linear samples a second and sends 8000. V.8, Phase
 * 2, training, data mode, rate renegotiation, retrain, cleardown.
 *
 * Either may call. The role of the configuration says who dialled, and nothing else; tx_level_dbm0 of the digital modem
 * is the limit of its power, of which the rate downstream depends; max_bit_rate limits both directions.
 */
#ifndef OFFHOOK_DSP_V90_PUMP_H
#define OFFHOOK_DSP_V90_PUMP_H

#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Formats: receives {16000, OH_LINEAR16} and sends {8000, OH_LINEAR16}, the analogue modem; {8000, OH_MULAW} or {8000,
 * OH_ALAW} both ways, the digital one. */
OH_API const struct oh_pump_type* oh_v90_type(void);

/** What a modem knows of its line. Zero where it does not. */
struct oh_v90_instruments {
  uint32_t downstream_thirds; /**< bit/s: this over 3 */
  uint32_t upstream_bit_rate; /**< bit/s */
  uint32_t round_trip_samples;
  float noise_rms;      /**< analogue: of the equalised levels, units of Table 1 */
  float least_distance; /**< analogue: between the levels of the data */
  float clock_ppm;      /**< of the far clock against ours */
  float echo_return_loss_db;
  float snr_db; /**< digital: of the equalised symbols of the upstream */
  uint8_t u_info;
  uint8_t points[6]; /**< of the intervals' constellations, data mode */
  uint32_t renegotiations;
};
OH_API void oh_v90_get_instruments(const void* self, struct oh_v90_instruments* instruments);

/** Begin at Phase 2: V.8 has been settled elsewhere. Call it before the first sample. */
OH_API void oh_v90_begin(void* self);

/** In data mode, else nothing: change rates (9.6), or train again (9.5). Real-time: yes. */
OH_API void oh_v90_renegotiate(void* self);
OH_API void oh_v90_retrain(void* self);
/** In data mode of the analogue modem, else nothing: change rates, and have the digital modem silent for half a second
 * and a round trip in it (CPs, 9.6.2.1.3). Real-time: yes. */
OH_API void oh_v90_renegotiate_with_silence(void* self);

#ifdef __cplusplus
}
#endif
#endif
