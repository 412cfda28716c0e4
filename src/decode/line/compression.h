// SPDX-License-Identifier: MIT
//
// The data compression that two ends negotiated by XID, V.44 or V.42bis, decoded for one direction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dsp/link/xid.h"

namespace offhook::decode {

/// Parameters of one direction.
struct Compression {
  bool v44 = false;  ///< else V.42bis
  v44::Parameters v44_parameters;
  int codewords = 512;    ///< V.42bis, P1
  int string_length = 6;  ///< V.42bis, P2
};

/// @param information  of an XID frame, from its format identifier on  @return none when it cannot be read
std::optional<v42::Xid> xid_of(std::span<const std::uint8_t> information);

/// V.44 if both ends have it and a direction of it in common, else V.42bis (V.44 7.4, V.42bis 5.1): in either, the
/// smaller of both values. @param sender, receiver  their XID  @param from_initiator  the sender's was the command
/// @return none when this direction is not compressed
std::optional<Compression> agreed(const v42::Xid& sender, const v42::Xid& receiver, bool from_initiator);

/// @param pieces  of the octets as sent, from the beginning of the link
/// @return each decompressed piece; none when the parameters are out of their ranges or the octets cannot be decoded
std::optional<std::vector<std::vector<std::uint8_t>>> decompress(const Compression& compression,
                                                                 std::span<const std::span<const std::uint8_t>> pieces);

}  // namespace offhook::decode
