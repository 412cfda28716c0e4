// SPDX-License-Identifier: MIT
//
// Reads JSON of unknown origin, and writes JSON for other programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace offhook {

/// Limits of JSON that is read. Offhook's files are far below them. They bound the stack, the memory (kJsonValueBytes)
/// and the time (an ordered object searches its members one by one).
inline constexpr int kDeepestJson = 64;                    ///< levels of nesting
inline constexpr std::size_t kMostJsonValues = 2'000'000;  ///< values in one text
inline constexpr std::size_t kJsonValueBytes = 150;        ///< greatest memory of a value without its text
inline constexpr std::size_t kMostJsonMembers = 1'000;     ///< members of one object

/// Escape characters that are valid in a JSON string but control a terminal: DEL and C1.
std::string escape_in_json(std::string text);

/// The value as text. Bytes of a string that are not UTF-8, as in some file names, become U+FFFD.
/// @param indent  -1: one line
template <typename Json>
std::string json_text(const Json& value, int indent = -1) {
  return escape_in_json(value.dump(indent, ' ', false, Json::error_handler_t::replace));
}

/// The message of an error, without the library's error number. @return "type must be string, but is number"
std::string_view in_words(const nlohmann::json::exception& e);

/// Check nesting and sizes before a text is parsed, in one pass. Invalid JSON is left to the parser.
/// Requires enough free memory for the values: the library needs memory to free a tree, and if there is none it ends
/// the process.
/// @throws nlohmann::json::other_error that names the limit; std::bad_alloc
void check_json(std::string_view text);

/// @throws Json::exception: with the position of a syntax error; the exceptions of check_json()
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text) {
  check_json(text);
  return Json::parse(text);
}

}  // namespace offhook
