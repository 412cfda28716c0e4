// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/quick_connect.h"

namespace offhook::v90 {
namespace {

// Table 2, WXYZ with W the most significant.
constexpr uint8_t kUqts[16] = {61, 62, 63, 66, 67, 70, 71, 74, 75, 78, 79, 82, 83, 86, 87, 0};
constexpr int16_t kLevel[4] = {-95, -120, -150, -180};  // Table 11, LM

int wxyz_of(uint8_t uqts) {
  for (int k = 0; k < 16; ++k) {
    if (kUqts[k] == uqts) return k;
  }
  return 15;
}

int lm_of(int16_t level) {
  int k = 0;
  while (k < 3 && kLevel[k] != level) ++k;
  return k;
}

// The bit that counts 2^(n-1), ..., 1 comes first in time, which is bit 0.
constexpr int reversed(int value, int n) {
  int out = 0;
  for (int k = 0; k < n; ++k) out |= (value >> k & 1) << (n - 1 - k);
  return out;
}

}  // namespace

uint8_t uqts_not_above(uint8_t ucode) {
  uint8_t found = kUqts[0];
  for (const uint8_t u : kUqts) {
    if (u <= ucode && u > found) found = u;
  }
  return found;
}

// Bits in time: digital, QCA, P, then W0XYZ or 000LM.
uint8_t encode_qc1(const QuickConnect& qc) {
  const int head = qc.digital | qc.acknowledge << 1 | qc.lapm << 2;
  if (qc.digital) return static_cast<uint8_t>(head | reversed(lm_of(qc.anspcm_tenth_dbm0), 2) << 6);
  const int u = reversed(wxyz_of(qc.uqts), 4);  // W in bit 0
  return static_cast<uint8_t>(head | (u & 1) << 3 | (u >> 1) << 5);
}

bool decode_qc1(uint8_t octet, QuickConnect* qc) {
  const bool digital = (octet & 1) != 0;
  if ((octet & (digital ? 0x38 : 0x10)) != 0) return false;
  *qc = {(octet & 2) != 0, digital, (octet & 4) != 0, 0, 0};
  if (digital) {
    qc->anspcm_tenth_dbm0 = kLevel[reversed(octet >> 6, 2)];
  } else {
    qc->uqts = kUqts[reversed((octet >> 3 & 1) | (octet >> 5) << 1, 4)];
  }
  return true;
}

// Second octet, bits in time: WXYZ or LM00, reserved, P, QCA, digital.
void encode_qc2(const QuickConnect& qc, int revision, uint8_t* octets) {
  octets[0] = static_cast<uint8_t>(kQuickConnectMessage | revision << 4);
  const int value = qc.digital ? reversed(lm_of(qc.anspcm_tenth_dbm0), 2) : reversed(wxyz_of(qc.uqts), 4);
  octets[1] = static_cast<uint8_t>(value | qc.lapm << 5 | qc.acknowledge << 6 | qc.digital << 7);
}

bool decode_qc2(const uint8_t* octets, int size, QuickConnect* qc) {
  if (size < 2 || (octets[0] & 15) != kQuickConnectMessage) return false;
  const int b = octets[1];
  const bool digital = (b & 0x80) != 0;
  *qc = {(b & 0x40) != 0, digital, (b & 0x20) != 0, 0, 0};
  if (digital) {
    qc->anspcm_tenth_dbm0 = kLevel[reversed(b & 3, 2)];
  } else {
    qc->uqts = kUqts[reversed(b & 15, 4)];
  }
  return true;
}

}  // namespace offhook::v90
