/* SPDX-License-Identifier: MIT
 *
 * Soft ADSL as two pumps, a simplification of ITU-T G.992.2 (G.lite) and G.992.1 (full rate). The ATU-C at the exchange
 * receives at 276 000 Hz and sends at 1 104 000 or 2 208 000 Hz; the ATU-R at the customer does the reverse. Handshake
 * tones, training, bits by each tone's noise, data with Reed-Solomon and interleaving, retraining after the line was
 * lost (docs/dmt.md lists missing parts and differences from the Recommendations).
 *
 * The ATU-R calls: its role is OH_PUMP_CALL, the ATU-C's OH_PUMP_ANSWER. The format selects one of the two
 * Recommendations. tx_level_dbm0 has no effect; the power spectral density is the nominal one. max_bit_rate
 * limits the payload that the pump receives. The state is OH_PUMP_DATA when both directions carry the port's bits.
 */
#ifndef OFFHOOK_DSP_DMT_PUMP_H
#define OFFHOOK_DSP_DMT_PUMP_H

#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Receives {276000, OH_LINEAR16}, sends {1104000, OH_LINEAR16} or {2208000, OH_LINEAR16}. */
OH_API const struct oh_pump_type* oh_dmt_central_type(void);
/** Receives {1104000, OH_LINEAR16} or {2208000, OH_LINEAR16}, sends {276000, OH_LINEAR16}. */
OH_API const struct oh_pump_type* oh_dmt_remote_type(void);

enum { OH_DMT_TONES = 256 };

/** Measurements of one end's receiver. Counters run from init. */
struct oh_dmt_instruments {
  uint32_t gross_bit_rate;     /**< bit/s of the received tones; 0 outside data */
  uint32_t superframes;        /**< of 17 ms */
  uint32_t crc_errors;         /**< superframes with errors */
  uint32_t far_crc_errors;     /**< reported by the far end for its received signal */
  uint32_t lost_syncs;         /**< missing synchronization symbols */
  uint32_t spoiled_symbols;    /**< data symbols with lost samples */
  uint32_t corrected_octets;   /**< octets corrected by Reed-Solomon, since data began */
  uint32_t lost_words;         /**< words that it could not correct, since data began */
  uint32_t trainings;          /**< from the start */
  float clock_ppm;             /**< of the far clock relative to this end's */
  uint8_t bits[OH_DMT_TONES];  /**< of each received tone */
  float snr_db[OH_DMT_TONES];  /**< of each received tone at nominal power, measured in MEDLEY; 0 if not known */
  float gain_db[OH_DMT_TONES]; /**< of its power relative to the nominal one */
  uint32_t fast_retrains;      /**< the bits were loaded again; clocks and equalisers were kept */
  uint32_t swapped_bits;       /**< moved to other tones in data mode, at this end's request */
  float margin_db;             /**< of the tone with the least margin, now, at the coding gain; 0 before it is known */
};
/** Real-time: yes, O(tones). Not from within process(). */
OH_API void oh_dmt_central_instruments(const void* self, struct oh_dmt_instruments* instruments);
OH_API void oh_dmt_remote_instruments(const void* self, struct oh_dmt_instruments* instruments);

#ifdef __cplusplus
}
#endif
#endif
