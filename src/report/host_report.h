// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "driver/base/record.h"

namespace offhook {

/// The page of `offhook measure host`. @param table  of the struct `measured`
std::string host_page(const record::Table& table, const void* measured);

}  // namespace offhook
