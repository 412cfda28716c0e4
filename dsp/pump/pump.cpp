// SPDX-License-Identifier: MIT
#include "offhook/pump.h"

void oh_pump_advance_each(const oh_pump_type* type, void* const* self, const void* const* rx, void* const* tx,
                          size_t count, size_t n) {
  for (size_t k = 0; k < count; ++k) type->process(self[k], rx[k], tx[k], n);
}
