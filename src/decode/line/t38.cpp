// SPDX-License-Identifier: MIT
#include "src/decode/line/t38.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace offhook::decode {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Removes `n` octets from the front. @return nothing if there are fewer
std::optional<Bytes> cut(Bytes& from, std::size_t n) {
  if (from.size() < n) return std::nullopt;
  const Bytes taken = from.first(n);
  from = from.subspan(n);
  return taken;
}

// An open type of PER: a length of one octet, or of two, and its octets. Longer ones, in fragments, are not T.38's.
std::optional<Bytes> cut_open(Bytes& from) {
  const auto first = cut(from, 1);
  if (!first) return std::nullopt;
  std::size_t n = (*first)[0];
  if ((n & 0x80) != 0) {
    if ((n & 0x40) != 0) return std::nullopt;
    const auto second = cut(from, 1);
    if (!second) return std::nullopt;
    n = (n & 0x3F) << 8 | (*second)[0];
  }
  return cut(from, n);
}

// T.30 sends the lowest bit of an octet first, T.38 the highest.
std::uint8_t mirrored(std::uint8_t octet) {
  std::uint8_t out = 0;
  for (int k = 0; k < 8; ++k) out = static_cast<std::uint8_t>(out << 1 | (octet >> k & 1));
  return out;
}

// In order of their numbers in T.38.
enum FieldType { kHdlcData, kHdlcSigEnd, kFcsOk, kFcsBad, kFcsOkSigEnd, kFcsBadSigEnd, kNonEcmData, kNonEcmSigEnd };
constexpr int kV21 = 0, kLastPageType = 8;             // data types: HDLC at 300 bit/s; V.17 at 14,400 bit/s
constexpr int kFirstTraining = 4, kLastTraining = 15;  // indicators: V.27ter at 2400 bit/s, V.17 at 14,400 bit/s
constexpr int kLastIndicator = 22, kLastData = 14;     // of all versions
constexpr std::size_t kLongestFrame = 4096;

// What an internet facsimile packet is about: an indicator, or data of a type.
struct IfpHead {
  bool is_data = false, has_fields = false;
  int value = 0;
};

std::optional<IfpHead> cut_ifp_head(Bytes& b) {
  constexpr int kHasFields = 0x80, kIsData = 0x40, kExtended = 0x20;
  const auto first = cut(b, 1);
  if (!first) return std::nullopt;
  const int octet = (*first)[0];
  IfpHead head{(octet & kIsData) != 0, (octet & kHasFields) != 0, octet >> 1 & 0xF};
  if ((octet & kExtended) != 0) {
    const auto second = cut(b, 1);
    if (!second) return std::nullopt;
    constexpr int kFirstIndicator = 16, kFirstData = 9;  // behind those of the first version
    head.value = (head.is_data ? kFirstData : kFirstIndicator) + ((octet << 2 & 0x3C) | (*second)[0] >> 6);
  }
  if (head.value > (head.is_data ? kLastData : kLastIndicator) || (!head.is_data && head.has_fields))
    return std::nullopt;
  return head;
}

// Takes the fields of a packet of data. @return false: it does not have as many
bool take_fields(Bytes& b, int version, const std::function<void(int type, Bytes data)>& take) {
  const auto count = cut(b, 1);
  if (!count) return false;
  bool half = false;  // version 0: the type of the next field is in the lower half of the octet before
  int before = 0;
  for (int k = 0; k < (*count)[0]; ++k) {
    int type = 0;
    if (version == 0 && std::exchange(half, false)) {
      type = before & 0xF;
    } else {
      const auto octet = cut(b, 1);
      if (!octet) return false;
      before = (*octet)[0];
      type = version == 0 ? before >> 4 : before >> 3 & 7;
      half = version == 0;
      if (version != 0 && (before & 0x40) != 0) return false;  // a field of a later version
    }
    // In version 0 the highest of four bits shows whether data follow, in other versions the highest bit of an octet.
    const bool has_data = version == 0 ? (type & 8) != 0 : (before & 0x80) != 0;
    Bytes data;
    if (has_data) {
      half = false;
      const auto length = cut(b, 2);
      if (!length) return false;
      const auto octets = cut(b, static_cast<std::size_t>((*length)[0] << 8 | (*length)[1]) + 1);
      if (!octets) return false;
      data = *octets;
    }
    take(type & 7, data);
  }
  return true;
}

bool is_ifp(Bytes whole) {
  for (const int version : {0, 1}) {
    Bytes b = whole;
    const auto head = cut_ifp_head(b);
    if (head && (!head->has_fields || take_fields(b, version, [](int, Bytes) {})) && b.empty()) return true;
  }
  return false;
}

// The packets of a datagram of UDPTL.
struct Udptl {
  std::uint16_t number = 0;
  Bytes primary{};
  std::vector<Bytes> redundant{};  // the latest first
  bool whole = false;              // read to its last octet
};

std::optional<Udptl> udptl_of(Bytes b) {
  const auto head = cut(b, 2);
  if (!head) return std::nullopt;
  const auto primary = cut_open(b);
  if (!primary) return std::nullopt;
  Udptl u{.number = static_cast<std::uint16_t>((*head)[0] << 8 | (*head)[1]), .primary = *primary};
  const auto kind = cut(b, 1);
  if (!kind) return u;
  const bool parity = ((*kind)[0] & 0x80) != 0;  // not used to make up for lost packets
  if (parity) cut(b, 2);                         // the number of packets that each of them covers
  const auto count = cut(b, 1);
  for (int k = 0; count && k < (*count)[0]; ++k) {
    const auto one = cut_open(b);
    if (!one) return u;
    if (!parity) u.redundant.push_back(*one);
  }
  u.whole = count.has_value() && b.empty();
  return u;
}

}  // namespace

bool is_udptl(Bytes datagram) {
  const auto u = udptl_of(datagram);
  return u && u->whole && is_ifp(u->primary);
}

void T38Reader::packet(double t, Bytes udptl) {
  const auto u = udptl_of(udptl);
  if (!u) return;
  const int ahead = last_ ? static_cast<std::int16_t>(u->number - *last_) : 1;
  if (ahead <= 0) return;  // late or repeated: its contents were redundant in a later one
  if (!last_) first_t_ = t;
  last_ = u->number;
  last_t_ = t;
  ++counts_.packets;
  const auto missing = static_cast<std::size_t>(ahead - 1), found = std::min(missing, u->redundant.size());
  if (missing > found) lose(missing - found);
  counts_.recovered += found;
  for (std::size_t k = found; k > 0; --k) ifp(t, u->redundant[k - 1]);
  ifp(t, u->primary);
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
  fits &= take_fields(b, version_, [&](int type, Bytes data) {
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
