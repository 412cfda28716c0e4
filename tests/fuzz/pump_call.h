// SPDX-License-Identifier: MIT
//
// Two pumps of one kind talk, and the input says when what the caller hears is replaced by noise, silence, clipped or
// delayed signal, lost samples or its own echo, and when either is asked for something.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "dsp/pump/pump_type.h"
#include "offhook/pump.h"

namespace offhook::fuzz {

class PumpCall {
 public:
  explicit PumpCall(const oh_pump_type* ops) : ops_(ops), call_(make(OH_PUMP_CALL)), answer_(make(OH_PUMP_ANSWER)) {}

  void* call() const { return call_.get(); }
  void* answer() const { return answer_.get(); }

  /// @param blocks_before  of 10 ms, until both are in data mode: of them the first byte says how many go well
  /// @param ask  ask(how) for a byte whose low bits are 7, with five others to choose by
  template <class Ask>
  void run(const std::uint8_t* data, std::size_t size, int blocks_before, Ask&& ask) {
    constexpr int kBlock = 80;
    std::int16_t to_call[kBlock] = {}, to_answer[kBlock] = {};
    std::uint32_t noise = 1;
    const int well = size > 0 ? data[0] * blocks_before / 255 : 0;
    const int blocks = well + static_cast<int>(size < 400 ? size : 400);
    for (int n = 0; n < blocks; ++n) {
      std::int16_t from_call[kBlock], from_answer[kBlock];
      ops_->process(call(), to_call, from_call, kBlock);
      ops_->process(answer(), to_answer, from_answer, kBlock);
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
      if ((how & 7) == 6) ops_->fill_in(call(), static_cast<std::size_t>(how));
      if ((how & 7) == 7) ask(how);
    }
    oh_pump_status s;
    ops_->status(call(), &s);
    if (s.samples < static_cast<std::uint64_t>(blocks) * kBlock) std::abort();
  }

 private:
  using Memory = std::unique_ptr<void, decltype(&std::free)>;
  Memory make(oh_pump_role role) const {
    oh_pump_config c{};
    c.format = kLinear8000;
    c.role = role;
    c.tx_level_dbm0 = -12;
    c.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
    Memory memory(std::aligned_alloc(64, ops_->size(&c)), &std::free);
    if (ops_->init(memory.get(), &c) != 0) std::abort();
    return memory;
  }
  const oh_pump_type* ops_;
  Memory call_, answer_;
};

}  // namespace offhook::fuzz
