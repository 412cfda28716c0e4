// SPDX-License-Identifier: MIT
//
// Phases 3 and 4 of V.34 heard passively in one direction: S, PP, TRN, J, J', MP, E, as often as they come (training,
// retrain, rate renegotiation, cleardown). The analogue modem of V.90 trains in the same way, with CP in place of MP
// and SCR in place of the TRN of Phase 4.
//
// PP and TRN are known symbol by symbol, so they are found by correlation over the whole recording. Each one found
// is an anchor: the receiver is fitted to it and then follows the symbols to the end of the decodable signal.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dsp/v34/session/mp.h"
#include "dsp/v90/coding/cp.h"
#include "src/decode/line/symbol_receiver.h"
#include "src/decode/v34/anchors.h"
#include "src/decode/v34/downstream.h"

namespace offhook::decode {

/// Equal MP sequences one after the other.
struct MpHeard {
  v34::Mp mp;
  std::vector<std::uint8_t> bits;      ///< as received, without fill
  double t_first = 0, t_last_end = 0;  ///< seconds
  int count = 0;
  bool is_cleardown() const { return mp.max_call_to_answer == 0 && mp.max_answer_to_call == 0; }
};

/// Equal CP sequences one after the other.
struct CpHeard {
  v90::Cp cp;
  std::vector<std::uint8_t> bits;                  ///< as received, without fill
  int points = 0;                                  ///< it was sent with, 4 or 16
  double t_first = 0, t_last = 0, t_last_end = 0;  ///< seconds: the first one, the last, and the end of its fill bits
  int count = 0;
};

/// One training segment of one direction: the signals after an anchor, until its signal is lost. All times in seconds.
struct Segment {
  Anchor anchor;
  double t_s = 0, t_s_bar = 0, s_correlation = 0;  ///< S before it; 0 if there is none
  double t_pp = 0;
  double t_trn = 0, t_trn_end = 0;
  int trn_symbols = 0;
  double training_mse_db = 0;  ///< of the fit
  double clock_ppm = 0;        ///< of the sender against the recording
  double frequency_offset_hz = 0;
  double t_j = 0, t_j_end = 0;
  int j_points = 0;  ///< 4 or 16: its request to the far modem; 0: no J
  int j_repeats = 0;
  double t_j_prime = 0;  ///< 0: none
  std::vector<MpHeard> mp;
  std::vector<CpHeard> cp;
  std::optional<v90::Dil> dil;  ///< requested by Ja
  double t_e = 0, t_e_end = 0;  ///< 0: none
  double t_lost = 0;            ///< end of reading
  double t_end = 0;             ///< samples: begin of the next one
  double begins() const { return t_s_bar > 0 ? t_s_bar : t_trn; }
  bool is_phase3() const { return t_pp > 0 || j_repeats > 2; }  ///< PP or J, which no renegotiation has
  bool is_cleardown() const;                                    ///< an MP requests both rates 0, or a CP drn 0
  ReceiverState at_data;          ///< before the first symbol of B1; valid when t_e_end > 0
  ReceiverState trained;          ///< behind TRN; valid when trn_symbols > 0
  std::vector<Cf> constellation;  ///< samples of the equalised symbols of TRN and the sequences
};

/// Follows an S with nothing known after it: rate renegotiation and cleardown without TRN.
/// @param state  a receiver within S, its output in units of four points  @param end  in samples
Segment follow_sequences(const Baseband& line, const Baseband* other, const Direction& direction,
                         const ReceiverState& state, double end);

/// Follows an S and S-bar with nothing known behind them: CPt, or SCR and CP.
/// @param trained  the receiver of the same direction, fitted to an earlier TRN; its output in units of four points
/// @param s_bar  first symbol of S-bar, in samples, to a symbol or so  @param end  in samples
Segment follow_s_bar(const Baseband& line, const Baseband* other, const Direction& direction,
                     const ReceiverState& trained, double s_bar, double end);

/// Follow the signals after each anchor.
std::vector<Segment> follow(const Baseband& line, const Baseband* other, const Direction& direction,
                            const std::vector<Anchor>& anchors);

}  // namespace offhook::decode
