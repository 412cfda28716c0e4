// SPDX-License-Identifier: MIT
//
// The short Phase 1 of V.92 (11/2000) 8.2 and 8.3, quick connect. QC requests to skip V.8's menus between modems that
// have met before; QCA agrees. Each comes from an analogue or a digital modem, and either in V.8 (QC1, QCA1: an octet
// after a synchronization octet of its own, twice) or in V.8bis (QC2, QCA2: the identification field of a message).
#pragma once

#include <stdint.h>

namespace offhook::v90 {

inline constexpr uint8_t kSyncQuickConnect = 0x55;  ///< Tables 2, 4, 11, 13, bits 11:18
inline constexpr int kQuickConnectMessage = 13;     ///< message type of V.8bis; Tables 3, 5, 12, 14

struct QuickConnect {
  bool acknowledge;           ///< QCA, else QC
  bool digital;               ///< from the digital modem
  bool lapm;                  ///< calls for V.42
  uint8_t uqts;               ///< analogue: Ucode for QTS; 0: cleardown from on-hold. Digital: 0
  int16_t anspcm_tenth_dbm0;  ///< digital: level of ANSpcm, -95 to -180. Analogue: 0
  friend bool operator==(const QuickConnect&, const QuickConnect&) = default;
};

/// The UQTS of Table 2 that is the highest not above a Ucode, or the lowest. Real-time: yes, O(1).
uint8_t uqts_not_above(uint8_t ucode);

/// The octet of QC1 and QCA1, first bit in time in bit 0. Real-time: yes, O(1).
uint8_t encode_qc1(const QuickConnect& qc);
/// @return true when the octet's fixed bits are right; else `qc` is unchanged. Real-time: yes, O(1).
bool decode_qc1(uint8_t octet, QuickConnect* qc);

/// The two octets of QC2 and QCA2, first bit in time in bit 0. @param revision  of V.8bis, 0..15
/// Real-time: yes, O(1).
void encode_qc2(const QuickConnect& qc, int revision, uint8_t* octets);
/// @param[in] octets  [size] of an identification field  @return true when it is one of quick connect's; reserved bits
/// are ignored; else `qc` is unchanged. Real-time: yes, O(1).
bool decode_qc2(const uint8_t* octets, int size, QuickConnect* qc);

}  // namespace offhook::v90
