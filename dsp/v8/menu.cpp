// SPDX-License-Identifier: MIT
#include "dsp/v8/menu.h"

namespace offhook::v8 {
namespace {

// The bit of a modulation. Table 4.
struct Place {
  uint16_t modulation;
  uint8_t octet;
  uint8_t bit;
  const char* name;
};
constexpr Place kPlace[] = {
    {kPcm, 0, 5, "PCM modem availability present"},
    {kV34, 0, 6, "V.34"},
    {kV34HalfDuplex, 0, 7, "V.34 half-duplex"},
    {kV32bis, 1, 0, "V.32bis/V.32"},
    {kV22bis, 1, 1, "V.22bis/V.22"},
    {kV17, 1, 2, "V.17"},
    {kV29, 1, 6, "V.29"},
    {kV27ter, 1, 7, "V.27ter"},
    {kV26ter, 2, 0, "V.26ter"},
    {kV26bis, 2, 1, "V.26bis"},
    {kV23Duplex, 2, 2, "V.23 duplex"},
    {kV23HalfDuplex, 2, 6, "V.23 half-duplex"},
    {kV21, 2, 7, "V.21"},
};
constexpr int kModulationOctets = 3;

constexpr uint8_t category(Tag tag, int options) {
  return static_cast<uint8_t>(tag | options << 5);
}

}  // namespace

int encode(const Menu& menu, uint8_t* octets, int min_modulation_octets) {
  int n = 0;
  octets[n++] = category(kCallFunction, static_cast<int>(menu.call_function));

  uint8_t modulation[kModulationOctets] = {kModulation, kExtensionBits, kExtensionBits};
  int used = min_modulation_octets < 1 ? 1 : min_modulation_octets;
  for (const Place& place : kPlace) {
    if ((menu.modulations & place.modulation) == 0) continue;
    modulation[place.octet] = static_cast<uint8_t>(modulation[place.octet] | 1 << place.bit);
    if (used < place.octet + 1) used = place.octet + 1;
  }
  if (used > kModulationOctets) used = kModulationOctets;
  for (int k = 0; k < used; ++k) octets[n++] = modulation[k];

  if (menu.has_protocol) octets[n++] = category(kProtocol, menu.protocol & 7);
  if (menu.has_access) octets[n++] = category(kAccess, menu.access & 7);
  if (menu.has_pcm) octets[n++] = category(kPcmModem, menu.pcm & 7);
  return n;
}

int decode(const uint8_t* octets, int n, Menu* menu) {
  *menu = {};
  int modulation_octets = 0;
  bool in_modulation = false;  // extensions belong to the modulation category
  bool has_function = false;
  for (int k = 0; k < n; ++k) {
    const uint8_t octet = octets[k];
    const bool extension = is_extension(octet);
    const int options = octet >> 5;
    if (!extension) {
      in_modulation = octet % 32 == kModulation && modulation_octets == 0;
      switch (octet % 32) {
        case kCallFunction:
          if (!has_function) menu->call_function = static_cast<CallFunction>(options);
          has_function = true;
          break;
        case kProtocol:
          if (!menu->has_protocol) menu->protocol = static_cast<uint8_t>(options);
          menu->has_protocol = true;
          break;
        case kAccess:
          if (!menu->has_access) menu->access = static_cast<uint8_t>(options);
          menu->has_access = true;
          break;
        case kPcmModem:
          if (!menu->has_pcm) menu->pcm = static_cast<uint8_t>(options);
          menu->has_pcm = true;
          break;
        default:
          break;
      }
    }
    if (!in_modulation) continue;
    for (const Place& place : kPlace) {
      if (place.octet == modulation_octets && (octet >> place.bit & 1) != 0) menu->modulations |= place.modulation;
    }
    if (modulation_octets < kModulationOctets)
      ++modulation_octets;
    else
      in_modulation = false;
  }
  return modulation_octets;
}

const char* modulation_name(uint16_t modulation) {
  for (const Place& place : kPlace) {
    if (place.modulation == modulation) return place.name;
  }
  return "";
}

}  // namespace offhook::v8
