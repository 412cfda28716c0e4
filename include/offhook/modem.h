/* SPDX-License-Identifier: MIT
 *
 * One end of a modem connection, between samples and octets: a datapump, V.42 with V.42bis above it, or start-stop
 * characters (V.14) without error control.
 *
 * The owner calls oh_modem_process() for every block of samples, in order and
 * without gaps, and oh_modem_report_gap() for lost samples: their number is the
 * modem's only clock. Between blocks it writes and reads octets. One thread at a
 * time. */
#ifndef OFFHOOK_MODEM_H
#define OFFHOOK_MODEM_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/abi.h"
#include "offhook/link.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

struct oh_modem;

struct oh_modem_config {
  OH_STRUCT_SIZE(struct oh_modem_config);
  enum oh_pump_role role;
  const struct oh_pump_type* pump; /**< as oh_automode_v22bis_type() */
  uint32_t max_bit_rate;           /**< bit/s; 0: the pump's highest rate */
  uint32_t min_bit_rate;           /**< bit/s; with automode, a lower rate ends the call */
  enum oh_error_control error_control;
  uint32_t compression; /**< not 0: V.42bis in both directions */
  uint32_t window; /**< unacknowledged frames of V.42, 1 to 64: as many as a round trip needs; less than 15 is 15 */
  uint32_t io_delay_samples; /**< as in oh_pump_config */
};

struct oh_modem_status {
  OH_STRUCT_SIZE(struct oh_modem_status); /**< the caller's */
  enum oh_pump_state state;
  uint32_t connected;                /**< octets can be exchanged */
  uint32_t ended;                    /**< the connection has ended; no more data */
  uint32_t tx_bit_rate, rx_bit_rate; /**< bit/s, 0 outside data mode */
  uint32_t retrains;                 /**< trainings after the first one */
  uint32_t unacknowledged;           /**< octets written that the far end has not acknowledged, with V.42 */
};

/** The pumps of liboffhook: single modulations, and automode with V.8, which selects the best common one. */
OH_API const struct oh_pump_type* oh_v34_type(void);
OH_API const struct oh_pump_type* oh_v32bis_type(void);
OH_API const struct oh_pump_type* oh_v22bis_type(void);
OH_API const struct oh_pump_type* oh_v22_type(void);
OH_API const struct oh_pump_type* oh_bell212a_type(void);
OH_API const struct oh_pump_type* oh_automode_v22bis_type(void); /**< over V.34 down to V.21 */

/** Sets automode, required V.42, V.42bis, and a window for round trips of 1.2 s. */
OH_API void oh_modem_default_config(struct oh_modem_config* config, enum oh_pump_role role);
/** @param reason on failure, set to a permanently valid text; may be NULL @return NULL if the configuration has an
 * unknown size or the pump does not support it. Not real-time. */
OH_API struct oh_modem* oh_modem_create(const struct oh_modem_config* config, const char** reason);
/** @param modem  may be NULL. Not real-time. */
OH_API void oh_modem_destroy(struct oh_modem* modem);

/** @param rx [n] received samples, 16-bit linear at 8000 Hz  @param tx [n] samples to send; may be rx. Real-time: yes.
 */
OH_API void oh_modem_process(struct oh_modem* modem, const int16_t* rx, int16_t* tx, size_t n);
/** Skips n received samples that were lost, and n samples to send. Real-time: yes. */
OH_API void oh_modem_report_gap(struct oh_modem* modem, size_t n);
/** The modem as a pump for oh_driver_config, valid as long as the modem. */
OH_API struct oh_pump oh_modem_pump(struct oh_modem* modem);

/** @return octets taken; 0 before the connection is established. Real-time: yes. */
OH_API size_t oh_modem_write(struct oh_modem* modem, const uint8_t* octets, size_t n);
/** @return octets given. Real-time: yes. */
OH_API size_t oh_modem_read(struct oh_modem* modem, uint8_t* octets, size_t n);
/** Releases first the link, then the connection, with messages to the far end. Then `ended` is set. Real-time: yes. */
OH_API void oh_modem_hang_up(struct oh_modem* modem);
/** @return 0, or -EINVAL if struct_size is not that of a published version. Real-time: yes. */
OH_API int oh_modem_get_status(const struct oh_modem* modem, struct oh_modem_status* status);
/** @return why the connection ended, for users; "hung up" after oh_modem_hang_up(), "" while it exists. Permanently
 * valid. Real-time: yes. */
OH_API const char* oh_modem_failure(struct oh_modem* modem);

#ifdef __cplusplus
}
#endif
#endif
