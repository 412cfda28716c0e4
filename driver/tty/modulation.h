// SPDX-License-Identifier: MIT
//
// +MS and its result: the pump of a call, and the name of a connection.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/session/call.h"
#include "driver/tty/at.h"
#include "dsp/modulation/modulation.h"

namespace offhook::modem {

/// Rows of the table of modulations, from the slowest to the fastest, and then automode.
using Carriers = std::span<const Modulation>;

/// The rows of a table of modulations that a card supports.
struct Offer {
  std::vector<Modulation> carriers;
  std::string missing;  ///< for people, each with the reason; empty: none is missing
};
/// Whether a card's samples, octets or 16,000 a second, are converted for the pumps that only accept 8000 linear ones.
enum class CardSamples { kAsTheyAre, kConverted };
/// @param io_delay_samples  of card and driver, see oh_pump_config
Offer offer(Carriers all, const oh_pump_format& format, std::uint32_t io_delay_samples,
            CardSamples samples = CardSamples::kAsTheyAre);

/// The carriers of +MS, separated by commas: "V22B,V34".
std::string names_of(Carriers carriers);

/// Pump, modulations, rates and window by +MS: with automode, a carrier is the best permitted one; without, it is the
/// only one. V.22bis alone needs no V.8. Only V.23 uses the limits of both directions. They select the sender of the
/// faster channel, and its rate.
CallConfig choose_modem(const AtSettings& settings, Carriers carriers, oh_pump_role role = OH_PUMP_CALL);

/// Its name in +MCR: "V34", "V32B", "V22B", "V22".
std::string_view carrier_of(const oh_pump_status& pump, Carriers carriers);

}  // namespace offhook::modem
