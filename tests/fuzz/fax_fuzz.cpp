// SPDX-License-Identifier: MIT
//
// Every receiver of a fax machine hears tones and noise that the input chooses. T.30 gets the input's octets as frames
// of a far end.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "driver/fax/terminal.h"

namespace {

using namespace offhook;

struct Machine {
  Machine() {
    oh_pump_config c{};
    c.format = kLinear8000;
    c.role = OH_PUMP_ANSWER;
    c.tx_level_dbm0 = -12;
    memory.resize(fax::pump_type()->size(&c) + 64);
    self = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    if (fax::pump_type()->init(self, &c) != 0) std::abort();
  }
  ~Machine() { fax::pump_type()->release(self); }
  std::vector<unsigned char> memory;
  void* self;
};

// Each byte is 20 ms of a tone of 16 Hz times its value, at a level by the byte before it.
void hear(const std::uint8_t* data, std::size_t size) {
  constexpr struct {
    fax::Signal signal;
    int rate;
  } kReceivers[] = {{fax::Signal::kV21, 300},  {fax::Signal::kV17, 14400},  {fax::Signal::kV17, 7200},
                    {fax::Signal::kV29, 9600}, {fax::Signal::kV29, 7200},   {fax::Signal::kV27ter, 4800},
                    {fax::Signal::kNone, 0},   {fax::Signal::kV27ter, 2400}};
  Machine m;
  fax::Message* order = fax::rings_of(m.self).orders->free_slot();
  order->kind = fax::Kind::kReceive;
  order->signal = kReceivers[data[0] % 8].signal;
  order->value = kReceivers[data[0] % 8].rate;
  order->frames = data[0] & 8;
  order->short_training = data[0] & 16;
  order->turn = 1;
  fax::rings_of(m.self).orders->push();
  std::uint64_t samples = 0;
  double phase = 0;
  for (std::size_t k = 1; k < size && k < 2000; ++k) {
    std::int16_t rx[160], tx[160];
    for (std::int16_t& x : rx) {
      phase += 16.0 * data[k] / 8000;
      x = static_cast<std::int16_t>(128 * data[k - 1] * std::sin(2 * M_PI * phase));
    }
    if (data[k] == 0) {
      fax::pump_type()->report_gap(m.self, 160);
    } else {
      fax::pump_type()->process(m.self, rx, tx, 160);
    }
    samples += 160;
    if (fax::counters_of(m.self).samples != samples) std::abort();
  }
}

// A report of each kind, as the pump makes it: a length, then that number of octets.
void report(Machine& m, const std::uint8_t* data, std::size_t size) {
  fax::Terminal terminal(m.self, {.calls = (data[0] & 1) != 0, .send = {}, .receive = {}});
  std::int16_t rx[160] = {}, tx[160];
  std::uint8_t turn = 0;
  for (std::size_t k = 1; k + 2 < size && k < 4000;) {
    fax::pump_type()->process(m.self, rx, tx, 160);
    terminal.poll();
    turn = static_cast<std::uint8_t>(turn + (data[k] & 1));
    fax::Message* slot = fax::rings_of(m.self).reports->free_slot();
    if (slot == nullptr) std::abort();
    slot->kind = data[k] & 2 ? fax::Kind::kFrame : data[k] & 4 ? fax::Kind::kSent : fax::Kind::kFrameStatus;
    slot->turn = turn;
    slot->value = slot->kind == fax::Kind::kFrameStatus ? -1 - data[k + 1] % 10 : data[k] >> 3 & 1;
    slot->length = static_cast<std::uint16_t>(std::min<std::size_t>(data[k + 1] % 64, size - k - 2));
    std::copy_n(data + k + 2, slot->length, slot->octets.begin());
    fax::rings_of(m.self).reports->push();
    k += 2 + slot->length;
  }
  terminal.poll();
  terminal.end_call();
  if (!terminal.progress().over) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  if (data[0] & 128) {
    hear(data, size);
  } else {
    Machine m;
    report(m, data, size);
  }
  return 0;
}
