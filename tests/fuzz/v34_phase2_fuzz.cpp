// SPDX-License-Identifier: MIT
//
// Phase 2 on arbitrary sound and against a far end of tones, reversals, INFO bits, silence and noise in any order:
// every output finite, every choice within its field, and a machine that says it is done has an outcome that can be
// used.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "dsp/v34/phase2/phase2.h"

using namespace offhook;
using namespace offhook::v34;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  Phase2Config config;
  config.role = data[0] & 1 ? OH_PUMP_ANSWER : OH_PUMP_CALL;
  config.io_delay_samples = data[1];
  static Phase2 machine{Phase2Config{}};
  machine = Phase2(config);
  switch (data[0] >> 1 & 3) {
    case 0:
      machine.retrain();
      break;
    default:
      machine.start();
  }
  DpskModulator far(phase2_signal(config.role == OH_PUMP_CALL ? kDpskAnswerHz : kDpskCallHz, -20, -7));
  uint8_t bits[Info1c::kBits]{};
  int bit = 0, count = 0;
  uint32_t noise = 1;
  int probing = -1;
  int left = 60000;
  for (size_t at = 2; at < size && left > 0; ++at) {
    const int command = data[at] & 15;
    const int length = 80 * (1 + (data[at] >> 4)) * (command == 6 ? 8 : 1);
    switch (command) {
      case 0:
        far.silence(), probing = -1;
        break;
      case 1:
        far.tone(), probing = -1;
        break;
      case 2:
        far.reverse();
        break;
      case 3: {
        Info0 info = kAllCapabilities;
        info.acknowledge = data[at] >> 4 & 1;
        encode(info, bits), bit = 0, count = Info0::kBits;
        far.bits();
        break;
      }
      case 4: {
        if (config.role == OH_PUMP_CALL) {
          Info1a info{};
          info.call_to_answer = {Carrier::kLow, 3, 12};
          info.rate_answer_to_call = static_cast<SymbolRate>(data[at] % 6);
          encode(info, bits), count = Info1a::kBits;
        } else {
          Info1c info{};
          for (ProbingResult& r : info.probing) r = {Carrier::kHigh, 10, static_cast<uint8_t>(data[at] % 15)};
          encode(info, bits), count = Info1c::kBits;
        }
        bit = 0;
        far.bits();
        break;
      }
      case 5:  // marks
        for (uint8_t& b : bits) b = 1;
        bit = 0, count = Info1c::kBits;
        far.bits();
        break;
      case 6:
        far.silence(), probing = 0;
        break;
      case 7:
        machine.repeat_info1(data[at] & 16);
        break;
      case 8:
        machine.retrain();
        break;
      default:
        break;
    }
    for (int n = 0; n < length && left > 0; ++n, --left) {
      float x = far.next([&] { return bit < count ? bits[bit++] : -1; });
      if (probing >= 0) x += 2000 * kProbingTable.sample[probing++ % kProbingSamples];
      noise = noise * 1664525 + 1013904223;
      if (command >= 9) x = command == 9 ? 32767 * (noise >> 31 ? 1.f : -1.f) : static_cast<float>(noise >> 20);
      const float tx = machine.process(x);
      if (!(tx >= -65536 && tx <= 65536)) abort();
    }
  }
  if (!machine.done()) return 0;
  const Phase2Outcome& o = machine.outcome();
  if (o.tx_symbol_rate > SymbolRate::k3429 || o.rx_symbol_rate > SymbolRate::k3429 || o.tx_pre_emphasis > 10 ||
      o.rx_pre_emphasis > 10 || o.tx_projected_rate > 14 || o.rx_projected_rate > 14 || o.tx_power_reduction_db > 7) {
    abort();
  }
  return 0;
}
