// SPDX-License-Identifier: MIT
#include "src/decode/line/t38.h"

#include <algorithm>
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

enum FieldType { kHdlcData, kHdlcSigEnd, kFcsOk, kFcsBad, kFcsOkSigEnd, kFcsBadSigEnd };
constexpr int kV21 = 0;  // the data type of HDLC at 300 bit/s

}  // namespace

void T38Reader::packet(double t, Bytes udptl) {
  const auto head = cut(udptl, 2);
  if (!head) return;
  const auto number = static_cast<std::uint16_t>((*head)[0] << 8 | (*head)[1]);
  const auto primary = cut_open(udptl);
  if (!primary) return;
  const int ahead = last_ ? static_cast<std::int16_t>(number - *last_) : 1;
  if (ahead <= 0) return;  // late or repeated: its contents were redundant in a later one
  last_ = number;
  // Redundant packets, the latest first, make up for as many lost ones.
  std::vector<Bytes> lost;
  if (const auto kind = cut(udptl, 1); kind && ((*kind)[0] & 0x80) == 0) {
    if (const auto count = cut(udptl, 1)) {
      for (int k = 0; k < std::min<int>((*count)[0], ahead - 1); ++k) {
        const auto one = cut_open(udptl);
        if (!one) break;
        lost.push_back(*one);
      }
    }
  }
  if (static_cast<int>(lost.size()) < ahead - 1) incomplete_ = true;
  for (auto one = lost.rbegin(); one != lost.rend(); ++one) ifp(t, *one);
  ifp(t, *primary);
}

void T38Reader::ifp(double t, Bytes b) {
  const auto head = cut(b, 1);
  if (!head) return;
  const int first = (*head)[0];
  constexpr int kHasData = 0x80, kIsData = 0x40, kExtended = 0x20;
  if ((first & kHasData) == 0 || (first & kIsData) == 0 || (first & kExtended) != 0) return;
  const bool v21 = (first >> 1 & 0xF) == kV21;
  const auto count = cut(b, 1);
  if (!count) return;
  bool half = false;  // version 0: the type of the next field is in the lower half of the octet before
  int before = 0;
  for (int k = 0; k < (*count)[0]; ++k) {
    int type = 0;
    if (version_ == 0 && std::exchange(half, false)) {
      type = before & 0xF;
    } else {
      const auto octet = cut(b, 1);
      if (!octet) return;
      before = (*octet)[0];
      type = version_ == 0 ? before >> 4 : before >> 3 & 0x1F;
      half = version_ == 0;
      if (version_ != 0 && (before & 0x40) != 0) return;  // a field of a later version
    }
    // In version 0 the highest of four bits shows whether data follow, in other versions the highest bit of an octet.
    const bool has_data = version_ == 0 ? (type & 8) != 0 : (before & 0x80) != 0;
    Bytes data;
    if (has_data) {
      half = false;
      const auto length = cut(b, 2);
      if (!length) return;
      const auto octets = cut(b, static_cast<std::size_t>((*length)[0] << 8 | (*length)[1]) + 1);
      if (!octets) return;
      data = *octets;
    }
    if (v21) field(t, type & 7, data);
  }
}

void T38Reader::field(double t, int type, Bytes data) {
  constexpr std::size_t kLongestFrame = 4096;
  if (octets_.empty()) begun_ = t;
  if (octets_.size() + data.size() <= kLongestFrame)
    std::transform(data.begin(), data.end(), std::back_inserter(octets_), mirrored);
  if (type == kHdlcData) return;
  const bool good = type == kFcsOk || type == kFcsOkSigEnd, bad = type == kFcsBad || type == kFcsBadSigEnd;
  if ((good || bad) && !incomplete_ && !octets_.empty() && frames_.size() < kMostFrames)
    frames_.push_back({begun_, 0, good, octets_});
  octets_.clear();
  incomplete_ = false;
}

}  // namespace offhook::decode
