// SPDX-License-Identifier: MIT
#include "src/decode/start_up/call_signals.h"

#include <fmt/format.h>
#include <spandsp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

#include "src/decode/line/tone_windows.h"

namespace offhook::decode {
namespace {

// ---- tones: which of these are heard without others, every 20 ms in windows of 80

constexpr int kHz[] = {350, 425, 440, 480, 620, 950, 1300, 1400, 1800, 2225};
constexpr std::size_t kTones = std::size(kHz);
struct Sound {
  const char* name;
  int low, high;  // indices of kHz; equal: one tone
};
// ITU-T E.180 and its supplement 2: North America's pairs, Europe's 425 Hz. SIT: E.180 5.3. 1300 Hz: V.25 3.1.
constexpr Sound kSounds[] = {{"350+440", 0, 2}, {"440+480", 2, 3}, {"480+620", 3, 4}, {"425", 1, 1}, {"950", 5, 5},
                             {"1400", 7, 7},    {"1800", 8, 8},    {"1300", 6, 6},    {"2225", 9, 9}};
enum { kDial, kRing, kBusy, k425, k950, k1400, k1800, k1300, k2225, kSoundCount };

constexpr std::size_t kToneWindow = kRateHz * 8 / 100, kToneHop = kRateHz / 50;
constexpr double kAlone = 0.8;       // share of the power
constexpr double kPairShare = 0.1;   // of the weaker tone of a pair
constexpr double kLeastPower = 100;  // -47 dBm0 or so: call progress tones are louder

struct Stretch {
  double t0, t1;
  double length() const { return t1 - t0; }
};
using Stretches = std::array<std::vector<Stretch>, kSoundCount>;

int sound_of(ToneWindows& windows, std::size_t part) {
  const double all = windows.power_of(part);
  if (all < kLeastPower) return -1;
  std::array<double, kTones> power;
  windows.tones_of(part, power);
  for (int s = 0; s < kSoundCount; ++s) {
    const double low = power[static_cast<std::size_t>(kSounds[s].low)],
                 high = power[static_cast<std::size_t>(kSounds[s].high)];
    if (kSounds[s].low == kSounds[s].high) {
      if (low > kAlone * all) return s;
    } else if (low + high > kAlone * all && std::min(low, high) > kPairShare * all) {
      return s;
    }
  }
  return -1;
}

Stretches stretches_of(std::span<const float> x) {
  Stretches all;
  constexpr double kGapS = 0.06;
  ToneWindows windows(x, kHz, kToneHop, kToneWindow / kToneHop);
  for (std::size_t at = 0; at + kToneWindow <= x.size(); at += kToneHop) {
    const int s = sound_of(windows, at / kToneHop);
    if (s < 0) continue;
    std::vector<Stretch>& own = all[static_cast<std::size_t>(s)];
    // A window holds the tone's edge when more than half of it does.
    const double from = seconds(at + kToneWindow / 4), to = seconds(at + kToneWindow * 3 / 4);
    if (!own.empty() && from - own.back().t1 < kGapS) {
      own.back().t1 = to;
    } else {
      own.push_back({from, to});
    }
  }
  return all;
}

struct Cadence {
  const char* name;
  double least_on, most_on, least_off, most_off;
  std::size_t least_count;
};
constexpr Cadence kBusyCadence{"busy", 0.15, 0.7, 0.15, 0.7, 2};
constexpr Cadence kRingCadence{"ringback", 0.35, 2.6, 1.5, 6, 1};

// Runs of stretches in a cadence, each one signal.
void add_cadence(const std::vector<Stretch>& all, const Cadence& c, int channel, std::vector<CallSignal>& found) {
  for (std::size_t k = 0; k < all.size();) {
    const auto fits = [&](const Stretch& s) { return s.length() > c.least_on && s.length() < c.most_on; };
    if (!fits(all[k])) {
      ++k;
      continue;
    }
    std::size_t end = k + 1;
    while (end < all.size() && fits(all[end]) && all[end].t0 - all[end - 1].t1 > c.least_off &&
           all[end].t0 - all[end - 1].t1 < c.most_off)
      ++end;
    if (end - k >= c.least_count) {
      const std::string off = end - k > 1 ? fmt::format(", {:.1f} s off", all[k + 1].t0 - all[k].t1) : std::string();
      found.push_back({channel, all[k].t0, all[end - 1].t1, c.name,
                       fmt::format("{} x {:.1f} s on{}", end - k, all[k].length(), off)});
    }
    k = end;
  }
}

void add_long(const std::vector<Stretch>& all, double least_s, double most_s, const char* name, int channel,
              std::vector<CallSignal>& found) {
  for (const Stretch& s : all) {
    if (s.length() > least_s && s.length() < most_s) found.push_back({channel, s.t0, s.t1, name, {}});
  }
}

void add_special_information(const Stretches& all, int channel, std::vector<CallSignal>& found) {
  constexpr double kLeastS = 0.2, kMostS = 0.5, kGapS = 0.1;
  const auto next = [&](int sound, double t) -> const Stretch* {
    for (const Stretch& s : all[static_cast<std::size_t>(sound)]) {
      if (std::abs(s.t0 - t) < kGapS && s.length() > kLeastS && s.length() < kMostS) return &s;
    }
    return nullptr;
  };
  for (const Stretch& first : all[k950]) {
    if (first.length() < kLeastS || first.length() > kMostS) continue;
    const Stretch* second = next(k1400, first.t1);
    const Stretch* third = second != nullptr ? next(k1800, second->t1) : nullptr;
    if (third != nullptr) found.push_back({channel, first.t0, third->t1, "special information tone", {}});
  }
}

void add_tones(std::span<const float> x, int channel, std::vector<CallSignal>& found) {
  constexpr double kDialS = 1, kLongestS = 60;
  const Stretches all = stretches_of(x);
  add_long(all[kDial], kDialS, kLongestS, "dial tone", channel, found);
  add_long(all[k425], 3, kLongestS, "dial tone", channel, found);
  add_cadence(all[kRing], kRingCadence, channel, found);
  add_cadence(all[kBusy], kBusyCadence, channel, found);
  add_cadence(all[k425], kBusyCadence, channel, found);
  const Cadence europe{"ringback", 0.8, 1.5, 2.5, 6, 1};
  add_cadence(all[k425], europe, channel, found);
  add_special_information(all, channel, found);
  add_long(all[k1300], 0.4, 0.9, "calling tone 1300 Hz", channel, found);
  add_long(all[k2225], 0.5, kLongestS, kBellAnswerTone, channel, found);
}

// ---- digits and caller ID, by spandsp

std::int16_t to_int16(float v) {
  return static_cast<std::int16_t>(std::clamp(v, -32768.F, 32767.F));
}

struct Digits {
  double now = 0;
  int channel = 0;
  std::vector<CallSignal> found;
};

void put_digit(void* user, int code, int, int) {
  constexpr double kPauseS = 3;
  auto* d = static_cast<Digits*>(user);
  if (code == 0) {
    if (!d->found.empty() && d->found.back().t1 == 0) d->found.back().t1 = d->now;
    return;
  }
  if (d->found.empty() || (d->found.back().t1 > 0 && d->now - d->found.back().t1 > kPauseS))
    d->found.push_back({d->channel, d->now, 0, "DTMF", {}});
  d->found.back().detail += static_cast<char>(code);
  d->found.back().t1 = 0;
}

void put_message(void* user, const std::uint8_t* message, int size) {
  auto* d = static_cast<Digits*>(user);
  CallSignal signal{d->channel, d->now, d->now, kCallerId, {}};
  int at = -1, length = 0;
  std::uint8_t type = 0;
  const std::uint8_t* body = nullptr;
  adsi_rx_state_t* fields = adsi_rx_init(nullptr, ADSI_STANDARD_CLASS, put_message, d);
  for (int k = 0; k < 32 && (at = adsi_next_field(fields, message, size, at, &type, &body, &length)) >= 0; ++k) {
    if (body == nullptr) continue;  // the type of the message
    const char* name = type == MCLASS_DATETIME        ? "date "
                       : type == MCLASS_CALLER_NUMBER ? "number "
                       : type == MCLASS_DIALED_NUMBER ? "dialled "
                       : type == MCLASS_CALLER_NAME   ? "name "
                       : type == MCLASS_ABSENCE1      ? "no number: "
                       : type == MCLASS_ABSENCE2      ? "no name: "
                                                      : nullptr;
    if (name == nullptr) continue;
    signal.detail += (signal.detail.empty() ? "" : ", ") + std::string(name);
    for (int i = 0; i < length; ++i)
      signal.detail += body[i] >= ' ' && body[i] <= '~' ? static_cast<char>(body[i]) : '?';
  }
  adsi_rx_free(fields);
  if (signal.detail.empty()) return;  // the check octet of noise may be right
  const double bits_s = (size + 2) * 10 / 1200.0;
  signal.t0 = std::max(0.0, d->now - bits_s);
  d->found.push_back(std::move(signal));
}

// The gain that brings a quiet line to the level that spandsp's receiver of caller ID needs.
float gain_for_caller_id(std::span<const float> x) {
  constexpr double kRms = 2000, kMostGain = 20;
  double loudest = 0;
  for (std::size_t at = 0; at + kToneHop <= x.size(); at += kToneHop) {
    double sum = 0;
    for (const float v : x.subspan(at, kToneHop)) sum += static_cast<double>(v) * v;
    loudest = std::max(loudest, sum / kToneHop);
  }
  return loudest > 0 ? static_cast<float>(std::clamp(kRms / std::sqrt(loudest), 1.0, kMostGain)) : 1.0F;
}

void add_digits(std::span<const float> x, int channel, std::vector<CallSignal>& found) {
  constexpr std::size_t kBlock = 80;
  Digits digits, messages[2];
  digits.channel = messages[0].channel = messages[1].channel = channel;
  dtmf_rx_state_t* dtmf = dtmf_rx_init(nullptr, nullptr, nullptr);
  dtmf_rx_set_realtime_callback(dtmf, put_digit, &digits);
  adsi_rx_state_t* const adsi[2] = {adsi_rx_init(nullptr, ADSI_STANDARD_CLASS, put_message, &messages[0]),
                                    adsi_rx_init(nullptr, ADSI_STANDARD_CLIP, put_message, &messages[1])};
  const float gain = gain_for_caller_id(x);
  for (std::size_t at = 0; at < x.size(); at += kBlock) {
    std::int16_t block[kBlock], amplified[kBlock];
    const std::size_t n = std::min(kBlock, x.size() - at);
    for (std::size_t k = 0; k < n; ++k) block[k] = to_int16(x[at + k]), amplified[k] = to_int16(gain * x[at + k]);
    digits.now = messages[0].now = messages[1].now = seconds(at + n);
    dtmf_rx(dtmf, block, static_cast<int>(n));
    for (adsi_rx_state_t* a : adsi) adsi_rx(a, amplified, static_cast<int>(n));
  }
  put_digit(&digits, 0, 0, 0);
  dtmf_rx_free(dtmf);
  for (adsi_rx_state_t* a : adsi) adsi_rx_free(a);
  found.insert(found.end(), digits.found.begin(), digits.found.end());
  // Bell 202 and V.23 are near enough to each other that one receiver may read the other.
  for (const CallSignal& s : messages[0].found) found.push_back(s);
  for (const CallSignal& s : messages[1].found) {
    if (std::none_of(messages[0].found.begin(), messages[0].found.end(),
                     [&](const CallSignal& o) { return std::abs(o.t1 - s.t1) < 0.1; }))
      found.push_back(s);
  }
}

}  // namespace

std::vector<CallSignal> find_call_signals(const Recording& r) {
  std::vector<CallSignal> found;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    add_tones(r.channel[c], static_cast<int>(c), found);
    add_digits(r.channel[c], static_cast<int>(c), found);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
  return found;
}

}  // namespace offhook::decode
