/* SPDX-License-Identifier: MIT
 *
 * Settings of the link above a datapump, for every owner of a modem: V.42,
 * MNP or start-stop characters, and V.42's window, detection and data
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
  OH_ERROR_CONTROL_OPTIONAL = 1, /**< a permitted protocol, or V.14 if the far end has none of them */
  OH_ERROR_CONTROL_REQUIRED = 2  /**< a permitted protocol */
};

/** Protocols of error control, as a set. If both are permitted, V.42 is preferred. */
enum oh_link_protocol {
  OH_PROTOCOL_V42 = 1, /**< LAPM */
  OH_PROTOCOL_MNP = 2  /**< Microcom's classes 2 to 5: the alternative procedure of V.42 before 2002, Annex A */
};

/** Directions of data compression, from this end's view. */
enum oh_lapm_compression { OH_LAPM_COMPRESS_SENT = 1, OH_LAPM_COMPRESS_RECEIVED = 2 };

/** Memory of V.44 in one direction (V.44, Table 10): 8 bytes per codeword and 1 per character. */
struct oh_v44_parameters {
  uint32_t codewords;  /**< 256 to 65535 */
  uint32_t history;    /**< characters, 512 to 65535 */
  uint32_t max_string; /**< 32 to 255 */
};

/** All members except the first concern V.42 and MNP. */
struct oh_link_config {
  enum oh_error_control error_control OH_BY_DEFAULT(OH_ERROR_CONTROL_REQUIRED);
  uint32_t skip_detection OH_BY_DEFAULT(0); /**< not 0: no detection phase */
  uint32_t window OH_BY_DEFAULT(15);        /**< unacknowledged frames, 15 to 127; 0: 15 */
  uint32_t compression OH_BY_DEFAULT(0);    /**< V.42bis: a set of enum oh_lapm_compression */
  uint32_t codewords OH_BY_DEFAULT(2048);   /**< largest dictionary of V.42bis, 512 to 65535 */
  uint32_t max_string OH_BY_DEFAULT(32);    /**< longest string of V.42bis, 6 to 250 */
  uint32_t v44 OH_BY_DEFAULT(0);            /**< V.44, preferred to V.42bis: a set of enum oh_lapm_compression */
  struct oh_v44_parameters v44_tx OH_BY_DEFAULT({2048, 6144, 255}), v44_rx OH_BY_DEFAULT({2048, 6144, 255});
  uint32_t protocols OH_BY_DEFAULT(OH_PROTOCOL_V42); /**< permitted: a set of enum oh_link_protocol; 0: V.42 */
  uint32_t mnp_class
      OH_BY_DEFAULT(5); /**< highest class of MNP, 2 to 5; 0: 5. Class 5 needs `compression` in both directions */
  uint32_t mnp_block OH_BY_DEFAULT(256); /**< octets of the largest block of MNP that is sent, 64 to 256; 0: 256 */
};

#ifdef __cplusplus
}
#endif
#endif
