// SPDX-License-Identifier: MIT
#include "src/decode/start_up/answer_tone.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "dsp/v8/answer_tone.h"
#include "src/decode/line/high_passed.h"
#include "src/decode/line/spectrum.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {

namespace {

using Kind = AnswerToneHeard::Kind;

constexpr double kAnspcmHz = 8000.0 * 79 / 301;  // V.92 8.3.1: 79 periods in 301 samples of the network's clock
constexpr double kHzClose = 0.12;                // half of the way from there to ANS, except for clocks
constexpr std::size_t kStep = kRateHz / 200;     // 5 ms
constexpr std::size_t kMeanSteps = 40;           // steps: 200 ms, three periods of 15 Hz
constexpr double kModulated = 0.1;               // half of ANSam's depth
constexpr double kLeastShare = 0.6;              // of the power within 2 kHz: a tone among others has less
constexpr double kLine = 0.9;                    // of the power: a tone at 7 dB SNR in 200 Hz has it

// 2100 Hz within a tone, mixed down and averaged over each 5 ms.
struct Track {
  std::vector<Cd> tone;
  std::vector<double> power;  // of all the channel
};

Track track_of(std::span<const float> x, double t0, double t1) {
  Track track;
  const auto last = std::min(x.size(), static_cast<std::size_t>(t1 * kRateHz));
  for (auto at = static_cast<std::size_t>(t0 * kRateHz); at + kStep <= last; at += kStep) {
    const std::span<const float> part = x.subspan(at, kStep);
    const double turn = -2 * std::numbers::pi * std::fmod(v8::kAnswerToneHz * seconds(at), 1.0);
    track.tone.push_back(spectrum_at(part, v8::kAnswerToneHz) * std::polar(1.0, turn));
    double power = 0;
    for (const float v : part) power += static_cast<double>(v) * v / kStep;
    track.power.push_back(power);
  }
  return track;
}

double depth_at(const Track& track, std::size_t at) {
  Cd line;
  double mean = 0;
  for (std::size_t k = at; k < at + kMeanSteps; ++k) {
    const double phase = 2 * std::numbers::pi * v8::kModulationHz * seconds(k * kStep);
    line += std::abs(track.tone[k]) * std::polar(1.0, phase);
    mean += std::abs(track.tone[k]);
  }
  return mean > 0 ? 2 * std::abs(line) / mean : 0;
}

// From the turns between 50 ms, squared, so that a reversal is none.
double frequency_hz(const Track& track, std::size_t from, std::size_t to) {
  constexpr std::size_t kApart = 10;
  Cd turns;
  for (std::size_t k = from; k + kApart < to; ++k) {
    const Cd a = track.tone[k] * track.tone[k], b = track.tone[k + kApart] * track.tone[k + kApart];
    turns += times_conj(b, a);
  }
  return v8::kAnswerToneHz + std::arg(turns) / (4 * std::numbers::pi * seconds(kApart * kStep));
}

// Whether `n` steps from `at` on are one line: the steps of an FSK around 2100 Hz turn this way and that.
bool is_line(const Track& track, std::size_t at, std::size_t n) {
  Cd turn;
  double power = 1e-9;
  for (std::size_t i = at; i + 1 < at + n; ++i) {
    turn += times_conj(track.tone[i + 1], track.tone[i]);
    power += 0.5 * (std::norm(track.tone[i]) + std::norm(track.tone[i + 1]));
  }
  return std::abs(turn) > kLine * power;
}

// Whether the tone is undisturbed for long enough somewhere: a person may speak before and after.
bool stands_out(const Track& track) {
  constexpr std::size_t kAlone = 80, kPart = kAlone / 4;  // steps
  for (std::size_t k = 0; k + kAlone <= track.tone.size(); k += kAlone / 8) {
    double in = 0, all = 1e-9;
    for (std::size_t i = k; i < k + kAlone; ++i) in += 2 * std::norm(track.tone[i]), all += track.power[i];
    if (in <= kLeastShare * all) continue;
    int lines = 0;
    for (std::size_t i = k; i < k + kAlone; i += kPart) lines += is_line(track, i, kPart);
    if (lines >= 3) return true;  // a reversal spoils one of the four
  }
  return false;
}

// Begin or end of a modulation, in steps: the split that puts most windows on their side. 0: no change.
std::size_t change_of(const std::vector<double>& depth, bool* modulated_after) {
  constexpr std::size_t kLeast = 60;  // steps either side
  std::size_t best = 0;
  long most = 0;
  const auto n = depth.size();
  if (n < 2 * kLeast) return 0;
  long sum = 0;
  std::vector<long> before{0};
  for (const double d : depth) before.push_back(sum += d > kModulated ? 1 : -1);
  for (std::size_t k = kLeast; k + kLeast <= n; ++k) {
    const long left = before[k], right = sum - left;
    const auto mostly = [](long votes, std::size_t of) { return 5 * std::abs(votes) > 4 * static_cast<long>(of); };
    if ((left > 0) == (right > 0) || !mostly(left, k) || !mostly(right, n - k)) continue;
    if (std::abs(right - left) > most) most = std::abs(right - left), best = k, *modulated_after = right > 0;
  }
  return best;
}

// Keeps the reversals in the rhythm of V.25 and V.8; a reversal that the detector missed may be between two of them.
// Noise, or the next note of music, also reverses the phase: what is without it is the steady part.
void keep_rhythm(AnswerToneHeard& a) {
  constexpr double kPeriodS = 0.45, kOffS = 0.025;  // V.8 7.2: 450 +- 25 ms
  constexpr int kMostPeriods = 3;
  const std::vector<double> all = a.reversals;
  const auto in_rhythm = [&](double t) {
    return std::any_of(all.begin(), all.end(), [&](double o) {
      const double periods = std::round(std::abs(o - t) / kPeriodS);
      return periods >= 1 && periods <= kMostPeriods && std::abs(std::abs(o - t) - periods * kPeriodS) < kOffS;
    });
  };
  const bool may_be_alone = a.t1 - a.t0 < 2 * (kPeriodS + kOffS);
  double since = a.t0;
  for (const double t : all) {
    if (may_be_alone || in_rhythm(t)) continue;
    a.steady_s = std::max(a.steady_s, t - since);
    since = t;
  }
  a.steady_s = std::max(a.steady_s, a.t1 - since);
  std::erase_if(a.reversals, [&](double t) { return !may_be_alone && !in_rhythm(t); });
}

// One tone, or two if the modulation changes.
std::vector<AnswerToneHeard> parts_of(std::span<const float> x, const AnswerToneHeard& whole, bool v92) {
  const Track track = track_of(x, whole.t0, whole.t1);
  if (track.tone.size() < 2 * kMeanSteps || !stands_out(track)) return {};
  std::vector<double> depth;
  for (std::size_t k = 0; k + kMeanSteps <= track.tone.size(); ++k) depth.push_back(depth_at(track, k));
  const auto part = [&](std::size_t from, std::size_t to) {  // of depth
    AnswerToneHeard a = whole;
    a.depth = median({depth.begin() + static_cast<long>(from), depth.begin() + static_cast<long>(to)});
    a.frequency_hz = frequency_hz(track, from, std::min(track.tone.size(), to + kMeanSteps));
    a.kind = a.depth > kModulated                                     ? Kind::kAnsam
             : v92 || std::abs(a.frequency_hz - kAnspcmHz) < kHzClose ? Kind::kAnspcm
                                                                      : Kind::kAns;
    return a;
  };
  bool modulated_after = false;
  const std::size_t change = change_of(depth, &modulated_after);
  if (change == 0) return {part(0, depth.size())};
  AnswerToneHeard first = part(0, change), second = part(change, depth.size());
  const double t = whole.t0 + seconds((change + kMeanSteps / 2) * kStep);
  first.t1 = second.t0 = t;
  std::erase_if(first.reversals, [&](double r) { return r >= t; });
  std::erase_if(second.reversals, [&](double r) { return r < t; });
  return {first, second};
}

}  // namespace

const char* AnswerToneHeard::name() const {
  return kind == Kind::kAnsam ? "ANSam" : kind == Kind::kAnspcm ? "ANSpcm" : "ANS";
}

std::vector<AnswerToneHeard> find_answer_tones(const Recording& r, bool v92) {
  std::vector<AnswerToneHeard> found;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    const std::vector<float> x = high_passed(r.samples(c));
    v8::AnswerToneDetector detector;
    AnswerToneHeard now;
    bool begun = false;  // it may be there from the first sample on
    double amplitude = 0;
    int n = 0;
    const auto end = [&](double t) {
      if (n > 0 && t - now.t0 > 0.6) {
        now.t1 = t;
        now.channel = static_cast<int>(c);
        now.amplitude = amplitude / n;
        for (AnswerToneHeard& a : parts_of(x, now, v92)) {
          keep_rhythm(a);
          found.push_back(std::move(a));
        }
      }
      now = {};
      begun = false;
      n = 0;
      amplitude = 0;
    };
    double last_present = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto event = detector.put(x[i]);
      const auto& tone = detector.detector();
      const double t = seconds(i + 1);
      const bool present = detector.tone() != v8::AnswerTone::kNone;
      if (tone.present()) {
        if (!begun) now.t0 = std::max(0.0, t - tone.steady_ms() / 1000);
        begun = true;
        last_present = t;
      }
      if (event == ToneEvent::kReversal && begun) now.reversals.push_back(seconds(tone.reversal_time()));
      // The mean of the steady tone. A period of the 15 Hz is 66.7 ms, and the mean of many periods is equally good.
      if (present && tone.steady_ms() > 60 && i % 80 == 0) {
        amplitude += tone.peak();
        ++n;
      }
      if (!present && begun && t - last_present > 0.1) end(last_present);
    }
    if (begun) end(last_present);
  }
  // An echo of a tone lies within it.
  drop_echoes(found, [](const AnswerToneHeard& x, const AnswerToneHeard& of) {
    return of.amplitude > 2 * x.amplitude && x.t0 > of.t0 - 0.3 && x.t0 < of.t1;
  });
  return found;
}

}  // namespace offhook::decode
