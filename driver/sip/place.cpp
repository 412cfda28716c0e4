// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "driver/base/printable.h"
#include "driver/session/call_progress.h"
#include "driver/sip/phone.h"
#include "driver/sip/session_timer.h"

namespace offhook::sip {

namespace {

constexpr std::size_t kMostPassword = 256;

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
  throw std::runtime_error(fmt::format(
      "sip: \"{}={}\" is not an option; expected local=HOST:PORT, register=no, password-file=FILE, transport=udp, "
      "tcp or tls, ca-file=FILE, cert-file=FILE, verify=no, srtp=yes or no, session-interval=S, "
      "law=pcmu or pcma, ptime=10, 20 or 30, or buffer=MS",
      printable(option.name), printable(option.value)));
}

/// @param[out] srtp  value of that option, if given
void set_option(const CardOption& option, SipPlace* place, std::optional<bool>* srtp) {
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
  } else if (is("transport", "udp") || is("transport", "tcp") || is("transport", "tls")) {
    account.transport = option.value == "tls"   ? Transport::kTls
                        : option.value == "tcp" ? Transport::kTcp
                                                : Transport::kUdp;
  } else if (option.name == "ca-file" || option.name == "cert-file") {
    (option.name == "ca-file" ? account.tls.authorities : account.tls.certificate) = option.value;
  } else if (is("verify", "no") || is("verify", "yes")) {
    account.tls.verifies = option.value == "yes";
  } else if (is("srtp", "no") || is("srtp", "yes")) {
    *srtp = option.value == "yes";
  } else if (option.name == "session-interval") {
    account.session_interval_s = option_number(option, 0, kMostInterval);
    if (account.session_interval_s != 0 && account.session_interval_s < kLeastInterval)
      throw std::runtime_error(fmt::format("session-interval={}: expected 0 (no session timers), or {} to {} s",
                                           account.session_interval_s, kLeastInterval, kMostInterval));
  } else if (is("law", "pcmu") || is("law", "pcma")) {
    account.laws = {option.value == "pcma" ? OH_ALAW : OH_MULAW};
  } else if (is("ptime", "10") || is("ptime", "20") || is("ptime", "30")) {
    account.packet_samples = kSamplesPerMs * option_number(option, 10, 30);
  } else if (option.name == "buffer") {
    place->buffer_samples = kSamplesPerMs * option_number(option, 1, RtpCard::kMostBufferSamples / kSamplesPerMs);
  } else {
    refuse(option);
  }
}

/// @throws std::runtime_error for settings of TLS or keys of SRTP without TLS, or if this build has no SRTP
void check_encryption(const Account& account, const std::optional<bool>& srtp) {
  if (account.transport == Transport::kTls) {
    if (srtp.value_or(true) && !has_srtp())
      throw std::runtime_error(
          "sip: this build has no SRTP (libsrtp2-dev was not installed when it was configured); srtp=no leaves the "
          "samples "
          "unencrypted");
    return;
  }
  if (!account.tls.authorities.empty() || !account.tls.certificate.empty() || !account.tls.verifies)
    throw std::runtime_error("sip: ca-file, cert-file and verify are options of TLS; expected transport=tls with them");
  if (srtp.value_or(false))
    throw std::runtime_error("sip: srtp=yes: the keys of SRTP are in the signalling; expected transport=tls with it");
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
  std::optional<bool> srtp;
  for (const CardOption& option : parts.options) set_option(option, &place, &srtp);
  check_encryption(place.account, srtp);
  place.account.encrypts_media = srtp.value_or(place.account.transport == Transport::kTls);
  return place;
}

std::string sip_number(std::string_view number) {
  constexpr std::string_view kPauses = ",W";
  const bool dialled = number.find_first_not_of(modem::Dialler::kDigits) == std::string_view::npos;
  std::string user;
  for (const char c : number)
    if (!dialled || kPauses.find(c) == std::string_view::npos) user += c == '#' ? "%23" : std::string(1, c);
  if (user.empty() || !is_name(number, dialled ? "*#," : "+*#-._"))
    throw std::invalid_argument(
        fmt::format("\"{}\" cannot be dialled by SIP; expected a number or a name of digits, letters, and + * # - . _",
                    printable(number)));
  return user;
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
