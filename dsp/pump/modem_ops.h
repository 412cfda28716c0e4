// SPDX-License-Identifier: MIT
//
// The C operations of a pump that is one C++ class.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <new>

#include "offhook/pump.h"

namespace offhook {

/// What every pump of our own wants of its configuration: 8000 Hz, a role, -48 to -3 dBm0, a bit port, less than 40 ms
/// between card and line, and a rate of 4800 bit/s or more if any.
inline bool is_possible(const oh_pump_config* c) {
  return c != nullptr && c->sample_rate_hz == 8000 && (c->role == OH_PUMP_CALL || c->role == OH_PUMP_ANSWER) &&
         (c->max_bit_rate == 0 || c->max_bit_rate >= 4800) && c->tx_level_dbm0 >= -48.0f && c->tx_level_dbm0 <= -3.0f &&
         c->port.get_bit != nullptr && c->port.put_bit != nullptr && c->io_delay_samples < 320;
}

/// Operations of `Modem`: constructed from an oh_pump_config, int16_t process(int16_t) a sample, lost() for a sample
/// that never came, status(oh_pump_status*), hang_up(). Nothing of it needs to be destroyed. Real-time: as Modem is.
template <class Modem>
struct ModemOps {
  static Modem& of(void* self) { return *static_cast<Modem*>(self); }

  static size_t size(const oh_pump_config* config) { return is_possible(config) ? (sizeof(Modem) + 63) / 64 * 64 : 0; }
  static int init(void* self, const oh_pump_config* config) {
    constexpr int kInvalid = -22;  // -EINVAL without an OS header
    if (self == nullptr || !is_possible(config)) return kInvalid;
    new (self) Modem(*config);
    return 0;
  }
  static void process(void* self, const int16_t* rx, int16_t* tx, size_t n) {
    for (size_t i = 0; i < n; ++i) tx[i] = of(self).process(rx[i]);
  }
  static void fill_in(void* self, size_t n) {
    for (size_t i = 0; i < n; ++i) of(self).lost();
  }
  static void status(const void* self, oh_pump_status* s) { static_cast<const Modem*>(self)->status(s); }
  static void hang_up(void* self) { of(self).hang_up(); }

  /// @param name  of the pump, kept
  static constexpr oh_pump_ops named(const char* name) {
    return {name, size, init, process, fill_in, status, nullptr, hang_up};
  }
};

}  // namespace offhook
