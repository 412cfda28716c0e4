/* SPDX-License-Identifier: MIT
 *
 * Settings of the link above a datapump, for every owner of a modem: V.42
 * or start-stop characters, and V.42's window, detection and data
 * compression. Scenarios, AT commands, the kernel driver and LAPM all use
 * this struct. */
#ifndef OFFHOOK_LINK_H
#define OFFHOOK_LINK_H

#include <stdint.h>

#include "offhook/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum oh_error_control {
  OH_ERROR_CONTROL_NONE = 0,     /**< start-stop characters (V.14): received octets may be wrong */
  OH_ERROR_CONTROL_OPTIONAL = 1, /**< V.42, or V.14 if the far end does not have V.42 */
  OH_ERROR_CONTROL_REQUIRED = 2
};

/** Directions of data compression, from this end's view. */
enum oh_lapm_compression { OH_LAPM_COMPRESS_SENT = 1, OH_LAPM_COMPRESS_RECEIVED = 2 };

/** Memory of V.44 in one direction (V.44, Table 10): 8 bytes per codeword and 1 per character. */
struct oh_v44_parameters {
  uint32_t codewords;  /**< 256 to 65535 */
  uint32_t history;    /**< characters, 512 to 65535 */
  uint32_t max_string; /**< 32 to 255 */
};

/** All members except the first concern V.42. */
struct oh_link_config {
  enum oh_error_control error_control OH_BY_DEFAULT(OH_ERROR_CONTROL_REQUIRED);
  uint32_t skip_detection OH_BY_DEFAULT(0); /**< not 0: no detection phase */
  uint32_t window OH_BY_DEFAULT(15);        /**< unacknowledged frames, 15 to 127; 0: 15 */
  uint32_t compression OH_BY_DEFAULT(0);    /**< V.42bis: a set of enum oh_lapm_compression */
  uint32_t codewords OH_BY_DEFAULT(2048);   /**< largest dictionary of V.42bis, 512 to 65535 */
  uint32_t max_string OH_BY_DEFAULT(32);    /**< longest string of V.42bis, 6 to 250 */
  uint32_t v44 OH_BY_DEFAULT(0);            /**< V.44, preferred to V.42bis: a set of enum oh_lapm_compression */
  struct oh_v44_parameters v44_tx OH_BY_DEFAULT({2048, 6144, 255}), v44_rx OH_BY_DEFAULT({2048, 6144, 255});
};

#ifdef __cplusplus
}
#endif
#endif
