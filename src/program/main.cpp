// SPDX-License-Identifier: MIT
#include "offhook/program.h"
#ifdef OFFHOOK_RADIO
#include "hostsim/air/air.h"
#endif

int main(int argc, char** argv) {
#ifdef OFFHOOK_RADIO
  offhook::hostsim::register_air();
#endif
  return offhook::run_program(argc, argv);
}
