// SPDX-License-Identifier: MIT
//
// Both V.90 pumps on damaged lines: the input says when what they hear is replaced, when samples are lost, and when
// either is asked for something. The start-up, of seconds, is made once; an input begins at one of kStates instants of
// it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "tests/v90_call.h"

namespace {

using offhook::V90Call;
constexpr std::size_t kStates = 32;
constexpr double kSecondsBefore = 14;

/// @param kind  0: starts with Phase 2, 1: with V.8, 2: with Quick Connect
std::unique_ptr<V90Call> call_with_states(int kind) {
  V90Call::Options o;
  o.v8 = kind != 0;
  if (kind == 2) o.analogue_profile = o.digital_profile = oh_v90_profile{4, 0, 78, 0, 80};
  o.digital.hold_timeout = 1;
  auto call = std::make_unique<V90Call>(o);
  for (std::size_t state = 0; state < kStates; ++state) {
    call->keep();
    call->run(kSecondsBefore / (kStates - 1));
  }
  if (call->analogue_status().state != OH_PUMP_DATA || call->digital_status().state != OH_PUMP_DATA) std::abort();
  return call;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static std::unique_ptr<V90Call> calls[3];
  const int kind = (data[0] & 1) == 0 ? 0 : (data[0] & 2) == 0 ? 1 : 2;
  auto& made = calls[kind];
  if (!made) made = call_with_states(kind);
  V90Call& call = *made;
  call.take_up(data[0] / 8);
  const std::uint64_t before = call.analogue_status().samples;
  constexpr std::size_t kMostBlocks = 100;
  const std::size_t end = size <= kMostBlocks ? size : kMostBlocks;
  for (std::size_t n = 1; n < end; ++n) {
    const int how = data[n] >> 3;
    switch (data[n] & 7) {
      case 5:
        call.lose(how * 8);
        break;
      case 6:
        if (how & 1) oh_v90_renegotiate(call.digital());
        if (how & 2) oh_v90_renegotiate(call.analogue());
        if (how & 4) oh_v90_retrain(call.digital());
        if (how & 8) oh_v90_retrain(call.analogue());
        if (how & 16) oh_v90_hold(how & 1 ? call.digital() : call.analogue(), static_cast<oh_hold_order>(how >> 1 & 7));
        break;
      case 7:
        oh_v90_type()->hang_up(call.analogue());
        break;
      default:
        call.damage(static_cast<V90Call::Damage>(data[n] & 7));
        break;
    }
    call.run(0.01);
    call.damage(V90Call::Damage::kNone);
  }
  if (call.analogue_status().samples != before + (end - 1) * 80) std::abort();
  return 0;
}
