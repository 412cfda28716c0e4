// SPDX-License-Identifier: MIT
#pragma once

#include "src/decode/line/connection.h"
#include "src/decode/line/recording.h"

namespace offhook::decode {

/// V.22bis at 2400 or 1200 bit/s. One recorded direction is enough.
Connection find_v22bis(const Recording& recording);

}  // namespace offhook::decode
