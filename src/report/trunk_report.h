// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "src/measure/trunk.h"

namespace offhook {

/// The page of `offhook trunk-test`. @param place  account or cards
std::string trunk_page(const measure::TrunkResult& result, const std::string& place);

}  // namespace offhook
