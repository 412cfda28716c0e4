/* SPDX-License-Identifier: MIT
 *
 * Automode (dsp/automode) with V.22bis among what it may fall to.
 */
#ifndef OFFHOOK_DSP_SPANDSP_AUTOMODE_H
#define OFFHOOK_DSP_SPANDSP_AUTOMODE_H

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Automode over V.34, V.32bis and V.22bis; see oh_automode_type(). */
OH_API const struct oh_pump_type* oh_automode_v22bis_type(void);

#ifdef __cplusplus
}
#endif
#endif
