// SPDX-License-Identifier: MIT
//
// The messages of V.8bis (08/96; 11/2000), which two modems exchange before V.8 or in its place: 300 bit/s, in HDLC
// frames. A message selects a mode (MS), lists capabilities (CL, and CLR which requests the other's list), acknowledges
// or refuses (ACK, NAK).
//
// The information field of MS, CL and CLR holds the identification field, the standard information field and, if the
// first has its bit set, a non-standard one. The first two are trees of bits, sent block by block: the parameters
// without subparameters of level 1 {NPar(1)}; those with subparameters {SPar(1)}. Then each SPar(1) that is set has its
// {NPar(2)} and, if it has any, {SPar(2)} with an {NPar(3)} for each SPar(2) that is set. Delimiting bits end the
// blocks: bit 8 at level 1 and at the end of all that belongs to one SPar(1), bit 7 below. So a receiver reads over
// parameters it has never heard of, and a Message keeps them.
//
// Octets are numbered from 1, and bits from 1, which is sent first and is the lowest, as the Recommendation does.
#pragma once

#include <stdint.h>

namespace offhook::v8bis {

/// Table 3. (13 belongs to V.92, see dsp/v90/coding/quick_connect.h.)
enum class Type : uint8_t {
  kMs = 1,
  kCl = 2,
  kClr = 3,
  kAck1 = 4,
  kAck2 = 5,
  kNak1 = 8,
  kNak2 = 9,
  kNak3 = 10,
  kNak4 = 11,
  kQuickConnect = 13,
};

/// Longest information field. Source: 8.6
inline constexpr int kMaxOctets = 64;

enum class Field : uint8_t { kIdentification, kStandard };
enum class Level : uint8_t { kNPar1, kSPar1, kNPar2, kSPar2, kNPar3 };

/// Number of parameters in an octet of a block: bits 1 to 7 at level 1, 1 to 6 below. Source: 8.2.3
constexpr int parameters_per_octet(Level level) {
  return level <= Level::kSPar1 ? 7 : 6;
}

/// One block of parameters, and its position in the tree.
struct Block {
  Field field = Field::kIdentification;
  Level level = Level::kNPar1;
  uint8_t spar1 = 0;        ///< levels 2 and 3: number of its SPar(1), from 1; otherwise 0
  uint8_t spar2 = 0;        ///< level 3: number of its SPar(2), from 1; otherwise 0
  uint8_t octets = 1;       ///< as sent, 1..kMaxBlockOctets
  uint64_t parameters = 0;  ///< parameter 1 (octet 1, bit 1) in bit 0
  bool has(int parameter) const { return (parameters >> (parameter - 1) & 1) != 0; }
  friend bool operator==(const Block&, const Block&) = default;
};

/// The longest defined block has 4 octets.
inline constexpr int kMaxBlockOctets = 9;

/// One block of the non-standard information field. Source: 8.5, Figure 10
struct NonStandard {
  uint8_t country = 0;              ///< T.35 country code
  uint8_t provider_size = 0;        ///< octets of the provider code
  uint8_t size = 0;                 ///< octets of information
  uint8_t octets[kMaxOctets] = {};  ///< provider code, then information
  const uint8_t* provider() const { return octets; }
  const uint8_t* information() const { return octets + provider_size; }
  friend bool operator==(const NonStandard&, const NonStandard&) = default;
};

struct Message {
  static constexpr int kMaxBlocks = kMaxOctets;
  static constexpr int kMaxNonStandard = (kMaxOctets - 5) / 3;  ///< one has at least 3 octets, the part before them 5

  uint8_t type = 0;      ///< 0..15, see Type
  uint8_t revision = 1;  ///< 0..15: 1 is the version of 08/96, 2 that of 11/2000
  int blocks = 0;
  Block block[kMaxBlocks];  ///< in the order of transmission
  int non_standards = 0;
  NonStandard non_standard[kMaxNonStandard];

  bool is(Type t) const { return type == static_cast<uint8_t>(t); }
  /// MS, CL and CLR have parameters, the others have none. Source: 8.3.3, 8.4.1
  bool has_parameters() const { return is(Type::kMs) || is(Type::kCl) || is(Type::kClr); }
  /// The block at a position of the tree, or null.
  const Block* find(Field field, Level level, int spar1 = 0, int spar2 = 0) const;
  /// Appends a block that is as short as its highest parameter permits. Call it in the order of transmission: in each
  /// field always NPar(1) and SPar(1), then the blocks below each SPar(1) that is set.  @pre blocks < kMaxBlocks
  void add(Field field, Level level, uint64_t parameters, int spar1 = 0, int spar2 = 0);
  friend bool operator==(const Message& a, const Message& b);
};

/// The first malformed octet of a message. `octet` is 0 if the message is well formed.
struct Malformed {
  int octet = 0;  ///< from 1; one more than the number of octets if the message ends too early
  const char* expected = nullptr;
  explicit operator bool() const { return octet > 0; }
};

/// Reads an information field. Of unknown types, and V.92's, only the first octet is read.
/// @param[in] octets   [n], without check sequence; n >= 0
/// @param[out] message the fields up to the end or the first
/// malformed octet. Real-time: yes, O(n).  Source: clause 8
Malformed parse(const uint8_t* octets, int n, Message* message);

/// Write an information field.  @param[out] octets  [kMaxOctets]
/// @return how many, or 0 if more than kMaxOctets.  @pre the blocks are in the order of transmission. Real-time: yes,
/// O(blocks).
int encode(const Message& message, uint8_t* octets);

/// "MS", "CL", "ACK(1)", ...; null if the type is reserved. Source: Table 3
const char* type_name(int type);

/// Meaning of a parameter, in the words of Tables 5 and 6; null if it is reserved. The tables of 11/2000, which include
/// 08/96's. Parameters under H.324-Multilink, Multilink-Additional-Connection and T.30 fax are not included.
/// @param parameter  from 1
const char* parameter_name(const Block& block, int parameter);

}  // namespace offhook::v8bis
