// SPDX-License-Identifier: MIT
#include "driver/session/line_memory.h"

#include <algorithm>
#include <cstring>

#include "dsp/automode/conversion.h"
#include "offhook/modem_card.h"

namespace offhook::modem {

LineMemory::LineMemory(std::size_t samples, oh_encoding encoding)
    : encoding_(encoding),
      capacity_(samples),
      octets_(oh_sample_bytes(encoding)),
      rx_(samples * octets_),
      tx_(samples * octets_) {}

// `copy(at, done, k)` for each piece of the ring that the last of `n` samples take: `k` samples from `at` of the ring
// on, which are those from `done` on of the `n`.
template <class Copy>
void LineMemory::pieces(std::size_t n, Copy copy) {
  if (capacity_ == 0) return;
  std::size_t done = n > capacity_ ? n - capacity_ : 0;
  position_ += done;
  while (done < n) {
    const auto at = static_cast<std::size_t>(position_ % capacity_);
    const std::size_t k = std::min(n - done, capacity_ - at);
    copy(at, done, k);
    done += k;
    position_ += k;
  }
}

void LineMemory::write(const void* rx, const void* tx, std::size_t n) {
  pieces(n, [&](std::size_t at, std::size_t done, std::size_t k) {
    std::memcpy(&rx_[at * octets_], static_cast<const std::uint8_t*>(rx) + done * octets_, k * octets_);
    std::memcpy(&tx_[at * octets_], static_cast<const std::uint8_t*>(tx) + done * octets_, k * octets_);
  });
}

void LineMemory::skip(std::size_t n) {
  pieces(n, [&](std::size_t at, std::size_t, std::size_t k) {
    std::memset(&rx_[at * octets_], oh_silence(encoding_), k * octets_);
    std::memset(&tx_[at * octets_], oh_silence(encoding_), k * octets_);
  });
}

LineMemory::Samples LineMemory::samples(std::size_t sent_later) const {
  const oh_sample_format format{OH_MODEM_RATE_HZ, encoding_};
  automode::Conversion conversion({format, format});
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(position_, capacity_));
  Samples all{std::vector<std::int16_t>(n), std::vector<std::int16_t>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>((position_ - n + i) % capacity_);
    all.received[i] = conversion.received(rx_.data(), at);
    if (i + sent_later < n) all.sent[i + sent_later] = conversion.received(tx_.data(), at);
  }
  return all;
}

}  // namespace offhook::modem
