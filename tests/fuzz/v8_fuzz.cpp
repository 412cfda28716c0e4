// SPDX-License-Identifier: MIT
//
// V.8 on arbitrary octets and on arbitrary sound. A menu that was read encodes to octets that read the same; both roles
// and their receivers take any samples, clipped and truncated, without leaving their states.
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

// Octets become V.21 of the far end, what is left over sound; so that the machine gets past ANSam and CM.
void check_machine(const uint8_t* data, size_t size, oh_pump_role role) {
  Config config;
  config.role = role;
  config.menu.call_function = CallFunction::kData;
  config.menu.modulations = kV34 | kV22bis;
  config.call_indicator = true;
  config.silence_before_cm_s = 0.05f;
  V8 v8(config);
  AnsamGenerator ansam(-20, true);
  FskModulator modulator(role == OH_PUMP_CALL ? Channel::kHigh : Channel::kLow, -20);
  const size_t menu_octets = size < 8 ? size : 8;
  size_t bit = 0;
  for (int n = 0; n < 16000 && v8.state() == State::kRunning; ++n) {
    float x = 0;
    if (role == OH_PUMP_CALL && n < 4000) {
      x = ansam.next();
    } else {
      x = modulator.next([&]() -> int {
        const size_t at = bit++ % (10 * (menu_octets + 2));
        if (at < 10) return 1;
        const uint8_t octet = at < 20 ? kSyncCm : data[at / 10 - 2];
        const size_t k = at % 10;
        return k == 0 ? 0 : k == 9 ? 1 : octet >> (k - 1) & 1;
      });
      if (n > 12000 && size > 0)
        x += static_cast<float>(static_cast<int8_t>(data[static_cast<size_t>(n) % size]) * 400);
    }
    const float tx = v8.process(x);
    if (!(tx >= -32768 && tx <= 32767)) abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  ++data, --size;
  if (size <= kMaxMenuOctets) check_menu(data, static_cast<int>(size));
  if (choice & 1) check_machine(data, size, choice & 2 ? OH_PUMP_ANSWER : OH_PUMP_CALL);
  return 0;
}
