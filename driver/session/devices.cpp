// SPDX-License-Identifier: MIT
#include "driver/session/devices.h"

#include <stdexcept>

#include "tables/card.h"

namespace offhook {

#define DECLARE(kind) extern const CardKind kind;
OFFHOOK_ROWS(DECLARE)
#undef DECLARE

namespace {

constexpr const CardKind* kKinds[] = {
#define ADDRESS(kind) &kind,
    OFFHOOK_ROWS(ADDRESS)
#undef ADDRESS
};

}  // namespace

std::unique_ptr<LiveCard> open_card(const std::string& address, const CardRates& rates, std::string_view more) {
  const std::size_t colon = address.find(':');
  const std::string place = colon == std::string::npos ? "" : address.substr(colon + 1);
  std::string known;
  for (const CardKind* kind : kKinds) {
    if (address.substr(0, colon) == kind->name && (colon == std::string::npos) != kind->takes_place &&
        place.empty() != kind->takes_place)
      return kind->open(place, rates);
    known += known.empty() ? "" : kind == *std::rbegin(kKinds) && more.empty() ? " or " : ", ";
    known += kind->usage;
  }
  if (!more.empty()) known.append(", ").append(more);
  throw std::runtime_error("\"" + address + "\" is not a card; expected " + known + " (see offhook devices)");
}

std::vector<CardDevice> card_devices() {
  std::vector<CardDevice> all;
  for (const CardKind* kind : kKinds) {
    for (CardDevice& device : kind->describe()) all.push_back(std::move(device));
  }
  return all;
}

}  // namespace offhook
