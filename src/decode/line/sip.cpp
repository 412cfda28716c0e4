// SPDX-License-Identifier: MIT
#include "src/decode/line/sip.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "driver/base/words.h"

namespace offhook::decode {
namespace {

std::optional<int> number(std::string_view text, int most) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 0 || n > most) return std::nullopt;
  return n;
}

// "IN IP4 192.0.2.1"; empty: no numeric address
std::vector<std::uint8_t> connection(std::string_view value) {
  if (take_until(value, ' ') != "IN") return {};
  const bool six = take_until(value, ' ') == "IP6";
  const std::string host(value.substr(0, value.find('/')));
  std::vector<std::uint8_t> ip(six ? 16 : 4);
  return inet_pton(six ? AF_INET6 : AF_INET, host.c_str(), ip.data()) == 1 ? ip : std::vector<std::uint8_t>{};
}

std::optional<PayloadCodec> codec_of(std::string_view name) {
  if (same_word(name, "PCMU")) return PayloadCodec::kMuLaw;
  if (same_word(name, "PCMA")) return PayloadCodec::kALaw;
  if (same_word(name, "CLEARMODE")) return PayloadCodec::kClear;
  if (same_word(name, "telephone-event")) return PayloadCodec::kEvents;
  return std::nullopt;
}

// The stream of a line "m=", and the attributes behind it.
struct Stream {
  int port = 0;
  std::vector<std::uint8_t> ip;  // of its own "c="
  SipReader::Media media;
  bool known = false;  // audio over RTP, or T.38
};

Stream stream_of(std::string_view value) {
  Stream s;
  const std::string_view kind = take_until(value, ' ');
  s.port = number(take_until(value, ' '), 65535).value_or(0);
  const std::string_view transport = take_until(value, ' ');
  s.media.fax = kind == "image" && same_word(transport, "udptl");
  s.known = s.media.fax || (kind == "audio" && transport.starts_with("RTP/AVP"));
  while (!value.empty() && !s.media.fax) {
    const auto type = number(take_until(value, ' '), 127);
    if (type == 0) s.media.types[0] = PayloadCodec::kMuLaw;
    if (type == 8) s.media.types[8] = PayloadCodec::kALaw;
  }
  return s;
}

void add_attribute(std::string_view value, Stream& s) {
  const std::string_view name = take_until(value, ':');
  if (name == "T38FaxVersion") s.media.fax_version = number(value, 9).value_or(0);
  if (name != "rtpmap") return;
  const auto type = number(take_until(value, ' '), 127);
  if (!type) return;
  const auto codec = codec_of(take_until(value, '/'));
  if (codec)
    s.media.types[*type] = *codec;
  else
    s.media.types.erase(*type);
}

struct Header {
  std::string_view name, value;
  // RFC 3261 7.3.3: a letter stands for a long name
  bool is(std::string_view whole, std::string_view letter) const {
    return same_word(name, whole) || same_word(name, letter);
  }
};

// Takes a line off the front. @return nothing: it was the empty line behind the headers, or the text is empty
std::optional<Header> take_header(std::string_view& text) {
  std::string_view value = trimmed(take_until(text, '\n'));
  if (value.empty()) return std::nullopt;
  const std::string_view name = trimmed(take_until(value, ':'));
  return Header{name, trimmed(value)};
}

}  // namespace

bool is_sip_start_line(std::string_view line) {
  line = trimmed(line);
  return line.starts_with("SIP/2.0 ") || (line.ends_with(" SIP/2.0") && std::count(line.begin(), line.end(), ' ') == 2);
}

std::optional<std::size_t> sip_message_size(std::string_view text) {
  constexpr int kMost = static_cast<int>(SipReader::kMostText);
  std::string_view left = text;
  std::size_t body = 0;
  for (bool first = true;; first = false) {
    if (left.find('\n') == std::string_view::npos) return std::nullopt;
    const std::optional<Header> h = take_header(left);
    if (!h && !first) break;
    if (!h || !h->is("Content-Length", "l")) continue;
    const std::optional<int> length = number(h->value, kMost);
    if (!length) return std::nullopt;
    body = static_cast<std::size_t>(*length);
  }
  const std::size_t size = text.size() - left.size() + body;
  return body > left.size() || size > SipReader::kMostText ? std::nullopt : std::optional(size);
}

std::string sip_user(std::string_view header) {
  if (const std::size_t open = header.find('<'); open != std::string_view::npos) {
    header.remove_prefix(open + 1);
    header = header.substr(0, header.find('>'));
  }
  header = header.substr(0, header.find(';'));
  if (const std::size_t scheme = header.find(':'); scheme != std::string_view::npos) header.remove_prefix(scheme + 1);
  return std::string(trimmed(header.substr(0, header.find('@'))));
}

bool SipReader::message(double t, std::span<const std::uint8_t> datagram) {
  std::string_view text(reinterpret_cast<const char*>(datagram.data()), std::min(datagram.size(), kMostText));
  if (!is_sip_start_line(take_until(text, '\n'))) return false;
  std::string_view id, from, to, type;
  while (const std::optional<Header> h = take_header(text)) {
    if (h->is("Call-ID", "i")) id = h->value;
    if (h->is("From", "f")) from = h->value;
    if (h->is("To", "t")) to = h->value;
    if (h->is("Content-Type", "c")) type = h->value;
  }
  if (id.empty() || !same_word(type.substr(0, type.find(';')), "application/sdp")) return true;
  if (const std::size_t call = call_of(id, from, to); call < calls_.size()) describe(t, call, text);
  return true;
}

// @return its number; calls_.size(): there are too many
std::size_t SipReader::call_of(std::string_view id, std::string_view from, std::string_view to) {
  if (const auto known = by_id_.find(id); known != by_id_.end()) return known->second;
  if (calls_.size() == kMostCalls) return calls_.size();
  calls_.push_back({std::string(id), sip_user(from), sip_user(to)});
  by_id_.emplace(std::string(id), calls_.size() - 1);
  return calls_.size() - 1;
}

void SipReader::describe(double t, std::size_t call, std::string_view sdp) {
  std::vector<std::uint8_t> session;
  std::vector<Stream> streams;
  while (!sdp.empty()) {
    const std::string_view line = trimmed(take_until(sdp, '\n'));
    if (line.size() < 2 || line[1] != '=') continue;
    const std::string_view value = line.substr(2);
    if (line[0] == 'm') streams.push_back(stream_of(value));
    if (line[0] == 'c') (streams.empty() ? session : streams.back().ip) = connection(value);
    if (line[0] == 'a' && !streams.empty()) add_attribute(value, streams.back());
  }
  for (Stream& s : streams) {
    const auto& ip = s.ip.empty() ? session : s.ip;
    if (!s.known || s.port == 0 || ip.empty() || places_ == kMostPlaces) continue;
    ++places_;
    s.media.t = t;
    s.media.call = call;
    // Packets of a capture may be out of order by a little.
    std::vector<Media>& here = media_[{ip, s.port}];
    if (!here.empty()) s.media.t = std::max(t, here.back().t);
    here.push_back(std::move(s.media));
  }
}

const SipReader::Media* SipReader::media_at(const IpPlace& place, double t) const {
  const auto here = media_.find(place);
  if (here == media_.end()) return nullptr;
  const auto later =
      std::upper_bound(here->second.begin(), here->second.end(), t, [](double at, const Media& m) { return at < m.t; });
  return later == here->second.begin() ? nullptr : &*std::prev(later);
}

}  // namespace offhook::decode
