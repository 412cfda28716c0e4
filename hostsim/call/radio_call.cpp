// SPDX-License-Identifier: MIT
#include "hostsim/call/radio_call.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace offhook::hostsim {
namespace {

std::optional<RadioMaker>& registered() {
  static std::optional<RadioMaker> maker;
  return maker;
}

}  // namespace

void register_radio(const RadioMaker& maker) {
  registered() = maker;
}

void check_radio_is_built() {
  if (!registered()) {
    throw std::invalid_argument(
        "this program was built without the radio: install liquid-dsp (Debian: libliquid-dev) and build with "
        "-DOFFHOOK_RADIO=ON (docs/radio.md)");
  }
}

void check_radio(const Scenario& s) {
  check_radio_is_built();
  const auto known = registered()->rates_hz(s.air);
  if (std::find(known.begin(), known.end(), s.device.rate_hz) != known.end()) return;
  std::string expected;
  for (std::size_t k = 0; k < known.size(); ++k)
    expected += (k == 0 ? "" : k + 1 == known.size() ? " or " : ", ") + std::to_string(known[k]);
  throw std::invalid_argument("a card of " + std::to_string(s.device.rate_hz) + " samples/s; expected " + expected +
                              " for " + s.air.waveform);
}

std::unique_ptr<Connection> make_radio_connection(const Scenario& scenario, oh_event_log* log) {
  check_radio(scenario);
  return registered()->make(scenario, log);
}

}  // namespace offhook::hostsim
