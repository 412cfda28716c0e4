// SPDX-License-Identifier: MIT
//
// Cables and disturbers in words: what is read has sections and counts within their bounds and a finite gain; what is
// not is refused by std::invalid_argument.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "hostsim/channel/crosstalk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace offhook::hostsim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Cable cable;
  try {
    cable = cable_named(text);
    if (cable.size() > 32) std::abort();
    if (length_kft(cable) < 500 && !std::isfinite(std::abs(insertion_gain(cable, 1e5)))) std::abort();
  } catch (const std::invalid_argument&) {
  }
  try {
    for (const Disturbers& d : disturbers_named(text)) {
      if (d.count < 1 || d.count > 49 || !std::isfinite(crosstalk_psd(d, cable_named("26:9"), 1e5))) std::abort();
    }
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
