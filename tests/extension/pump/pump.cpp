// SPDX-License-Identifier: MIT
#include "dsp/v32/pump.h"

extern "C" const oh_pump_type* oh_walk_type() {
  static oh_pump_type type;
  type = *oh_v32bis_type();
  type.init = [](void* self, const oh_pump_config* config) {
    oh_pump_config slow = *config;
    slow.max_bit_rate = 4'800;
    return oh_v32bis_type()->init(self, &slow);
  };
  return &type;
}
