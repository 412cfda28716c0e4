// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "dsp/v8/menu.h"
#include "dsp/v90/coding/quick_connect.h"
#include "src/decode/line/recording.h"

namespace offhook::decode {

/// CM or JM.
struct MenuHeard {
  int channel = 0;
  double t0 = 0, t1 = 0;
  std::vector<std::uint8_t> octets;  ///< without the synchronization octet
  std::vector<double> confidence;    ///< of each octet, 0.5 (a guess) to 1 (every repetition agrees on every bit)
  int identical = 0;                 ///< sequences received with just these octets
  int sequences = 0;                 ///< in a row, equal ones or not
  v8::Menu menu;
  double amplitude = 0;
};

/// QC1 or QCA1 of V.92, around V.8's menus. (QC2 and QCA2 are V.8bis messages.)
struct QuickConnectHeard {
  int channel = 0;
  double t = 0;  ///< of its first synchronization octet
  int repeats = 0;
  std::uint8_t octet = 0;
  v90::QuickConnect qc{};
  double amplitude = 0;
};

/// The content of the two channels of V.21 at 300 bit/s: the menus of V.8 and the octets of V.92 around them.
struct V8Heard {
  std::vector<MenuHeard> cm, jm;  ///< the loudest; at most one each
  double cj = 0;                  ///< s; 0: none
  int cj_octets = 0;              ///< whole octets of zeros in a row; V.8 has 3, and senders may send more
  double cj_end() const { return cj + cj_octets * 10 / 300.0; }  ///< s
  std::vector<QuickConnectHeard> quick_connect;
};
V8Heard find_v8(const Recording& recording);

}  // namespace offhook::decode
