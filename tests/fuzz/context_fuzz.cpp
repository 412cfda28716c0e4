// SPDX-License-Identifier: MIT
//
// The grammar of contexts: a text is refused with its position, or means what its canonical form means.
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "driver/context/context_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const std::string once = offhook::ContextSpec::parse(text).str();
    if (offhook::ContextSpec::parse(once).str() != once) std::abort();
  } catch (const std::invalid_argument& e) {
    if (std::string_view(e.what()).find("expected") == std::string_view::npos) std::abort();
  }
  return 0;
}
