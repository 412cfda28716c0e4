// SPDX-License-Identifier: MIT
//
// The results of decoding a recorded call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/decode/call/hypotheses.h"
#include "src/decode/fax/fax.h"
#include "src/decode/line/connection.h"
#include "src/decode/line/echo.h"
#include "src/decode/line/recording.h"
#include "src/decode/line/symbol_clock.h"
#include "src/decode/modulation/fsk.h"
#include "src/decode/start_up/call_signals.h"
#include "src/decode/start_up/start_up.h"
#include "src/decode/v34/trainings.h"

namespace offhook::decode {

struct Call {
  Recording recording;                      ///< after analyse() without its samples
  std::vector<double> activity_end_s;       ///< by channel: end of the signal
  std::vector<std::vector<double>> power;   ///< by channel: mean square of each kPowerS of the original recording
  std::vector<std::vector<EchoPath>> echo;  ///< by channel: of the other one; cancelled in `recording` before trainings
  /// The second channel's clock is faster, by the echo between the channels; nothing: they have one clock, or no echo.
  std::optional<double> clock_difference_ppm;
  std::vector<std::string> spectrograms;  ///< by channel, of the original recording, with all echoes
  StartUp start_up;
  std::vector<Training> trainings;
  Connection connection;            ///< of V.32bis or V.22bis, searched if there are no trainings of V.34
  std::vector<CallSignal> signals;  ///< digits, call progress, caller ID, calling tones
  FaxHeard fax;                     ///< searched if there are no trainings of V.34
  std::vector<FskHeard> fsk;        ///< V.21, V.23 or Bell 103 outside of V.8, when there is nothing of the above
  std::vector<SymbolClock> symbol_clocks;  ///< by channel, of a recording that begins in data mode
  bool begins_behind_start_up = false;     ///< the first Phase 2 is a retrain's, behind a steady signal
  double bell_answer_s = 0;                ///< start of 2225 Hz before V.22's signals; 0: none
  Scores rivals;                           ///< of technologies whose detector found less evidence than another's
  bool data_mode = true;                   ///< data modes of V.34 were searched
  static constexpr double kPowerS = 0.01;
  bool is_fax() const;
  bool cm_is_of_fax() const;            ///< by its call function
  const char* modulation() const;       ///< "V.34", "V.90/V.92 downstream PCM", the connection's, or null
  int retrains() const;                 ///< by their INFO1a, V.34 and V.90
  std::vector<Change> changes() const;  ///< renegotiations, retrains by other signs and cleardown, in order of time
};

/// @param progress, data_mode  as in Options of offhook/decode.h
Call analyse(Recording recording, const std::function<void(double, const std::string&)>& progress = {},
             bool data_mode = true);

}  // namespace offhook::decode
