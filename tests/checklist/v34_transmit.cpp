// SPDX-License-Identifier: MIT
//
// What a V.34 transmitter puts on the line in Phase 3: S (128T), S-bar (16T), PP (288T), TRN (1500T), as 16-bit samples
// of 8000 Hz on standard output, for tests/checklist/v34_waveform_test.py.
//
//   v34_transmit SYMBOL_RATE CARRIER ROLE      of 0 to 5, low or high, call or answer
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "dsp/qam/modulator.h"
#include "dsp/v34/coding/framing.h"
#include "dsp/v34/session/transmit_signals.h"

using namespace offhook;
using namespace offhook::v34;

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: v34_transmit 0..5 low|high call|answer\n", stderr);
    return 1;
  }
  const auto symbol_rate = static_cast<SymbolRate>(std::atoi(argv[1]));
  const Carrier carrier = std::string_view(argv[2]) == "low" ? Carrier::kLow : Carrier::kHigh;
  const oh_pump_role role = std::string_view(argv[3]) == "call" ? OH_PUMP_CALL : OH_PUMP_ANSWER;
  qam::Modulator modulator;
  modulator.init(band(symbol_rate, carrier), 4000);
  TransmitSignals signals(scrambling_of(role));
  signals.start(Signal::kS);
  while (true) {
    if (modulator.wants_symbol()) {
      if (signals.ended()) {
        if (signals.signal() == Signal::kTrn) return 0;
        if (signals.signal() == Signal::kPp) {
          signals.start_trn(TrainingPoints::k4, 1500);
        } else {
          signals.start(signals.signal() == Signal::kS ? Signal::kSBar : Signal::kPp);
        }
      }
      modulator.put(signals.next());
    }
    const auto sample = static_cast<int>(std::lrint(modulator.next()));
    std::putchar(sample & 0xff);
    std::putchar(sample >> 8 & 0xff);
  }
}
