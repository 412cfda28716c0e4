// SPDX-License-Identifier: MIT
#include "src/decode/line/rtp.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "driver/base/rtp.h"
#include "dsp/v90/coding/ucode.h"

namespace offhook::decode {
namespace {

using Bytes = std::span<const std::uint8_t>;

int word16(Bytes b, std::size_t at) {
  return b[at] << 8 | b[at + 1];
}

constexpr int kFirstDynamic = 96;  // RFC 3551 3: payload types of no fixed meaning
constexpr int kBitsOfV21 = 37;
constexpr std::size_t kEventOctets = 4, kMostEvents = 10;  // of a telephone event (RFC 4733 2.3), and in a packet

// RFC 4733 3.2, RFC 4734 2.3 to 2.6
std::string event_name(int event) {
  constexpr std::string_view kDigits = "0123456789*#ABCD";
  constexpr std::array<const char*, 5> kTones = {"ANS", "/ANS", "ANSam", "/ANSam", "CNG"};
  constexpr int kFlash = 16, kFirstTone = 32, kFirstV21 = kBitsOfV21, kLastV21 = 40, kCallingTone = 49;
  if (event < kFlash) return fmt::format("DTMF {}", kDigits[static_cast<std::size_t>(event)]);
  if (event == kFlash) return "hook flash";
  if (event >= kFirstTone && event < kFirstV21) return kTones[static_cast<std::size_t>(event - kFirstTone)];
  if (event >= kFirstV21 && event <= kLastV21) return "bits of V.21";
  return event == kCallingTone ? "calling tone" : fmt::format("event {}", event);
}

constexpr int kIpv4 = 0x0800, kIpv6 = 0x86DD, kTcp = 6, kUdp = 17;

// The IP packet in a frame; empty: none.
Bytes ip_of(int link_type, Bytes b) {
  std::size_t head = 0;
  int type = kIpv4;  // if the head does not have it, IP's version decides
  switch (static_cast<LinkType>(link_type)) {
    case LinkType::kNull:
    case LinkType::kLoop:
      head = 4;
      break;
    case LinkType::kRaw:
    case LinkType::kIpv4:
    case LinkType::kIpv6:
      break;
    case LinkType::kLinuxSll:
      head = 16;
      if (b.size() >= head) type = word16(b, 14);
      break;
    case LinkType::kLinuxSll2:
      head = 20;
      if (b.size() >= head) type = word16(b, 0);
      break;
    case LinkType::kEthernet:
      head = 14;
      if (b.size() >= head) type = word16(b, 12);
      while ((type == 0x8100 || type == 0x88A8) && b.size() >= head + 4) {  // IEEE 802.1Q
        type = word16(b, head + 2);
        head += 4;
      }
      break;
    default:
      return {};
  }
  return b.size() > head && (type == kIpv4 || type == kIpv6) ? b.subspan(head) : Bytes{};
}

// The line through these points; nothing for less than kLeastPoints.
struct Line {
  double at_first = 0;  // its value at the first point
  double slope = 0;
  double slope_error = 0;  // of the slope: it lies within this much at 95 %, if the points' errors are independent
};
std::optional<Line> line_through(const std::vector<std::pair<double, double>>& points) {
  constexpr std::size_t kLeastPoints = 4;
  // Student's t at 95 %, by degrees of freedom from kLeastPoints - 2 on.
  constexpr double kT[] = {4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
  if (points.size() < kLeastPoints) return std::nullopt;
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& p : points) x += p.first, y += p.second;
  const auto n = static_cast<double>(points.size());
  x /= n, y /= n;
  for (const auto& p : points) xx += (p.first - x) * (p.first - x), xy += (p.first - x) * (p.second - y);
  if (xx <= 0) return std::nullopt;
  const double slope = xy / xx;
  double left = 0;
  for (const auto& p : points) left += std::pow(p.second - y - slope * (p.first - x), 2);
  const std::size_t row = points.size() - kLeastPoints;
  const double t = row < std::size(kT) ? kT[row] : 1.96 + 2.7 / (n - 2);
  return Line{y - slope * (x - points.front().first), slope, t * std::sqrt(left / (n - 2) / xx)};
}

std::string text_of(const IpPlace& place) {
  std::array<char, INET6_ADDRSTRLEN> out{};
  const bool v6 = place.ip.size() == 16;
  inet_ntop(v6 ? AF_INET6 : AF_INET, place.ip.data(), out.data(), out.size());
  return v6 ? fmt::format("[{}]:{}", out.data(), place.port) : fmt::format("{}:{}", out.data(), place.port);
}

v90::Law law_of(PayloadCodec codec) {
  return codec == PayloadCodec::kALaw ? v90::Law::kA : v90::Law::kMu;
}

float sample_of(v90::Law law, std::uint8_t octet) {
  return static_cast<float>(v90::linear_of(law, v90::pcm_of(law, octet)));
}

// Of octets without a law: the one by which the samples differ less from each other.
PayloadCodec smoother_law(Bytes octets) {
  double sum[2]{};
  for (const auto& [law, k] : {std::pair{v90::Law::kMu, 0}, std::pair{v90::Law::kA, 1}}) {
    float before = 0;
    for (const std::uint8_t octet : octets) {
      const float x = sample_of(law, octet);
      sum[k] += std::abs(x - before);
      before = x;
    }
  }
  return sum[1] < sum[0] ? PayloadCodec::kALaw : PayloadCodec::kMuLaw;
}

}  // namespace

void RtpReader::packet(int link_type, double t, Bytes bytes) {
  if (!std::isfinite(t)) return;
  if (first_t_ < 0) first_t_ = t;
  ip(t, ip_of(link_type, bytes));
}

void RtpReader::ip(double t, Bytes b) {
  if (b.empty()) return;
  const bool v6 = b[0] >> 4 == 6;
  const std::size_t head = v6 ? 40 : 4 * static_cast<std::size_t>(b[0] & 15), address = v6 ? 16 : 4;
  if ((!v6 && b[0] >> 4 != 4) || head < 20 || b.size() < head + 8) return;
  const int protocol = b[v6 ? 6 : 9];
  if (protocol != kUdp && protocol != kTcp) return;
  if (!v6 && (word16(b, 6) & 0x3FFF) != 0) return;  // a fragment: speech has none
  const std::size_t whole = v6 ? head + static_cast<std::size_t>(word16(b, 4)) : static_cast<std::size_t>(word16(b, 2));
  const std::size_t from = v6 ? 8 : 12;
  const auto ip_at = [&](std::size_t at) {
    return std::vector<std::uint8_t>(b.begin() + static_cast<long>(at), b.begin() + static_cast<long>(at + address));
  };
  const Bytes datagram = b.first(std::clamp(whole, head, b.size())).subspan(head);
  if (protocol == kTcp) return count(sip_tcp_.segment(t, {ip_at(from)}, {ip_at(from + address)}, datagram));
  if (datagram.size() < 8) return;
  ++datagrams_;
  udp(t, {ip_at(from), word16(datagram, 0)}, {ip_at(from + address), word16(datagram, 2)}, datagram.subspan(8));
}

void RtpReader::udp(double t, Address from, Address to, Bytes b) {
  constexpr std::size_t kMostPayload = 1600;
  if (sip_.message(t, b)) return count(b.size());
  if (t38(t, from, to, b)) return;
  const std::optional<RtpPacket> rtp = parse_rtp(b);
  if (!rtp) return;
  const std::optional<PayloadCodec> codec = codec_of(rtp->payload_type, to, t);
  const Bytes payload = rtp->payload;
  if (!codec || payload.empty() || payload.size() > kMostPayload) return;
  if (codec == PayloadCodec::kEvents &&
      (payload.size() % kEventOctets != 0 || payload.size() > kMostEvents * kEventOctets))
    return;
  count(payload.size() + sizeof(Packet));
  Packets& stream = streams_[{std::move(from), std::move(to), rtp->ssrc}];
  stream.heads.push_back({t, rtp->timestamp, static_cast<std::uint32_t>(stream.octets.size()), rtp->sequence,
                          static_cast<std::uint16_t>(payload.size()), *codec});
  stream.octets.insert(stream.octets.end(), payload.begin(), payload.end());
}

// @return whether it is T.38, by its place in SIP, or by its form
bool RtpReader::t38(double t, const Address& from, const Address& to, Bytes b) {
  const SipReader::Media* media = sip_.media_at(to, t);
  const bool by_sip = media != nullptr && media->fax;
  if (!by_sip && !is_udptl(b)) return false;
  FaxKey key{from, to, by_sip ? std::optional(media->call) : std::nullopt};
  auto known = faxes_.find(key);
  if (known == faxes_.end()) {
    if (faxes_.size() == kMostFaxes) return by_sip;
    Fax fax{std::get<2>(key), {}};
    if (by_sip) {
      fax.readers.emplace_back(media->fax_version);
    } else {
      for (const int version : {0, 3}) fax.readers.emplace_back(version);
    }
    known = faxes_.emplace(std::move(key), std::move(fax)).first;
  }
  for (T38Reader& reader : known->second.readers) {
    count(b.size());
    reader.packet(t, b);
  }
  return true;
}

std::size_t RtpReader::Fax::good_frames() const {
  std::size_t most = 0;
  for (const T38Reader& reader : readers) most = std::max(most, reader.good_frames());
  return most;
}

void RtpReader::count(std::size_t octets) {
  octets_ += octets;
  if (octets_ > kMostOctets)
    throw std::runtime_error("more than 150 MB of speech, fax and SIP; extract one call with a filter");
}

// @return nothing: no speech
std::optional<PayloadCodec> RtpReader::codec_of(int type, const Address& to, double t) const {
  constexpr int kPcmu = 0, kPcma = 8;  // RFC 3551
  if (type == kPcmu) return PayloadCodec::kMuLaw;
  if (type == kPcma) return PayloadCodec::kALaw;
  if (type < kFirstDynamic) return std::nullopt;
  const SipReader::Media* media = sip_.media_at(to, t);
  const auto known = media != nullptr ? media->types.find(type) : decltype(media->types.end()){};
  return media != nullptr && known != media->types.end() ? known->second : PayloadCodec::kEvents;
}

std::optional<std::size_t> RtpReader::sip_call_of(const Stream& stream) const {
  const double t = stream.second.heads.front().t;
  for (const Address* place : {&stream.first.to, &stream.first.from}) {
    if (const SipReader::Media* media = sip_.media_at(*place, t)) return media->call;
  }
  return std::nullopt;
}

// Whether nearly all packets follow one that they fit.
bool RtpReader::is_speech(const std::vector<Packet>& packets) {
  constexpr std::size_t kLeastPackets = 10;
  constexpr int kNear = 50;
  std::size_t fit = 0, speech = 0;
  const Packet* before = nullptr;
  for (const Packet& b : packets) {
    if (b.is_event()) continue;
    ++speech;
    if (before == nullptr) {
      before = &b;
      continue;
    }
    const Packet& a = *std::exchange(before, &b);
    const int steps = static_cast<std::int16_t>(b.sequence - a.sequence);
    const auto samples = static_cast<std::int32_t>(b.timestamp - a.timestamp);
    fit += std::abs(steps) < kNear && samples == steps * a.size;
  }
  return speech >= kLeastPackets && 10 * fit > 7 * (speech - 1);
}

struct RtpReader::Assembled {
  RtpStream stream;
  double begin_t = 0;  // s of the capture's clock
  std::vector<float> samples;
};

// In order of the sequence numbers, which are continued beyond 65535.
std::map<std::int64_t, const RtpReader::Packet*> RtpReader::in_order(const std::vector<Packet>& packets, RtpStream& s) {
  std::map<std::int64_t, const Packet*> ordered;
  std::int64_t highest = packets[0].sequence;
  for (const Packet& p : packets) {
    const std::int64_t number = highest + static_cast<std::int16_t>(p.sequence - static_cast<std::uint16_t>(highest));
    if (!ordered.emplace(number, &p).second) {
      ++s.duplicates;
    } else if (number < highest) {
      ++s.reordered;
    }
    highest = std::max(highest, number);
  }
  s.packets = ordered.size();
  return ordered;
}

// The silence before a packet, by its timestamp. @param lost  packets before it  @param events  whether telephone
// events came instead of speech  @return samples
std::size_t RtpReader::silence_before(const Packet& p, const Packet& before, std::int64_t lost, bool events, double t,
                                      RtpStream& s) {
  constexpr std::int64_t kMostJump = std::int64_t{30} * kRateHz;
  const std::int64_t jump = static_cast<std::int32_t>(p.timestamp - before.timestamp) - before.size;
  const std::int64_t gap = jump > 0 && jump < kMostJump ? jump : 0;
  const double gap_s = static_cast<double>(gap) / kRateHz;
  if (lost > 0) {
    s.lost += static_cast<std::size_t>(lost);
    s.events.push_back(
        {t, t + gap_s, "packets lost", fmt::format("{}, {:.0f} ms of silence inserted", lost, 1000 * gap_s)});
  } else if (jump != 0 && !events) {
    s.events.push_back(
        {t, 0, "timestamp jump", fmt::format("{:+} samples{}", jump, gap > 0 ? ", silence inserted" : ", ignored")});
  }
  return static_cast<std::size_t>(gap);
}

// While an event lasts, it is sent repeatedly, with the timestamp of its beginning and an increasing duration.
void RtpReader::add_events(Bytes payload, double t, RtpStream& s) {
  constexpr double kNearS = 0.1;
  for (std::size_t at = 0; at + kEventOctets <= payload.size(); at += kEventOctets) {
    const double end = t + seconds(static_cast<std::size_t>(word16(payload, at + 2)));
    const std::string name = event_name(payload[at]);
    RtpEvent* last = nullptr;
    for (RtpEvent& e : s.events) {
      if (e.what == kTelephoneEvent) last = &e;
    }
    const bool bits = name == event_name(kBitsOfV21);
    if (last != nullptr && last->detail == name && (bits ? t < last->t_end + kNearS : t == last->t)) {
      last->t_end = std::max(last->t_end, end);
    } else {
      s.events.push_back({t, end, kTelephoneEvent, name});
    }
    t = end;
  }
}

RtpReader::Assembled RtpReader::assemble(const Stream& stream) {
  constexpr auto kMostSamples = static_cast<std::size_t>((kLongestCallS - 60) * kRateHz);
  constexpr double kWindowS = 5;
  const auto& [key, packets] = stream;
  Assembled a;
  a.stream.from = text_of(key.from);
  a.stream.to = text_of(key.to);
  const auto speech =
      std::find_if(packets.heads.begin(), packets.heads.end(), [](const Packet& p) { return !p.is_event(); });
  const bool clear = speech != packets.heads.end() && speech->codec == PayloadCodec::kClear;
  const PayloadCodec of_clear = clear ? smoother_law(packets.octets) : PayloadCodec::kMuLaw;
  const v90::Law first_law =
      clear ? law_of(of_clear) : law_of(speech != packets.heads.end() ? speech->codec : of_clear);
  const char* const law_name = first_law == v90::Law::kA ? "A-law" : "mu-law";
  a.stream.codec = clear ? fmt::format("clear mode, {}", law_name) : fmt::format("G.711 {}", law_name);
  std::vector<std::pair<double, double>> fastest;  // by window: position, least of arrival less position, s
  double transit_before_s = 0;
  const Packet* before = nullptr;
  std::int64_t number_before = 0, events_since = 0;  // packets of events since the speech before
  for (const auto& [number, p] : in_order(packets.heads, a.stream)) {
    if (p->is_event()) {
      // On the clock of the speech before it.
      const std::int64_t since = before == nullptr ? 0 : static_cast<std::int32_t>(p->timestamp - before->timestamp);
      const double from = before == nullptr ? 0 : seconds(a.samples.size() - before->size);
      add_events(packets.payload(*p), from + static_cast<double>(since) / kRateHz, a.stream);
      events_since += 1;
      continue;
    }
    std::size_t silence = 0;
    if (before != nullptr)
      silence = silence_before(*p, *before, number - number_before - 1 - events_since, events_since > 0,
                               seconds(a.samples.size()), a.stream);
    if (a.samples.size() + silence + p->size > kMostSamples) break;
    a.samples.resize(a.samples.size() + silence);
    events_since = 0;
    // A packet leaves when its last sample is there.
    const double position = seconds(a.samples.size() + p->size), transit_s = p->t - position;
    if (before != nullptr)  // RFC 3550 6.4.1
      a.stream.jitter_s += (std::abs(transit_s - transit_before_s) - a.stream.jitter_s) / 16;
    transit_before_s = transit_s;
    if (fastest.empty() || position - fastest.back().first > kWindowS) {
      fastest.emplace_back(position, transit_s);
    } else {
      fastest.back().second = std::min(fastest.back().second, transit_s);
    }
    const v90::Law law = law_of(p->codec == PayloadCodec::kClear ? of_clear : p->codec);
    for (const std::uint8_t octet : packets.payload(*p)) a.samples.push_back(sample_of(law, octet));
    before = p;
    number_before = number;
  }
  a.begin_t = fastest.front().second;
  // The least of few packets is late.
  if (fastest.size() > 1 && seconds(a.samples.size()) - fastest.back().first < kWindowS / 2) fastest.pop_back();
  if (const auto line = line_through(fastest)) {
    a.begin_t = line->at_first;
    a.stream.clock_ppm = -1e6 * line->slope;  // a fast sender is ahead of the arrivals
    a.stream.clock_uncertainty_ppm = 1e6 * line->slope_error;
  }
  return a;
}

double RtpReader::FoundCall::begin_t() const {
  double t = HUGE_VAL;
  for (const Stream* s : streams) t = std::min(t, s->second.heads.front().t);
  for (const auto* fax : faxes) t = std::min(t, fax->second.readers.front().first_t());
  return t;
}

// One direction alone may lack the evidence for one of the versions.
void RtpReader::FoundCall::choose_version() {
  struct Fit {
    std::size_t unfit = 0, good = 0;
  };
  std::vector<Fit> fits;
  for (const auto* entry : faxes) {
    const std::vector<T38Reader>& readers = entry->second.readers;
    fits.resize(std::max(fits.size(), readers.size()));
    for (std::size_t k = 0; readers.size() > 1 && k < readers.size(); ++k) {
      fits[k].unfit += readers[k].unfit();
      fits[k].good += readers[k].good_frames();
    }
  }
  const auto worse = [](const Fit& a, const Fit& b) {
    return a.unfit != b.unfit ? a.unfit > b.unfit : a.good < b.good;
  };
  fax_reader = static_cast<std::size_t>(std::max_element(fits.begin(), fits.end(), worse) - fits.begin());
}

std::size_t RtpReader::find_calls() {
  sip_tcp_.finish();
  calls_.clear();
  find_speech();
  find_faxes();
  if (calls_.size() > kMostCalls) throw std::runtime_error("more than 10000 calls");
  std::stable_sort(calls_.begin(), calls_.end(),
                   [](const FoundCall& a, const FoundCall& b) { return a.begin_t() < b.begin_t(); });
  return calls_.size();
}

void RtpReader::find_speech() {
  std::erase_if(streams_, [](const Stream& s) { return !is_speech(s.second.heads); });
  std::vector<Stream*> streams;
  for (Stream& s : streams_) streams.push_back(&s);
  std::stable_sort(streams.begin(), streams.end(), [](const Stream* a, const Stream* b) {
    return a->second.heads.front().t < b->second.heads.front().t;
  });
  // The last call of one stream that waits for each pair of addresses, and for each call of SIP.
  std::map<std::pair<Address, Address>, std::size_t> waiting;
  std::map<std::size_t, std::size_t> waiting_in_sip;
  for (Stream* s : streams) {
    const std::optional<std::size_t> sip = sip_call_of(*s);
    const auto mirror = waiting.find({s->first.to, s->first.from});
    const auto in_sip = sip ? waiting_in_sip.find(*sip) : waiting_in_sip.end();
    const std::optional<std::size_t> other = mirror != waiting.end()          ? std::optional(mirror->second)
                                             : in_sip != waiting_in_sip.end() ? std::optional(in_sip->second)
                                                                              : std::nullopt;
    const auto is_open = [&](const Stream& first) {
      return s->second.heads.front().t < first.second.heads.back().t && s->first.to != first.first.to;
    };
    if (other && calls_[*other].streams.size() == 1 && is_open(*calls_[*other].streams[0])) {
      calls_[*other].streams.push_back(s);
      continue;
    }
    waiting[{s->first.from, s->first.to}] = calls_.size();
    if (sip) waiting_in_sip[*sip] = calls_.size();
    calls_.push_back({{s}, {}, sip});
  }
}

// T.38 without a good frame of T.30 is none, unless SIP names it.
void RtpReader::find_faxes() {
  std::map<std::size_t, std::size_t> by_sip;
  std::map<std::pair<Address, Address>, std::size_t> by_places;
  for (std::size_t k = 0; k < calls_.size(); ++k) {
    if (calls_[k].sip) by_sip.emplace(*calls_[k].sip, k);
    for (const Stream* s : calls_[k].streams) by_places.insert_or_assign(std::minmax(s->first.from, s->first.to), k);
  }
  for (auto& entry : faxes_) {
    const auto& [from, to, sip] = entry.first;
    if (entry.second.readers.front().counts().packets == 0 || (!sip && entry.second.good_frames() == 0)) continue;
    const auto places = std::pair(std::minmax(from, to));
    const auto of_sip = sip ? by_sip.find(*sip) : by_sip.end();
    const auto of_places = sip ? by_places.end() : by_places.find(places);
    const std::size_t call = of_sip != by_sip.end()         ? of_sip->second
                             : of_places != by_places.end() ? of_places->second
                                                            : calls_.size();
    if (call == calls_.size()) {
      calls_.push_back({{}, {}, sip});
      if (sip) by_sip.emplace(*sip, call);
      if (!sip) by_places.emplace(places, call);
    }
    calls_[call].faxes.push_back(&entry);
  }
  for (FoundCall& call : calls_) {
    call.choose_version();
    std::stable_sort(call.faxes.begin(), call.faxes.end(), [](const auto* a, const auto* b) {
      return a->second.readers.front().first_t() < b->second.readers.front().first_t();
    });
  }
}

Recording RtpReader::read(std::size_t k, const std::string& name) {
  FoundCall& call = calls_[k];
  Recording r;
  r.name = name;
  r.file_rate_hz = kRateHz;
  double begin_t = call.begin_t();
  std::vector<Address> from;
  for (const Stream* s : call.streams) from.push_back(s->first.from);
  if (!call.streams.empty()) add_speech(call, begin_t, r);
  if (call.streams.empty()) r.channel.resize(2);
  double end_t = begin_t;
  for (const auto* fax : call.faxes) {
    end_t = std::max(end_t, fax->second.readers.front().last_t() + 1);
    const Address& sender = std::get<0>(fax->first);
    if (from.size() < r.channel.size() && std::find(from.begin(), from.end(), sender) == from.end())
      from.push_back(sender);
  }
  const auto size = static_cast<std::size_t>(std::min(end_t - begin_t, kLongestCallS) * kRateHz);
  for (auto& x : r.channel) x.resize(std::max(x.size(), size));
  r.start_s = std::max(0.0, begin_t - first_t_);
  r.duration_s = seconds(r.channel.front().size());
  if (call.sip) r.sip = sip_.call(*call.sip);
  add_faxes(call, begin_t, from, r);
  return r;
}

// @param begin_t  of the first sample, set here
void RtpReader::add_speech(FoundCall& call, double& begin_t, Recording& r) {
  std::vector<Assembled> streams;
  for (Stream* s : call.streams) {
    streams.push_back(assemble(*s));
    s->second = {};
  }
  begin_t = std::min(streams.front().begin_t, streams.back().begin_t);
  for (Assembled& a : streams) {
    const auto late =
        static_cast<std::size_t>(std::lround(std::clamp(a.begin_t - begin_t, 0.0, kLongestCallS) * kRateHz));
    const double late_s = seconds(late);
    a.samples.insert(a.samples.begin(), late, 0.F);
    a.stream.channel = static_cast<int>(r.channel.size());
    for (RtpEvent& e : a.stream.events) {
      e.t += late_s;
      if (e.t_end > 0) e.t_end += late_s;
    }
    float peak = 0;
    for (const float v : a.samples) peak = std::max(peak, std::abs(v));
    r.peak.push_back(static_cast<int>(peak));
    r.clipped.push_back(0);
    r.channel.push_back(std::move(a.samples));
    r.rtp.push_back(std::move(a.stream));
  }
  const std::size_t size = std::max(r.channel.front().size(), r.channel.back().size());
  for (auto& x : r.channel) x.resize(size);
}

// @param from  senders of the channels
void RtpReader::add_faxes(FoundCall& call, double begin_t, const std::vector<Address>& from, Recording& r) {
  for (auto* entry : call.faxes) {
    const Address &sender = std::get<0>(entry->first), &receiver = std::get<1>(entry->first);
    T38Reader& reader = call.reader(entry->second);
    // By address and port, or by address alone: T.38 may have other ports than speech.
    const bool second = from.size() == 2 && (from[1] == sender || (from[1].ip == sender.ip && from[0].ip != sender.ip));
    const int channel = second ? 1 : 0;
    T38Stream stream = reader.counts();
    stream.channel = channel;
    stream.from = text_of(sender);
    stream.to = text_of(receiver);
    r.t38_streams.push_back(std::move(stream));
    for (T38Frame& frame : reader.take()) {
      frame.t -= begin_t;
      frame.channel = channel;
      r.t38.push_back(std::move(frame));
    }
    for (T38Carrier& carrier : reader.take_carriers()) {
      carrier.t0 -= begin_t;
      carrier.t1 -= begin_t;
      carrier.channel = channel;
      r.t38_carriers.push_back(std::move(carrier));
    }
    entry->second.readers.clear();
  }
  std::stable_sort(r.t38.begin(), r.t38.end(), [](const T38Frame& a, const T38Frame& b) { return a.t < b.t; });
  std::stable_sort(r.t38_carriers.begin(), r.t38_carriers.end(),
                   [](const T38Carrier& a, const T38Carrier& b) { return a.t0 < b.t0; });
}

}  // namespace offhook::decode
