// SPDX-License-Identifier: MIT
#include "src/decode/modulation/fax.h"

#include <spandsp.h>

#include <algorithm>
#include <cmath>

#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

// T.30 5.3.4 and 5.3.5, bit 0 first: the address, and the control field of a frame that is not or is the last.
constexpr int kAddress = 0xFF, kControl = 0x03, kFinal = 0x10;
constexpr std::uint32_t kPreambleFlags = 24;  // of 1 s, 37 flags

std::vector<CallingTone> find_cng(std::span<const float> x, int channel) {
  constexpr int kHz = 1100;
  constexpr double kShortest = 0.4, kLongest = 0.6;  // T.30 4.2.1: 0.5 s +- 15 %
  std::vector<CallingTone> all;
  for (const auto& [t0, t1] : find_tone_stretches(x, kHz)) {
    if (t1 - t0 > kShortest && t1 - t0 < kLongest) all.push_back({channel, t0, t1});
  }
  return all;
}

// The bits of DIS, DTC and DCS. Bit 1 is the first bit after the facsimile control field. The text of T.30 was not at
// hand: the meanings are those that spandsp's t30_decode_dis_dtc_dcs() prints.
class Capabilities {
 public:
  explicit Capabilities(const std::vector<std::uint8_t>& frame) : fif_(frame.begin() + 3, frame.end()) {}
  int bit(int n) const {
    const auto octet = static_cast<std::size_t>((n - 1) / 8);
    return octet < fif_.size() ? fif_[octet] >> ((n - 1) % 8) & 1 : 0;
  }
  int bits(int first, int count) const {  // the first one is the highest
    int value = 0;
    for (int k = 0; k < count; ++k) value = value << 1 | bit(first + k);
    return value;
  }

 private:
  std::vector<std::uint8_t> fif_;
};

const char* modulations_offered(int bits11to14) {
  switch (bits11to14) {
    case 0b0000:
      return "V.27ter 2400";
    case 0b0100:
      return "V.27ter";
    case 0b1000:
      return "V.29";
    case 0b1100:
      return "V.27ter, V.29";
    case 0b1110:
      return "V.27ter, V.29, V.33";
    case 0b1101:
      return "V.27ter, V.29, V.17";
    default:
      return nullptr;
  }
}

const char* modulation_chosen(int bits11to14) {
  constexpr const char* kNames[16] = {
      "V.27ter 2400", "V.17 14400", "V.33 14400", nullptr, "V.27ter 4800", "V.17 12000", "V.33 12000", nullptr,
      "V.29 9600",    "V.17 9600",  nullptr,      nullptr, "V.29 7200",    "V.17 7200",  nullptr,      nullptr};
  return kNames[bits11to14];
}

}  // namespace

std::string fax_frame_name(std::uint8_t control_field) {
  return t30_frametype(control_field);
}

std::vector<std::string> fax_meaning(const std::string& name, const std::vector<std::uint8_t>& frame) {
  const bool dcs = name == "DCS";
  if (frame.size() < 6 || (!dcs && name != "DIS" && name != "DTC")) return {};
  const Capabilities c(frame);
  std::vector<std::string> words;
  const char* modulation = dcs ? modulation_chosen(c.bits(11, 4)) : modulations_offered(c.bits(11, 4));
  words.emplace_back(modulation != nullptr ? modulation : "modulation reserved");
  const auto say = [&](int n, const char* what) {
    if (c.bit(n)) words.emplace_back(what);
  };
  if (!dcs) {
    say(9, "has a document to poll");
    say(10, "can receive");
  }
  say(15, dcs ? "fine, 7.7 lines/mm" : "up to 7.7 lines/mm");
  if (dcs && !c.bit(15)) words.emplace_back("standard, 3.85 lines/mm");
  words.emplace_back(c.bit(31) ? "T.6 (MMR)" : c.bit(16) ? "two-dimensional (MR)" : "one-dimensional (MH)");
  constexpr const char* kWidths[4] = {"215 mm", "215, 255 and 303 mm", "215 and 255 mm", "width reserved"};
  constexpr const char* kWidth[4] = {"215 mm", "303 mm", "255 mm", "width reserved"};
  words.emplace_back((dcs ? kWidth : kWidths)[c.bits(17, 2)]);
  constexpr const char* kLength[4] = {"A4", "unlimited length", "B4", "length reserved"};
  words.emplace_back(kLength[c.bits(19, 2)]);
  constexpr const char* kScan[8] = {"20 ms a line",
                                    "40 ms a line",
                                    "10 ms a line",
                                    "10 ms a line, half if fine",
                                    "5 ms a line",
                                    "40 ms a line, half if fine",
                                    "20 ms a line, half if fine",
                                    "0 ms a line"};
  words.emplace_back(kScan[c.bits(21, 3)]);
  if (c.bit(24)) {
    say(26, "uncompressed mode");
    say(27, "error correction");
    if (dcs && c.bit(27)) words.emplace_back(c.bit(28) ? "frames of 64 octets" : "frames of 256 octets");
  }
  return words;
}

bool FaxHeard::cng_repeats() const {
  constexpr double kLeastS = 0.85 * 3.5, kMostS = 1.15 * 3.5;  // 0.5 s and 3 s of silence, each +- 15 %
  for (const CallingTone& a : cng) {
    for (const CallingTone& b : cng) {
      if (a.channel == b.channel && b.t0 - a.t0 > kLeastS && b.t0 - a.t0 < kMostS) return true;
    }
  }
  return false;
}

FaxHeard find_fax(const Recording& r) {
  FaxHeard heard;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    const int channel = static_cast<int>(c);
    for (const CallingTone& tone : find_cng(r.channel[c], channel)) heard.cng.push_back(tone);
    const V21Frames v21 = v21_frames(r.channel[c], true);
    if (v21.flags >= kPreambleFlags) heard.flags_channel = channel;
    for (const V21Frame& f : v21.frames) {
      if (!f.fcs_good || f.octets.size() < 3 || f.octets[0] != kAddress || (f.octets[1] & ~kFinal) != kControl)
        continue;
      const bool echo = std::any_of(heard.frames.begin(), heard.frames.end(), [&](const FaxFrame& o) {
        return o.channel != channel && o.received.octets == f.octets && std::abs(o.t - f.t) < 0.4;
      });
      if (echo) continue;
      std::string name = fax_frame_name(f.octets[2]);
      std::vector<std::string> meaning = fax_meaning(name, f.octets);
      heard.frames.push_back({channel, f.t, std::move(name), f, std::move(meaning)});
    }
  }
  std::sort(heard.frames.begin(), heard.frames.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return heard;
}

}  // namespace offhook::decode
