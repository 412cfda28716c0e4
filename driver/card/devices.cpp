// SPDX-License-Identifier: MIT
#include "driver/card/devices.h"

#include <stdexcept>
#include <utility>

#include "driver/card/alsa_card.h"
#include "driver/card/file_line.h"
#include "driver/card/portaudio_card.h"
#include "driver/card/shared_card.h"
#include "driver/card/timer_card.h"

namespace offhook {

namespace {

/// A card by the clock together with its line.
template <class Line>
class ClockedCard final : private Line, public TimerCard {
 public:
  template <class... Args>
  explicit ClockedCard(Args&&... args) : Line(std::forward<Args>(args)...), TimerCard(static_cast<Line&>(*this)) {}
};

}  // namespace

std::unique_ptr<LiveCard> open_card(const std::string& address) {
  if (address == "null") return std::make_unique<ClockedCard<SilentLine>>();
  const std::size_t colon = address.find(':');
  const std::string kind = address.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (!rest.empty()) {
    if (kind == "unix") return std::make_unique<SharedCard>(rest);
    if (kind == "alsa") return std::make_unique<AlsaCard>(rest);
    if (kind == "portaudio") return std::make_unique<PortAudioCard>(rest);
    if (kind == "file") {
      const std::size_t comma = rest.find(',');
      return std::make_unique<ClockedCard<FileLine>>(rest.substr(0, comma),
                                                     comma == std::string::npos ? "" : rest.substr(comma + 1));
    }
  }
  throw std::runtime_error("\"" + address +
                           "\" is no card; expected null, file:IN.wav,OUT.wav, unix:PATH (see offhook line), " +
                           "alsa:NAME or portaudio:NAME (see offhook devices)");
}

std::vector<CardDevice> card_devices() {
  std::vector<CardDevice> all = {
      {"built-in", "null", "Hears nothing, plays to nobody", "8000 Hz by the clock", true},
      {"built-in", "file:IN.wav,OUT.wav", "Hears a recording, records what it plays; either may be left out",
       "8000 Hz by the clock", true},
      {"built-in", "unix:PATH", "Hardware in another process: offhook line", "8000 Hz by that process's clock", true}};
  for (CardDevice& device : alsa_devices()) all.push_back(std::move(device));
  for (CardDevice& device : portaudio_devices()) all.push_back(std::move(device));
  return all;
}

}  // namespace offhook
