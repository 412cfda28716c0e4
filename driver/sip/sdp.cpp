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

#include "driver/base/words.h"

namespace offhook::sip {

namespace {

constexpr std::size_t kMostOctets = 8192;
constexpr std::size_t kMostCryptoLines = 16;

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

/// A stream: its line "m=" and the attributes of its section.
struct Section {
  bool found = false;
  std::size_t line = 0;
  unsigned port = 0;
  std::optional<InternetAddress> address;
};

/// The lines of a description that belong to the first audio stream, to the first of T.38, or to the whole session.
class Reader {
 public:
  void line(char type, std::string_view value) {
    if (type == 'm') {
      media(value);
    } else if (type == 'c' && within_ != Within::kOther) {
      if (const auto found = connection(value)) address() = found;
    } else if (type == 'a' && within_ == Within::kFax) {
      fax_attribute(value);
    } else if (type == 'a' && within_ != Within::kOther) {
      attribute(value);
    }
  }
  MediaDescription result() const {
    MediaDescription made = fax_.found && fax_.port > 0 && audio_.port == 0 ? fax_result() : audio_result();
    made.lines = lines_;
    return made;
  }

 private:
  enum class Within : std::uint8_t { kSession, kAudio, kFax, kOther };
  static constexpr std::size_t kMostLines = 16;

  std::optional<InternetAddress>& address() {
    return within_ == Within::kAudio ? audio_.address : within_ == Within::kFax ? fax_.address : session_;
  }
  InternetAddress remote(const Section& section) const {
    const auto& found = section.address ? section.address : session_;
    if (!found) throw std::runtime_error("it has no numeric address");
    InternetAddress made = *found;
    made.set_port(static_cast<std::uint16_t>(section.port));
    return made;
  }
  MediaDescription fax_result() const {
    if (local_tcf_) throw std::runtime_error("its T.38 tests the line at each end, which is not done over UDPTL");
    MediaDescription made;
    made.fax = {remote(fax_), most_octets_, takes_copies_};
    made.line = fax_.line;
    return made;
  }
  MediaDescription audio_result() const {
    if (!audio_.found) throw std::runtime_error("it describes no audio");
    if (!plain_ && !encrypted_) throw std::runtime_error("it requests another transport than RTP/AVP and RTP/SAVP");
    if (encrypted_ && crypto_.empty())
      throw std::runtime_error("it has no key for SRTP that is usable here (AES_CM_128_HMAC_SHA1, inline)");
    if (laws_.empty()) throw std::runtime_error("it offers no G.711: a path with another codec does not carry a modem");
    if (audio_.port == 0) throw std::runtime_error("it refuses the audio stream");
    MediaDescription made;
    made.media.remote = remote(audio_);
    made.line = audio_.line;
    made.laws = laws_;
    made.media.law = laws_.front();
    if (ptime_ == 10 || ptime_ == 20 || ptime_ == 30) made.media.packet_samples = kSamplesPerMs * ptime_;
    made.on_hold = on_hold_;
    made.encrypted = encrypted_;
    if (encrypted_) made.crypto = crypto_;
    return made;
  }
  void media(std::string_view value) {
    if (lines_.size() == kMostLines) throw std::runtime_error("it describes more than 16 streams");
    const std::string_view kind = take_until(value, ' '), port = take_until(value, ' '),
                           transport = take_until(value, ' ');
    const bool is_audio = !audio_.found && kind == "audio";
    const bool is_fax = !fax_.found && kind == "image" && same_word(transport, "UDPTL") && same_word(value, "T38");
    within_ = is_audio ? Within::kAudio : is_fax ? Within::kFax : Within::kOther;
    const Section begun{true, lines_.size(), number(port, 65535).value_or(0), std::nullopt};
    lines_.push_back({std::string(kind), std::string(transport), std::string(value)});
    if (is_fax) fax_ = begun;
    if (!is_audio) return;
    audio_ = begun;
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
    const bool in_audio = within_ == Within::kAudio;
    if (name == "crypto" && in_audio && crypto_.size() < kMostCryptoLines)
      if (const auto line = parse_crypto(value)) crypto_.push_back(*line);
    // A static type that is mapped to another format is not G.711.
    if (name != "rtpmap" || !in_audio) return;
    const auto type = number(take_until(value, ' '), 127);
    const std::string_view codec = take_until(value, '/');
    if (type == kPcmuType && !same_word(codec, "PCMU")) std::erase(laws_, OH_MULAW);
    if (type == kPcmaType && !same_word(codec, "PCMA")) std::erase(laws_, OH_ALAW);
  }
  void fax_attribute(std::string_view value) {
    const std::string_view name = take_until(value, ':');
    if (same_word(name, "T38FAXMAXDATAGRAM")) most_octets_ = number(value, 65535).value_or(kUsualDatagram);
    if (same_word(name, "T38FAXRATEMANAGEMENT")) local_tcf_ = same_word(value, "LOCALTCF");
    if (same_word(name, "T38FAXUDPEC")) takes_copies_ = !same_word(value, "T38UDPNOEC");
  }

  static constexpr unsigned kUsualDatagram = 400;  // for a far end that does not state it
  Within within_ = Within::kSession;
  Section audio_, fax_;
  std::vector<MediaLine> lines_;
  bool plain_ = false, encrypted_ = false, on_hold_ = false, local_tcf_ = false, takes_copies_ = true;
  unsigned ptime_ = 0;
  std::size_t most_octets_ = kUsualDatagram;
  std::vector<oh_encoding> laws_;
  std::vector<CryptoLine> crypto_;
  std::optional<InternetAddress> session_;
};

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static_assert(kSrtpKeyOctets % 3 == 0, "a key in base64 has no padding");

/// @return false if it is not a key in base64
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

/// "inline:KEY", and a lifetime, which no call reaches. A number of a master key (MKI) is not supported.
bool read_key_parameter(std::string_view text, std::array<std::uint8_t, kSrtpKeyOctets>* octets) {
  if (take_until(text, ':') != "inline") return false;
  if (!read_key(take_until(text, '|'), octets)) return false;
  return text.find_first_of(":|;") == std::string_view::npos;
}

/// Session parameters without effect here: the replay window,
/// and those that are declared optional (RFC 4568 6.3).
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

namespace {

/// The stream's line "m=", and its attributes.
std::string audio_section(const OwnDescription& own) {
  std::string types, maps, crypto;
  for (const oh_encoding law : own.laws) {
    types += fmt::format(" {}", payload_type_of(law));
    maps += fmt::format("a=rtpmap:{} {}/8000\r\n", payload_type_of(law), law == OH_ALAW ? "PCMA" : "PCMU");
  }
  if (own.crypto)
    crypto = fmt::format("a=crypto:{} {} inline:{}\r\n", own.crypto->tag,
                         kSuites[own.crypto->key.suite == SrtpSuite::kTagOf32Bits ? 1 : 0],
                         write_key(own.crypto->key.octets));
  return fmt::format("m=audio {} RTP/{}{}\r\n{}{}a=ptime:{}\r\na=silenceSupp:off - - - -\r\na=sendrecv\r\n",
                     own.local.port(), own.crypto ? "SAVP" : "AVP", types, maps, crypto,
                     own.packet_samples / kSamplesPerMs);
}

std::string fax_section(const OwnDescription& own) {
  constexpr unsigned kMostBuffer = 2000;
  return fmt::format(
      "m=image {} udptl t38\r\na=T38FaxVersion:0\r\na=T38MaxBitRate:14400\r\na=T38FaxRateManagement:transferredTCF\r\n"
      "a=T38FaxMaxBuffer:{}\r\na=T38FaxMaxDatagram:{}\r\na=T38FaxUdpEC:t38UDPRedundancy\r\n",
      own.local.port(), kMostBuffer, kMostUdptlOctets);
}

}  // namespace

std::string write_sdp(const OwnDescription& own) {
  const InternetAddress& local = own.local;
  const bool six = local.storage.ss_family == AF_INET6;
  std::string host = local.text();
  host = six ? host.substr(1, host.rfind(']') - 1) : host.substr(0, host.rfind(':'));
  const char* family = six ? "IP6" : "IP4";
  std::string text = fmt::format("v=0\r\no=- {} {} IN {} {}\r\ns=modem\r\nc=IN {} {}\r\nt=0 0\r\n", own.session,
                                 own.version, family, host, family, host);
  const std::string section = own.fax ? fax_section(own) : audio_section(own);
  if (own.lines.empty()) return text + section;
  for (std::size_t k = 0; k < own.lines.size(); ++k) {
    const MediaLine& line = own.lines[k];
    text += k == own.line ? section : fmt::format("m={} 0 {} {}\r\n", line.kind, line.transport, line.formats);
  }
  return text;
}

}  // namespace offhook::sip
