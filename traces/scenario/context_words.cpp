// SPDX-License-Identifier: MIT
#include "traces/scenario/context_words.h"

#include <fmt/format.h>

namespace offhook::config {

std::string context_in_full(const ContextSpec& context, double tick_hz) {
  if (context.kind != OH_CONTEXT_RESERVATION || !context.in_ticks()) return context.str();
  return fmt::format("{} ({:.4g}/{:.4g} ms)", context.str(), 1e3 * context.x_ticks / tick_hz,
                     1e3 * context.y_ticks / tick_hz);
}

}  // namespace offhook::config
