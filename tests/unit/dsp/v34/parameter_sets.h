// SPDX-License-Identifier: MIT
//
// Every parameter set of Table 10: symbol rate x data rate x with or without auxiliary channel x minimum or expanded.
#pragma once

#include <ostream>
#include <vector>

#include "dsp/v34/coding/framing.h"

namespace offhook::v34 {

struct ParameterSet {
  SymbolRate symbol_rate;
  uint32_t bit_rate;
  bool aux;
  bool expanded;

  Framing framing() const { return make_framing(symbol_rate, bit_rate, aux, expanded); }
  friend std::ostream& operator<<(std::ostream& out, const ParameterSet& p) {
    return out << symbol_rate_hz(p.symbol_rate) << " symbols/s, " << p.bit_rate << (p.aux ? "+200" : "") << " bit/s, "
               << (p.expanded ? "expanded" : "minimum");
  }
};

inline std::vector<ParameterSet> all_parameter_sets() {
  std::vector<ParameterSet> sets;
  for (int s = 0; s < kSymbolRates; ++s) {
    const auto symbol_rate = static_cast<SymbolRate>(s);
    for (uint32_t rate = 2400; rate <= 33600; rate += 2400) {
      if (!is_supported(symbol_rate, rate)) continue;
      for (const bool aux : {false, true}) {
        for (const bool expanded : {false, true}) sets.push_back({symbol_rate, rate, aux, expanded});
      }
    }
  }
  return sets;
}

}  // namespace offhook::v34
