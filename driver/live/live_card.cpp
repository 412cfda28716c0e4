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

oh_streams sound_streams(const SoundConfig& config) {
  oh_streams streams = oh_modem_streams(config.rate_hz);
  for (oh_stream_format* direction : {&streams.rx, &streams.tx}) {
    direction->ring_samples =
        static_cast<std::uint32_t>(std::uint64_t{OH_MODEM_RING_SAMPLES} * config.rate_hz / OH_MODEM_RATE_HZ);
    direction->block_min = direction->block_max = config.period_samples;
  }
  return streams;
}

}  // namespace offhook
