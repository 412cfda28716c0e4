// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace offhook {

namespace hostsim {
struct HoldStatus;
}

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
/// "1 block", "2 blocks".
std::string counted(std::uint64_t n, const std::string& what);
/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& items);
/// The result of a requested hold.
std::string hold_in_words(const hostsim::HoldStatus& hold);

}  // namespace offhook
