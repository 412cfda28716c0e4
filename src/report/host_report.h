// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace offhook {

/// The page of `offhook measure host`. @param result  from src/program/command/measure_host.cpp
std::string host_page(const nlohmann::ordered_json& result);

}  // namespace offhook
