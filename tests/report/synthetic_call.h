// SPDX-License-Identifier: MIT
//
// A made-up call as a sequence of events, for tests of the report: a clock interrupt, a modem interrupt, a service
// thread and a spinner on one CPU, in the order in which a host would log them. No claim about any real machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>

#include "offhook/event_log.h"

namespace offhook::test {

struct SyntheticCall {
  double seconds = 30;
  bool starved = false;  ///< with the spinner, the service thread gets the CPU only in turns of 60 ms
};

enum : std::uint16_t { kClockIsr = 0, kModemIsr = 1, kServiceThread = 2, kSpinner = 3 };

inline void synthesise(const SyntheticCall& call, const std::function<void(const oh_event&)>& sink) {
  const auto emit = [&](std::uint64_t t, oh_event_kind kind, std::uint16_t id, std::uint32_t argument) {
    sink({t, static_cast<std::uint8_t>(kind), 0, id, argument});
  };
  std::uint64_t random = 88172645463325252u;
  const auto uniform = [&random] {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return static_cast<double>(random >> 11) * 0x1p-53;
  };
  struct Block {
    std::uint32_t samples;
    std::uint64_t end;
  };
  std::deque<Block> owed;
  const std::uint64_t horizon = static_cast<std::uint64_t>(call.seconds * 1e9);
  std::uint64_t now = 0, tick = 976'562, next_block = 13'125'000, captured = 0, taken = 0, written = 210;
  std::uint32_t in_plan = 0, interrupts = 0, bytes = 0, phase = 0, callback = 0;
  std::uint64_t work = 0, until_output = 0, last_callback = 0;  // of the block that is being served
  bool serving = false, output = false;
  static constexpr std::uint32_t kPlan[3] = {105, 105, 90};
  static constexpr double kPhaseBegin[4] = {0, 2, 11, 23};
  const double phase_scale = call.seconds / 30;
  std::uint16_t running = 0xfffe;
  const auto run = [&](std::uint16_t id) {
    if (id != running) emit(now, OH_EV_RUN, id, 0);
    running = id;
  };
  emit(0, OH_EV_CARD_RATE, 0, 8000);
  while (now < horizon) {
    if (phase < 4 && static_cast<double>(now) * 1e-9 >= kPhaseBegin[phase] * phase_scale) {
      emit(now, OH_EV_PHASE, 0, phase);
      if (phase == 3) emit(now, OH_EV_PUMP_STATE, 0, 3);
      phase += 1;
    }
    if (now >= next_block) {
      const std::uint32_t samples = kPlan[in_plan];
      captured += samples;
      emit(now, OH_EV_INTERRUPT, 0, samples);
      owed.push_back({samples, captured});
      in_plan = (in_plan + 1) % 3;
      next_block += kPlan[in_plan] * 125'000ull;
      now += 1'500 + static_cast<std::uint64_t>(2'000 * uniform());
      run(kModemIsr);
      emit(now, OH_EV_ISR_ENTER, 0, ++interrupts);
      now += 5'000 + static_cast<std::uint64_t>(10'000 * std::pow(uniform(), 20));
      emit(now, OH_EV_SERVICE_REQUEST, 0, static_cast<std::uint32_t>(owed.size()));
      emit(now, OH_EV_ISR_EXIT, 0, 0);
    }
    if (now >= tick) {
      run(kClockIsr);
      now += 4'000;
      tick += 976'562;
      if (++callback % 41 != 0) {  // a 1 ms timer on a 1024 Hz clock misses about one tick in 41
        emit(now, OH_EV_TIMER_CALLBACK, kSpinner, static_cast<std::uint32_t>(now - last_callback));
        last_callback = now;
      }
    }
    const bool turn = !call.starved || (now / 60'000'000) % 4 == 0;
    const std::uint64_t next = std::min(tick, next_block);
    if (!serving && !owed.empty() && turn) {
      run(kServiceThread);
      const Block block = owed.front();
      owed.pop_front();
      emit(now, OH_EV_SERVICE_RUN_BEGIN, 0, 0);
      if (captured - taken > 512) {
        const std::uint32_t gone = static_cast<std::uint32_t>(captured - taken - 512);
        emit(now, OH_EV_RX_OVERRUN, 0, gone);
        emit(now, OH_EV_FILL_IN, 0, gone);
        taken += gone;
        written += gone;
        while (!owed.empty() && owed.front().end <= taken) owed.pop_front();
      }
      if (block.end > taken) {
        emit(now, OH_EV_SERVICE_BEGIN, 0, static_cast<std::uint32_t>(block.end - taken));
        taken = block.end;
      }
      work = 1'600'000 + static_cast<std::uint64_t>(400'000 * uniform()) + (phase == 3 ? 900'000 : 0);
      until_output = work * 6 / 10;  // remaining lead when the output is queued
      serving = true;
      output = false;
    }
    if (serving && turn) {
      run(kServiceThread);
      const std::uint64_t goal = output ? work : work - until_output;
      const std::uint64_t step = std::min(goal, next > now ? next - now : 0);
      now += step;
      work -= step;
      if (!output && work <= until_output) {
        const std::uint64_t played = now / 125'000;
        const std::uint64_t late = played > written ? std::min<std::uint64_t>(played - written, 105) : 0;
        emit(now, OH_EV_OUTPUT_READY, 0, static_cast<std::uint32_t>(late));
        if (late > 0) emit(now, OH_EV_TX_UNDERRUN, 0, static_cast<std::uint32_t>(late));
        written += 100;
        if (late > 0) written = played + 100;
        output = true;
      }
      if (work == 0) {
        serving = false;
        emit(now, OH_EV_SERVICE_END, 0, static_cast<std::uint32_t>(now / 125'000 > taken ? now / 125'000 - taken : 0));
        emit(now, OH_EV_SERVICE_RUN_END, 0, 1);
        if (phase == 4) {
          emit(now, OH_EV_LINK_BYTES, 0, bytes += 79);
          for (int i = 0; i < 7; ++i) {
            const auto q = [&](double level) {
              return static_cast<std::uint32_t>(static_cast<std::uint16_t>(
                  static_cast<std::int16_t>(4096 * (level + 0.12 * (uniform() + uniform() + uniform() - 1.5)))));
            };
            const double re = 2 * std::floor(4 * uniform()) - 3, im = 2 * std::floor(4 * uniform()) - 3;
            emit(now, OH_EV_SYMBOL, 0, q(re) | q(im) << 16);
          }
        }
      }
    } else {
      run(kSpinner);
      now = std::max(now, next);
    }
  }
}

}  // namespace offhook::test
