/* SPDX-License-Identifier: MIT
 *
 * Automode (dsp/automode) over the table of all modulations.
 */
#ifndef OFFHOOK_DSP_SPANDSP_AUTOMODE_H
#define OFFHOOK_DSP_SPANDSP_AUTOMODE_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Automode over all existing modulations (driver/user_modem/modulations.h); see oh_automode_type(). */
OH_API const struct oh_pump_type* oh_automode_v22bis_type(void);

#ifdef __cplusplus
}
#endif
#endif
