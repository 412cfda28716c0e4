// SPDX-License-Identifier: MIT
//
// A summary of a recorded call: technology and evidence, rates, changes of the connection, and how far each direction
// was read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/decode/call/hypotheses.h"

namespace offhook::decode {

struct Call;

struct Verdict {
  struct Direction {
    const char* name;  ///< "call to answer", "answer to call", "upstream", "downstream", or "channel 0"
    int channel = -1;  ///< -1: not recorded
    int bit_rate = 0;  ///< 0: not read
    /// "both MPs", "not read"; other than V.34: "CP", "rate signals", "its symbols", "nominal"
    const char* rate_from = "not read";
    bool to_the_end = false;      ///< its data mode was read to the end
    double hole_s = 0;            ///< but an earlier one was not, from here on; 0: all were
    double hole_end_s = 0;        ///< up to here; 0: unknown
    double spoilt_s = 0;          ///< and first not decodable here, in their midst; 0: nowhere
    double since_s = 0;           ///< else: from here on it was not followed
    std::string reason{};         ///< because
    std::size_t good_frames = 0;  ///< HDLC
    int bad_frames = 0;
    std::string format{};  ///< of start-stop characters: "8N1"; empty: none were read
    std::size_t characters = 0;
    const char* detection = nullptr;  ///< of V.42: "ODP", "ADP" ..., or null
  };

  std::string technology;             ///< "V.34", "V.92 Quick Connect", ..., or "no modem found"
  bool found = true;                  ///< something of a modem or fax machine was heard
  std::vector<std::string> evidence;  ///< the evidence, in sentences
  Scores scores{};                    ///< of all hypotheses that some evidence supports
  Weight weight{};                    ///< how much it tells, and what else the signal might be
  int retrains = 0, renegotiations = 0, cleardowns = 0;
  std::vector<Direction> directions;
};

Verdict verdict_of(const Call& call);

/// "98 %, next best hypothesis: V.90"; empty: nothing is named
std::string describe_weight(const Verdict& verdict);

/// "20 good frames, 1 bad", "no frames, V.42's ODP alone" or "no frames"
std::string describe_frames(const Verdict::Direction& direction);

/// "data decoded to the end", the same with ", but not those after 13.1 s", or "data not followed since 21.0 s because
/// ..."
std::string describe(const Verdict::Direction& direction);

}  // namespace offhook::decode
