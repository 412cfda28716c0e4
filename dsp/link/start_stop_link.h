/* SPDX-License-Identifier: MIT
 *
 * Octets to and from a pump as start-stop characters (ITU-T V.14), without error control: errors of a noisy line are
 * delivered. v14::Link for callers in C. One thread at a time. Real-time: yes, all of it.
 */
#ifndef OFFHOOK_DSP_V14_LINK_H
#define OFFHOOK_DSP_V14_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/abi.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

struct oh_v14;

/** @return bytes of memory, aligned to 64, that init needs */
OH_API size_t oh_v14_size(void);
/** The memory must not be moved. It may be freed at any time. */
OH_API struct oh_v14* oh_v14_init(void* memory);
/** The pump's side, into *port. */
OH_API void oh_v14_port(struct oh_v14* link, struct oh_bit_port* port);
/** @return octets that a write would take */
OH_API size_t oh_v14_writable(const struct oh_v14* link);
/** @return octets written that the pump has not taken */
OH_API size_t oh_v14_unsent(const struct oh_v14* link);
/** @return octets taken, 0 to n */
OH_API size_t oh_v14_write(struct oh_v14* link, const uint8_t* octets, size_t n);
/** @return octets given, 0 to n; octets that are not read in time are lost */
OH_API size_t oh_v14_read(struct oh_v14* link, uint8_t* octets, size_t n);

#ifdef __cplusplus
}
#endif
#endif
