// SPDX-License-Identifier: MIT
//
// The whole V.34 pump on damaged lines: two pumps talk, and the input says when what one of them hears is replaced by
// noise, silence, clipped or delayed signal, lost samples or its own echo.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "dsp/v34/pump.h"

namespace {

struct End {
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
  explicit End(oh_pump_role role) {
    oh_pump_config c{};
    c.sample_rate_hz = 8000;
    c.role = role;
    c.tx_level_dbm0 = -12;
    c.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
    memory.reset(std::aligned_alloc(64, oh_v34_ops()->size(&c)));
    if (oh_v34_ops()->init(memory.get(), &c) != 0) std::abort();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kBlock = 80;
  constexpr int kBlocksBefore = 650;  // 6.5 s: both are in data mode
  End call(OH_PUMP_CALL), answer(OH_PUMP_ANSWER);
  const oh_pump_ops* ops = oh_v34_ops();
  std::int16_t to_call[kBlock] = {}, to_answer[kBlock] = {};
  std::uint32_t noise = 1;
  // The first byte says how much of the connection goes well.
  const int well = size > 0 ? data[0] * kBlocksBefore / 255 : 0;
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
      if (how & 8) oh_v34_renegotiate(call.memory.get());
      if (how & 16) oh_v34_retrain(answer.memory.get());
      if (how & 32) oh_v34_cleardown(call.memory.get());
    }
  }
  oh_pump_status s;
  ops->status(call.memory.get(), &s);
  if (s.samples < static_cast<std::uint64_t>(blocks) * kBlock) std::abort();
  return 0;
}
