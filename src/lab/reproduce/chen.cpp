// SPDX-License-Identifier: MIT
//
// Chen et al., "The Measured Performance of Personal Computer Operating Systems", SOSP 1995.
#include <fmt/format.h>

#include "src/lab/reproduce/claim.h"

namespace offhook::reproduce {

Outcome chen_microbenchmarks(const Run& run) {
  Outcome out;
  for (const std::string& benchmark : run.published.texts("benchmarks"))
    out.rows.push_back(input("benchmark", benchmark, "measured on the live host: `offhook measure`"));
  for (const std::string& counter : run.published.texts("counters"))
    out.rows.push_back(input("counter", counter, "read if the machine has this counter: `offhook measure`"));
  out.summary = "The list of measurements is claimed, the times of machines of 1995 are not.";
  return out;
}

// 5: times of machines from 1995, for comparison with `measure host`.
Outcome chen_table6(const Run& run) {
  Outcome out;
  for (const Published& row : run.published.rows("rows")) {
    out.rows.push_back(input(row.text("name"),
                             fmt::format("{:g} s NetBSD, {:g} s Windows NT, {:g} s Windows", row.number("netbsd_s"),
                                         row.number("windows_nt_s"), row.number("windows_s")),
                             "run on the live host: `offhook measure host`"));
  }
  out.summary = "Times of a 90 MHz Pentium are not claimed; `measure host` prints the live host's next to them.";
  return out;
}

}  // namespace offhook::reproduce
