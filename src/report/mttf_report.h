// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "driver/base/record.h"

namespace offhook {

/// The page of `offhook mttf`. @param table  of the struct `computed`: bufferings of a host, or computations
std::string mttf_page(const record::Table& table, const void* computed);

}  // namespace offhook
