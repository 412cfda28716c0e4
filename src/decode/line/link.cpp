// SPDX-License-Identifier: MIT
#include "src/decode/line/link.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "dsp/link/detection.h"
#include "dsp/link/hdlc.h"
#include "src/decode/line/compression.h"

namespace offhook::decode {
namespace {

constexpr std::size_t kLargestFrame = 4096;

// The second at which a bit was on the line.
double time_of(const DataHeard& d, std::size_t bit) {
  const auto at = std::lower_bound(d.times.begin(), d.times.end(), bit,
                                   [](const auto& mark, std::size_t b) { return mark.second < b; });
  if (at == d.times.end()) return d.t1;
  return at->first - static_cast<double>(at->second - bit) / d.bit_rate - d.decoder_delay_s;
}

// Control field of LAPM. Source: V.42 8.2.4, Table 6
LapmFrame parse(const std::uint8_t* f, std::size_t n) {
  constexpr std::pair<int, const char*> kUnnumbered[] = {{0x6F, "SABME"}, {0x0F, "DM"},  {0x03, "UI"},
                                                         {0x43, "DISC"},  {0x63, "UA"},  {0x87, "FRMR"},
                                                         {0xAF, "XID"},   {0xE3, "TEST"}};
  constexpr const char* kSupervisory[] = {"RR", "RNR", "REJ", "SREJ"};
  LapmFrame x;
  x.address = f[0];
  const std::uint8_t c = f[1];
  if ((c & 3) == 3) {
    x.poll_final = (c & 0x10) != 0;
    const auto known = std::find_if(std::begin(kUnnumbered), std::end(kUnnumbered),
                                    [&](const auto& kind) { return kind.first == (c & 0xEF); });
    x.kind = known != std::end(kUnnumbered) ? known->second : "unnumbered";
    x.octets = n - 2;
    x.information.assign(f + 2, f + n);
    return x;
  }
  if (n < 3) {
    x.kind = "short";
    return x;
  }
  x.nr = f[2] >> 1;
  x.poll_final = (f[2] & 1) != 0;
  x.octets = n - 3;
  if ((c & 1) == 0) x.ns = c >> 1;
  x.kind = (c & 1) == 0 ? "I" : kSupervisory[c >> 2 & 3];
  return x;
}

// PPP in HDLC-like framing (RFC 1662): flags, octet stuffing, FCS-16.
void count_ppp(const std::vector<std::uint8_t>& octets, Link& link) {
  link.ppp_frames = link.ppp_bad = 0;
  std::uint32_t crc = 0xFFFF;
  std::size_t length = 0;
  bool escaped = false, inside = false;
  for (std::uint8_t o : octets) {
    if (o == 0x7E) {
      if (inside && length >= 6) ++(crc == 0xF0B8 ? link.ppp_frames : link.ppp_bad);
      crc = 0xFFFF;
      length = 0;
      escaped = false;
      inside = true;
      continue;
    }
    if (o == 0x7D) {
      escaped = true;
      continue;
    }
    if (escaped) o ^= 0x20;
    escaped = false;
    ++length;
    crc ^= o;
    for (int k = 0; k < 8; ++k) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x8408 : crc >> 1;
  }
  if (link.ppp_frames == 0) link.ppp_bad = 0;  // no PPP at all
}

// Data after a hole are lost, because the dictionary depends on all data before.
void decompress(const Compression& c, const LinksInOrder& links) {
  std::vector<std::span<const std::uint8_t>> pieces;
  for (const Link* link : links) {
    if (link->gaps > 0) break;
    pieces.emplace_back(link->payload);
  }
  const auto plain = decompress(c, pieces);
  if (!plain) return;
  for (std::size_t k = 0; k < plain->size(); ++k) {
    links[k]->payload = (*plain)[k];
    (c.v44 ? links[k]->v44 : links[k]->v42bis) = true;
  }
}

// The payload of consecutive links: I frames in the order of N(S), each once, even if a missed one came later.
// Frames of a later link stay there.
void assemble(const LinksInOrder& links) {
  struct Frame {
    std::size_t link;
    const LapmFrame* frame;
  };
  std::map<long, Frame> frames;  // by N(S) and 128 for each time round
  std::set<long> starts{0};      // N(S) = 0 after SABME
  long next = 0;
  for (std::size_t k = 0; k < links.size(); ++k) {
    links[k]->payload.clear();
    links[k]->gaps = 0;
    for (const LapmFrame& f : links[k]->frames) {
      if (f.kind == "SABME" && next != *starts.rbegin()) {
        next = (next + 2 * 127) / 128 * 128;
        starts.insert(next);
      }
      if (f.kind != "I") continue;
      const long ahead = (f.ns - next) & 127;
      long number = next + (ahead < 64 ? ahead : ahead - 128);
      // An old number with other octets belongs to a new frame: an unknown number of frames was missed.
      const auto same = frames.find(number);
      if (number < *starts.rbegin() || (same != frames.end() && same->second.frame->information != f.information)) {
        number += 128;
      }
      frames.try_emplace(number, Frame{k, &f});
      next = std::max(next, number + 1);
    }
  }
  long last = -1;
  std::size_t link = 0;
  for (const auto& [number, f] : frames) {
    const long start = *std::prev(starts.upper_bound(number));
    link = std::max(link, f.link);
    links[link]->gaps += static_cast<int>(number - std::max(last + 1, start));
    links[link]->payload.insert(links[link]->payload.end(), f.frame->information.begin(), f.frame->information.end());
    last = number;
  }
}

}  // namespace

Link read_link(const DataHeard& data, const Link* before) {
  Link link;
  v42::PatternReceiver pattern;
  v42::HdlcReceiver hdlc;
  std::vector<std::uint8_t> buffer(kLargestFrame);
  hdlc.init(buffer.data(), buffer.size());
  const std::vector<std::uint8_t> none;
  const std::vector<std::uint8_t>& rest = before != nullptr ? before->rest : none;
  for (const std::uint8_t bit : rest) hdlc.put(bit);
  bool first = !rest.empty();  // this frame had begun before; a bit too many or too few there is no error of this link
  std::size_t flag = 0;
  bool none_ended = true;  // the frame that had begun before is not at its end here either
  for (std::size_t k = 0; k < data.bits.size(); ++k) {
    const int bit = data.bits[k];
    if (link.detection == nullptr && link.frames.empty()) {
      const auto found = pattern.put(bit);
      if (found != v42::PatternReceiver::kNothing) {
        link.detection = found == v42::PatternReceiver::kOriginator ? "ODP"
                         : found == v42::PatternReceiver::kAnswerer ? "ADP"
                                                                    : "ADP: no error control";
        link.detection_t = time_of(data, k);
      }
    }
    const auto result = hdlc.put(bit);
    if (result == v42::HdlcReceiver::kNothing) continue;
    flag = k;
    none_ended = false;
    const bool went_on = std::exchange(first, false);
    if (result == v42::HdlcReceiver::kBadFrame) link.bad_frames += !link.frames.empty() && !went_on;
    if (result != v42::HdlcReceiver::kFrame || hdlc.oversize()) continue;
    // One in 65 536 frames with the longer sequence passes for one with the shorter by chance, the other way round
    // one in 2^32.
    const std::size_t check = hdlc.fcs32() ? 4 : 2;
    if (hdlc.size() < check + 2) continue;
    const std::size_t n = hdlc.size() - check;
    LapmFrame f = parse(hdlc.data(), n);
    f.t = time_of(data, k);
    f.fcs32 = check == 4;
    if (f.kind == "I") f.information.assign(hdlc.data() + 3, hdlc.data() + n);
    link.frames.push_back(std::move(f));
  }
  const std::size_t from = flag < 7 ? 0 : flag - 7;
  const std::size_t left = data.bits.size() - from + (none_ended ? rest.size() : 0);
  if (left < 10 * kLargestFrame) {
    if (none_ended) link.rest = rest;
    link.rest.insert(link.rest.end(), data.bits.begin() + static_cast<long>(from), data.bits.end());
  }
  assemble({&link});
  return link;
}

void uncompress(const LinksInOrder& call, const LinksInOrder& answer) {
  const auto xid = [](const LinksInOrder& links) {
    std::optional<v42::Xid> last;
    for (const Link* link : links) {
      for (const LapmFrame& f : link->frames) {
        if (f.kind == "XID") last = xid_of(f.information);
      }
    }
    return last;
  };
  const auto a = xid(call), b = xid(answer);
  const auto follow = [](const LinksInOrder& links, const std::optional<Compression>& compression) {
    assemble(links);
    if (compression) decompress(*compression, links);
    for (Link* link : links) count_ppp(link->payload, *link);
  };
  // The call modem is the originator, whose XID is the command.
  follow(call, a && b ? agreed(*a, *b, true) : std::nullopt);
  follow(answer, a && b ? agreed(*b, *a, false) : std::nullopt);
}

void uncompress(std::span<Link> call, std::span<Link> answer) {
  const auto in_order = [](std::span<Link> links) {
    LinksInOrder all;
    for (Link& link : links) all.push_back(&link);
    return all;
  };
  uncompress(in_order(call), in_order(answer));
}

}  // namespace offhook::decode
