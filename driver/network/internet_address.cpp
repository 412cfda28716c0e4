// SPDX-License-Identifier: MIT
#include "driver/network/internet_address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>
#include <stdexcept>

#include "driver/base/printable.h"

namespace offhook {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::runtime_error(fmt::format(
      "\"{}\" is not an address: {}; expected HOST:PORT, such as 127.0.0.1:4000 or [::1]:4000", printable(text), why));
}

}  // namespace

std::uint16_t InternetAddress::port() const {
  const auto* six = reinterpret_cast<const sockaddr_in6*>(&storage);
  const auto* four = reinterpret_cast<const sockaddr_in*>(&storage);
  return ntohs(storage.ss_family == AF_INET6 ? six->sin6_port : four->sin_port);
}

void InternetAddress::set_port(std::uint16_t port) {
  if (storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
  }
}

std::string InternetAddress::text() const {
  char host[NI_MAXHOST];
  if (getnameinfo(get(), length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) return "an unknown address";
  const bool six = storage.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port());
}

bool InternetAddress::is_loopback() const {
  if (storage.ss_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr) != 0;
  constexpr std::uint32_t kLoopback = 127;
  return ntohl(reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr.s_addr) >> 24 == kLoopback;
}

InternetAddress internet_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view port = text.substr(colon == std::string_view::npos ? 0 : colon + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number > 65535) refuse(text, "it has no port");
  std::string host(colon == std::string_view::npos ? "" : text.substr(0, colon));
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    refuse(text, "an IPv6 address is in brackets");
  }
  if (host.empty()) host = "127.0.0.1";
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (const int failure = getaddrinfo(host.c_str(), nullptr, &hints, &found); failure != 0)
    refuse(text, gai_strerror(failure));
  InternetAddress address;
  address.length = found->ai_addrlen;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  address.set_port(static_cast<std::uint16_t>(number));
  return address;
}

InternetAddress address_of_socket(int socket) {
  InternetAddress address;
  address.length = sizeof address.storage;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0)
    throw std::runtime_error("a socket has no address");
  return address;
}

CardPlace card_place(std::string_view place) {
  CardPlace made;
  for (;;) {
    const std::size_t comma = place.find(',');
    const std::string_view word = place.substr(0, comma);
    if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
      made.options.push_back({word.substr(0, equals), word.substr(equals + 1)});
    } else {
      made.words.push_back(word);
    }
    if (comma == std::string_view::npos) return made;
    place.remove_prefix(comma + 1);
  }
}

std::uint32_t option_number(const CardOption& option, std::uint32_t least, std::uint32_t most) {
  std::uint32_t number = 0;
  const char* end = option.value.data() + option.value.size();
  const auto [at, error] = std::from_chars(option.value.data(), end, number);
  if (error != std::errc() || at != end || number < least || number > most) {
    throw std::runtime_error(fmt::format("{}={}: expected a number from {} to {}", printable(option.name),
                                         printable(option.value), least, most));
  }
  return number;
}

}  // namespace offhook
