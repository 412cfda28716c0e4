// SPDX-License-Identifier: MIT
//
// Which cards there are, by the address that opens them:
//
//   null                 hears nothing, plays to nobody; by the clock
//   file:IN.wav[,OUT.wav]  hears a recording, then silence; what it plays is recorded; by the clock
//   unix:PATH            hardware in another process (offhook line)
//   alsa:NAME            a sound device, such as alsa:hw:CARD=PCH or alsa:default
//   portaudio:NAME       a sound device by PortAudio's name or number
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/card/live_card.h"

namespace offhook {

/// @throws std::runtime_error: no such kind, or the device's own refusal
std::unique_ptr<LiveCard> open_card(const std::string& address);

struct CardDevice {
  std::string kind;         ///< "built-in", "ALSA", "PortAudio"
  std::string address;      ///< as open_card() takes it
  std::string description;  ///< for people
  std::string capability;   ///< what it can do, or where `usable` is false why it cannot
  bool usable = false;
};
/// The built-in kinds, then every device of this machine. Tries each: takes a moment.
std::vector<CardDevice> card_devices();

}  // namespace offhook
