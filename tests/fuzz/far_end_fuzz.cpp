// SPDX-License-Identifier: MIT
// What follows --far-end: any text is an address or one error.
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "src/program/command/socket_modem.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto address = offhook::FarEndAddress::parse({reinterpret_cast<const char*>(data), size});
    if (address.path.empty() || address.block_samples == 0) __builtin_trap();
  } catch (const std::runtime_error&) {
  }
  return 0;
}
