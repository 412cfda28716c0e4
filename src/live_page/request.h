// SPDX-License-Identifier: MIT
//
// The reading of requests, before the HTTP library sees any of them. A client may send the head of one request, of
// bounded length. The library gets its request line and its host; everything else is dropped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace offhook::live_page {

inline constexpr std::size_t kMostHeadOctets = 8192, kMostLineOctets = 1024, kMostHeaderLines = 100;

struct RequestHead {
  std::string line;                 ///< "GET /status HTTP/1.1"
  std::optional<std::string> host;  ///< from the Host header
};

/// The length of a head including the empty line that ends it; 0 if it has not ended.
std::size_t head_octets(std::string_view text);

/// @param head  up to and including the empty line; may be any bytes  @return nothing if it is not the head of a
/// request that the page accepts
std::optional<RequestHead> parse_head(std::string_view head);

/// Whether a Host header names this server: a numeric address, "localhost", or the name given to the page. Otherwise
/// the page of another server could read this one through a name that resolves to this machine (DNS rebinding).
/// @param host  with or without port  @param name  name given to the page; empty: none
bool host_is_ours(std::string_view host, std::string_view name);

}  // namespace offhook::live_page
