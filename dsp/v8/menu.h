// SPDX-License-Identifier: MIT
//
// The menu that two modems exchange in V.8 (11/2000): the call function, the modulations of each modem, and a few facts
// about the access to the network. The same menu is sent as CI, CM and JM.
//
// On the line a menu is a sequence of start-stop octets at 300 bit/s: a synchronization octet, then one octet for each
// category, its tag in bits 0 to 3 and its options in bits 5 to 7. Further octets, whose bits 3 to 5 are 010, extend a
// category. An octet here is the bits between the start and the stop bit, the first bit in time in bit 0.
#pragma once

#include <stdint.h>

namespace offhook::v8 {

/// Synchronization octets of 5: they follow ten ones. CM and JM have the second, CI the first.
inline constexpr uint8_t kSyncCi = 0x00;
inline constexpr uint8_t kSyncCm = 0xE0;

/// Tags of the categories: bits 0 to 3 of an octet, bit 4 being zero. Tables 2 to 7.
enum Tag : uint8_t { kCallFunction = 0x1, kModulation = 0x5, kProtocol = 0xA, kAccess = 0xD, kPcmModem = 0x7 };

inline constexpr uint8_t kExtensionBits = 0x10;
/// An extension octet: bits 3 to 5 read 0 1 0.
constexpr bool is_extension(uint8_t octet) {
  return (octet & 0x38) == kExtensionBits;
}

/// CJ is three octets of zeros. Source: 7.3
inline constexpr int kCjOctets = 3;

/// Call functions of Table 3: bits 5 to 7 of the octet.
enum class CallFunction : uint8_t {
  kNone = 0,
  kMultimedia = 1,   ///< H.324
  kTextphone = 2,    ///< V.18
  kVideotext = 3,    ///< T.101
  kTransmitFax = 4,  ///< T.30, the caller transmits
  kReceiveFax = 5,   ///< T.30, the caller receives
  kData = 6,         ///< V-series modem
  kExtension = 7,    ///< located in an extension octet
};

/// Modulations of Table 4, as bits of Menu::modulations: lower bits are preferred (item numbers).
enum Modulation : uint16_t {
  kPcm = 1 << 0,            ///< V.90, V.91, V.92: see Menu::pcm
  kV34 = 1 << 1,            ///< V.34 duplex
  kV34HalfDuplex = 1 << 2,  ///< V.34 half-duplex
  kV32bis = 1 << 3,         ///< V.32bis or V.32
  kV22bis = 1 << 4,         ///< V.22bis or V.22
  kV17 = 1 << 5,
  kV29 = 1 << 6,  ///< half-duplex
  kV27ter = 1 << 7,
  kV26ter = 1 << 8,
  kV26bis = 1 << 9,
  kV23Duplex = 1 << 10,
  kV23HalfDuplex = 1 << 11,
  kV21 = 1 << 12,
};

/// Options of Menu::access and Menu::pcm. Tables 6 and 7.
inline constexpr uint8_t kAccessCallCellular = 1, kAccessAnswerCellular = 2;
inline constexpr uint8_t kAccessDigital = 4;  ///< sender's access: on a digital network connection
inline constexpr uint8_t kPcmAnalogue = 1, kPcmDigital = 2;

struct Menu {
  CallFunction call_function = CallFunction::kNone;
  uint16_t modulations = 0;   ///< of Modulation
  bool has_protocol = false;  ///< category present
  uint8_t protocol = 0;       ///< 0..7, Table 5; kProtocolLapm
  bool has_access = false;    ///< PSTN access category present, Table 6
  uint8_t access = 0;         ///< 0..7: bit 0 caller cellular, bit 1 answerer cellular, bit 2 digital network
  bool has_pcm = false;       ///< PCM modem availability category present, Table 7
  uint8_t pcm = 0;            ///< 0..7: bit 0 analogue V.90 or V.92, bit 1 digital V.90 or V.92, bit 2 V.91
  friend bool operator==(const Menu&, const Menu&) = default;
};

inline constexpr uint8_t kProtocolLapm = 1;  ///< LAPM of V.42

/// Longest menu that is sent, without the synchronization octet.
inline constexpr int kMaxMenuOctets = 16;

/// Longest menu that is read, without the synchronization octet. Non-standard facilities (6.6) may have any length. But
/// two copies of a longer menu would take 9 s, and ANSam ends after at most 6 s (8.2.2).
inline constexpr int kMaxHeardOctets = 128;

/// Write a menu: call function first, then modulations (as many octets as the highest needs, at least `min_modulation_
/// octets`), protocol, access, PCM.
/// @param[out] octets  [kMaxMenuOctets], without synchronization  @return how many.  Real-time: yes.
int encode(const Menu& menu, uint8_t* octets, int min_modulation_octets = 1);

/// Read a menu. Unknown categories and extensions, and repeated ones, are skipped (5.2, 6).
/// @param[in] octets  [n], without synchronization; n >= 0
/// @return number of modulation octets, or 0 if there is no modulation category.  Real-time: yes, O(n).
int decode(const uint8_t* octets, int n, Menu* menu);

/// Name of one of Modulation, such as "V.32bis/V.32"; "" for anything else.
const char* modulation_name(uint16_t modulation);

/// The mode that V.8 selects: the lowest item of `joint`, or 0 if there is none. Source: 7.4, 8.1.1
constexpr uint16_t selected_modulation(uint16_t joint) {
  return static_cast<uint16_t>(joint & -joint);
}

}  // namespace offhook::v8
