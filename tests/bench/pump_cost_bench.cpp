// SPDX-License-Identifier: MIT
//
// What whole pumps cost in data mode, on the line of pump_cost.h. Exit status 1: a call did not connect, or bits were
// wrong.
//
//   pump_cost_bench [SECONDS [PUMP]]     of data mode, and of which pump alone (v22bis, v32bis, v34); Markdown;
//                                        docs/v32.md names the targets
#include <cstring>

#include "dsp/v22/pump.h"
#include "dsp/v32/pump.h"
#include "dsp/v34/session/pump.h"
#include "tests/bench/pump_cost.h"

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
  bool good = true;
  for (const oh_pump_type* type : {oh_v22bis_type(), oh_v32bis_type(), oh_v34_type()}) {
    if (argc > 2 && std::strcmp(argv[2], type->name) != 0) continue;
    good = offhook::test::print_cost(type, 40, seconds) && good;
    std::printf("\n");
  }
  return good ? 0 : 1;
}
