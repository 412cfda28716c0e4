// SPDX-License-Identifier: MIT
//
// Hypotheses about a signal, scored against each other. Each piece of evidence has a weight in bits, and supports all
// technologies that would leave it: INFO0 all those with V.34's Phase 2, INFO1a one kind of them. The score of a
// technology is the sum of its evidence. The sum does not decide, but its margin over the next best hypothesis: the
// evidence that no neighbour has. A script (tests/decode/signals.py) decodes many generated signals of known kind, and
// counts for each range of the margin how often the name is true. The table of these shares gives a verdict its
// probability.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/decode/modulation/fsk.h"
#include "src/decode/start_up/answer_tone.h"

namespace offhook::decode {

struct Call;
struct Connection;
struct SymbolClock;

enum class EvidenceKind {
  kNone,         ///< nothing is named
  kMessages,     ///< messages with a check sequence, or repeated
  kTraining,     ///< scrambler and constellation of a training and its data
  kTwoTones,     ///< two frequencies and the grid of their changes
  kSymbolClock,  ///< a symbol clock, and the middle of its band
  kTone,         ///< answer or calling tones
};
/// @return "messages", "training", "two tones", "symbol clock", "tone"; null: kNone
const char* name_of(EvidenceKind kind);

struct Weight {
  EvidenceKind kind = EvidenceKind::kNone;  ///< of which most of the margin is
  double strength = 0;      ///< bits: the margin over the next best hypothesis; negative: that is better
  double probability = 0;   ///< that the named technology is right; 0: nothing is named
  std::string next_best{};  ///< empty: nothing is named
};

inline constexpr const char *kV90 = "V.90", *kQuickConnect = "V.92 Quick Connect", *kPcmUpstream = "V.92 PCM upstream",
                            *kK56flex = "K56flex", *kOtherPcm = "other PCM modem";

inline constexpr double kUnknownProbability = 0.5;

/// The share of the generated signals whose name was true, of those with a margin of this kind and strength;
/// kUnknownProbability below the least strength that they had, 0 for kNone.
double probability_of(EvidenceKind kind, double strength);

inline constexpr double kMessageBits = 16;  ///< of a message: its check sequence
inline constexpr double kHintBits = 8;      ///< of evidence that does not exclude chance alone

class Scores {
 public:
  /// @param bits  0 makes a hypothesis known, so that it may be the next best one
  void add(EvidenceKind kind, double bits, std::initializer_list<std::string_view> technologies);
  /// Messages of the start-up and the training, which several technologies share.
  void add_messages(const Call& call);
  /// @param own  of the measured SNR  @param family  technologies with its scrambler and symbol rate, `own` too
  void add_training(const Connection& connection, std::string_view own, std::initializer_list<std::string_view> family);
  /// The same of V.22 and V.22bis, or of V.32 and V.32bis. @pre connection.modulation != nullptr
  void add_connection(const Connection& connection);
  void add_two_tones(const Call& call);
  /// CNG, flags, and the call function of CM; the frames of T.30 are messages.
  void add_fax(const Call& call);
  /// @param technology  the name that a clock has; its neighbours share the middle of the band
  void add_symbol_clock(const SymbolClock& clock, const std::string& technology);
  /// All evidence of another hypothesis' scores.
  void add(const Scores& other);
  /// @return of kind kNone for a technology without evidence
  Weight weight_of(std::string_view technology) const;
  double sum_of(std::string_view technology) const;  ///< 0: no evidence
  /// The evidence for one technology alone.
  Scores only(std::string_view technology) const;

 private:
  static constexpr std::size_t kKinds = 6;
  using Bits = std::array<double, kKinds>;
  std::vector<std::pair<std::string, Bits>> all_;  // in the order in which they became known
};

/// Of the signals of two frequencies, one of the modulation with the most evidence; null: there are none.
const FskHeard* best_fsk(const Call& call, const Scores& scores);

}  // namespace offhook::decode
