// SPDX-License-Identifier: MIT
#include "src/live_page/request.h"

#include <arpa/inet.h>

#include <algorithm>

#include "driver/base/words.h"

namespace offhook::live_page {

namespace {

/// The next line of `text`, from which it is removed.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_visible(char c) {
  return c > ' ' && c < 0x7f;
}

/// METHOD, target and version: three words of visible ASCII.
bool is_request_line(std::string_view line) {
  return line.size() <= kMostLineOctets &&
         std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || is_visible(c); }) &&
         std::count(line.begin(), line.end(), ' ') == 2 && line.find("  ") == std::string_view::npos &&
         !line.starts_with(' ') && (line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0")) &&
         line.find(" /") != std::string_view::npos;
}

}  // namespace

std::size_t head_octets(std::string_view text) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    if (text.substr(at + 1).starts_with('\n')) return at + 2;
    if (text.substr(at + 1).starts_with("\r\n")) return at + 3;
  }
  return 0;
}

std::optional<RequestHead> parse_head(std::string_view head) {
  if (head.size() > kMostHeadOctets) return std::nullopt;
  RequestHead parsed;
  parsed.line = take_line(head);
  if (!is_request_line(parsed.line)) return std::nullopt;
  for (std::size_t lines = 0; !head.empty(); ++lines) {
    const std::string_view line = take_line(head);
    if (line.empty()) return parsed;
    const std::size_t colon = line.find(':');
    if (lines == kMostHeaderLines || colon == std::string_view::npos || colon == 0) return std::nullopt;
    if (!same_word(line.substr(0, colon), "host")) continue;
    const std::string_view host = trimmed(line.substr(colon + 1), " \t");
    if (parsed.host || host.size() > 255 || !std::all_of(host.begin(), host.end(), is_visible)) return std::nullopt;
    parsed.host = host;
  }
  return std::nullopt;  // no empty line
}

bool host_is_ours(std::string_view host, std::string_view name) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    const std::string address(host.substr(1, end - 1));
    in6_addr six;
    return inet_pton(AF_INET6, address.c_str(), &six) == 1;
  }
  const std::string word(host.substr(0, host.rfind(':')));
  in_addr four;
  return inet_pton(AF_INET, word.c_str(), &four) == 1 || same_word(word, "localhost") ||
         (!name.empty() && same_word(word, name));
}

}  // namespace offhook::live_page
