// SPDX-License-Identifier: MIT
//
// Rates that a loop carries by its ABCD matrix alone: OFFHOOK_DSL, or shared/dsl beside the project, has
// reference_rates.txt. It is not part of the project, so a test that needs it skips where it is absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace offhook::test {

/// kbit/s of one loop with one noise.
struct ReferenceRate {
  std::string cable, noise;
  int lite_down, full_down, up;
};

inline std::filesystem::path dsl_reference() {
  namespace fs = std::filesystem;
  if (const char* set = std::getenv("OFFHOOK_DSL")) return fs::path(set) / "reference_rates.txt";
  for (fs::path at = fs::current_path(); at != at.root_path(); at = at.parent_path()) {
    if (fs::exists(at / "shared" / "dsl")) return at / "shared" / "dsl" / "reference_rates.txt";
  }
  return "../shared/dsl/reference_rates.txt";
}

/// Every cell; empty if the file is absent.
inline std::vector<ReferenceRate> reference_rates() {
  std::vector<ReferenceRate> all;
  std::ifstream in(dsl_reference());
  const std::regex cell("(AWGN|24 ISDN|24 HDSL) +(\\d+) */ *(\\d+) */ *(\\d+)");
  for (std::string line; std::getline(in, line);) {
    const std::string name = line.substr(0, line.find("  "));
    for (std::sregex_iterator m(line.begin(), line.end(), cell), end; m != end; ++m)
      all.push_back({name, (*m)[1], std::stoi((*m)[2]), std::stoi((*m)[3]), std::stoi((*m)[4])});
  }
  return all;
}

}  // namespace offhook::test
