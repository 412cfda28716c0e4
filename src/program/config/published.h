// SPDX-License-Identifier: MIT
//
// traces/published/jones.toml: what Jones and Saroiu measured, for the demo to stand beside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/lab/analysis/verdict.h"

namespace offhook::config {

/// A context of their section 6, with the spinner or without.
struct PublishedContext {
  std::string context;
  bool spinner = false;
  Verdict verdict = Verdict::kSufficient;
  std::uint32_t pending_max_samples = 0;    ///< 0: not published
  double mean_s = 0, min_s = 0, max_s = 0;  ///< 200,000 bytes; 0: not published
  std::uint32_t ok = 0, of = 0;
  std::string note;
};

/// A row of their Table 3.
struct PublishedReservation {
  std::uint32_t x_ms = 0, y_ms = 0;
  Verdict verdict = Verdict::kSufficient;
  double mean_s = 0, min_s = 0, max_s = 0;
  std::uint32_t ok = 0, of = 0;
};

struct Published {
  std::vector<PublishedContext> contexts;
  std::vector<PublishedReservation> table3;
  double share_percent = 0;  ///< the two lines of Figure 17
  double gap_ms = 0;
};

/// @throws Error
Published load_published();

}  // namespace offhook::config
