// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "dsp/v34/phase2/info.h"
#include "src/decode/line/recording.h"

namespace offhook::decode {

/// An INFO sequence of V.34 or V.90 with a good CRC. Times in seconds, the amplitude is a peak in int16 units.
struct InfoHeard {
  int channel = 0;
  int carrier_hz = 0;
  double t0 = 0, t1 = 0;  ///< first and last bit, fill bits included
  double amplitude = 0;
  double clarity = 0;              ///< mean |cosine| of the turns, 1 on a clean line
  int phases = 0;                  ///< of the eight sampling phases, in how many the CRC was good
  std::vector<std::uint8_t> bits;  ///< as received, fill bits included
  std::vector<int> ones;           ///< of the phases, how many have a one, by bit
  std::variant<v34::Info0, v34::Info0d, v34::Info1c, v34::Info1a, v34::Info1aV90> info;
  const char* type() const;  ///< "INFO0c", "INFO0a", "INFO0d", "INFO1c", "INFO1d", "INFO1a"
  bool is_info0() const { return info.index() < 2; }
  /// INFO0 of a modem of V.90 or V.92: V.92's use of the bits of V.34's transmit clock, which V.90 reserves. INFO0a has
  /// them the other way round than INFO0d: modems that send QC with a full Phase 2 set only bit 26.
  bool is_v90() const { return info.index() == 1 || (info.index() == 0 && far_digital); }
  bool v92_capable() const { return is_v90() && bits[info.index() == 1 ? 27 : 26] != 0; }
  bool v92_short_phase2() const { return is_v90() && bits[info.index() == 1 ? 26 : 27] != 0; }
  bool digital = false;      ///< an INFO1c sent by a modem whose INFO0 was INFO0d
  bool far_digital = false;  ///< an INFO at 2400 Hz whose far end sends INFO0d: of an analogue modem of V.90 or V.92
};

inline constexpr double kOnePhase2S = 4;  ///< INFO that are no further apart are of one Phase 2

/// In order of time, echoes removed.
std::vector<InfoHeard> find_infos(const Recording& recording);

}  // namespace offhook::decode
