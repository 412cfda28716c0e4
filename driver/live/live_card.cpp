// SPDX-License-Identifier: MIT
#include "driver/live/live_card.h"

#include <time.h>

#include "driver/live/card_kind.h"

namespace offhook {

std::int64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

oh_streams sound_streams(const SoundConfig& config, std::uint32_t rx_hz) {
  const auto direction = [&config](std::uint32_t rate_hz) {
    const std::uint64_t ring = std::uint64_t{OH_MODEM_RING_SAMPLES} * rate_hz / OH_MODEM_RATE_HZ;
    return oh_stream_format{rate_hz, OH_LINEAR16, static_cast<std::uint32_t>(ring), config.period_samples,
                            config.period_samples};
  };
  return {direction(rx_hz), direction(config.rates.tx_hz)};
}

std::string sound_capability(std::uint32_t captured_hz, std::uint32_t played_hz, std::uint32_t rx_hz) {
  return "captures " + std::to_string(captured_hz) + " Hz, plays " + std::to_string(played_hz) +
         " Hz, one channel, 16 bits" + (rx_hz > OH_MODEM_RATE_HZ ? "; V.90's analogue modem too" : "");
}

}  // namespace offhook
