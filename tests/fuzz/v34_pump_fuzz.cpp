// SPDX-License-Identifier: MIT
//
// The whole V.34 pump on damaged lines.
#include "dsp/v34/session/pump.h"
#include "tests/fuzz/pump_call.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static offhook::fuzz::PumpCall both(oh_v34_type(), 1000);
  both.run(data, size, [&](int how) {
    if (how & 8) oh_v34_renegotiate(both.call());
    if (how & 16) oh_v34_retrain(both.answer());
    if (how & 32) oh_v34_cleardown(both.call());
  });
  return 0;
}
