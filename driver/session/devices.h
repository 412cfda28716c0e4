// SPDX-License-Identifier: MIT
//
// Cards by their addresses:
//   null                 captures silence, plays into nothing; by the clock
//   file:IN.wav[,OUT.wav]  captures a recording, then silence; what it plays is recorded; by the clock
//   unix:PATH            hardware in another process (offhook line)
//   rtp:LOCAL,REMOTE     G.711 in RTP packets
//   audiosocket:HOST:PORT  Asterisk's AudioSocket, as a client or, with ",listen", as a server
//   dahdi:CHANNEL        a channel of a T1, an E1 or an analogue port
//   alsa:NAME            a sound device, such as alsa:hw:CARD=PCH or alsa:default
//   portaudio:NAME       a sound device by PortAudio's name or number
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/live/card_kind.h"

namespace offhook {

/// @param rates of a card without a fixed rate  @param more  further addresses of the caller, for the end of the
/// message's list
/// @throws std::runtime_error: no such kind, or the device's refusal
std::unique_ptr<LiveCard> open_card(const std::string& address, const CardRates& rates = {},
                                    std::string_view more = "");

/// The built-in kinds, then every device of this machine. Tries each device, which takes some time.
std::vector<CardDevice> card_devices();

}  // namespace offhook
