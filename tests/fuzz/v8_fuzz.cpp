// SPDX-License-Identifier: MIT
//
// V.8 on arbitrary octets and on arbitrary sound. A menu that was read encodes to octets that read the same; both roles
// and their receivers take any samples, clipped and truncated, without leaving their states. So does the exchange of
// messages by V.8 bis, which takes the octets as bits of V.21.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "dsp/v8/v8.h"

using namespace offhook::v8;

namespace {

void check_menu(const uint8_t* data, int n) {
  Menu menu;
  const int modulation_octets = decode(data, n, &menu);
  if (modulation_octets < 0 || modulation_octets > 3) abort();
  uint8_t octets[kMaxMenuOctets];
  const int length = encode(menu, octets, modulation_octets);
  if (length > kMaxMenuOctets) abort();
  Menu again;
  decode(octets, length, &again);
  if (!(again == menu)) abort();
}

/// One end, and the signal of the far end that it receives.
struct Machine {
  static V8 end(oh_pump_role role) {
    Config config;
    config.role = role;
    config.menu.call_function = CallFunction::kData;
    config.menu.modulations = kV34 | kV22bis;
    config.call_indicator = true;
    config.silence_before_cm_s = 0.05f;
    return V8(config);
  }
  /// The caller has received ANSam and sends CM, and the answerer sends ANSam: half a second that no input can shorten.
  explicit Machine(oh_pump_role role) : v8(end(role)), far(role == OH_PUMP_CALL ? Channel::kHigh : Channel::kLow, -20) {
    AnsamGenerator ansam(-20, true);
    for (int n = 0; n < 4000; ++n) v8.process(role == OH_PUMP_CALL ? ansam.next() : far.next([] { return 1; }));
    if (v8.step() != (role == OH_PUMP_CALL ? V8::Step::kCm : V8::Step::kAnsam)) abort();
  }
  V8 v8;
  FskModulator far;
};

// Octets become V.21 of the far end, so that the procedure gets past its menu: two copies, which is enough to decide,
// and an eighth of a second. The remaining input becomes samples. One in eight inputs continues for 1.5 seconds.
void check_machine(const uint8_t* data, size_t size, oh_pump_role role, bool goes_on) {
  Machine m(role);
  const size_t menu_octets = size < 8 ? size : 8;
  const size_t cycle_bits = 10 * (menu_octets + 2);
  const int sound_from = static_cast<int>(2 * cycle_bits) * 8000 / 300 + (goes_on ? 12000 : 1000);
  size_t bit = 0;
  for (int n = 0; n < sound_from + 2000 && m.v8.state() == State::kRunning; ++n) {
    float x = m.far.next([&]() -> int {
      const size_t at = bit++ % cycle_bits;
      if (at < 10) return 1;
      const uint8_t octet = at < 20 ? kSyncCm : data[at / 10 - 2];
      const size_t k = at % 10;
      return k == 0 ? 0 : k == 9 ? 1 : octet >> (k - 1) & 1;
    });
    if (n > sound_from && size > 0)
      x += static_cast<float>(static_cast<int8_t>(data[static_cast<size_t>(n) % size]) * 400);
    const float tx = m.v8.process(x);
    if (!(tx >= -32768 && tx <= 32767)) abort();
  }
}

// After CRe, or during it, the octets of the far end as a bit stream: flags, frames, aborts.
void check_exchange(const uint8_t* data, size_t size, bool calls) {
  offhook::v8bis::ExchangeConfig config;
  config.calls = calls;
  config.understands = [](const uint8_t* far, int n) { return n == 2 && (far[0] & 15) == 13; };
  offhook::v8bis::Exchange exchange(config);
  offhook::v8bis::SignalGenerator cre(offhook::v8bis::Signal::kCre, -12);
  FskModulator far(calls ? Channel::kLow : Channel::kHigh, -20);
  size_t bit = 0;
  for (int n = 0; n < 16000 && bit < 8 * size; ++n) {
    const bool signal = calls ? n < 1600 : n < 4000;
    const float x = signal ? calls ? cre.next() : 0 : far.next([&] {
      const int b = data[bit / 8] >> bit % 8 & 1;
      bit = bit + 1;
      return bit > 8 * size ? 1 : b;
    });
    const float tx = exchange.process(x);
    if (!(tx >= -32768 && tx <= 32767)) abort();
    if ((exchange.state() == offhook::v8bis::ExchangeState::kAgreed) && (exchange.far()[0] & 15) != 13) abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  ++data, --size;
  if (size <= kMaxMenuOctets) check_menu(data, static_cast<int>(size));
  if (choice & 4) check_exchange(data, size, (choice & 2) == 0);
  if (choice & 1) check_machine(data, size, choice & 2 ? OH_PUMP_ANSWER : OH_PUMP_CALL, choice >> 5 == 0);
  return 0;
}
