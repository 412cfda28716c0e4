// SPDX-License-Identifier: MIT
#pragma once

#include <array>

namespace offhook::reproduce {

/// Loads of Windows 98 that Cota-Robles and Held measured; hosts win98-LOAD (traces/data/hosts).
inline constexpr std::array kCotaLoads = {"office", "workstation", "games", "web"};

}  // namespace offhook::reproduce
