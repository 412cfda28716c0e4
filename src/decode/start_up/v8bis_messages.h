// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dsp/v8/v8bis_message.h"
#include "src/decode/start_up/v8bis_signals.h"

namespace offhook::decode {

/// Times in seconds, the amplitude is a peak in int16 units.
struct V8bisMessage {
  int channel = 0;
  bool high_band = false;  ///< of V.21: the responding station's
  double t = 0;
  double amplitude = 0;
  std::vector<std::uint8_t> octets;   ///< of the information field
  std::array<std::uint8_t, 2> fcs{};  ///< in the order received
  bool fcs_good = true;               ///< else it is an invalid frame (7.2.9), and `message` its apparent content
  v8bis::Message message;
  v8bis::Malformed malformed;
  std::string type() const;  ///< "MS", "CL", ..., "message type 6"
};

/// The messages of V.8bis: HDLC frames at 300 bit/s in either band of V.21, echoes removed. Demodulated by spandsp.
/// Those with a good check sequence at any time; those without only if a message is expected, within 5 s
/// (V.8bis 9.8) after one of `signals` or a good message.
std::vector<V8bisMessage> v8bis_messages(const Recording& recording, const std::vector<V8bisSignal>& signals);

}  // namespace offhook::decode
