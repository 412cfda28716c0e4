// SPDX-License-Identifier: MIT
#include "src/decode/line/t38.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "driver/base/ifp.h"

namespace offhook::decode {
namespace {

using Bytes = std::span<const std::uint8_t>;

// T.30 sends the lowest bit of an octet first, T.38 the highest.
std::uint8_t mirrored(std::uint8_t octet) {
  std::uint8_t out = 0;
  for (int k = 0; k < 8; ++k) out = static_cast<std::uint8_t>(out << 1 | (octet >> k & 1));
  return out;
}

constexpr int kV21 = 0, kLastPageType = 8;             // data types: HDLC at 300 bit/s; V.17 at 14,400 bit/s
constexpr int kFirstTraining = 4, kLastTraining = 15;  // indicators: V.27ter at 2400 bit/s, V.17 at 14,400 bit/s
constexpr std::size_t kLongestFrame = 4096;

}  // namespace

bool is_udptl(Bytes datagram) {
  const auto u = parse_udptl(datagram);
  return u && u->whole && (is_ifp(u->packet, 0) || is_ifp(u->packet, 1));
}

void T38Reader::packet(double t, Bytes udptl) {
  const auto news = reader_.take(udptl);
  if (!news) return;
  if (counts_.packets == 0) first_t_ = t;
  last_t_ = t;
  ++counts_.packets;
  if (news->lost > 0) lose(news->lost);
  counts_.recovered += news->packets.size() - 1;
  for (const Bytes& packet : news->packets) ifp(t, packet);
}

void T38Reader::lose(std::size_t packets) {
  constexpr std::size_t kGapOctets = 4;  // more zeros than any code word of T.4 has
  (octets_.empty() ? begins_unsure_ : incomplete_) = true;
  counts_.lost += packets;
  if (!in_carrier_) return;
  T38Carrier& c = carriers_.back();
  c.lost += packets;
  if (!c.octets.empty()) c.octets.insert(c.octets.end(), kGapOctets, 0);
}

void T38Reader::ifp(double t, Bytes b) {
  const auto head = cut_ifp_head(b);
  if (!head) return;
  if (!head->is_data) return indicator(t, head->value);
  if (!head->has_fields || head->value > kLastPageType) return;
  bool fits = true;
  fits &= take_ifp_fields(b, version_, [&](int type, Bytes data) {
    const bool has_octets = type == kHdlcData || type == kNonEcmData;
    fits &= type == kNonEcmSigEnd || has_octets != data.empty();
    if (head->value == kV21) {
      field(t, type, data);
    } else {
      page_field(t, head->value, type, data);
    }
  });
  unfit_ += !fits;
}

// An indicator ends the signal before it.
void T38Reader::indicator(double t, int which) {
  in_carrier_ = false;
  octets_.clear();
  incomplete_ = begins_unsure_ = false;
  // Data types are in the order of the indicators, of which V.17 has two for each rate.
  constexpr int kFirstV17 = 8, kFirstV17Type = 5;
  if (which < kFirstTraining || which > kLastTraining) return;
  carrier(t, which < kFirstV17 ? which - kFirstTraining + 1 : (which - kFirstV17) / 2 + kFirstV17Type);
}

T38Carrier& T38Reader::carrier(double t, int data_type) {
  const bool same = in_carrier_ && carriers_.back().data_type == data_type;
  if (!same && carriers_.size() < kMostCarriers) carriers_.push_back({.t0 = t, .data_type = data_type});
  in_carrier_ = true;
  carriers_.back().t1 = t;
  return carriers_.back();
}

// Whether the octets of a frame are all there. T.30's begin with an address of ones and one of two control fields.
bool T38Reader::end_frame() {
  constexpr std::uint8_t kAddress = 0xFF, kControl = 0x03, kFinal = 0x10;
  const bool begins = octets_.size() > 1 && octets_[0] == kAddress && (octets_[1] & ~kFinal) == kControl;
  const bool all = !incomplete_ && !octets_.empty() && (begins || !begins_unsure_);
  incomplete_ = begins_unsure_ = false;
  return all;
}

void T38Reader::field(double t, int type, Bytes data) {
  if (octets_.empty()) begun_ = t;
  if (octets_.size() + data.size() <= kLongestFrame)
    std::transform(data.begin(), data.end(), std::back_inserter(octets_), mirrored);
  if (type == kHdlcData) return;
  const bool good = type == kFcsOk || type == kFcsOkSigEnd, bad = type == kFcsBad || type == kFcsBadSigEnd;
  if ((good || bad) && end_frame() && frames_.size() < kMostFrames) {
    frames_.push_back({begun_, 0, good, octets_});
    good_frames_ += good;
  }
  octets_.clear();
}

void T38Reader::page_field(double t, int data_type, int type, Bytes data) {
  T38Carrier& c = carrier(t, data_type);
  if (type == kNonEcmData || type == kNonEcmSigEnd) {
    std::transform(data.begin(), data.end(), std::back_inserter(c.octets), mirrored);
    in_carrier_ = type == kNonEcmData;
    return;
  }
  if (octets_.size() + data.size() <= kLongestFrame)
    std::transform(data.begin(), data.end(), std::back_inserter(octets_), mirrored);
  if (type == kHdlcData) return;
  const bool any = !octets_.empty(), all = end_frame();
  if (all && (type == kFcsOk || type == kFcsOkSigEnd)) {
    c.frames.insert(c.frames.end(), octets_.begin(), octets_.end());
    c.frame_ends.push_back(c.frames.size());
    ++good_frames_;
  } else if (any) {
    ++c.bad_frames;
  }
  in_carrier_ = type == kFcsOk || type == kFcsBad;
  octets_.clear();
}

std::vector<T38Carrier> T38Reader::take_carriers() {
  return std::move(carriers_);
}

}  // namespace offhook::decode
