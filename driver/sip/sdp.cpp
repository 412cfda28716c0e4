// SPDX-License-Identifier: MIT
#include "driver/sip/sdp.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace offhook::sip {

namespace {

constexpr std::uint32_t kPerMs = 8;
constexpr std::size_t kMostOctets = 8192;

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
    if (!plain_) throw std::runtime_error("it requests encrypted or other transport than RTP/AVP");
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
    return made;
  }

 private:
  void media(std::string_view value) {
    in_audio_ = !has_audio_ && take_until(value, ' ') == "audio";
    other_ = !in_audio_;
    if (!in_audio_) return;
    has_audio_ = true;
    port_ = number(take_until(value, ' '), 65535).value_or(0);
    plain_ = take_until(value, ' ') == "RTP/AVP";
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
    // A static type that is mapped to something else is not G.711.
    if (name != "rtpmap" || !in_audio_) return;
    const auto type = number(take_until(value, ' '), 127);
    const std::string_view codec = take_until(value, '/');
    if (type == kPcmuType && !same_word(codec, "PCMU")) std::erase(laws_, OH_MULAW);
    if (type == kPcmaType && !same_word(codec, "PCMA")) std::erase(laws_, OH_ALAW);
  }

  bool in_audio_ = false, has_audio_ = false, other_ = false, plain_ = false, on_hold_ = false;
  unsigned port_ = 0, ptime_ = 0;
  std::vector<oh_encoding> laws_;
  std::optional<InternetAddress> session_, own_;
};

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

std::string write_sdp(const InternetAddress& local, const std::vector<oh_encoding>& laws, std::uint32_t packet_samples,
                      std::uint64_t session, std::uint32_t version) {
  const bool six = local.storage.ss_family == AF_INET6;
  std::string host = local.text();
  host = six ? host.substr(1, host.rfind(']') - 1) : host.substr(0, host.rfind(':'));
  const char* family = six ? "IP6" : "IP4";
  std::string types, maps;
  for (const oh_encoding law : laws) {
    types += fmt::format(" {}", payload_type_of(law));
    maps += fmt::format("a=rtpmap:{} {}/8000\r\n", payload_type_of(law), law == OH_ALAW ? "PCMA" : "PCMU");
  }
  return fmt::format(
      "v=0\r\no=- {} {} IN {} {}\r\ns=modem\r\nc=IN {} {}\r\nt=0 0\r\nm=audio {} RTP/AVP{}\r\n{}a=ptime:{}\r\n"
      "a=silenceSupp:off - - - -\r\na=sendrecv\r\n",
      session, version, family, host, family, host, local.port(), types, maps, packet_samples / kPerMs);
}

}  // namespace offhook::sip
