// SPDX-License-Identifier: MIT
//
// A card that a stranger adds: what it plays is what it hears.
#include <cstring>
#include <memory>

#include "driver/live/timer_card.h"

namespace offhook {
namespace {

struct Wire : LineEnd {
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override {
    std::memcpy(captured, played, n * sizeof *played);
  }
};

}  // namespace

extern const CardKind kExtensionCards;
const CardKind kExtensionCards = {
    "extension", "extension", false,
    [](const std::string&, const CardRates& rates) -> std::unique_ptr<LiveCard> {
      return std::make_unique<ClockedCard<Wire>>(rates.tx_hz);
    },
    [] {
      return std::vector<CardDevice>{{"built-in", "extension", "Hears what it plays", "any rate, by the clock", true}};
    }};

}  // namespace offhook
