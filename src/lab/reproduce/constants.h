// SPDX-License-Identifier: MIT
//
// The constants of the modem's machine that were fitted, assumed or measured, by name: `reproduce --perturb`
// changes them and `reproduce --sensitivity` scans them. All inputs of a call pass through apply() just before it
// runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/call/scenario.h"

namespace offhook::reproduce {

struct Setup {
  hostsim::Scenario scenario;
  hostsim::CostProfile profile;
};

struct Constant {
  std::string_view name, unit;
  std::string_view what;        ///< and its source
  bool fitted;                  ///< with Table 3
  double low, high;             ///< range of --sensitivity, in its unit; equal: not scanned
  double (*get)(const Setup&);  ///< in its unit
  void (*set)(Setup&, double);  ///< values are rounded to integers
};
std::span<const Constant> constants();
/// @throws std::invalid_argument naming the nearest constant
const Constant& constant(std::string_view name);

/// Changes to constants: "phi=+10%", "lead_samples=-2", "block_us=1700".
class Perturbation {
 public:
  Perturbation() = default;
  /// @throws std::invalid_argument for an unknown name, and for an invalid change
  static Perturbation parse(const std::vector<std::string>& changes);
  void apply(Setup& setup) const;
  /// These changes and one more: an experiment's change to find why a row differs. @throws as parse()
  Perturbation and_also(const std::string& change) const;
  bool empty() const { return changes_.empty(); }
  /// The changes as given, in order; "" if there are none.
  const std::string& text() const { return text_; }

 private:
  struct Change {
    const Constant* constant;
    enum class Kind { kFactor, kOffset, kValue } kind;
    double by;
  };
  std::vector<Change> changes_;
  std::string text_;
};

}  // namespace offhook::reproduce
