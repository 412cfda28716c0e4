// SPDX-License-Identifier: MIT
//
// Internet facsimile packets of T.38: an indicator of a signal, or fields of data. The text of T.38 was not available:
// the coding is that of spandsp 0.0.6 (t38_core.c). The parser takes any bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace offhook {

/// Types of fields, in order of their numbers in T.38.
enum IfpFieldType { kHdlcData, kHdlcSigEnd, kFcsOk, kFcsBad, kFcsOkSigEnd, kFcsBadSigEnd, kNonEcmData, kNonEcmSigEnd };

/// An indicator, or data of one type, with optional fields after it.
struct IfpHead {
  bool is_data = false, has_fields = false;
  int value = 0;  ///< in all versions: indicators 0 to 22, data types 0 to 14
};

/// Takes the head from the front of a packet. @return nothing if it has none
std::optional<IfpHead> cut_ifp_head(std::span<const std::uint8_t>& octets);

/// Takes the fields of a packet of data. @param version  T38FaxVersion: 0 packs their types in another way
/// @return false if there are fewer fields than announced
bool take_ifp_fields(std::span<const std::uint8_t>& octets, int version,
                     const std::function<void(int type, std::span<const std::uint8_t> data)>& take);

/// Whether all octets together are one packet of this version.
bool is_ifp(std::span<const std::uint8_t> octets, int version);

}  // namespace offhook
