// SPDX-License-Identifier: MIT
#pragma once

#include "driver/modem/modem_end.h"
#include "hostsim/call/scenario.h"

namespace offhook::hostsim {

inline LinkWishes wishes_of(const LinkScenario& link) {
  return {.compression = static_cast<std::uint8_t>(link.compression == Compression::kV42bis ? 3 : 0),
          .codewords = static_cast<std::uint16_t>(link.codewords),
          .max_string = static_cast<std::uint8_t>(link.max_string)};
}

}  // namespace offhook::hostsim
