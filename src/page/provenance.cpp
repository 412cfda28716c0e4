// SPDX-License-Identifier: MIT
#include "src/page/provenance.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "driver/base/printable.h"

namespace offhook {
namespace {

constexpr std::string_view kHidden = "HIDDEN";
constexpr std::size_t kMostLength = 4000;  // `decode *.wav` may name thousands of files

std::string stored;

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}
bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_secret(std::string_view name) {
  constexpr std::array<std::string_view, 5> kEndings = {"password", "passwd", "passphrase", "secret", "token"};
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return lower.ends_with(ending); });
}

/// Hides the values of keys (KEY=VALUE) and of options inside the word of another program (--exec "x --password y").
std::string without_values(std::string_view word) {
  std::string out;
  std::size_t at = 0;
  while (at < word.size()) {
    std::size_t end = at;
    while (end < word.size() && is_in_name(word[end])) ++end;
    const std::string_view name = word.substr(at, end - at);
    const bool assigned = end < word.size() && (word[end] == '=' || (is_blank(word[end]) && name.starts_with("--")));
    if (name.empty()) ++end;
    if (!name.empty() && assigned && is_secret(name)) {
      std::size_t value = end + 1;
      while (value < word.size() && word[value] != ',' && !is_blank(word[value])) ++value;
      out.append(word.substr(at, end + 1 - at)).append(kHidden);
      end = value;
    } else {
      out.append(word.substr(at, end - at));
    }
    at = end;
  }
  return out;
}

/// Hides the password of each SCHEME:USER:PASSWORD@HOST and SCHEME://USER:PASSWORD@HOST.
std::string without_userinfo(std::string word) {
  for (std::size_t at = word.find('@'); at != std::string::npos; at = word.find('@', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && !is_blank(word[begin - 1]) && word[begin - 1] != '@') --begin;
    std::size_t colon = word.find(':', begin);
    if (colon >= at || colon == begin || !is_letter(word[colon - 1])) continue;
    colon = word.find(':', colon + 1);
    if (colon >= at || colon + 1 == at) continue;
    word.replace(colon + 1, at - colon - 1, kHidden);
    at = colon + 1 + kHidden.size();
  }
  return word;
}

/// One word for a shell. Characters that a terminal would execute or hide are written as \xNN in $'...'.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "%+,-./:=@^_";
  const auto is_plain = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  const bool escape = printable(word) != word;
  std::string out = escape ? "$'" : "'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (escape && (byte < 0x20 || byte > 0x7e)) {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else if (escape && (c == '\'' || c == '\\')) {
      out += '\\';
      out += c;
    } else if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::string shell_line(std::string_view program, std::span<const std::string> words) {
  std::string line(program);
  bool secret = false;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::string next = secret ? std::string(kHidden) : quoted(without_userinfo(without_values(words[k])));
    secret = !secret && words[k].starts_with("--") && is_secret(words[k]);
    if (line.size() + next.size() > kMostLength)
      return line + " # and " + std::to_string(words.size() - k) + " more arguments";
    line += ' ';
    line += next;
  }
  return line;
}

CommandOfPages::CommandOfPages(std::string line) {
  stored = std::move(line);
}
CommandOfPages::~CommandOfPages() {
  stored.clear();
}

const std::string& command_of_pages() {
  return stored;
}

}  // namespace offhook
