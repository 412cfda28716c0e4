// SPDX-License-Identifier: MIT
#include "driver/sip/sdp.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace offhook::sip {

namespace {

constexpr std::uint32_t kPerMs = 8;
constexpr std::size_t kMostOctets = 8192;
constexpr std::size_t kMostCryptoLines = 16;

/// Removes the text up to `end`, and `end`. @return the text
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return word;
}

std::optional<unsigned> number(std::string_view text, unsigned most) {
  unsigned n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n > most) return std::nullopt;
  return n;
}

/// "IN IP4 192.0.2.1"; no names, because a far end could otherwise cause name look-ups.
std::optional<InternetAddress> connection(std::string_view value) {
  if (take_until(value, ' ') != "IN") return std::nullopt;
  const bool six = take_until(value, ' ') == "IP6";
  const std::string host(value.substr(0, value.find('/')));
  InternetAddress address;
  address.storage.ss_family = six ? AF_INET6 : AF_INET;
  address.length = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  void* to = six ? static_cast<void*>(&reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_addr)
                 : static_cast<void*>(&reinterpret_cast<sockaddr_in*>(&address.storage)->sin_addr);
  if (inet_pton(address.storage.ss_family, host.c_str(), to) != 1) return std::nullopt;
  return address;
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return (x >= 'a' && x <= 'z' ? x - 'a' + 'A' : x) == y;
         });
}

/// The lines of a description that belong to the first audio stream or to the whole session.
class Reader {
 public:
  void line(char type, std::string_view value) {
    if (type == 'm') {
      media(value);
    } else if (type == 'c' && !other_) {
      if (const auto found = connection(value)) (in_audio_ ? own_ : session_) = found;
    } else if (type == 'a' && !other_) {
      attribute(value);
    }
  }
  MediaDescription result() const {
    if (!has_audio_) throw std::runtime_error("it describes no audio");
    if (!plain_ && !encrypted_) throw std::runtime_error("it requests another transport than RTP/AVP and RTP/SAVP");
    if (encrypted_ && crypto_.empty())
      throw std::runtime_error("it has no key for SRTP that is usable here (AES_CM_128_HMAC_SHA1, inline)");
    if (laws_.empty()) throw std::runtime_error("it offers no G.711: a path with another codec does not carry a modem");
    if (port_ == 0) throw std::runtime_error("it refuses the audio stream");
    const auto& address = own_ ? own_ : session_;
    if (!address) throw std::runtime_error("it has no numeric address");
    MediaDescription made;
    made.media.remote = *address;
    made.media.remote.set_port(static_cast<std::uint16_t>(port_));
    made.laws = laws_;
    made.media.law = laws_.front();
    if (ptime_ == 10 || ptime_ == 20 || ptime_ == 30) made.media.packet_samples = kPerMs * ptime_;
    made.on_hold = on_hold_;
    made.encrypted = encrypted_;
    if (encrypted_) made.crypto = crypto_;
    return made;
  }

 private:
  void media(std::string_view value) {
    in_audio_ = !has_audio_ && take_until(value, ' ') == "audio";
    other_ = !in_audio_;
    if (!in_audio_) return;
    has_audio_ = true;
    port_ = number(take_until(value, ' '), 65535).value_or(0);
    const std::string_view transport = take_until(value, ' ');
    plain_ = transport == "RTP/AVP";
    encrypted_ = transport == "RTP/SAVP";
    while (!value.empty()) {
      const auto type = number(take_until(value, ' '), 127);
      if (type == kPcmuType) add(OH_MULAW);
      if (type == kPcmaType) add(OH_ALAW);
    }
  }
  void add(oh_encoding law) {
    if (std::find(laws_.begin(), laws_.end(), law) == laws_.end()) laws_.push_back(law);
  }
  void attribute(std::string_view value) {
    const std::string_view name = take_until(value, ':');
    if (name == "ptime") ptime_ = number(value, 1000).value_or(0);
    if (name == "sendrecv") on_hold_ = false;
    if (name == "sendonly" || name == "recvonly" || name == "inactive") on_hold_ = true;
    if (name == "crypto" && in_audio_ && crypto_.size() < kMostCryptoLines)
      if (const auto line = parse_crypto(value)) crypto_.push_back(*line);
    // A static type that is mapped to something else is not G.711.
    if (name != "rtpmap" || !in_audio_) return;
    const auto type = number(take_until(value, ' '), 127);
    const std::string_view codec = take_until(value, '/');
    if (type == kPcmuType && !same_word(codec, "PCMU")) std::erase(laws_, OH_MULAW);
    if (type == kPcmaType && !same_word(codec, "PCMA")) std::erase(laws_, OH_ALAW);
  }

  bool in_audio_ = false, has_audio_ = false, other_ = false, plain_ = false, encrypted_ = false, on_hold_ = false;
  unsigned port_ = 0, ptime_ = 0;
  std::vector<oh_encoding> laws_;
  std::vector<CryptoLine> crypto_;
  std::optional<InternetAddress> session_, own_;
};

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static_assert(kSrtpKeyOctets % 3 == 0, "a key in base64 has no padding");

/// @return false: it is not a key in base64
bool read_key(std::string_view text, std::array<std::uint8_t, kSrtpKeyOctets>* octets) {
  if (text.size() != kSrtpKeyOctets / 3 * 4) return false;
  for (std::size_t k = 0; k < octets->size(); k += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t digit = kBase64.find(text[k / 3 * 4 + i]);
      if (digit == std::string_view::npos) return false;
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t i = 0; i < 3; ++i) (*octets)[k + i] = static_cast<std::uint8_t>(bits >> (16 - 8 * i));
  }
  return true;
}

std::string write_key(const std::array<std::uint8_t, kSrtpKeyOctets>& octets) {
  std::string text;
  for (std::size_t k = 0; k < octets.size(); k += 3) {
    const std::uint32_t bits = std::uint32_t{octets[k]} << 16 | std::uint32_t{octets[k + 1]} << 8 | octets[k + 2];
    for (int shift = 18; shift >= 0; shift -= 6) text += kBase64[bits >> shift & 63];
  }
  return text;
}

/// "inline:KEY", and a lifetime, which we do not reach. A number of a master key (MKI) is not supported.
bool read_key_parameter(std::string_view text, std::array<std::uint8_t, kSrtpKeyOctets>* octets) {
  if (take_until(text, ':') != "inline") return false;
  if (!read_key(take_until(text, '|'), octets)) return false;
  return text.find_first_of(":|;") == std::string_view::npos;
}

/// Session parameters that change nothing here: the window for replays, and those that say so themselves (RFC
/// 4568 6.3).
bool changes_nothing(std::string_view parameter) {
  return parameter.empty() || parameter.front() == '-' || parameter.starts_with("WSH=");
}

constexpr std::string_view kSuites[] = {"AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_32"};

}  // namespace

MediaDescription parse_sdp(std::string_view text) {
  if (text.size() > kMostOctets) throw std::runtime_error("it is longer than 8 KiB");
  Reader reader;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.size() >= 2 && line[1] == '=') reader.line(line[0], line.substr(2));
  }
  return reader.result();
}

std::optional<CryptoLine> parse_crypto(std::string_view value) {
  CryptoLine line;
  constexpr unsigned kMostTag = 999'999'999;  // nine digits
  const auto tag = number(take_until(value, ' '), kMostTag);
  if (!tag) return std::nullopt;
  line.tag = *tag;
  const std::string_view suite = take_until(value, ' ');
  if (suite != kSuites[0] && suite != kSuites[1]) return std::nullopt;
  line.key.suite = suite == kSuites[0] ? SrtpSuite::kTagOf80Bits : SrtpSuite::kTagOf32Bits;
  if (!read_key_parameter(take_until(value, ' '), &line.key.octets)) return std::nullopt;
  while (!value.empty())
    if (!changes_nothing(take_until(value, ' '))) return std::nullopt;
  return line;
}

std::string write_sdp(const OwnDescription& own) {
  const InternetAddress& local = own.local;
  const bool six = local.storage.ss_family == AF_INET6;
  std::string host = local.text();
  host = six ? host.substr(1, host.rfind(']') - 1) : host.substr(0, host.rfind(':'));
  const char* family = six ? "IP6" : "IP4";
  std::string types, maps;
  for (const oh_encoding law : own.laws) {
    types += fmt::format(" {}", payload_type_of(law));
    maps += fmt::format("a=rtpmap:{} {}/8000\r\n", payload_type_of(law), law == OH_ALAW ? "PCMA" : "PCMU");
  }
  std::string crypto;
  if (own.crypto)
    crypto = fmt::format("a=crypto:{} {} inline:{}\r\n", own.crypto->tag,
                         kSuites[own.crypto->key.suite == SrtpSuite::kTagOf32Bits ? 1 : 0],
                         write_key(own.crypto->key.octets));
  return fmt::format(
      "v=0\r\no=- {} {} IN {} {}\r\ns=modem\r\nc=IN {} {}\r\nt=0 0\r\nm=audio {} RTP/{}{}\r\n{}{}a=ptime:{}\r\n"
      "a=silenceSupp:off - - - -\r\na=sendrecv\r\n",
      own.session, own.version, family, host, family, host, local.port(), own.crypto ? "SAVP" : "AVP", types, maps,
      crypto, own.packet_samples / kPerMs);
}

}  // namespace offhook::sip
