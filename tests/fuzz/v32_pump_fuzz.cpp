// SPDX-License-Identifier: MIT
//
// The whole V.32bis pump on damaged lines, and its rate signals.
#include <iterator>

#include "dsp/v32/coding.h"
#include "dsp/v32/pump.h"
#include "tests/fuzz/pump_call.h"

namespace {

namespace v32 = offhook::v32;

// The meaning of a rate signal is encoded again by the encoder.
void rate_signal(std::uint16_t bits) {
  v32::RateSignal r, again;
  if (!v32::RateSignal::decode(bits, &r)) return;
  if (r.rates >> v32::kRateCount != 0) std::abort();
  if (!v32::RateSignal::decode(r.encode(), &again)) std::abort();
  if (again.rates != r.rates || again.end != r.end || (r.rates != 0 && again.v32bis != r.v32bis)) std::abort();
  const int k = v32::highest(r.rates);
  if ((k < 0) != (r.rates == 0) || k >= v32::kRateCount) std::abort();
}

// Variants in which one end has no V.8, is a V.32 modem, or both. The states of a row are created at its first use.
offhook::fuzz::PumpCall& both_of(std::uint8_t byte) {
  using offhook::fuzz::PumpCall;
  constexpr std::uint8_t kStarts[] = {0, 1, 2, 3, 4, 16, 4 | 8, 4 | 8 | 16 | 32};
  static std::unique_ptr<PumpCall> rows[std::size(kStarts)];
  auto& row = rows[byte % std::size(kStarts)];
  const int start = kStarts[byte % std::size(kStarts)];
  const auto prepare = [start](PumpCall& both) {
    if (start & 1) oh_v32bis_without_v8(both.call());
    if (start & 2) oh_v32bis_without_v8(both.answer());
    if (start & 4) oh_v32bis_only_v32(both.call(), start & 8);
    if (start & 16) oh_v32bis_only_v32(both.answer(), start & 32);
  };
  constexpr int kBlocksBefore = 1350;
  if (!row) row = std::make_unique<PumpCall>(oh_v32bis_type(), kBlocksBefore, start ? std::function(prepare) : nullptr);
  return *row;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (std::size_t k = 0; k + 1 < size; ++k) rate_signal(static_cast<std::uint16_t>(data[k] | data[k + 1] << 8));
  if (size == 0) return 0;
  offhook::fuzz::PumpCall& both = both_of(data[0]);
  both.run(data + 1, size - 1, [&](int how) {
    if (how & 8) oh_v32bis_renegotiate(both.call(), 1200u * static_cast<unsigned>(how >> 4));
    if (how & 16) oh_v32bis_retrain(both.answer());
    if (how & 32) oh_v32bis_type()->hang_up(both.call());
    if (how & 64) oh_v32bis_renegotiate(both.answer(), 0);
  });
  return 0;
}
