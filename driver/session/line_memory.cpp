// SPDX-License-Identifier: MIT
#include "driver/session/line_memory.h"

#include <algorithm>
#include <cstring>

#include "dsp/automode/conversion.h"
#include "offhook/modem_card.h"

namespace offhook::modem {

LineMemory::LineMemory(std::size_t periods, oh_encoding encoding, std::size_t received)
    : encoding_(encoding),
      capacity_(periods),
      octets_(oh_sample_bytes(encoding)),
      received_(received),
      rx_(periods * received * octets_),
      tx_(periods * octets_) {}

// `copy(at, done, k)` for each piece of the ring that the last of `n` periods take: `k` periods from `at` of the ring
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
  const std::size_t rx_octets = octets_ * received_;
  pieces(n, [&](std::size_t at, std::size_t done, std::size_t k) {
    std::memcpy(&rx_[at * rx_octets], static_cast<const std::uint8_t*>(rx) + done * rx_octets, k * rx_octets);
    std::memcpy(&tx_[at * octets_], static_cast<const std::uint8_t*>(tx) + done * octets_, k * octets_);
  });
}

void LineMemory::skip(std::size_t n) {
  const std::size_t rx_octets = octets_ * received_;
  pieces(n, [&](std::size_t at, std::size_t, std::size_t k) {
    std::memset(&rx_[at * rx_octets], oh_silence(encoding_), k * rx_octets);
    std::memset(&tx_[at * octets_], oh_silence(encoding_), k * octets_);
  });
}

LineMemory::Samples LineMemory::samples(std::size_t sent_later) const {
  const oh_sample_format format{OH_MODEM_RATE_HZ, encoding_};
  automode::Conversion conversion({format, format});
  const auto periods = static_cast<std::size_t>(std::min<std::uint64_t>(position_, capacity_));
  const std::size_t n = periods * received_;
  Samples all{std::vector<std::int16_t>(n), std::vector<std::int16_t>(n),
              static_cast<int>(OH_MODEM_RATE_HZ * received_)};
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>((position_ - periods + i / received_) % capacity_);
    all.received[i] = conversion.received(rx_.data(), at * received_ + i % received_);
    if (i + sent_later * received_ < n) all.sent[i + sent_later * received_] = conversion.received(tx_.data(), at);
  }
  return all;
}

}  // namespace offhook::modem
