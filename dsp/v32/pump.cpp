// SPDX-License-Identifier: MIT
#include "dsp/v32/pump.h"

#include "dsp/pump/modem_ops.h"
#include "dsp/v32/modem.h"

using Ops = offhook::ModemOps<offhook::v32::Modem>;

const oh_pump_ops* oh_v32bis_ops() {
  static constexpr oh_pump_ops kOps = Ops::named("v32bis");
  return &kOps;
}

void oh_v32bis_begin(void* self, int after_v8) {
  Ops::of(self).begin(after_v8 != 0);
}

void oh_v32bis_without_v8(void* self) {
  Ops::of(self).without_v8();
}

void oh_v32bis_only_v32(void* self, int trellis) {
  Ops::of(self).only_v32(trellis != 0);
}

void oh_v32bis_get_instruments(const void* self, oh_v32bis_instruments* instruments) {
  static_cast<const offhook::v32::Modem*>(self)->instruments(instruments);
}

void oh_v32bis_renegotiate(void* self, uint32_t max_bit_rate) {
  Ops::of(self).renegotiate(max_bit_rate);
}

void oh_v32bis_retrain(void* self) {
  Ops::of(self).retrain();
}
