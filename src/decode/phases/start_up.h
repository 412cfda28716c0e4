// SPDX-License-Identifier: MIT
//
// Phases 1 and 2 of a recorded call, heard passively: the answer tone, the menus of V.8bis and V.8, the INFO sequences
// of both modems, tones A and B with their reversals, and the probing signals.
//
// Everything is looked for everywhere: in both channels, in the band of either modem. The other direction's echo, 30 dB
// down, decodes as well as the signal itself, so what is found twice is kept where it is louder.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dsp/v34/phase2/info.h"
#include "dsp/v8/menu.h"
#include "dsp/v8bis/message.h"
#include "dsp/v90/quick_connect.h"
#include "src/decode/line/recording.h"
#include "src/decode/phases/v8bis_signals.h"

namespace offhook::decode {

/// All times in seconds from the beginning of the recording; amplitudes are peaks in int16 units.
struct AnswerToneHeard {
  int channel = 0;
  double t0 = 0, t1 = 0;
  double amplitude = 0;
  double frequency_hz = 0;
  double depth = 0;  ///< of the 15 Hz modulation
  std::vector<double> reversals;
  bool ansam = false;
  const char* kind() const;  ///< "ANSam with reversals", "ANSam", "ANS with reversals", "ANS"
};

/// CM or JM.
struct MenuHeard {
  int channel = 0;
  double t0 = 0, t1 = 0;
  std::vector<std::uint8_t> octets;  ///< without the synchronization octet
  int identical = 0;                 ///< sequences received with just these octets
  v8::Menu menu;
  double amplitude = 0;
};

struct V8bisMessage {
  int channel = 0;
  bool high_band = false;  ///< of V.21: the responding station's
  double t = 0;
  double amplitude = 0;
  std::vector<std::uint8_t> octets;   ///< of the information field
  std::array<std::uint8_t, 2> fcs{};  ///< in the order received
  bool fcs_good = true;               ///< else it is an invalid frame (7.2.9), and `message` what it seems to say
  v8bis::Message message;
  v8bis::Malformed malformed;
  std::string type() const;  ///< "MS", "CL", ..., "message type 6"
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
  bool digital = false;  ///< an INFO1c sent by a modem whose INFO0 was INFO0d
};

/// One L1 followed by L2.
struct Probing {
  int channel = 0;
  double t0 = 0, t1 = 0, l1_to_l2 = 0;
  double level_db[2]{};              ///< of L1 and L2, 20 log10 of the RMS in int16 units
  std::vector<double> frequency_hz;  ///< of the 21 tones
  std::vector<double> tone_db;       ///< level of each, relative to their mean
  std::vector<double> snr_db;        ///< tone against noise and distortion in 150 Hz around it
};

/// Tone A or B.
struct ToneHeard {
  int channel = 0;  ///< segments: with the INFO sequences on the same carrier that they join
  std::vector<std::pair<double, double>> segments;
  std::vector<double> reversals;
};

struct StartUp {
  std::vector<AnswerToneHeard> answer_tones;
  std::vector<V8bisSignal> v8bis_signals;
  std::vector<V8bisMessage> v8bis;
  std::vector<QuickConnectHeard> quick_connect;
  std::vector<MenuHeard> cm, jm;  ///< best first; at most one each
  double cj = 0;                  ///< 0: none
  int cj_octets = 0;
  std::vector<InfoHeard> info;  ///< in order of time, echoes removed
  int channel_1200 = -1;        ///< where the call modem of Phase 2 (1200 Hz) transmits; -1: unknown
  int channel_2400 = -1;
  int call_channel = -1;
  int answer_channel = -1;
  std::string roles_from;
  ToneHeard tone_a, tone_b;
  std::vector<Probing> probing;
};

StartUp listen_start_up(const Recording& recording);

}  // namespace offhook::decode
