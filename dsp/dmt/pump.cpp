// SPDX-License-Identifier: MIT
#include "dsp/dmt/pump.h"

#include "dsp/dmt/modem.h"

namespace offhook::dmt {
namespace {

constexpr oh_sample_format kSlow{kLiteUp.rate_hz(), OH_LINEAR16}, kLite{kLiteDown.rate_hz(), OH_LINEAR16},
    kFull{kFullDown.rate_hz(), OH_LINEAR16};
constexpr oh_pump_format kCentralFormats[] = {{kSlow, kLite}, {kSlow, kFull}};
constexpr oh_pump_format kRemoteFormats[] = {{kLite, kSlow}, {kFull, kSlow}};

template <Side kSide>
struct Type {
  static constexpr const oh_pump_format* kFormats = kSide == Side::kCentral ? kCentralFormats : kRemoteFormats;
  static constexpr oh_pump_role kRole = kSide == Side::kCentral ? OH_PUMP_ANSWER : OH_PUMP_CALL;

  static Modem& of(void* self) { return *static_cast<Modem*>(self); }
  static size_t size(const oh_pump_config* c) {
    if (c == nullptr || c->struct_size != sizeof *c || c->role != kRole || !oh_port_is_whole(&c->port)) return 0;
    if (c->max_bit_rate > 0 && c->max_bit_rate < 32'000) return 0;
    for (int k = 0; k < 2; ++k) {
      if (same_format(kFormats[k], c->format)) return (sizeof(Modem) + 63) / 64 * 64;
    }
    return 0;
  }
  static int init(void* self, const oh_pump_config* c) {
    constexpr int kInvalid = -22;  // -EINVAL, without an OS header
    if (self == nullptr || size(c) == 0) return kInvalid;
    new (self) Modem(kSide, *c);
    return 0;
  }
  static void status(const void* self, oh_pump_status* s) {
    oh_pump_status all;
    static_cast<const Modem*>(self)->status(&all);
    give_status(all, s);
  }
  static constexpr oh_pump_type make(const char* name) {
    return {
        .format_count = 2,
        .name = name,
        .formats = kFormats,
        .roles = 1u << kRole,
        .fpu = kEveryOperation,
        .longest_step = kLongestStep,
        .size = size,
        .init = init,
        .process = [](void* self, const void* rx, void* tx,
                      size_t n) { of(self).process(static_cast<const int16_t*>(rx), static_cast<int16_t*>(tx), n); },
        .report_gap = [](void* self, size_t n) { of(self).report_gap(n); },
        .status = status,
        .hang_up = [](void* self) { of(self).hang_up(); },
        .release = [](void*) {},
        .advance = oh_pump_advance_each};
  }
  // Measured for start-up and data in blocks of 16: at most 500 periods of G.lite, 230 of full rate.
  static constexpr uint32_t kLongestStep = 1000;
};

}  // namespace
}  // namespace offhook::dmt

const oh_pump_type* oh_dmt_central_type() {
  static constexpr oh_pump_type kType = offhook::dmt::Type<offhook::dmt::Side::kCentral>::make("dmt");
  return &kType;
}
const oh_pump_type* oh_dmt_remote_type() {
  static constexpr oh_pump_type kType = offhook::dmt::Type<offhook::dmt::Side::kRemote>::make("dmt");
  return &kType;
}
void oh_dmt_central_instruments(const void* self, oh_dmt_instruments* i) {
  static_cast<const offhook::dmt::Modem*>(self)->instruments(i);
}
void oh_dmt_remote_instruments(const void* self, oh_dmt_instruments* i) {
  static_cast<const offhook::dmt::Modem*>(self)->instruments(i);
}
