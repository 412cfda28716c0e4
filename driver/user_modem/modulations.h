// SPDX-License-Identifier: MIT
//
// The table of modulations: the rows of every module of kind `modulation` (dsp/CMakeLists.txt).
#pragma once

#include <span>

#include "driver/user_modem/modulation.h"

namespace offhook {

/// From the slowest to the fastest; the last row is automode, which selects a modulation that both ends have.
extern const std::span<const Modulation> kModulations;

/// Its index in the table.
int index_of(oh_modulation id);
const Modulation& modulation_of(oh_modulation id);

/// The set of all ids, and the ids over which V.42 runs.
extern const uint32_t kAllModulations, kModulationsWithV42;

}  // namespace offhook
