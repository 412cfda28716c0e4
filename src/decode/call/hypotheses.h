// SPDX-License-Identifier: MIT
//
// The evidence for a verdict, and what else the signal might be. Each kind of evidence has a strength. From many
// generated signals of known kind, tests/decode/signals.py counts how often a name with that kind and strength is true;
// a table of these shares gives a verdict its probability. The next best hypothesis is the technology that shares most
// of the evidence: what the signal would be if that which tells the two apart were an accident.
#pragma once

#include <string>

#include "src/decode/modulation/fsk.h"
#include "src/decode/start_up/answer_tone.h"

namespace offhook::decode {

struct Call;
struct SymbolClock;

enum class EvidenceKind {
  kNone,         ///< nothing is named
  kMessages,     ///< messages with a check sequence, or repeated; strength: their number
  kTraining,     ///< training and data of V.22bis or V.32bis; strength: SNR of the better direction, dB
  kTwoTones,     ///< two frequencies; strength: their changes, weighted by how well they lie on the grid of bits
  kSymbolClock,  ///< a symbol clock; strength: dB over noise
  kTone,         ///< answer or calling tones; strength: seconds
};
/// @return "messages", "training", "two tones", "symbol clock", "tone"; null: kNone
const char* name_of(EvidenceKind kind);

struct Weight {
  EvidenceKind kind = EvidenceKind::kNone;
  double strength = 0;
  double probability = 0;   ///< that the named technology is right; 0: nothing is named
  std::string next_best{};  ///< empty: nothing is named
};

inline constexpr double kUnknownProbability = 0.5;

/// The share of the generated signals whose name was true, of those with evidence of this kind and strength;
/// kUnknownProbability below the least strength that they had, 0 for kNone.
double probability_of(EvidenceKind kind, double strength);

/// The weight of a name for which `call` has one kind of evidence.
Weight by_messages(const Call& call, std::string next_best);
Weight by_training(const Call& call);
Weight by_two_tones(const Call& call);
Weight by_calling_tones(const Call& call);
Weight by_answer_tones(const Call& call);
/// @param named  whether the name is that of a technology, not of a symbol rate
Weight by_symbol_clock(const SymbolClock& clock, bool named);

}  // namespace offhook::decode
