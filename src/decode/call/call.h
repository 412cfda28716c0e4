// SPDX-License-Identifier: MIT
//
// What is found in a recorded call, and how it is shown: as a timeline in text and as JSON.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/decode/data/data_mode.h"
#include "src/decode/data/link.h"
#include "src/decode/fallback/fallback.h"
#include "src/decode/line/echo.h"
#include "src/decode/line/recording.h"
#include "src/decode/phases/start_up.h"
#include "src/decode/phases/training.h"

namespace offhook::decode {

/// What followed one INFO1a: Phases 3 and 4, data mode and renegotiations until the next.
struct Training {
  double info1a_t = 0;
  bool pcm = false;  ///< V.90: downstream is PCM, only the upstream direction, from the 2400 Hz side, is followed
  struct Side {
    Direction direction;
    std::vector<Passage> passages;
    std::vector<DataHeard> data;
    std::vector<Link> links;  ///< one for each of data
    /// Start-up's last MP, and its E; null where there is none.
    const MpHeard* mp() const;
    const Passage* started() const;
    /// All CP sequences, and the last one for the data mode of start-up; null where there is none.
    std::vector<const CpHeard*> cps() const;
    const CpHeard* cp() const;
  } tx_1200side, tx_2400side;
  v34::RatePair rates{};  ///< agreed in Phase 4, in 2400 bit/s; 0: unknown
};

struct Call {
  Recording recording;
  std::vector<double> activity_end_s;       ///< by channel: where the signal ends
  std::vector<std::vector<EchoPath>> echo;  ///< by channel: of the other one, taken off before the trainings are read
  StartUp start_up;
  std::vector<Training> trainings;
  Fallback fallback;               ///< looked for when there are no trainings of V.34
  const char* modulation() const;  ///< "V.34", "V.90/V.92 downstream PCM", Fallback's, or null
};

/// An MP that asks for both rates 0.
bool is_cleardown(const MpHeard& mp);
/// A passage with such an MP, or with a CP that asks for drn 0; and what its S began, in words.
bool is_cleardown(const Passage& p);
const char* s_purpose(const Passage& p);

/// "CPt", "CP" or "CP'".
const char* cp_name(const v90::Cp& cp);

/// In bit/s, to the nearest; 0: cleardown.
int downstream_rate(const v90::Cp& cp);
/// The highest upstream rate that the mask enables, in bit/s.
int upstream_mask_max(const v90::Cp& cp);

/// One line of the timeline.
struct Event {
  double t = 0;
  double t_end = 0;  ///< 0: a moment
  int channel = 0;
  std::string event;
  std::string detail;
  std::string terse = {};  ///< the same in truth.json's words, where they differ
};

/// @param progress  told what is being done and how far the whole is, 0 to 1; may be empty
Call analyse(Recording recording, const std::function<void(double, const std::string&)>& progress = {});

std::vector<Event> timeline(const Call& call);

/// "analogue, UQTS 78, LAPM".
std::string describe(const v90::QuickConnect& qc);

/// What a link carried, in words: "17 LAPM frames, 0 bad, 1,024 octets".
std::string describe(const Link& link);

/// "by the call modem, 9600 bit/s then".
std::string describe(const Fallback::Change& change);

/// The keys of the recordings' truth.json for all that it knows, and more.
nlohmann::ordered_json to_json(const Call& call);

/// The same as a page that asks for nothing from outside.
std::string to_html(const Call& call);

/// File name and contents: what the I frames carried, "call.bin" and "answer.bin", and all the bits of data mode, eight
/// an octet, the first in bit 0, "call.bits" and "answer.bits". Only of directions whose data were read.
std::vector<std::pair<std::string, std::vector<std::uint8_t>>> payloads(const Call& call);

/// What was found, in a few lines.
std::string summary(const Call& call);

/// For people: what was found, then the timeline.
std::string to_text(const Call& call);

}  // namespace offhook::decode
