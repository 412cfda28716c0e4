// SPDX-License-Identifier: MIT
#include "src/program/command/earlier_spellings.h"

#include <algorithm>
#include <string_view>

namespace offhook::command {
namespace {

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The option that names the file which `--out` named; empty: `--out` is today's name.
std::string_view text_of(const std::vector<std::string>& words) {
  const std::string_view command = words.empty() ? std::string_view() : words[0];
  if (command == "schedule") return "--csv";
  if (command == "report") return "--html";
  if (command == "export") return has(words, "--perfetto") ? "--perfetto" : "--csv";
  if (command == "measure" && !has(words, "host-profile")) return "--json";
  return {};
}

}  // namespace

std::vector<std::string> with_todays_names(std::vector<std::string> words) {
  const std::string_view text = text_of(words);
  const bool is_schedule = !words.empty() && words[0] == "schedule";
  // --out=FILE as --out FILE
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    for (const std::string_view name : {"--out", "--summary", "--repetitions"}) {
      if (!words[i].starts_with(std::string(name) + "=")) continue;
      const std::string value = words[i].substr(name.size() + 1);
      words[i].resize(name.size());
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, value);
    }
  }
  const bool names_file = has(words, "--out") || has(words, "-o");
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string& word = words[i];
    if (word == "--") {  // what follows is no option
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    const bool last = i + 1 == words.size();
    if (word == "--repetitions") {
      out.emplace_back("--repeats");
    } else if (!last && !text.empty() && (word == "--out" || word == "-o")) {
      out.push_back(std::string(text) + "=" + words[++i]);
    } else if (!last && is_schedule && word == "--summary") {
      out.push_back("--json=" + words[++i]);
    } else if (!names_file || word != text) {
      out.push_back(std::move(word));
    }
  }
  return out;
}

}  // namespace offhook::command
