// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace offhook {

/// An address and port of IPv4 or IPv6.
struct InternetAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  std::uint16_t port() const;
  void set_port(std::uint16_t port);
  /// "192.0.2.1:4000", "[2001:db8::1]:4000"
  std::string text() const;
  bool is_loopback() const;
};

/// HOST:PORT. HOST is a name, an address, or an IPv6 address in brackets; without HOST it is 127.0.0.1.
/// Looks names up, which can take seconds.
/// @throws std::runtime_error that names the text and the form that was expected
InternetAddress internet_address(std::string_view text);

/// The address of a socket of this process. @throws std::runtime_error
InternetAddress address_of_socket(int socket);

/// An option of a card's address: NAME=VALUE.
struct CardOption {
  std::string_view name, value;
};

/// A place that is separated by commas: words, then options. All refer to `place`.
struct CardPlace {
  std::vector<std::string_view> words;
  std::vector<CardOption> options;
};
CardPlace card_place(std::string_view place);

/// Parses the whole text as a number. @throws std::runtime_error that names the option and the limits
std::uint32_t option_number(const CardOption& option, std::uint32_t least, std::uint32_t most);

}  // namespace offhook
