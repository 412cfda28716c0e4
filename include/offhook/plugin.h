/* SPDX-License-Identifier: MIT
 *
 * Plug-ins: libraries that add pumps, scheduling policies and contexts to the program.
 *
 *     offhook --plugin ./libmine.so run scenario.toml
 *
 * A plug-in is a shared library with one function, which OH_PLUGIN begins. The program calls the function once, before
 * it reads any file. It is linked with no library of Offhook: the program exports the functions that it calls.
 *
 *     #include <offhook/plugin.h>
 *
 *     static const struct oh_pump_type my_pump = {...};
 *
 *     OH_PLUGIN(reason) { return oh_register_pump(&my_pump, reason); }
 *
 * `device.pump = "NAME"` of a scenario or of a device's file then selects the pump. The simulator runs it in every
 * command, and connects its line to a second instance in the other role, which is always served on time. Both ends send
 * a test pattern through their bit ports, and count the wrong bits.
 *
 * Two rates: `formats` has the format of the calling end, such as 1104 kHz received and 276 kHz sent; the answering end
 * has the mirror image. `device.block.rate_hz` is the faster of the two rates. It chooses the format, and blocks,
 * buffers and lead of the device count its samples. They must be multiples of the ratio of the rates, because the pump
 * is called with whole periods of the slower rate (offhook/stream.h). `pump.role` selects the end that is the device.
 * */
#ifndef OFFHOOK_PLUGIN_H
#define OFFHOOK_PLUGIN_H

#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the interface between program and plug-in. */
#define OH_PLUGIN_ABI 1u

/** Adds a pump. A plug-in or an embedding program calls it before a scenario is read.
 * @param type  copied; its name, formats and functions must remain valid. Mandatory: struct_size, name, formats,
 * format_count, roles, size, init, process, report_gap and status. Others may be NULL. A type whose only role is the
 * calling one has no far end and receives silence.
 * @param[out] reason  on failure: one line, valid until the next call in this thread. May be NULL
 * @return 0; -EEXIST if the name is taken; -EINVAL if the type is incomplete or of another version */
OH_API int oh_register_pump(const struct oh_pump_type* type, const char** reason);

#ifdef __cplusplus
}
#define OH_PLUGIN_LINKAGE extern "C" OH_API
#else
#define OH_PLUGIN_LINKAGE OH_API
#endif

/** Begins the function of a plug-in. Its body returns 0, or a negative errno with `*reason` set to one line. In C++ it
 * may also throw std::exception. */
#define OH_PLUGIN(reason)                                        \
  OH_PLUGIN_LINKAGE uint32_t oh_plugin_abi(void);                \
  OH_PLUGIN_LINKAGE uint32_t oh_plugin_abi(void) {               \
    return OH_PLUGIN_ABI;                                        \
  }                                                              \
  OH_PLUGIN_LINKAGE int oh_plugin_register(const char** reason); \
  OH_PLUGIN_LINKAGE int oh_plugin_register(const char** reason)

#endif
