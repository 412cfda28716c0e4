// SPDX-License-Identifier: MIT
//
// The whole V.32bis pump on damaged lines, and its rate signals: two pumps talk, and the input says when what one of
// them hears is replaced by noise, silence, clipped or delayed signal, lost samples or its own echo, and when either is
// asked for a renegotiation, a retrain or the end.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "dsp/v32/coding.h"
#include "dsp/v32/pump.h"

namespace {

namespace v32 = offhook::v32;

struct End {
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
  explicit End(oh_pump_role role) {
    oh_pump_config c{};
    c.sample_rate_hz = 8000;
    c.role = role;
    c.tx_level_dbm0 = -12;
    c.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
    memory.reset(std::aligned_alloc(64, oh_v32bis_ops()->size(&c)));
    if (oh_v32bis_ops()->init(memory.get(), &c) != 0) std::abort();
  }
};

// What a rate signal says is said again by what encodes it.
void rate_signal(std::uint16_t bits) {
  v32::RateSignal r, again;
  if (!v32::RateSignal::decode(bits, &r)) return;
  if (r.rates >> v32::kRateCount != 0) std::abort();
  if (!v32::RateSignal::decode(r.encode(), &again)) std::abort();
  if (again.rates != r.rates || again.end != r.end || (r.rates != 0 && again.v32bis != r.v32bis)) std::abort();
  const int k = v32::highest(r.rates);
  if ((k < 0) != (r.rates == 0) || k >= v32::kRateCount) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kBlock = 80;
  constexpr int kBlocksBefore = 1350;  // 13.5 s: both are in data mode
  for (std::size_t k = 0; k + 1 < size; ++k) rate_signal(static_cast<std::uint16_t>(data[k] | data[k + 1] << 8));
  End call(OH_PUMP_CALL), answer(OH_PUMP_ANSWER);
  const oh_pump_ops* ops = oh_v32bis_ops();
  std::int16_t to_call[kBlock] = {}, to_answer[kBlock] = {};
  std::uint32_t noise = 1;
  // The first byte says how much of the connection goes well, the second how it begins.
  const int well = size > 0 ? data[0] * kBlocksBefore / 255 : 0;
  const int start = size > 1 ? data[1] : 0;
  if (start & 1) oh_v32bis_without_v8(call.memory.get());
  if (start & 2) oh_v32bis_without_v8(answer.memory.get());
  if (start & 4) oh_v32bis_only_v32(call.memory.get(), start & 8);
  if (start & 16) oh_v32bis_only_v32(answer.memory.get(), start & 32);
  const int blocks = well + static_cast<int>(size < 400 ? size : 400);
  for (int n = 0; n < blocks; ++n) {
    std::int16_t from_call[kBlock], from_answer[kBlock];
    ops->process(call.memory.get(), to_call, from_call, kBlock);
    ops->process(answer.memory.get(), to_answer, from_answer, kBlock);
    const int how = n < well ? 0 : data[n - well];
    for (int k = 0; k < kBlock; ++k) {
      to_answer[k] = static_cast<std::int16_t>(from_call[k] / 3);
      std::int16_t& x = to_call[k];
      x = static_cast<std::int16_t>(from_answer[k] / 3);
      noise = noise * 1664525 + 1013904223;
      switch (how & 7) {
        case 1:
          x = static_cast<std::int16_t>(noise >> 16);
          break;
        case 2:
          x = 0;
          break;
        case 3:
          x = x > 0 ? 32767 : -32768;
          break;
        case 4:
          x = from_call[k];
          break;
        case 5:
          x = static_cast<std::int16_t>(x + static_cast<std::int16_t>(noise >> 16) / (1 + (how >> 3)));
          break;
        default:
          break;
      }
    }
    if ((how & 7) == 6) ops->fill_in(call.memory.get(), static_cast<std::size_t>(how));
    if ((how & 7) == 7) {
      if (how & 8) oh_v32bis_renegotiate(call.memory.get(), 1200u * static_cast<unsigned>(how >> 4));
      if (how & 16) oh_v32bis_retrain(answer.memory.get());
      if (how & 32) ops->hang_up(call.memory.get());
      if (how & 64) oh_v32bis_renegotiate(answer.memory.get(), 0);
    }
  }
  oh_pump_status s;
  ops->status(call.memory.get(), &s);
  if (s.samples < static_cast<std::uint64_t>(blocks) * kBlock) std::abort();
  return 0;
}
