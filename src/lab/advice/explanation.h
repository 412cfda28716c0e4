// SPDX-License-Identifier: MIT
//
// Advice in words: why this context, its cost for all other work, alternatives.
#pragma once

#include <string>
#include <vector>

#include "src/lab/advice/advice.h"

namespace offhook::advice {

/// Headline and reasons of an advice whose trials have been judged (`suffices`, `chosen`).
void explain(Advice& advice);

/// Contexts that were skipped for the same reason.
struct PassedOver {
  std::vector<std::string> contexts;  ///< in full
  std::string because;                ///< a sentence
};
/// Every context except the chosen one, in the order of the trials; at the end "RES" if no reservation could be tried.
/// @pre explain()
std::vector<PassedOver> passed_over(const Advice& advice);

/// The load on the device's host, or "nothing".
std::string load_in_words(const hostsim::Scenario& base);

}  // namespace offhook::advice
