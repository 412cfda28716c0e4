// SPDX-License-Identifier: MIT
#include "dsp/v32/pump.h"

#include "dsp/pump/pump_type.h"
#include "dsp/v32/modem.h"

using Type = offhook::ModemType<offhook::v32::Modem>;

const oh_pump_type* oh_v32bis_type() {
  static constexpr oh_pump_type kType = Type::named("v32bis");
  return &kType;
}

void oh_v32bis_begin(void* self, int after_v8) {
  Type::of(self).begin(after_v8 != 0);
}

void oh_v32bis_without_v8(void* self) {
  Type::of(self).without_v8();
}

void oh_v32bis_only_v32(void* self, int trellis) {
  Type::of(self).only_v32(trellis != 0);
}

void oh_v32bis_get_instruments(const void* self, oh_v32bis_instruments* instruments) {
  static_cast<const offhook::v32::Modem*>(self)->instruments(instruments);
}

void oh_v32bis_renegotiate(void* self, uint32_t max_bit_rate) {
  Type::of(self).renegotiate(max_bit_rate);
}

void oh_v32bis_retrain(void* self) {
  Type::of(self).retrain();
}
