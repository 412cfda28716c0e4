// SPDX-License-Identifier: MIT
//
// Every receiver of a fax machine hears tones and noise that the input chooses. T.30 gets the input's octets as frames
// of a far end. Two modems of class 1, or one of class 2.0 and one of class 1, get them as operations and as data of
// their programs.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "driver/fax/class1.h"
#include "driver/fax/class2.h"
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

// Each byte is 20 ms of a tone of 16 Hz times its value, with a level from the previous byte.
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

// A report of each kind in the pump's form: a length, then that number of octets.
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

/// A program: an operation, then data while the modem has room.
struct Program {
  void begin(std::uint8_t order) {
    if (class1.busy()) return;
    const auto codes = fax::page_modulations();
    const int code = codes[order / 8 % codes.size()].code;
    switch (order % 8) {
      case 0:
        return class1.call();
      case 1:
        return class1.answer();
      case 2:
        return class1.send_frames();
      case 3:
        return class1.receive_frames(1 + order / 64);
      case 4:
        return class1.send_silence(order);
      case 5:
        return class1.await_silence(order);
      default:
        if (!(order % 8 == 6 ? class1.send_page(code) : class1.receive_page(code, 2))) std::abort();
    }
  }
  Machine machine;
  fax::Class1 class1{machine.self};
};

/// Two pumps on a line without delay, in blocks of 20 ms.
struct Line {
  void pass(Machine& a, Machine& b) {
    fax::pump_type()->process(a.self, to_a, from_a, 160);
    fax::pump_type()->process(b.self, to_b, from_b, 160);
    std::copy_n(from_a, 160, to_b);
    std::copy_n(from_b, 160, to_a);
  }
  std::int16_t to_a[160] = {}, to_b[160] = {}, from_a[160], from_b[160];
};

void serve(fax::ServiceClass& modem) {
  modem.poll();
  modem.drop(modem.octets().size());
  modem.take_outcome();
}
void put(fax::ServiceClass& modem, const std::uint8_t* data, std::size_t n) {
  modem.put({reinterpret_cast<const char*>(data), std::min(n, modem.room())});
}

// Three octets per step: operations or data of one terminal, and the number of blocks that follow.
void talk(const std::uint8_t* data, std::size_t size) {
  Program a, b;
  Line line;
  for (std::size_t k = 1; k + 3 < size && k < 600; k += 3) {
    Program& p = data[k] & 1 ? a : b;
    if (data[k] & 2) {
      p.begin(data[k + 1]);
    } else {
      put(p.class1, data + k, std::min<std::size_t>(data[k + 1], size - k));
    }
    for (int block = 0; block <= data[k + 2] % 64; ++block) {
      line.pass(a.machine, b.machine);
      serve(a.class1);
      serve(b.class1);
    }
  }
}

/// A program with a modem of class 2.0, whose far end says whatever it likes in frames with a good check.
struct Class2Program {
  void begin(std::uint8_t order) {
    if (class2.busy()) return;
    switch (order % 4) {
      case 0:
        return class2.send_page();
      case 1:
        return class2.receive_page();
      case 2:
        return class2.judge_page(order >> 2 & 3);
      default:
        if (order > 240) class2.hang_up();
    }
  }
  Machine machine;
  fax::Class2 class2{machine.self,
                     {.own = {}, .ident = "+1 555", .reversed = true, .tells_far = true, .tells_ident = true}};
};

// Three octets per step, as in talk(); a frame of the far end follows an odd third octet.
void converse(const std::uint8_t* data, std::size_t size) {
  Class2Program a;
  Program b;
  (data[0] & 1 ? a.class2.call() : a.class2.answer());
  Line line;
  for (std::size_t k = 1; k + 3 < size && k < 600; k += 3) {
    if (data[k] & 1) {
      a.begin(data[k + 1]);
    } else if (data[k] & 2) {
      put(a.class2, data + k, std::min<std::size_t>(data[k + 1], size - k));
    } else if (!b.class1.busy()) {
      b.class1.send_frames();
      const int fields[] = {0x80, 0x82, 0x84, 0x44, 0x4E, 0x8E, 0x2E, 0x8C, 0xCC, 0x4C, 0xFA, 0x1A};
      const auto information =
          std::string(reinterpret_cast<const char*>(data + k), std::min<std::size_t>(data[k + 1] % 16, size - k));
      b.class1.put(fax::stuffed(fax::frame_of(fields[data[k + 2] % 12], true, information)) +
                   std::string(fax::kEndOfData));
    }
    for (int block = 0; block <= data[k + 2] % 128; ++block) {
      line.pass(a.machine, b.machine);
      serve(a.class2);
      serve(b.class1);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  if (data[0] & 128) {
    hear(data, size);
  } else if (data[0] & 64) {
    talk(data, size);
  } else if (data[0] & 32) {
    converse(data, size);
  } else {
    Machine m;
    report(m, data, size);
  }
  return 0;
}
