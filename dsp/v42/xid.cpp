// SPDX-License-Identifier: MIT
#include "dsp/v42/xid.h"

namespace offhook::v42 {
namespace {

constexpr uint8_t kFormat = 0x82;       // 12.2.2: general purpose
constexpr uint8_t kNegotiation = 0x80;  // group: parameter negotiation
constexpr uint8_t kPrivate = 0xF0;      // group: private parameters, here those of V.42bis
constexpr uint8_t kUserData = 0xFF;     // group without a length: the rest of the field
constexpr uint8_t kFunctions = 3, kN401Tx = 5, kN401Rx = 6, kKTx = 7, kKRx = 8;  // Table 11a
constexpr uint8_t kSet = 0, kP0 = 1, kP1 = 2, kP2 = 3;                           // Table 11b

constexpr uint32_t position(int bit) {
  return 1u << (bit - 1);
}
constexpr uint32_t kAlways = position(2) | position(4) | position(8) | position(9) | position(12) | position(16);
constexpr uint32_t kSrej = position(3), kTest = position(14), kFcs32 = position(17);

}  // namespace

size_t write_xid(const Xid& xid, bool response, uint8_t* out) {
  uint32_t functions = kAlways | (xid.srej ? kSrej : 0) | (xid.test ? kTest : 0) | (xid.fcs32 ? kFcs32 : 0);
  if (response && xid.fcs32) functions &= ~position(16);
  size_t n = 0;
  auto octet = [&](uint32_t value) { out[n++] = uint8_t(value); };
  octet(kFormat);
  octet(kNegotiation);
  octet(0);
  octet(20);
  octet(kFunctions);
  octet(4);
  for (int i = 0; i < 4; ++i) octet(functions >> (8 * i));
  for (int rx = 0; rx < 2; ++rx) {
    const uint32_t bits = 8u * (rx ? xid.n401_rx : xid.n401_tx);
    octet(rx ? kN401Rx : kN401Tx);
    octet(2);
    octet(bits >> 8);
    octet(bits);
  }
  octet(kKTx);
  octet(1);
  octet(xid.k_tx);
  octet(kKRx);
  octet(1);
  octet(xid.k_rx);
  if (!xid.v42bis) return n;
  octet(kPrivate);
  octet(0);
  octet(15);
  octet(kSet);
  octet(3);
  octet('V');
  octet('4');
  octet('2');
  octet(kP0);
  octet(1);
  octet(xid.compress);
  octet(kP1);
  octet(2);
  octet(xid.codewords >> 8);
  octet(xid.codewords);
  octet(kP2);
  octet(1);
  octet(xid.max_string);
  return n;
}

size_t read_xid(const uint8_t* in, size_t n, Xid* xid) {
  *xid = Xid{};
  if (n == 0 || in[0] != kFormat) return 1;
  for (size_t at = 1; at < n && in[at] != kUserData;) {
    const uint8_t group = in[at];
    if (n - at < 3) return at + 1;
    const size_t length = size_t(in[at + 1]) << 8 | in[at + 2];
    at += 3;
    if (length > n - at) return at - 1;
    const size_t end = at + length;
    if (group != kNegotiation && group != kPrivate) at = end;
    bool first = true, v42bis = false;
    for (; at < end; first = false) {
      if (end - at < 2 || in[at + 1] > end - at - 2) return at + 1;
      const uint8_t id = in[at], size = in[at + 1];
      const uint8_t* value = in + at + 2;
      uint32_t high_first = 0, low_first = 0;
      for (uint8_t i = 0; i < size && i < 4; ++i) {
        high_first = high_first << 8 | value[i];
        low_first |= uint32_t(value[i]) << (8 * i);
      }
      at += 2u + size;
      if (group == kPrivate) {
        // V.42 prints 00101010 for the "V" of V.42bis.
        if (first)
          v42bis = id == kSet && size == 3 && (value[0] == 'V' || value[0] == 0x2A) && (high_first & 0xFFFF) == 0x3432;
        if (!v42bis || id < kP0 || id > kP2) continue;
        if (size == 0 || size > 4) return at - size;
        if (id == kP0) xid->v42bis = true, xid->compress = high_first & 3;
        if (id == kP1) xid->codewords = uint16_t(high_first < 0xFFFF ? high_first : 0xFFFF);
        if (id == kP2) xid->max_string = uint8_t(high_first < 0xFF ? high_first : 0xFF);
        continue;
      }
      const bool known = id == kFunctions || (id >= kN401Tx && id <= kKRx);
      if (known && (size == 0 || size > 4)) return at - size;
      if (id == kFunctions) {  // 3 or 4 octets (Corrigendum 1)
        xid->srej = low_first & kSrej;
        xid->test = low_first & kTest;
        xid->fcs32 = low_first & kFcs32;
      } else if (id == kN401Tx || id == kN401Rx) {
        if (high_first < 8 || high_first / 8 > 0xFFFF) return at - size + 1;
        (id == kN401Tx ? xid->n401_tx : xid->n401_rx) = uint16_t(high_first / 8);
      } else if (id == kKTx || id == kKRx) {
        if (high_first < 1 || high_first > 127) return at - size + 1;
        (id == kKTx ? xid->k_tx : xid->k_rx) = uint8_t(high_first);
      }
    }
  }
  return 0;
}

}  // namespace offhook::v42
