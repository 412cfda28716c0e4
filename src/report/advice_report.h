// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/lab/advice/advice.h"

namespace offhook {

nlohmann::ordered_json advice_json(const advice::Advice& advice);
/// The page of `offhook advise`.
std::string advice_page(const advice::Advice& advice);

}  // namespace offhook
