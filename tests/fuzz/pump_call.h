// SPDX-License-Identifier: MIT
//
// Two pumps of one kind talk, and the input says when what the caller hears is replaced by noise, silence, clipped or
// delayed signal, lost samples or its own echo, and when either is asked for something. With added noise, the layer
// above the caller reports frames, too.
//
// A start-up takes seconds of the line: longer than all that an input does to it. So it is made once, and kept as it
// was at kStates instants; an input begins at one of them. A pump is nothing but its memory, which makes that a copy.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "offhook/pump.h"

namespace offhook::fuzz {

/// A pump whose state can be saved and restored. It sends only ones.
class KeptPump {
 public:
  KeptPump(const oh_pump_type* type, oh_pump_config c) : type_(type), size_(0), memory_(nullptr, &std::free) {
    c.struct_size = sizeof c;
    c.tx_level_dbm0 = -12;
    c.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
    size_ = type->size(&c);
    memory_.reset(std::aligned_alloc(64, (size_ + 63) / 64 * 64));
    if (size_ == 0 || type->init(memory_.get(), &c) != 0) std::abort();
  }
  void* get() const { return memory_.get(); }
  void keep() {
    const auto* bytes = static_cast<const unsigned char*>(memory_.get());
    states_.emplace_back(bytes, bytes + size_);
  }
  void take_up(std::size_t state) { std::memcpy(memory_.get(), states_.at(state).data(), size_); }
  oh_pump_status status() const {
    oh_pump_status s{};
    s.struct_size = sizeof s;
    type_->status(get(), &s);
    return s;
  }

 private:
  const oh_pump_type* type_;
  std::size_t size_;
  std::unique_ptr<void, decltype(&std::free)> memory_;
  std::vector<std::vector<unsigned char>> states_;
};

inline constexpr int kStates = 32;       ///< variants of a start-up; an input's first byte / 8 selects one
inline constexpr int kMostBlocks = 100;  ///< blocks of 10 ms per input

class PumpCall {
 public:
  /// @param blocks_before  blocks of 10 ms until both are in data mode
  /// @param prepare  settings of both before the first sample; then they need not reach data mode
  PumpCall(const oh_pump_type* type, int blocks_before, const std::function<void(PumpCall&)>& prepare = nullptr,
           std::uint32_t guard_tone_hz = 0)
      : type_(type), call_(type, config(OH_PUMP_CALL, 0)), answer_(type, config(OH_PUMP_ANSWER, guard_tone_hz)) {
    if (prepare) prepare(*this);
    for (int state = 0, n = 0; state < kStates; ++state) {
      for (; n < state * blocks_before / (kStates - 1); ++n) block(0);
      call_.keep(), answer_.keep(), lines_.push_back(line_);
    }
    if (prepare) return;
    if (call_.status().state != OH_PUMP_DATA || answer_.status().state != OH_PUMP_DATA) std::abort();
  }

  void* call() const { return call_.get(); }
  void* answer() const { return answer_.get(); }

  /// @param ask  ask(how) for a byte whose low bits are 7, with five remaining bits as choice
  template <class Ask>
  void run(const std::uint8_t* data, std::size_t size, Ask&& ask) {
    const std::size_t state = size > 0 ? data[0] / 8 : 0;
    call_.take_up(state), answer_.take_up(state), line_ = lines_[state];
    const std::uint64_t before = call_.status().samples;
    std::size_t n = 1;
    for (; n < size && n <= kMostBlocks; ++n) {
      block(data[n]);
      if ((data[n] & 7) == 5 && call_.status().state == OH_PUMP_DATA)
        oh_pump_note_frames(type_, call(), data[n] >> 3 & 1, data[n] >> 4);
      if ((data[n] & 7) == 6) type_->report_gap(call(), data[n]);
      if ((data[n] & 7) == 7) ask(data[n]);
    }
    if (call_.status().samples < before + (n - 1) * kBlock) std::abort();
  }

 private:
  static constexpr int kBlock = 80;
  static oh_pump_config config(oh_pump_role role, std::uint32_t guard_tone_hz) {
    oh_pump_config c{};
    c.format = kLinear8000;
    c.role = role;
    c.guard_tone_hz = guard_tone_hz;
    return c;
  }
  void block(int how) {
    std::int16_t from_call[kBlock], from_answer[kBlock];
    type_->process(call(), line_.to_call, from_call, kBlock);
    type_->process(answer(), line_.to_answer, from_answer, kBlock);
    for (int k = 0; k < kBlock; ++k) {
      line_.to_answer[k] = static_cast<std::int16_t>(from_call[k] / 3);
      std::int16_t& x = line_.to_call[k];
      x = static_cast<std::int16_t>(from_answer[k] / 3);
      line_.noise = line_.noise * 1664525 + 1013904223;
      switch (how & 7) {
        case 1:
          x = static_cast<std::int16_t>(line_.noise >> 16);
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
          x = static_cast<std::int16_t>(x + static_cast<std::int16_t>(line_.noise >> 16) / (1 + (how >> 3)));
          break;
        default:
          break;
      }
    }
  }

  struct Line {
    std::int16_t to_call[kBlock], to_answer[kBlock];
    std::uint32_t noise = 1;
  };
  const oh_pump_type* type_;
  KeptPump call_, answer_;
  Line line_{};
  std::vector<Line> lines_;
};

}  // namespace offhook::fuzz
