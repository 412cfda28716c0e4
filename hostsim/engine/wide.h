// SPDX-License-Identifier: MIT
#pragma once

namespace offhook::hostsim {

/// Holds the product of two times.
__extension__ using Wide = __int128;

}  // namespace offhook::hostsim
