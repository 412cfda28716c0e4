// SPDX-License-Identifier: MIT
#include "offhook/program.h"
#ifdef OFFHOOK_RADIO
#include "hostsim/air/air.h"
#endif
#ifdef OFFHOOK_FFTW
#include "dsp/audio/pump.h"
#include "hostsim/call/registered_pump.h"
#endif

int main(int argc, char** argv) {
#ifdef OFFHOOK_RADIO
  offhook::hostsim::register_air();
#endif
#ifdef OFFHOOK_FFTW
  for (unsigned partition = 32; const oh_pump_type* type = oh_audio_fftw_type(partition); partition *= 2)
    offhook::hostsim::register_pump(*type);
#endif
  return offhook::run_program(argc, argv);
}
