// SPDX-License-Identifier: MIT
#pragma once

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// Removes DC and mains hum from each channel that has more power below 200 Hz than above, in time with the channel.
/// Other channels stay as they are, sample for sample. Says so in the recording's remark.
void take_hum_off(Recording& recording);

}  // namespace offhook::decode
