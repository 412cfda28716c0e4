// SPDX-License-Identifier: MIT
#include "dsp/link/xid.h"

namespace offhook::v42 {
namespace {

constexpr uint8_t kFormat = 0x82;       // 12.2.2: general purpose
constexpr uint8_t kNegotiation = 0x80;  // group: parameter negotiation
constexpr uint8_t kPrivate = 0xF0;      // group: private parameters, here those of V.42bis
constexpr uint8_t kUserData = 0xFF;     // group without a length: it has the rest of the field, here V.44's
constexpr uint8_t kFunctions = 3, kN401Tx = 5, kN401Rx = 6, kKTx = 7, kKRx = 8;  // Table 11a
constexpr uint8_t kSet = 0, kP0 = 1, kP1 = 2, kP2 = 3;                           // Table 11b
constexpr uint8_t kV44Set = 0x40, kV44C0 = 0x41, kV44P0 = 0x42, kV44P1Tx = 0x43, kV44P1Rx = 0x44, kV44P2Tx = 0x45,
                  kV44P2Rx = 0x46, kV44P3Tx = 0x47, kV44P3Rx = 0x48;  // V.44, Table A.1

constexpr uint32_t position(int bit) {
  return 1u << (bit - 1);
}
constexpr uint32_t kAlways = position(2) | position(4) | position(8) | position(9) | position(12) | position(16);
constexpr uint32_t kSrej = position(3), kTest = position(14), kFcs32 = position(17);

// V.42 prints 00101010 as the "V" of both compressions.
bool names(const uint8_t* value, size_t size, uint8_t second, uint8_t third) {
  return size == 3 && (value[0] == 'V' || value[0] == 0x2A) && value[1] == second && value[2] == third;
}

template <class T>
T at_most(uint32_t value) {
  return value < T(~0u) ? T(value) : T(~0u);
}

uint32_t high_first(const uint8_t* value, size_t size) {
  uint32_t number = 0;
  for (size_t i = 0; i < size && i < 4; ++i) number = number << 8 | value[i];
  return number;
}

/// The user data subfield, which others may have filled. It is ignored unless it is V.42's.
/// @return 0, or 1 + the position of the error in it
size_t read_user_data(const uint8_t* in, size_t n, Xid* xid) {
  bool v44 = false, history_tx = false, history_rx = false;
  for (size_t at = 0; at < n;) {
    if (n - at < 2 || in[at + 1] > n - at - 2) return v44 ? at + 1 : 0;
    const uint8_t id = in[at], size = in[at + 1];
    const uint8_t* value = in + at + 2;
    if (id == kV44Set) v44 = xid->v44 = names(value, size, '4', '4');
    if (v44 && id > kV44C0 && id <= kV44P3Rx) {
      if (size == 0 || size > 4) return at + 2;
      const uint32_t number = high_first(value, size);
      if (id == kV44P0) xid->v44_directions = number & 3;
      if (id == kV44P1Tx) xid->v44_tx.codewords = at_most<uint16_t>(number);
      if (id == kV44P1Rx) xid->v44_rx.codewords = at_most<uint16_t>(number);
      if (id == kV44P2Tx) xid->v44_tx.max_string = at_most<uint8_t>(number);
      if (id == kV44P2Rx) xid->v44_rx.max_string = at_most<uint8_t>(number);
      if (id == kV44P3Tx) history_tx = true, xid->v44_tx.history = at_most<uint16_t>(number);
      if (id == kV44P3Rx) history_rx = true, xid->v44_rx.history = at_most<uint16_t>(number);
    }
    at += 2u + size;
  }
  // Table 10: the default is 3 x P1
  if (!history_tx) xid->v44_tx.history = at_most<uint16_t>(3u * xid->v44_tx.codewords);
  if (!history_rx) xid->v44_rx.history = at_most<uint16_t>(3u * xid->v44_rx.codewords);
  return 0;
}

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
  auto parameter = [&](uint8_t id, uint8_t size, uint32_t value) {
    octet(id);
    octet(size);
    for (int i = size - 1; i >= 0; --i) octet(value >> (8 * i));
  };
  if (xid.v42bis) {
    octet(kPrivate);
    octet(0);
    octet(15);
    parameter(kSet, 3, 'V' << 16 | '4' << 8 | '2');
    parameter(kP0, 1, xid.compress);
    parameter(kP1, 2, xid.codewords);
    parameter(kP2, 1, xid.max_string);
  }
  if (xid.v44) {
    octet(kUserData);
    parameter(kV44Set, 3, 'V' << 16 | '4' << 8 | '4');
    parameter(kV44C0, 1, 0);  // no parameters after the link is established
    parameter(kV44P0, 1, xid.v44_directions);
    parameter(kV44P1Tx, 2, xid.v44_tx.codewords);
    parameter(kV44P1Rx, 2, xid.v44_rx.codewords);
    parameter(kV44P2Tx, 1, xid.v44_tx.max_string);
    parameter(kV44P2Rx, 1, xid.v44_rx.max_string);
    parameter(kV44P3Tx, 2, xid.v44_tx.history);
    parameter(kV44P3Rx, 2, xid.v44_rx.history);
  }
  return n;
}

size_t read_xid(const uint8_t* in, size_t n, Xid* xid) {
  *xid = Xid{};
  if (n == 0 || in[0] != kFormat) return 1;
  for (size_t at = 1; at < n;) {
    if (in[at] == kUserData) {
      const size_t wrong = read_user_data(in + at + 1, n - at - 1, xid);
      return wrong == 0 ? 0 : at + 1 + wrong;
    }
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
      const uint32_t number = high_first(value, size);
      uint32_t low_first = 0;
      for (uint8_t i = 0; i < size && i < 4; ++i) low_first |= uint32_t(value[i]) << (8 * i);
      at += 2u + size;
      if (group == kPrivate) {
        if (first) v42bis = id == kSet && names(value, size, '4', '2');
        if (!v42bis || id < kP0 || id > kP2) continue;
        if (size == 0 || size > 4) return at - size;
        if (id == kP0) xid->v42bis = true, xid->compress = number & 3;
        if (id == kP1) xid->codewords = at_most<uint16_t>(number);
        if (id == kP2) xid->max_string = at_most<uint8_t>(number);
        continue;
      }
      const bool known = id == kFunctions || (id >= kN401Tx && id <= kKRx);
      if (known && (size == 0 || size > 4)) return at - size;
      if (id == kFunctions) {  // 3 or 4 octets (Corrigendum 1)
        xid->srej = low_first & kSrej;
        xid->test = low_first & kTest;
        xid->fcs32 = low_first & kFcs32;
      } else if (id == kN401Tx || id == kN401Rx) {
        if (number < 8 || number / 8 > 0xFFFF) return at - size + 1;
        (id == kN401Tx ? xid->n401_tx : xid->n401_rx) = uint16_t(number / 8);
      } else if (id == kKTx || id == kKRx) {
        if (number < 1 || number > 127) return at - size + 1;
        (id == kKTx ? xid->k_tx : xid->k_rx) = uint8_t(number);
      }
    }
  }
  return 0;
}

}  // namespace offhook::v42
