// SPDX-License-Identifier: MIT
//
// Colour on a terminal. It highlights the verdict; the words are complete without it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace offhook {

enum class Tone {
  kNone,
  kGood,      ///< green: nothing broke
  kDoubtful,  ///< yellow: with reserve
  kBad,       ///< red: something was lost, or an error
  kHead       ///< bold: headings
};

/// Whether to use colours: the stream is a terminal, TERM is not "dumb", and NO_COLOR is unset or empty (no-color.org).
bool has_colours(std::FILE* stream);

/// Tone of "sufficient", "marginal" and "insufficient"; kNone for any other word.
Tone tone_of(std::string_view verdict);

/// A text that say() makes printable and colours, if `to` has colours.
struct Coloured {
  Coloured(std::FILE* to, Tone tone, std::string_view words);
  std::string text;
};
inline std::string for_terminal(const Coloured& coloured) {
  return coloured.text;
}

}  // namespace offhook
