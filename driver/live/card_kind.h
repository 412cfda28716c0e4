// SPDX-License-Identifier: MIT
//
// The declaration of a kind of card. Each has a folder, whose line in driver/CMakeLists.txt puts it into the table of
// driver/session.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/live/live_card.h"
#include "offhook/modem_card.h"

namespace offhook {

/// A card, and whether this machine can open it.
struct CardDevice {
  std::string kind;         ///< "built-in", "ALSA", "PortAudio"
  std::string address;      ///< as open_card() takes it
  std::string description;  ///< for people
  std::string capability;   ///< features of the card; if `usable` is false, the reason
  bool usable = false;
};

struct CardKind {
  const char* name;   ///< begin of an address, up to the colon
  const char* usage;  ///< an address, for people
  bool takes_place;   ///< whether something follows the colon
  /// @throws std::runtime_error: the device's own refusal
  std::unique_ptr<LiveCard> (*open)(const std::string& place, std::uint32_t rate_hz);
  /// May try each device: takes a moment.
  std::vector<CardDevice> (*describe)();
};

/// How a sound device is opened.
struct SoundConfig {
  std::uint32_t rate_hz = OH_MODEM_RATE_HZ;
  std::uint32_t period_samples = rate_hz / 80;  ///< 12.5 ms
};

/// The format that every sound device must support, for messages.
inline std::string sound_format(std::uint32_t rate_hz) {
  return std::to_string(rate_hz) + " Hz, one channel, 16 bits";
}
/// A ring with the duration of the modem card's at any rate, and one interrupt per period.
oh_streams sound_streams(const SoundConfig& config);

}  // namespace offhook
