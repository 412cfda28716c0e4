// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace offhook {

/// The page of `offhook mttf`. @param result  the output of `--json`: bufferings of a host, or computations
std::string mttf_page(const nlohmann::ordered_json& result);

}  // namespace offhook
