// SPDX-License-Identifier: MIT
#include "dsp/v32/pump.h"

#include <new>

#include "dsp/v32/modem.h"

namespace offhook::v32 {
namespace {

constexpr int kInvalid = -22;  // -EINVAL without an OS header

Modem& modem(void* self) {
  return *static_cast<Modem*>(self);
}

bool possible(const oh_pump_config* c) {
  return c != nullptr && c->sample_rate_hz == 8000 && (c->role == OH_PUMP_CALL || c->role == OH_PUMP_ANSWER) &&
         (c->max_bit_rate == 0 || c->max_bit_rate >= 4800) && c->tx_level_dbm0 >= -48.0f && c->tx_level_dbm0 <= -3.0f &&
         c->port.get_bit != nullptr && c->port.put_bit != nullptr && c->io_delay_samples < 320;
}

size_t size(const oh_pump_config* config) {
  return possible(config) ? (sizeof(Modem) + 63) / 64 * 64 : 0;
}

int init(void* self, const oh_pump_config* config) {
  if (self == nullptr || !possible(config)) return kInvalid;
  new (self) Modem(*config);
  return 0;
}

void process(void* self, const int16_t* rx, int16_t* tx, size_t n) {
  for (size_t i = 0; i < n; ++i) tx[i] = modem(self).process(rx[i]);
}

void fill_in(void* self, size_t n) {
  for (size_t i = 0; i < n; ++i) modem(self).lost();
}

void status(const void* self, oh_pump_status* s) {
  static_cast<const Modem*>(self)->status(s);
}

void hang_up(void* self) {
  modem(self).hang_up();
}

}  // namespace
}  // namespace offhook::v32

const oh_pump_ops* oh_v32bis_ops() {
  static constexpr oh_pump_ops kOps = {"v32bis",
                                       offhook::v32::size,
                                       offhook::v32::init,
                                       offhook::v32::process,
                                       offhook::v32::fill_in,
                                       offhook::v32::status,
                                       nullptr,
                                       offhook::v32::hang_up};
  return &kOps;
}

void oh_v32bis_begin(void* self) {
  offhook::v32::modem(self).begin();
}

void oh_v32bis_without_v8(void* self) {
  offhook::v32::modem(self).without_v8();
}

void oh_v32bis_only_v32(void* self, int trellis) {
  offhook::v32::modem(self).only_v32(trellis != 0);
}

void oh_v32bis_get_instruments(const void* self, oh_v32bis_instruments* instruments) {
  static_cast<const offhook::v32::Modem*>(self)->instruments(instruments);
}

void oh_v32bis_renegotiate(void* self, uint32_t max_bit_rate) {
  offhook::v32::modem(self).renegotiate(max_bit_rate);
}

void oh_v32bis_retrain(void* self) {
  offhook::v32::modem(self).retrain();
}
