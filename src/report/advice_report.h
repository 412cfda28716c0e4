// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "driver/base/record.h"
#include "src/lab/advice/advice.h"

namespace offhook {

extern const record::Table kAdvice, kAdviceTrial;  ///< kAdviceTrial is the table of its `trials`
nlohmann::ordered_json advice_json(const advice::Advice& advice);
/// The page of `offhook advise`.
std::string advice_page(const advice::Advice& advice);
/// A summary for a meeting: one A4 sheet. @param made_by  such as "Offhook 1.0"
std::string advice_memo(const advice::Advice& advice, const std::string& made_by);

}  // namespace offhook
