// SPDX-License-Identifier: MIT
#include "driver/user_modem/automode.h"

#include "driver/user_modem/modulations.h"
#include "dsp/automode/automode.h"

namespace {

offhook::automode::Table table() {
  return {offhook::kModulations.data(), static_cast<int>(offhook::kModulations.size()) - 1};
}

}  // namespace

const oh_pump_type* oh_automode_v22bis_type() {
  return offhook::automode::type<table>();
}
