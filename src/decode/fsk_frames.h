// SPDX-License-Identifier: MIT
#pragma once

#include "src/decode/start_up.h"

namespace offhook::decode {

/// The messages of V.8bis: HDLC frames with a good check sequence at 300 bit/s in either band of V.21, echoes removed.
/// Demodulated by spandsp.
std::vector<V8bisMessage> v8bis_messages(const Recording& recording);

}  // namespace offhook::decode
