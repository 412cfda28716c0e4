// SPDX-License-Identifier: MIT
#include "driver/base/colour.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "driver/base/printable.h"

namespace offhook {
namespace {

/// ECMA-48 8.3.117, SGR: bold, and green, yellow or red.
const char* code_of(Tone tone) {
  switch (tone) {
    case Tone::kNone:
      return "";
    case Tone::kGood:
      return "1;32";
    case Tone::kDoubtful:
      return "1;33";
    case Tone::kBad:
      return "1;31";
    case Tone::kHead:
      return "1";
  }
  return "";
}

std::string_view in_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

bool has_colours(std::FILE* stream) {
  const std::string_view terminal = in_environment("TERM");
  return isatty(fileno(stream)) == 1 && in_environment("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
}

Tone tone_of(std::string_view verdict) {
  if (verdict == "sufficient") return Tone::kGood;
  if (verdict == "marginal") return Tone::kDoubtful;
  return verdict == "insufficient" ? Tone::kBad : Tone::kNone;
}

Coloured::Coloured(std::FILE* to, Tone tone, std::string_view words) : text(printable(words)) {
  if (tone != Tone::kNone && has_colours(to)) text = fmt::format("\033[{}m{}\033[0m", code_of(tone), text);
}

}  // namespace offhook
