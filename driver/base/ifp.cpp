// SPDX-License-Identifier: MIT
#include "driver/base/ifp.h"

#include <utility>

#include "driver/base/octets.h"

namespace offhook {
namespace {

using Octets = std::span<const std::uint8_t>;

constexpr int kLastIndicator = 22, kLastData = 14;  // of all versions

}  // namespace

std::optional<IfpHead> cut_ifp_head(Octets& b) {
  constexpr int kHasFields = 0x80, kIsData = 0x40, kExtended = 0x20;
  const auto first = cut_octets(b, 1);
  if (!first) return std::nullopt;
  const int octet = (*first)[0];
  IfpHead head{(octet & kIsData) != 0, (octet & kHasFields) != 0, octet >> 1 & 0xF};
  if ((octet & kExtended) != 0) {
    const auto second = cut_octets(b, 1);
    if (!second) return std::nullopt;
    constexpr int kFirstIndicator = 16, kFirstData = 9;  // these fields come after those of the first version
    head.value = (head.is_data ? kFirstData : kFirstIndicator) + ((octet << 2 & 0x3C) | (*second)[0] >> 6);
  }
  if (head.value > (head.is_data ? kLastData : kLastIndicator) || (!head.is_data && head.has_fields))
    return std::nullopt;
  return head;
}

bool take_ifp_fields(Octets& b, int version, const std::function<void(int type, Octets data)>& take) {
  const auto count = cut_octets(b, 1);
  if (!count) return false;
  bool half = false;  // version 0: the type of the next field is in the lower half of the octet before
  int before = 0;
  for (int k = 0; k < (*count)[0]; ++k) {
    int type = 0;
    if (version == 0 && std::exchange(half, false)) {
      type = before & 0xF;
    } else {
      const auto octet = cut_octets(b, 1);
      if (!octet) return false;
      before = (*octet)[0];
      type = version == 0 ? before >> 4 : before >> 3 & 7;
      half = version == 0;
      if (version != 0 && (before & 0x40) != 0) return false;  // a field of a later version
    }
    // In version 0 the highest of four bits shows whether data follow, in other versions the highest bit of an octet.
    const bool has_data = version == 0 ? (type & 8) != 0 : (before & 0x80) != 0;
    Octets data;
    if (has_data) {
      half = false;
      const auto length = cut_octets(b, 2);
      if (!length) return false;
      const auto octets = cut_octets(b, static_cast<std::size_t>((*length)[0] << 8 | (*length)[1]) + 1);
      if (!octets) return false;
      data = *octets;
    }
    take(type & 7, data);
  }
  return true;
}

bool is_ifp(Octets octets, int version) {
  const auto head = cut_ifp_head(octets);
  return head && (!head->has_fields || take_ifp_fields(octets, version, [](int, Octets) {})) && octets.empty();
}

}  // namespace offhook
