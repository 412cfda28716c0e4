// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "src/decode/line/change.h"
#include "src/decode/line/link.h"
#include "src/decode/start_up/start_up.h"
#include "src/decode/v34/data_mode.h"
#include "src/decode/v34/pcm_upstream.h"
#include "src/decode/v34/training.h"

namespace offhook::decode {

/// The signals after one INFO1a: Phases 3 and 4, data mode and renegotiations until the next.
struct Training {
  double info1a_t = 0;
  bool begins_in_data = false;  ///< the recording begins in data mode: there is no INFO1a
  bool without_info1a = false;  ///< INFO1a was not read: symbol rates and carriers are those whose training was found
  bool pcm = false;             ///< V.90: from_2400 is the upstream direction, from_1200 is empty
  /// The signals of the modem with INFO sequences at 1200 Hz (V.34's call modem, V.90's digital one), or at 2400 Hz.
  struct Side {
    Direction direction;
    std::vector<double> own_tone_s;  ///< begins of its tone of Phase 2: for a retrain, the end of data
    std::vector<Segment> segments;
    std::vector<V34DataHeard> data;
    std::vector<Link> links;  ///< one for each of data
    /// Start-up's last MP, and its E; null if there is none.
    const MpHeard* mp() const;
    const Segment* started() const;
    /// All CP sequences, and the last one for the data mode of start-up; null if there is none.
    std::vector<const CpHeard*> cps() const;
    const CpHeard* cp() const;
  } from_1200, from_2400;
  /// Whether the coefficients for the data of `side` behind the E that ends at `e_end`, s, were sent before the
  /// recording.
  bool precoder_is_missing(const Side& side, double e_end) const;
  DownstreamHeard downstream;          ///< of V.90
  PcmUpstreamHeard pcm_upstream;       ///< of V.92, if from_2400.direction.pcm; its segments are moved to from_2400
  std::vector<Link> downstream_links;  ///< one for each of its data
  v34::RatePair rates{};               ///< agreed in Phase 4, in 2400 bit/s; 0: unknown
};

/// Whether there is an INFO1a, which a training follows.
bool chooses_training(const StartUp& start_up);

/// Whether an INFO1a chooses PCM: V.90 or V.92.
bool chooses_pcm(const StartUp& start_up);

/// Phases 3 and 4, data mode, renegotiations and cleardowns of both directions after each INFO1a.
/// @param data_mode  whether data are read
std::vector<Training> find_trainings(const Recording& recording, const StartUp& start_up, bool data_mode = true);

/// The links that those of a training continue, over a retrain; null: none.
struct LastLinks {
  const Link *from_1200 = nullptr, *from_2400 = nullptr, *downstream = nullptr;
};

/// Reads the signals after the INFO1a of `training`, in the directions that it chose, up to `to_s`.
void read_training(const Recording& recording, const StartUp& start_up, double to_s, bool data_mode, Training& training,
                   const LastLinks& before = {});

/// The joined content of the links of all trainings: a retrain ends no link of V.42. @param call_channel  -1: unknown
void join_links(std::vector<Training>& trainings, int call_channel);

/// The rate renegotiations and cleardowns, in order of time. Signals of both ends within two seconds are one of them.
std::vector<Change> find_changes(const std::vector<Training>& trainings, int call_channel);

}  // namespace offhook::decode
