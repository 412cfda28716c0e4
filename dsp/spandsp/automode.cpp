// SPDX-License-Identifier: MIT
#include "dsp/spandsp/automode.h"

#include "dsp/automode/automode.h"
#include "dsp/spandsp/v22bis.h"

namespace offhook::automode {
namespace {

Table full_table() {
  return {{v34(),
           v32bis(),
           {OH_MODULATION_V22BIS, 2'400, oh_v22bis_type,
            [](void* self, bool, float far_dbm0) { oh_v22bis_begin(self, far_dbm0); }}},
          3};
}

}  // namespace
}  // namespace offhook::automode

const oh_pump_type* oh_automode_v22bis_type() {
  return offhook::automode::type<offhook::automode::full_table>();
}
