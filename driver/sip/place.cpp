// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "driver/base/printable.h"
#include "driver/sip/phone.h"

namespace offhook::sip {

namespace {

constexpr std::size_t kMostPassword = 256;
constexpr std::uint32_t kPerMs = 8;

bool is_name(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [others](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
  });
}

/// The first line of the file.
std::string read_password(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line) || line.empty())
    throw std::runtime_error(fmt::format("{}: cannot be read, or is empty; expected a password", printable(path)));
  if (line.back() == '\r') line.pop_back();
  if (line.size() > kMostPassword)
    throw std::runtime_error(
        fmt::format("{}: longer than {} octets; expected a password", printable(path), kMostPassword));
  return line;
}

[[noreturn]] void refuse(const CardOption& option) {
  throw std::runtime_error(
      fmt::format("sip: \"{}={}\" is not an option; expected local=HOST:PORT, register=no, password-file=FILE, "
                  "transport=udp or tcp, law=pcmu or pcma, ptime=10, 20 or 30, or buffer=MS",
                  printable(option.name), printable(option.value)));
}

void set_option(const CardOption& option, SipPlace* place) {
  Account& account = place->account;
  const auto is = [&option](std::string_view name, std::string_view value) {
    return option.name == name && option.value == value;
  };
  if (option.name == "local") {
    account.local = internet_address(option.value);
  } else if (option.name == "password-file") {
    account.password = read_password(std::string(option.value));
  } else if (is("register", "no") || is("register", "yes")) {
    account.registers = option.value == "yes";
  } else if (is("transport", "udp") || is("transport", "tcp")) {
    account.tcp = option.value == "tcp";
  } else if (is("law", "pcmu") || is("law", "pcma")) {
    account.laws = {option.value == "pcma" ? OH_ALAW : OH_MULAW};
  } else if (is("ptime", "10") || is("ptime", "20") || is("ptime", "30")) {
    account.packet_samples = kPerMs * option_number(option, 10, 30);
  } else if (option.name == "buffer") {
    place->buffer_samples = kPerMs * option_number(option, 1, RtpCard::kMostBufferSamples / kPerMs);
  } else {
    refuse(option);
  }
}

}  // namespace

SipPlace parse_sip_place(std::string_view text) {
  const CardPlace parts = card_place(text);
  const std::string_view address = parts.words.front();
  const std::size_t at = address.find('@');
  SipPlace place;
  if (parts.words.size() != 1 || at == std::string_view::npos || !is_name(address.substr(0, at), "+-._") ||
      !is_name(address.substr(at + 1), "-._:[]")) {
    throw std::runtime_error(fmt::format("sip:{}: expected sip:USER@HOST or sip:USER@HOST:PORT, without a password",
                                         printable(text.substr(0, text.find(',')))));
  }
  place.account.user = address.substr(0, at);
  place.account.host = address.substr(at + 1);
  place.account.local = internet_address("127.0.0.1:0");
  if (const char* password = std::getenv("OFFHOOK_SIP_PASSWORD")) place.account.password = password;
  for (const CardOption& option : parts.options) set_option(option, &place);
  return place;
}

EndKind end_of_response(unsigned status) {
  switch (status) {
    case 486:  // Busy Here
    case 600:  // Busy Everywhere
    case 603:  // Decline
      return EndKind::kBusy;
    case 408:  // Request Timeout
    case 480:  // Temporarily Unavailable
    case 487:  // Request Terminated
      return EndKind::kNoAnswer;
    case 401:  // Unauthorized
    case 403:  // Forbidden
    case 407:  // Proxy Authentication Required
      return EndKind::kNoService;
    default:
      return EndKind::kOther;
  }
}

}  // namespace offhook::sip
