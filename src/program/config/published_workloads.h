// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace offhook::config {

/// traces/published/chen.toml: a row of Table 6 of Chen et al., seconds.
struct PublishedWorkload {
  std::string name;  ///< ours: "tk", "ghostscript", "web"
  double netbsd_s = 0, windows_nt_s = 0, windows_s = 0;
};
/// @throws Error
std::vector<PublishedWorkload> load_published_workloads();

}  // namespace offhook::config
