// SPDX-License-Identifier: MIT
#include "driver/fax/t30_frames.h"

#include <algorithm>
#include <array>

#include "driver/fax/class1.h"

namespace offhook::fax {
namespace {

constexpr char kAddress = static_cast<char>(0xFF), kControl = 0x03, kFinal = 0x10;

/// Bit numbers of DIS and DCS, from 1.
constexpr int kReceiverBit = 10, kRateBits = 11, kFineBit = 15, kTwoDimensionsBit = 16, kWidthBits = 17,
              kLengthBits = 19, kScanTimeBits = 21;

bool bit(std::string_view information, int number) {
  const auto octet = static_cast<std::size_t>(number - 1) / 8;
  return octet < information.size() && (static_cast<unsigned char>(information[octet]) >> (number - 1) % 8 & 1) != 0;
}
int bits(std::string_view information, int first, int count) {
  int value = 0;
  for (int k = 0; k < count; ++k) value |= static_cast<int>(bit(information, first + k)) << k;
  return value;
}
void set_bits(std::string& information, int first, int value) {
  for (; value != 0; value >>= 1, ++first)
    if (value & 1) information[static_cast<std::size_t>(first - 1) / 8] |= static_cast<char>(1 << (first - 1) % 8);
}

/// A row for each carrier: bits 11 to 14 of DCS, the first in the least significant place.
struct CarrierRow {
  int bits;
  Carrier carrier;

  const PageModulation& modulation() const { return *page_modulation(carrier.test_code); }
  int bit_rate() const { return modulation().bit_rate / 2400 - 1; }  // BR
};
constexpr std::array<CarrierRow, 8> kCarriers = {{{0x0, {24, 24}},
                                                  {0x2, {48, 48}},
                                                  {0x3, {72, 72}},
                                                  {0x1, {96, 96}},
                                                  {0xB, {73, 74}},
                                                  {0x9, {97, 98}},
                                                  {0xA, {121, 122}},
                                                  {0x8, {145, 146}}}};

/// Bits 21 to 23 for each code of ST: the time per line at standard and fine resolution, ms.
struct ScanTime {
  int bits, standard_ms, fine_ms;
};
constexpr std::array<ScanTime, 8> kScanTimes = {
    {{7, 0, 0}, {1, 5, 5}, {6, 10, 5}, {2, 10, 10}, {3, 20, 10}, {0, 20, 20}, {5, 40, 20}, {4, 40, 40}}};

const ScanTime& scan_time_row(int code) {
  return kScanTimes[static_cast<std::size_t>(std::clamp(code, 0, 7))];
}
int scan_time_of(int bits) {
  const auto row =
      std::find_if(kScanTimes.begin(), kScanTimes.end(), [bits](const ScanTime& s) { return s.bits == bits; });
  return static_cast<int>(row - kScanTimes.begin());
}

// In pairs of bits, the second one is the greater value; both together are invalid.
int greater_of_pair(std::string_view information, int first) {
  const int pair = bits(information, first, 2);
  return pair == 0 ? 0 : pair == 1 ? 1 : 2;
}

/// What DIS and DCS say in the same bits.
void set_page(std::string& information, const SessionParameters& p) {
  set_bits(information, kReceiverBit, 1);
  set_bits(information, kFineBit, p.resolution);
  set_bits(information, kTwoDimensionsBit, p.format);
  set_bits(information, kWidthBits, p.width);
  set_bits(information, kLengthBits, p.length);
}
SessionParameters page_of(std::string_view information) {
  SessionParameters p;
  p.resolution = bit(information, kFineBit);
  p.format = bit(information, kTwoDimensionsBit);
  p.width = greater_of_pair(information, kWidthBits);
  p.length = greater_of_pair(information, kLengthBits);
  p.scan_time = scan_time_of(bits(information, kScanTimeBits, 3));
  return p;
}

}  // namespace

std::string SessionParameters::text() const {
  std::string all;
  for (const int n : {resolution, bit_rate, width, length, format, error_correction, binary_files, scan_time})
    all += (all.empty() ? "" : ",") + std::to_string(n);
  return all;
}

int SessionParameters::scan_time_ms() const {
  const ScanTime& row = scan_time_row(scan_time);
  return resolution != 0 ? row.fine_ms : row.standard_ms;
}

SessionParameters agreed(const SessionParameters& own, const SessionParameters& far) {
  SessionParameters both;
  both.resolution = std::min(own.resolution, far.resolution);
  both.bit_rate = std::min(own.bit_rate, far.bit_rate);
  both.width = std::min(own.width, far.width);
  both.length = std::min(own.length, far.length);
  both.format = std::min(own.format, far.format);
  both.scan_time = far.scan_time;
  return both;
}

bool T30Frame::is_final() const {
  return (octets[1] & kFinal) != 0;
}
int T30Frame::field() const {
  return static_cast<unsigned char>(octets[2]) & 0xFE;
}

std::string frame_of(int field, bool is_final, std::string_view information) {
  std::string frame = {kAddress, is_final ? static_cast<char>(kControl | kFinal) : kControl, static_cast<char>(field)};
  return frame.append(information);
}

SessionParameters parameters_of_dis(std::string_view information, Modulations* modulations) {
  const int rates = bits(information, kRateBits, 4);
  modulations->v29 = (rates & 1) != 0;
  modulations->v17 = rates == 0xB;
  SessionParameters p = page_of(information);
  p.bit_rate = modulations->v17 ? 5 : modulations->v29 ? 3 : rates == 0 ? 0 : 1;
  return p;
}

std::string dis_of(const SessionParameters& own) {
  std::string information(3, 0);
  set_page(information, own);
  set_bits(information, kRateBits, own.bit_rate >= 4 ? 0xB : own.bit_rate >= 2 ? 0x3 : own.bit_rate == 1 ? 0x2 : 0);
  set_bits(information, kScanTimeBits, scan_time_row(own.scan_time).bits);
  return information;
}

Carrier carrier_of(int bit_rate, const Modulations& far) {
  const Signal highest = far.v17 ? Signal::kV17 : far.v29 ? Signal::kV29 : Signal::kV27ter;
  Carrier carrier;
  for (const CarrierRow& row : kCarriers)
    if (row.bit_rate() == bit_rate && row.modulation().signal <= highest) carrier = row.carrier;
  return carrier;
}

std::string dcs_of(const SessionParameters& session, const Carrier& carrier) {
  const auto row = std::find_if(kCarriers.begin(), kCarriers.end(),
                                [&](const CarrierRow& r) { return r.carrier.test_code == carrier.test_code; });
  std::string information(3, 0);
  set_page(information, session);
  set_bits(information, kRateBits, row->bits);
  const int ms = session.scan_time_ms();
  const auto time = std::find_if(kScanTimes.begin(), kScanTimes.end(),
                                 [ms](const ScanTime& s) { return s.standard_ms == ms && s.fine_ms == ms; });
  set_bits(information, kScanTimeBits, time->bits);
  return information;
}

std::optional<SessionParameters> parameters_of_dcs(std::string_view information, Carrier* carrier) {
  const int rate = bits(information, kRateBits, 4);
  const auto row =
      std::find_if(kCarriers.begin(), kCarriers.end(), [rate](const CarrierRow& r) { return r.bits == rate; });
  if (row == kCarriers.end()) return std::nullopt;
  *carrier = row->carrier;
  SessionParameters p = page_of(information);
  p.bit_rate = row->bit_rate();
  return p;
}

std::string ident_information(std::string_view ident) {
  std::string information(20, ' ');
  const std::size_t n = std::min<std::size_t>(ident.size(), information.size());
  std::reverse_copy(ident.begin(), ident.begin() + static_cast<std::ptrdiff_t>(n), information.begin());
  return information;
}

std::string ident_of(std::string_view information) {
  std::string ident(information.rbegin(), information.rend());
  for (char& c : ident)
    if (c < ' ' || c > '~' || c == '"') c = ' ';
  while (!ident.empty() && ident.back() == ' ') ident.pop_back();
  return ident.erase(0, std::min(ident.find_first_not_of(' '), ident.size()));
}

}  // namespace offhook::fax
