// SPDX-License-Identifier: MIT
//
// Pumps that `device.pump` selects by name: the pumps of soft audio (dsp/audio/pump.h), and pumps that a program or a
// plug-in adds to the simulator (offhook/plugin.h).
//
// In C++ a class is enough. register_pump(pump_type<MyPump>("mine", kFormats)) needs these members:
//
//     explicit MyPump(const oh_pump_config& config);              // may throw: the configuration is refused
//     void process(const void* rx, void* tx, std::size_t n);      // as oh_pump; real-time
//     void report_gap(std::size_t n);                             // likewise
//     void status(oh_pump_status& status) const;
//     std::optional<oh_metric> metric(std::uint32_t index) const; // may be absent
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "offhook/pump.h"

namespace offhook::hostsim {

/// Adds a pump that `device.pump` can name. From any thread. @param type  as for oh_register_pump()
/// @throws std::invalid_argument if the name is taken or the type incomplete
void register_pump(const oh_pump_type& type);

std::span<const std::string_view> pump_names();

/// @throws std::invalid_argument if no pump has this name
const oh_pump_type& registered_pump(std::string_view name);

inline constexpr std::uint32_t kBothRoles = 1u << OH_PUMP_CALL | 1u << OH_PUMP_ANSWER;

/// The pump type of a class. @param name, formats  outlive the program's use of the pump
template <class Pump>
oh_pump_type pump_type(const char* name, std::span<const oh_pump_format> formats, std::uint32_t roles = kBothRoles) {
  static_assert(alignof(Pump) <= 64, "oh_pump_type::size() gives memory that is aligned to 64 bytes");
  oh_pump_type type{};
  type.name = name;
  type.formats = formats.data();
  type.format_count = static_cast<std::uint32_t>(formats.size());
  type.roles = roles;
  type.size = [](const oh_pump_config*) { return sizeof(Pump); };
  type.init = [](void* self, const oh_pump_config* config) {
    try {
      new (self) Pump(*config);
      return 0;
    } catch (...) {
      return -EINVAL;
    }
  };
  type.process = [](void* self, const void* rx, void* tx, std::size_t n) {
    static_cast<Pump*>(self)->process(rx, tx, n);
  };
  type.report_gap = [](void* self, std::size_t n) { static_cast<Pump*>(self)->report_gap(n); };
  type.status = [](const void* self, oh_pump_status* status) { static_cast<const Pump*>(self)->status(*status); };
  type.release = [](void* self) { static_cast<Pump*>(self)->~Pump(); };
  if constexpr (requires(const Pump& pump) { pump.metric(0u); }) {
    type.metric = [](const void* self, std::uint32_t index, oh_metric* metric) {
      const auto value = static_cast<const Pump*>(self)->metric(index);
      if (value) *metric = *value;
      return value ? 0 : -EINVAL;
    };
  }
  return type;
}

}  // namespace offhook::hostsim
