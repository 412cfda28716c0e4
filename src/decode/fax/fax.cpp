// SPDX-License-Identifier: MIT
#include "src/decode/fax/fax.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "src/decode/line/high_passed.h"
#include "src/decode/line/samples.h"
#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

// T.30 5.3.4 and 5.3.5, bit 0 first: the address, and the control field of a frame that is not or is the last.
constexpr int kControl = 0x03, kFinal = 0x10;
constexpr const char* kUnknown = "???";
constexpr std::uint32_t kPreambleFlags = 24;                             // of 1 s, 37 flags
constexpr double kLeastPeriodS = 0.85 * 3.5, kMostPeriodS = 1.15 * 3.5;  // 0.5 s and 3 s of silence, each +- 15 %

std::vector<CallingTone> find_cng(std::span<const float> voice, int channel) {
  constexpr int kHz = 1100;
  constexpr double kShortest = 0.4, kLongest = 0.6;  // T.30 4.2.1: 0.5 s +- 15 %
  std::vector<CallingTone> all;
  for (const auto& [t0, t1] : find_tone_stretches(voice, kHz)) {
    if (t1 - t0 > kShortest && t1 - t0 < kLongest) all.push_back({channel, t0, t1});
  }
  // A tone that is repeated sooner is another signal.
  const std::vector<CallingTone> tones = all;
  std::erase_if(all, [&](const CallingTone& x) {
    return std::any_of(tones.begin(), tones.end(),
                       [&](const CallingTone& o) { return o.t0 != x.t0 && std::abs(o.t0 - x.t0) < kLeastPeriodS; });
  });
  return all;
}

// A frame of a known name in the format of T.30.
bool is_t30(const V21Frame& f) {
  return f.octets.size() >= 3 && f.octets[0] == kT30Address && (f.octets[1] & ~kFinal) == kControl;
}

double power(std::span<const float> x, double from_s, double to_s) {
  double sum = 0;
  for (auto k = static_cast<std::size_t>(std::max(0.0, from_s) * kRateHz);
       k < x.size() && static_cast<double>(k) < to_s * kRateHz; ++k)
    sum += static_cast<double>(x[k]) * x[k];
  return sum;
}

constexpr double kLatestS = 0.4;  // an echo behind its frame

// The same frame, less loud, in the other channel: its echo.
void drop_echoes(const Recording& r, std::vector<FaxFrame>& frames) {
  const auto loudness = [&](const FaxFrame& f) {
    return power(r.channel[static_cast<std::size_t>(f.channel)], f.t, f.received.t_end);
  };
  const std::vector<FaxFrame> all = frames;
  std::erase_if(frames, [&](const FaxFrame& f) {
    return std::any_of(all.begin(), all.end(), [&](const FaxFrame& o) {
      return std::abs(o.t - f.t) < kLatestS && o.channel != f.channel && o.received.octets == f.received.octets &&
             (loudness(o) > loudness(f) || (loudness(o) == loudness(f) && o.channel < f.channel));
    });
  });
}

// The frames and pages of T.38. Its frames are in other packets than speech, so no echo is among them.
void add_t38(const Recording& r, FaxHeard& heard) {
  std::vector<FaxFrame> frames;
  for (const T38Frame& f : r.t38) {
    const V21Frame received{.t = f.t, .t_end = f.t, .octets = f.octets, .fcs_good = f.fcs_good};
    if (!is_t30(received)) continue;
    std::string name = fax_frame_name(f.octets[2]);
    std::vector<std::string> meaning = fax_meaning(name, f.octets);
    FaxFrame frame{f.channel, f.t, std::move(name), received, std::move(meaning), true};
    (f.fcs_good ? frames : heard.damaged).push_back(std::move(frame));
  }
  FaxPages sent = read_t38_pages(frames, r.t38_carriers);
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  append(heard.frames, frames);
  append(heard.sent.carriers, sent.carriers);
  append(heard.sent.pages, sent.pages);
}

}  // namespace

bool FaxHeard::cng_repeats() const {
  for (const CallingTone& a : cng) {
    for (const CallingTone& b : cng) {
      if (a.channel == b.channel && b.t0 - a.t0 > kLeastPeriodS && b.t0 - a.t0 < kMostPeriodS) return true;
    }
  }
  return false;
}

FaxHeard find_fax(const Recording& r) {
  FaxHeard heard;
  std::vector<std::pair<double, double>> bursts;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    const int channel = static_cast<int>(c);
    const std::vector<float> voice = high_passed(r.channel[c]);
    for (const CallingTone& tone : find_cng(voice, channel)) heard.cng.push_back(tone);
    const V21Frames v21 = v21_frames(voice, true);
    if (v21.flags >= kPreambleFlags) heard.flags_channel = channel;
    bursts.insert(bursts.end(), v21.bursts.begin(), v21.bursts.end());
    for (const V21Frame& f : v21.frames) {
      if (!is_t30(f)) continue;
      std::string name = fax_frame_name(f.octets[2]);
      std::vector<std::string> meaning = fax_meaning(name, f.octets);
      if (!f.fcs_good && name == kUnknown) continue;
      (f.fcs_good ? heard.frames : heard.damaged).push_back({channel, f.t, std::move(name), f, std::move(meaning)});
    }
  }
  drop_echoes(r, heard.frames);
  // Also drops an echo that is damaged. Without a good frame, T.30 is not certain.
  std::erase_if(heard.damaged, [&](const FaxFrame& f) {
    return heard.frames.empty() || std::any_of(heard.frames.begin(), heard.frames.end(), [&](const FaxFrame& o) {
             return std::abs(o.t - f.t) < kLatestS && o.channel != f.channel;
           });
  });
  std::sort(heard.frames.begin(), heard.frames.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  heard.sent = read_pages(r.channel, heard.frames, std::move(bursts));
  add_t38(r, heard);
  for (auto* frames : {&heard.frames, &heard.damaged})
    std::stable_sort(frames->begin(), frames->end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return heard;
}

}  // namespace offhook::decode
