// SPDX-License-Identifier: MIT
//
// The pumps of V.21, V.23, Bell 103, Bell 212A and V.22, and automode over them, on damaged lines; and one alone that
// hears what the input says, tones and noise.
#include <cmath>
#include <iterator>
#include <memory>
#include <vector>

#include "driver/user_modem/modulations.h"
#include "tests/fuzz/pump_call.h"

namespace {

const offhook::Modulation kRows[] = {
    offhook::kV21, offhook::kV23, offhook::kBell103, offhook::kV22, offhook::kModulations.back(), offhook::kBell212a};
constexpr std::uint32_t kSlow =
    OH_MODULATION_V21 | OH_MODULATION_V23 | OH_MODULATION_BELL103 | OH_MODULATION_BELL212A | OH_MODULATION_V22;

// Each byte is 20 ms of a tone of 16 Hz times its value, with a level from the previous byte.
void hear(const offhook::Modulation& row, oh_pump_role role, const std::uint8_t* data, std::size_t size) {
  oh_pump_config c{};
  c.format = offhook::kLinear8000;
  c.role = role;
  c.tx_level_dbm0 = -12;
  c.modulations = kSlow;
  std::uint64_t put = 0;
  c.port = {[](void*) { return 0; }, [](void* user, int) { ++*static_cast<std::uint64_t*>(user); }, &put};
  std::vector<unsigned char> memory(row.type()->size(&c) + 64);
  void* self = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  if (row.type()->init(self, &c) != 0) std::abort();
  std::uint64_t samples = 0;
  double phase = 0;
  for (std::size_t k = 1; k < size && k < 3000; ++k) {
    std::int16_t rx[160], tx[160];
    for (std::int16_t& x : rx) {
      phase += 16.0 * data[k] / 8000;
      x = static_cast<std::int16_t>(128 * data[k - 1] * std::sin(2 * M_PI * phase));
    }
    row.type()->process(self, rx, tx, 160);
    samples += 160;
    oh_pump_status s{};
    row.type()->status(self, &s);
    if (s.samples != samples || s.bits_received != put) std::abort();
  }
  row.type()->release(self);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const offhook::Modulation& row = kRows[data[0] % std::size(kRows)];
  hear(row, data[1] & 1 ? OH_PUMP_ANSWER : OH_PUMP_CALL, data + 2, size - 2);
  if (row.begin == nullptr) return 0;
  static std::unique_ptr<offhook::fuzz::PumpCall> calls[std::size(kRows)];
  auto& call = calls[data[0] % std::size(kRows)];
  if (!call) call = std::make_unique<offhook::fuzz::PumpCall>(row.type(), 1000);
  offhook::fuzz::PumpCall& both = *call;
  both.run(data + 1, size - 1, [&](int how) {
    if (how & 8) row.type()->hang_up(both.call());
    if (how & 16) row.begin(both.answer(), false, -100);
  });
  return 0;
}
