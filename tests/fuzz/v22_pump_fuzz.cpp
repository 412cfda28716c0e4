// SPDX-License-Identifier: MIT
//
// The V.22bis pump on damaged lines, at 2400 bit/s, and where one end has 1200 alone.
#include <iterator>
#include <memory>

#include "dsp/v22/pump.h"
#include "tests/fuzz/pump_call.h"

namespace {

constexpr int kBlocksBefore = 800;  // 5.5 s of them are V.25's

offhook::fuzz::PumpCall& call_of(std::uint8_t byte) {
  using offhook::fuzz::PumpCall;
  static std::unique_ptr<PumpCall> rows[4];
  const unsigned which = byte % std::size(rows);
  if (rows[which]) return *rows[which];
  rows[which] = std::make_unique<PumpCall>(which & 2 ? oh_v22_type() : oh_v22bis_type(), kBlocksBefore, nullptr,
                                           which & 1 ? which & 2 ? 550 : 1800 : 0);
  return *rows[which];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  offhook::fuzz::PumpCall& both = call_of(data[0]);
  both.run(data, size, [&](int how) {
    if (how & 8) oh_v22bis_retrain(both.call());
    if (how & 16) oh_v22bis_retrain(both.answer());
    if (how & 32) oh_v22bis_begin(both.answer(), -100);
    if (how & 128) {
      oh_v22bis_loop(both.answer(), OH_LOOP_ALLOW);
      oh_v22bis_loop(both.call(), how & 8 ? OH_LOOP_END : OH_LOOP_REMOTE);
    }
    if (how & 64) oh_v22bis_type()->hang_up(both.call());
  });
  return 0;
}
