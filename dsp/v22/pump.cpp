// SPDX-License-Identifier: MIT
#include "dsp/v22/pump.h"

#include "dsp/pump/pump_type.h"
#include "dsp/v22/modem.h"

using Type = offhook::ModemType<offhook::v22::Modem>;

const oh_pump_type* oh_v22bis_type() {
  static constexpr oh_pump_type kType = Type::named("v22bis");
  return &kType;
}

const oh_pump_type* oh_v22_type() {
  static constexpr oh_pump_type kType = [] {
    oh_pump_type type = Type::named("v22");
    type.init = [](void* self, const oh_pump_config* config) {
      if (Type::size(config) == 0) return Type::init(self, config);
      oh_pump_config slow = *config;
      slow.max_bit_rate = offhook::v22::Modem::kLeastBitRate;
      return Type::init(self, &slow);
    };
    return type;
  }();
  return &kType;
}

const oh_pump_type* oh_bell212a_type() {
  static constexpr oh_pump_type kType = offhook::ModemType<offhook::v22::Bell212aModem>::named("bell212a");
  return &kType;
}

void oh_v22bis_begin(void* self, float) {
  Type::of(self).begin();
}

void oh_v22bis_retrain(void* self) {
  Type::of(self).retrain();
}

int oh_v22bis_loop(void* self, oh_loop_order order) {
  constexpr int kInvalid = -22;  // -EINVAL, without an OS header
  return Type::of(self).loop(order) ? 0 : kInvalid;
}

oh_loop_state oh_v22bis_loop_state(const void* self) {
  return static_cast<const offhook::v22::Modem*>(self)->loop_state();
}
