/* SPDX-License-Identifier: MIT
 *
 * ITU-T V.90 (09/98) as one pump; its format selects one of the two modems. The digital modem sends and receives
 * octets of G.711 at 8000 Hz; the analogue modem receives linear samples at 16 000 Hz and sends at 8000 Hz. V.8, Phase
 * 2, training, data mode, rate renegotiation, retrain, cleardown.
 *
 * Either may call. The role of the configuration only concerns dialling. tx_level_dbm0 of the digital modem is the
 * limit of its power, on which the rate downstream depends. max_bit_rate limits both directions.
 */
#ifndef OFFHOOK_DSP_V90_PUMP_H
#define OFFHOOK_DSP_V90_PUMP_H

#include "offhook/hold.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Formats: receives {16000, OH_LINEAR16} and sends {8000, OH_LINEAR16}, the analogue modem; {8000, OH_MULAW} or {8000,
 * OH_ALAW} both ways, the digital one. */
OH_API const struct oh_pump_type* oh_v90_type(void);

/** The same with V.92's PCM upstream (11/2000) of 24 000 to 48 000 bit/s, if both modems have it and the line permits
 * it; else V.90. All functions of this header take it, too. */
OH_API const struct oh_pump_type* oh_v92_type(void);

/** A modem's measurements of its line. Zero if unknown. */
struct oh_v90_instruments {
  uint32_t downstream_thirds; /**< bit/s: this over 3 */
  uint32_t upstream_bit_rate; /**< bit/s */
  float upstream_symbol_rate_hz;
  uint32_t round_trip_samples;
  float noise_rms;      /**< analogue: of the equalised levels, units of Table 1 */
  float least_distance; /**< analogue: between the levels of the data */
  float clock_ppm;      /**< of the far clock against ours */
  float echo_return_loss_db;
  float snr_db; /**< digital: of the equalised symbols of the upstream */
  uint8_t u_info;
  uint8_t dil_segments; /**< digital: requested by the analogue modem */
  uint8_t points[6];    /**< of the intervals' constellations, data mode */
  uint32_t renegotiations;
};

/** Options of an owner in addition to the configuration. All zero: the defaults.
 *
 * It never grows, so it has no struct_size and no padding, like all structs of options or instruments of a pump. With a
 * new member, the library would read past the end of the struct of an older owner. So a new option is a separate
 * function, or a member together with a new soname (docs/release.md). */
struct oh_v90_options {
  /** Set of 1 << 3 (3000 symbols/s), 1 << 4 (3200), 1 << 5 (3429), as INFO1a numbers them; 0: all. The analogue modem
   * chooses one of them, and 3200 if none can be used; the digital modem has to have the first two (5.2, 6.2). */
  uint8_t upstream_symbol_rates OH_BY_DEFAULT(0);
  /** Analogue: of its MD, in 35 ms, at most 60: MD and TRN have 4 s together (9.3.2.3). If V.34 is
   * chosen, 45 of it are sent. */
  uint8_t md_length OH_BY_DEFAULT(0);
  /** Analogue: 1 requests a DIL of no segments. Only for a route that is known to leave octets unchanged, because its
   * impairments are not measured. */
  uint8_t without_dil OH_BY_DEFAULT(0);
  /** Analogue: S_r, 0 to 3, of spectral shaping with a zero at 0 Hz. */
  uint8_t shaping_bits OH_BY_DEFAULT(0);
  /** Modem-on-hold: time granted to requests of the far end, code of T1 (V.92, Table 33: 1 is 10 s, 13 no limit); 0:
   * requests are denied. */
  uint8_t hold_timeout OH_BY_DEFAULT(0);
};
/** They apply to all following trainings; shaping_bits also to renegotiations.  @return 0, or -EINVAL.  Real-time: yes.
 */
OH_API int oh_v90_set_options(void* self, const struct oh_v90_options* options);
OH_API void oh_v90_get_instruments(const void* self, struct oh_v90_instruments* instruments);

/** Begin at Phase 2: V.8 has been settled elsewhere. Call it before the first sample. */
OH_API void oh_v90_begin(void* self);

/** The memory of a V.90 call for the next one over the same line (V.92 8.2, 8.3: Quick Connect). No
 * struct_size, as above. */
struct oh_v90_profile {
  uint8_t upstream_symbol_rate; /**< 3 (3000 symbols/s), 4 (3200), 5 (3429), as INFO1a numbers them */
  uint8_t upstream_high_carrier;
  uint8_t u_qts; /**< analogue: Ucode of QTS, one of V.92's Table 2 */
  uint8_t reserved;
  uint32_t round_trip_samples;
};
/** From the current data mode, or the last one.  @return 0, or -EINVAL: there was none. Real-time: yes. */
OH_API int oh_v90_get_profile(const void* self, struct oh_v90_profile* profile);
/** Phase 1 by Quick Connect if the far end supports it, and else by V.8. Call it before the first sample; both modems
 * must request it.  @return 0, or -EINVAL */
OH_API int oh_v90_quick_connect(void* self, const struct oh_v90_profile* profile);
/** Whether the last Phase 1 was short, and requested a short Phase 2. Real-time: yes. */
OH_API int oh_v90_was_quick(const void* self);

/** In data mode, else nothing: change rates (9.6), or train again (9.5). Real-time: yes. */
OH_API void oh_v90_renegotiate(void* self);
OH_API void oh_v90_retrain(void* self);
/** In data mode of the analogue modem, else nothing: change rates. During the change, the digital modem is silent for
 * half a second and a round trip (CPs, 9.6.2.1.3). Real-time: yes. */
OH_API void oh_v90_renegotiate_with_silence(void* self);

/** Modem-on-hold (dsp/v90/session), as oh_pump_type::hold, whose allow_hold is oh_v90_options::hold_timeout. In data
 * mode of V.90, resume in OH_HOLD_AWAY; else nothing.  @return 0, or -EINVAL: it is not possible now. Real-time: yes.
 */
OH_API int oh_v90_hold(void* self, enum oh_hold_order order);
/** @param[out] timeout  code of T1, of OH_HOLD_AWAY and OH_HOLD_WAITING; else 0 */
OH_API enum oh_hold_state oh_v90_hold_state(const void* self, uint8_t* timeout);

#ifdef __cplusplus
}
#endif
#endif
