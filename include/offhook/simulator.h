/* SPDX-License-Identifier: MIT
 *
 * The simulator in C: a host with its load and one device under test, a run, and its results by key. Library
 * liboffhook-simulator (pkg-config offhook-simulator, CMake Offhook::simulator).
 *
 *     const char* reason = "";
 *     struct oh_simulation* s = oh_simulation_create(&reason);
 *     oh_simulation_set(s, "host.name", "linux-rt", &reason);
 *     oh_simulation_set(s, "context", "FIFO 50", &reason);
 *     oh_simulation_set(s, "device", "rt-audio", &reason);
 *     oh_simulation_run(s, &reason);
 *     double late = 0;
 *     oh_simulation_number(s, "figures.total.blocks_late", &late);
 *     oh_simulation_destroy(s);
 *
 * Settings are those of a scenario file (offhook help keys scenario), results those of summary.json (offhook help keys
 * json). The same settings and seed give the same results. Register your own pump first, by oh_register_pump() of
 * offhook/plugin.h, which this library also has. The key device.pump then selects it.
 *
 * A simulation belongs to one thread at a time; several simulations may run at once. Functions return 0 or a negative
 * errno; `reason` is then set to one line, valid until the next call for the same simulation, and may be NULL.
 * */
#ifndef OFFHOOK_SIMULATOR_H
#define OFFHOOK_SIMULATOR_H

#include "offhook/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct oh_simulation;

/** A simulation with the default settings. @return NULL without memory or installed host descriptions */
OH_API struct oh_simulation* oh_simulation_create(const char** reason);
/** @param simulation  may be NULL */
OH_API void oh_simulation_destroy(struct oh_simulation* simulation);

/** Reads a scenario. Keys that the file does not name keep their values.  @param toml  the text of a file
 * @return 0, or -EINVAL; `reason` has line and column */
OH_API int oh_simulation_read(struct oh_simulation* simulation, const char* toml, const char** reason);
/** Sets one key, like `--set KEY=VALUE`. @return 0 or -EINVAL */
OH_API int oh_simulation_set(struct oh_simulation* simulation, const char* key, const char* value, const char** reason);
/** Adds a competing device, which costs the host time. @param name  unique, for reports  @param device  name of a
 * shipped device, file.toml, or the text of such a file  @param context  such as "DPC"  @return 0 or -EINVAL */
OH_API int oh_simulation_add_device(struct oh_simulation* simulation, const char* name, const char* device,
                                    const char* context, const char** reason);

/** Runs the call to its end. Results of an earlier run are replaced. @return 0 if it ran, whatever the verdict; -EINVAL
 * if the settings do not fit together; -EIO if the run failed */
OH_API int oh_simulation_run(struct oh_simulation* simulation, const char** reason);

/** A result by its key: "figures.total.blocks_late", "pump.metrics.0.value". @return 0; -ENOENT if there is no such
 * result or no run; -EINVAL if the result is not a number. Boolean values are 0 or 1 */
OH_API int oh_simulation_number(const struct oh_simulation* simulation, const char* key, double* value);
/** @return a text result, such as "verdict"; NULL if there is none. Valid until the next run */
OH_API const char* oh_simulation_text(const struct oh_simulation* simulation, const char* key);
/** @return all results as the JSON of summary.json; NULL before a run. Valid until the next run */
OH_API const char* oh_simulation_json(const struct oh_simulation* simulation);

#ifdef __cplusplus
}
#endif
#endif
