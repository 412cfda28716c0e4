// SPDX-License-Identifier: MIT
//
// The options `--json [FILE.json]`, `--csv [FILE.csv]` and `--perfetto [FILE.perfetto]` of every command: no text, a
// text on standard output, or one in a file. The next argument is the file only if it has the ending of such a file, so
// that `--json` may precede any other argument.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "driver/base/output.h"

namespace offhook {

/// An option of this kind, and the ending of its file's name.
struct TextOption {
  std::string_view name, ending;
};
inline constexpr TextOption kJsonOption{"--json", ".json"}, kCsvOption{"--csv", ".csv"},
    kPerfettoOption{"--perfetto", ".perfetto"};

struct TextOutput {
  std::string path;  ///< empty: not asked for; "-": standard output

  bool asked() const { return !path.empty(); }
  /// Whether this text goes to standard output, which then has neither progress nor text for people.
  bool alone() const { return path == "-"; }
  /// Does nothing without the option. Ends the text with a line end. @throws std::runtime_error
  void write(std::string_view text, Privacy privacy = Privacy::kShared) const;
};

/// @throws std::runtime_error if several texts would go to standard output
void expect_one_alone(std::initializer_list<const TextOutput*> outputs);

/// A command line in which each of these options has a value, "-" if no file's name follows. A name has the ending of
/// the option, or is "-" or in /dev.
std::vector<std::string> with_text_outputs(std::vector<std::string> words);

}  // namespace offhook
