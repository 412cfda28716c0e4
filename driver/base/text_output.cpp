// SPDX-License-Identifier: MIT
#include "driver/base/text_output.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "driver/base/terminal.h"

namespace offhook {

void TextOutput::write(std::string_view text, Privacy privacy) const {
  std::string whole(text);
  if (!whole.ends_with('\n')) whole += '\n';
  if (alone()) {
    say("{}", Lines(whole));
  } else if (asked()) {
    write_file(path, whole, privacy);
  }
}

void expect_one_alone(std::initializer_list<const TextOutput*> outputs) {
  if (std::count_if(outputs.begin(), outputs.end(), [](const TextOutput* o) { return o->alone(); }) > 1)
    throw std::runtime_error("only one of them can go to standard output: give --json, --csv or --perfetto a file");
}

std::vector<std::string> with_text_outputs(std::vector<std::string> words) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {  // the following words are not options
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    bool lacks_file = false;
    for (const TextOption& option : {kJsonOption, kCsvOption, kPerfettoOption}) {
      const bool file = next == "-" || next.starts_with("/dev/") || next.ends_with(option.ending);
      lacks_file = lacks_file || (words[i] == option.name && !file);
    }
    out.push_back(std::move(words[i]));
    if (lacks_file) out.emplace_back("-");
  }
  return out;
}

}  // namespace offhook
