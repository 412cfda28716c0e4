// SPDX-License-Identifier: MIT
#pragma once

#include "src/decode/phases/start_up.h"

namespace offhook::decode {

/// The messages of V.8bis: HDLC frames at 300 bit/s in either band of V.21, echoes removed. Demodulated by spandsp.
/// Those with a good check sequence wherever they are; those without where a message has to be expected, within 5 s
/// (V.8bis 9.8) after one of `signals` or a good message.
std::vector<V8bisMessage> v8bis_messages(const Recording& recording, const std::vector<V8bisSignal>& signals);

}  // namespace offhook::decode
