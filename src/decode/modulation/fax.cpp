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

}  // namespace

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
      if (!echo) heard.frames.push_back({channel, f.t, t30_frametype(f.octets[2]), f});
    }
  }
  std::sort(heard.frames.begin(), heard.frames.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return heard;
}

}  // namespace offhook::decode
