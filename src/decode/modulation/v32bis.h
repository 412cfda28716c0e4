// SPDX-License-Identifier: MIT
#pragma once

#include "src/decode/line/connection.h"
#include "src/decode/line/recording.h"

namespace offhook::decode {

/// V.32bis and V.32: tones, training, rate signals, E and data at 4800 to 14 400 bit/s, retrains, renegotiations and
/// cleardown. One recorded direction is enough.
Connection find_v32bis(const Recording& recording);

}  // namespace offhook::decode
