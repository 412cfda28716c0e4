// SPDX-License-Identifier: MIT
//
// The declaration of a kind of card. Each has a folder, whose line in driver/CMakeLists.txt puts it into the table of
// driver/session.
#pragma once

#include <algorithm>
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
  std::string address;      ///< text for open_card()
  std::string description;  ///< for people
  std::string capability;   ///< features of the card; if `usable` is false, the reason
  bool usable = false;
};

/// The samples per second that the owner of a card wants, if the card has no rate of its own. They are equal, or one is
/// a multiple of the other.
struct CardRates {
  std::uint32_t rx_hz = OH_MODEM_RATE_HZ, tx_hz = OH_MODEM_RATE_HZ;
  std::uint32_t least_rx_hz = rx_hz;  ///< received, if the device cannot do rx_hz: that or less
  /// Sample periods per second.
  constexpr std::uint32_t period_hz() const { return std::min(least_rx_hz, tx_hz); }
};
/// A modem's: V.90's analogue modem receives twice as many samples as it sends.
inline constexpr CardRates kModemRates{2 * OH_MODEM_RATE_HZ, OH_MODEM_RATE_HZ, OH_MODEM_RATE_HZ};

struct CardKind {
  const char* name;   ///< prefix of an address, up to the colon
  const char* usage;  ///< example of an address, for people
  bool takes_place;   ///< whether something follows the colon
  /// @throws std::runtime_error: the device's own refusal
  std::unique_ptr<LiveCard> (*open)(const std::string& place, const CardRates& rates);
  /// May try each device: takes a moment.
  std::vector<CardDevice> (*describe)();
};

/// How a sound device is opened.
struct SoundConfig {
  CardRates rates{};
  std::uint32_t period_samples = rates.period_hz() / 80;  ///< sample periods; 12.5 ms
};

/// Rings with the duration of the modem card's at any rate, and one interrupt per period.
/// @param rx_hz  one of the configuration's
oh_streams sound_streams(const SoundConfig& config, std::uint32_t rx_hz);
/// The modems that a sound device can serve, as text for people. @param rx_hz  of the card
std::string sound_capability(std::uint32_t captured_hz, std::uint32_t played_hz, std::uint32_t rx_hz);

}  // namespace offhook
