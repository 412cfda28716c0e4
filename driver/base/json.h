// SPDX-License-Identifier: MIT
//
// JSON that others wrote, and JSON for others to read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace offhook {

/// Nested deeper than this is no file of ours; walking it could use up the stack.
inline constexpr int kDeepestJson = 64;

/// Escape what is valid in a JSON string and commands a terminal all the same: DEL and C1.
std::string escape_in_json(std::string text);

/// The value as text. A string that is no UTF-8, as a file's name may be, gets U+FFFD for the bytes that are none.
/// @param indent  -1: one line
template <typename Json>
std::string json_text(const Json& value, int indent = -1) {
  return escape_in_json(value.dump(indent, ' ', false, Json::error_handler_t::replace));
}

/// What is wrong, without the library's number for it. @return "type must be string, but is number"
std::string_view in_words(const nlohmann::json::exception& e);

/// @throws Json::exception: with the position for what is no JSON; for what is nested too deep
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text) {
  return Json::parse(text, [](int depth, typename Json::parse_event_t, Json&) {
    if (depth > kDeepestJson) {
      throw Json::other_error::create(
          501, "nested deeper than " + std::to_string(kDeepestJson) + " levels, which no file of ours is", nullptr);
    }
    return true;
  });
}

}  // namespace offhook
