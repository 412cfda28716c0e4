// SPDX-License-Identifier: MIT
//
// The type of a pump whose signals are spandsp's: the fax machine's modems, the T.38 gateway.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

#include "dsp/pump/pump_type.h"

namespace offhook::fax {

inline constexpr std::size_t kChunk = 160;  ///< samples that spandsp processes at a time

/// `Signals` is constructed from an oh_pump_config and has process(), report_gap(), status() and hang_up(), whole
/// blocks at a time. Its destructor frees what spandsp allocated.
template <class Signals>
struct FaxPumpType {
  static Signals& of(void* self) { return *static_cast<Signals*>(self); }

  static std::size_t size(const oh_pump_config* c) {
    constexpr std::size_t kLine = 64;
    const bool possible = c != nullptr && c->struct_size == sizeof *c && same_format(c->format, kLinear8000) &&
                          c->tx_level_dbm0 >= -48.0f && c->tx_level_dbm0 <= -3.0f;
    return possible ? (sizeof(Signals) + kLine - 1) / kLine * kLine : 0;
  }
  static int init(void* self, const oh_pump_config* c) {
    if (self == nullptr || size(c) == 0) return -EINVAL;
    new (self) Signals(*c);
    return 0;
  }

  /// @param name  of the pump; not copied
  static constexpr oh_pump_type named(const char* name) {
    return {.format_count = 1,
            .name = name,
            .formats = &kLinear8000,
            .roles = kBothRoles,
            .fpu = kEveryOperation,
            .longest_step = 400,
            .size = size,
            .init = init,
            .process =
                [](void* self, const void* rx, void* tx, std::size_t n) {
                  of(self).process(static_cast<const std::int16_t*>(rx), static_cast<std::int16_t*>(tx), n);
                },
            .report_gap = [](void* self, std::size_t n) { of(self).report_gap(n); },
            .status = [](const void* self, oh_pump_status* s) { static_cast<const Signals*>(self)->status(s); },
            .hang_up = [](void* self) { of(self).hang_up(); },
            .release = [](void* self) { of(self).~Signals(); },
            .advance = oh_pump_advance_each};
  }
};

}  // namespace offhook::fax
