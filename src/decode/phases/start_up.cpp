// SPDX-License-Identifier: MIT
#include "src/decode/phases/start_up.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <span>

#include "dsp/v34/phase2/tones.h"
#include "dsp/v8/answer_tone.h"
#include "dsp/v8/fsk.h"
#include "src/decode/phases/fsk_frames.h"
#include "src/decode/phases/probing.h"

namespace offhook::decode {
namespace {

constexpr double kFskBitS = 1.0 / 300;

double seconds(double samples) {
  return samples / kRateHz;
}

// Keeps what is not an echo: of two alike things in the two channels within `apart_s`, the louder.
template <class T, class Alike>
void drop_echoes(std::vector<T>& all, double apart_s, Alike&& alike) {
  std::vector<T> kept;
  for (const T& x : all) {
    const bool echo = std::any_of(all.begin(), all.end(), [&](const T& y) {
      return y.channel != x.channel && y.amplitude > 2 * x.amplitude && std::abs(y.t0 - x.t0) < apart_s && alike(x, y);
    });
    if (!echo) kept.push_back(x);
  }
  all = std::move(kept);
}

std::vector<AnswerToneHeard> answer_tones(const Recording& r) {
  std::vector<AnswerToneHeard> found;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    v8::AnswerToneDetector detector;
    AnswerToneHeard now;
    double frequency = 0, depth = 0, amplitude = 0;
    int n = 0;
    const auto end = [&](double t) {
      if (n > 0 && t - now.t0 > 0.6) {
        now.t1 = t;
        now.channel = static_cast<int>(c);
        now.frequency_hz = v8::kAnswerToneHz + frequency / n;
        now.amplitude = amplitude / n;
        now.depth = depth;
        found.push_back(now);
      }
      now = {};
      n = 0;
      frequency = depth = amplitude = 0;
    };
    double last_present = 0;
    for (std::size_t i = 0; i < r.channel[c].size(); ++i) {
      const auto event = detector.put(r.channel[c][i]);
      const auto& tone = detector.detector();
      const double t = seconds(static_cast<double>(i + 1));
      const bool present = detector.tone() != v8::AnswerTone::kNone;
      if (tone.present()) {
        if (now.t0 == 0) now.t0 = t - tone.steady_ms() / 1000;
        last_present = t;
      }
      if (event == ToneEvent::kReversal && now.t0 > 0) now.reversals.push_back(seconds(tone.reversal_time()));
      if (detector.tone() == v8::AnswerTone::kAnsam || detector.tone() == v8::AnswerTone::kAns) {
        now.ansam = detector.tone() == v8::AnswerTone::kAnsam;
        depth = depth == 0 ? detector.depth() : depth + 0.001 * (detector.depth() - depth);
      }
      // Means of the steady tone: a multiple of the 15 Hz would be 66.7 ms, and the sum of many does as well.
      if (present && tone.steady_ms() > 60 && i % 80 == 0) {
        frequency += tone.frequency_offset_hz();
        amplitude += tone.peak();
        ++n;
      }
      if (!present && now.t0 > 0 && t - last_present > 0.1) end(last_present);
    }
    if (now.t0 > 0) end(last_present);
  }
  // An echo of a tone lies within it.
  std::vector<AnswerToneHeard> kept;
  for (const auto& x : found) {
    const bool echo = std::any_of(found.begin(), found.end(), [&](const auto& y) {
      return y.channel != x.channel && y.amplitude > 2 * x.amplitude && x.t0 > y.t0 - 0.3 && x.t0 < y.t1;
    });
    if (!echo) kept.push_back(x);
  }
  return kept;
}

// Sequences of V.8 in one channel and band: octets between one set of ten ones and the next.
struct Sequence {
  std::vector<std::uint8_t> octets;  // the synchronization octet first
  double t0 = 0, t1 = 0;             // from the first start bit to the last stop bit
  double amplitude = 0;
};

struct V8Octets {
  std::vector<Sequence> sequences;
  double cj = 0;
  int cj_octets = 0;
};

bool is_sync(std::uint8_t octet) {
  return octet == v8::kSyncCm || octet == v90::kSyncQuickConnect;
}

V8Octets v8_octets(std::span<const float> x, v8::Channel band) {
  V8Octets out;
  v8::FskReceiver receiver(band);
  v8::Octet octet{};
  int zeros = 0;
  double zeros_t = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!receiver.put(x[i], &octet)) continue;
    const double stop_t = seconds(static_cast<double>(i) - v8::FskReceiver::kDelaySamples);  // middle of the stop bit
    const double t0 = stop_t - 9.5 * kFskBitS;
    // Of the ten ones before the first of all, some are lost when the carrier comes on, or taken for an octet.
    const Sequence* const last = out.sequences.empty() ? nullptr : &out.sequences.back();
    const bool inside = last != nullptr && !last->octets.empty() && is_sync(last->octets[0]) && t0 - last->t1 <= 0.1;
    if (octet.ones_before >= 9 || (is_sync(octet.value) && !inside)) out.sequences.push_back({{}, t0, 0, 0});
    zeros = octet.value == 0 && octet.ones_before <= 2 ? zeros + 1 : octet.value == 0 ? 1 : 0;
    if (zeros == 1) zeros_t = t0;
    if (zeros >= 2) {
      out.cj = zeros_t;
      out.cj_octets = zeros;
    }
    if (out.sequences.empty() || (!out.sequences.back().octets.empty() && t0 - out.sequences.back().t1 > 0.1)) continue;
    Sequence& s = out.sequences.back();
    s.octets.push_back(octet.value);
    s.t1 = stop_t + 0.5 * kFskBitS;
    s.amplitude = std::max(s.amplitude, static_cast<double>(octet.peak));
  }
  return out;
}

// Where the carrier of a band ends after `t`: its two frequencies fall to a quarter of the power they had.
double carrier_end(std::span<const float> x, v8::Channel band, double t) {
  constexpr int kWindow = kRateHz / 100;
  const auto power = [&](std::size_t at) {
    double sum = 0;
    for (const int bit : {0, 1}) {
      std::complex<double> c;
      for (std::size_t k = 0; k < kWindow; ++k) {
        const double phase = -2 * std::numbers::pi * v8::fsk_hz(band, bit) * static_cast<double>(k) / kRateHz;
        c += static_cast<double>(x[at + k]) * std::polar(1.0, phase);
      }
      sum += std::norm(c);
    }
    return sum;
  };
  auto at = static_cast<std::size_t>(std::max(0.0, t - 0.02) * kRateHz);
  if (at + kWindow > x.size()) return t;
  const double before = power(at);
  while (at + kWindow <= x.size() && power(at) > before / 4) at += kRateHz / 1000;
  return seconds(static_cast<double>(at + kWindow / 2));
}

std::optional<MenuHeard> menu_of(const V8Octets& v8, int channel) {
  constexpr double kLongestPause = 2;  // s; a menu is sent over and over
  std::vector<std::pair<std::vector<std::uint8_t>, int>> count;
  std::vector<const Sequence*> right;
  for (const Sequence& s : v8.sequences) {
    if (s.octets.size() < 2 || s.octets[0] != v8::kSyncCm) continue;
    if (!right.empty() && s.t0 - right.back()->t1 > kLongestPause) {
      if (right.size() > 1) break;  // what follows is data that look like it
      right.clear();
      count.clear();
    }
    right.push_back(&s);
    std::vector<std::uint8_t> octets(s.octets.begin() + 1, s.octets.end());
    // CJ follows the last CM without a break, and its zeros are no category.
    while (!octets.empty() && octets.back() == 0) octets.pop_back();
    const auto same = std::find_if(count.begin(), count.end(), [&](const auto& c) { return c.first == octets; });
    ++(same == count.end() ? count.emplace_back(std::move(octets), 0) : *same).second;
  }
  if (right.empty()) return {};
  const auto best =
      std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  MenuHeard m;
  m.channel = channel;
  m.octets = best->first;
  m.identical = best->second;
  m.t0 = right.front()->t0;
  m.t1 = right.back()->t1;
  for (const Sequence* s : right) m.amplitude = std::max(m.amplitude, s->amplitude);
  if (v8::decode(m.octets.data(), static_cast<int>(m.octets.size()), &m.menu) == 0) return {};
  return m;
}

// QC1 or QCA1, which is sent twice; of one that stands alone, CM or JM has to follow.
std::optional<QuickConnectHeard> quick_connect_of(const V8Octets& v8, int channel) {
  std::optional<QuickConnectHeard> heard;
  for (std::size_t k = 0; k < v8.sequences.size(); ++k) {
    const Sequence& s = v8.sequences[k];
    if (s.octets.size() != 2 || s.octets[0] != v90::kSyncQuickConnect) continue;
    QuickConnectHeard h;
    if (!v90::decode_qc1(s.octets[1], &h.qc)) continue;
    if (heard && heard->octet == s.octets[1] && s.t0 - heard->t < 0.15) {
      heard->repeats = 2;
      return heard;
    }
    h.channel = channel;
    h.t = s.t0;
    h.octet = s.octets[1];
    h.amplitude = s.amplitude;
    const bool menu_follows = k + 1 < v8.sequences.size() && !v8.sequences[k + 1].octets.empty() &&
                              v8.sequences[k + 1].octets[0] == v8::kSyncCm && v8.sequences[k + 1].t0 - s.t0 < 0.25;
    h.repeats = menu_follows ? 1 : 0;
    heard = h;
    if (menu_follows) break;
  }
  return heard && heard->repeats > 0 ? heard : std::nullopt;
}

// All decisions of one phase of the DPSK receiver.
struct Stream {
  std::vector<std::uint8_t> bit;
  std::vector<float> cosine, peak;
  std::vector<double> t;
};

template <class T>
void find_info(const std::array<Stream, DpskReceiver::kPhases>& streams, int channel, int carrier_hz,
               std::vector<InfoHeard>& found) {
  constexpr int kFill = 4;
  constexpr int kBits = T::kBits;
  for (const Stream& s : streams) {
    const auto n = static_cast<int>(s.bit.size());
    for (int at = 0; at + kBits - kFill <= n; ++at) {
      // From the first bit after the fill bits; those before and after may be cut short.
      std::uint32_t sync = 0;
      if (at < kFill) continue;
      for (int k = 0; k < 8; ++k) sync = sync << 1 | s.bit[static_cast<std::size_t>(at + k)];
      if (sync != v34::InfoReceiver<T>::kSync) continue;
      std::uint8_t bits[T::kBits];
      for (int k = 0; k < kBits; ++k) {
        const int i = at - kFill + k;
        bits[k] = i < n ? s.bit[static_cast<std::size_t>(i)] : 1;
      }
      T info{};
      if (!v34::decode(bits, &info)) continue;
      float clarity = 0, peak = 0;
      for (int k = at; k < at + kBits - 2 * kFill; ++k) {
        clarity += s.cosine[static_cast<std::size_t>(k)];
        peak += s.peak[static_cast<std::size_t>(k)];
      }
      clarity /= kBits - 2 * kFill;
      peak /= kBits - 2 * kFill;
      if (clarity < 0.75f) continue;
      InfoHeard h;
      h.channel = channel;
      h.carrier_hz = carrier_hz;
      constexpr double kBitS = 1.0 / kDpskBaud;
      h.t0 = s.t[static_cast<std::size_t>(at)] - (kFill + 0.5) * kBitS;
      h.t1 = h.t0 + kBits * kBitS;
      h.amplitude = peak;
      h.phases = 1;
      h.clarity = clarity;
      h.bits.assign(bits, bits + kBits);
      h.info = info;
      const auto same = std::find_if(found.begin(), found.end(), [&](const InfoHeard& o) {
        return o.channel == channel && o.carrier_hz == carrier_hz && o.info.index() == h.info.index() &&
               std::abs(o.t0 - h.t0) < 4 * kBitS;
      });
      // Clearest of the phases; the fill bits, which no CRC protects, as most of them have it.
      InfoHeard& kept = same == found.end() ? found.emplace_back(h) : *same;
      const auto ones = kept.ones;
      const int phases = same == found.end() ? 0 : kept.phases;
      if (h.clarity > kept.clarity) kept = h;
      kept.phases = phases + 1;
      kept.ones = ones;
      kept.ones.resize(kBits);
      for (std::size_t k = 0; k < kBits; ++k) {
        kept.ones[k] += bits[k];
        if (k < kFill || k >= kBits - kFill) kept.bits[k] = 2 * kept.ones[k] >= kept.phases;
      }
    }
  }
}

std::vector<InfoHeard> infos(const Recording& r) {
  std::vector<InfoHeard> found;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    for (const int hz : {v34::kDpskCallHz, v34::kDpskAnswerHz}) {
      std::array<Stream, DpskReceiver::kPhases> streams;
      DpskReceiver receiver(hz);
      DpskDecision d{};
      for (std::size_t i = 0; i < r.channel[c].size(); ++i) {
        if (!receiver.put(r.channel[c][i], &d)) continue;
        Stream& s = streams[d.phase];
        s.bit.push_back(d.bit);
        s.cosine.push_back(std::abs(d.turn.re));
        s.peak.push_back(d.peak);
        s.t.push_back(seconds(static_cast<double>(i) - DpskReceiver::kDelaySamples));
      }
      const int channel = static_cast<int>(c);
      find_info<v34::Info0>(streams, channel, hz, found);
      if (hz == v34::kDpskCallHz) {
        find_info<v34::Info0d>(streams, channel, hz, found);
        find_info<v34::Info1c>(streams, channel, hz, found);
      } else {
        find_info<v34::Info1a>(streams, channel, hz, found);
        find_info<v34::Info1aV90>(streams, channel, hz, found);
      }
    }
  }
  drop_echoes(found, 0.4, [](const InfoHeard& a, const InfoHeard& b) {
    return a.carrier_hz == b.carrier_hz && a.info.index() == b.info.index();
  });
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
  return found;
}

// Where a tone, or an INFO sequence on it, stands: its amplitude over 10 ms is above 0.4 of `full`. A reversal is no
// gap.
std::vector<std::pair<double, double>> tone_segments(const std::vector<float>& x, int hz, double full, double from,
                                                     double to) {
  constexpr int kWindow = kRateHz / 100;
  constexpr double kGapS = 0.03;
  std::vector<std::pair<double, double>> segments;
  const auto first = static_cast<std::size_t>(std::max(0.0, from) * kRateHz);
  const auto last = std::min(x.size(), static_cast<std::size_t>(std::max(0.0, to) * kRateHz));
  for (std::size_t at = first; at + kWindow <= last; at += kRateHz / 1000) {
    std::complex<double> c;
    for (int k = 0; k < kWindow; ++k) {
      const double hann = 1 - std::cos(2 * std::numbers::pi * (k + 0.5) / kWindow);
      c += hann * x[at + static_cast<std::size_t>(k)] * std::polar(1.0, -2 * std::numbers::pi * hz * k / kRateHz);
    }
    if (2 * std::abs(c) / kWindow < 0.4 * full) continue;
    const double t = seconds(static_cast<double>(at + kWindow / 2));
    if (segments.empty() || t - segments.back().second > kGapS) segments.emplace_back(t, t);
    segments.back().second = t;
  }
  return segments;
}

// Of both modems' Phase 2, each time there is one: the INFO sequences tell where and how loud.
void find_tone_segments(const Recording& r, StartUp& s) {
  constexpr double kApartS = 4;
  for (std::size_t k = 0, end = 0; k < s.info.size(); k = end) {
    while (end < s.info.size() && (end == k || s.info[end].t0 - s.info[end - 1].t1 < kApartS)) ++end;
    for (ToneHeard* tone : {&s.tone_a, &s.tone_b}) {
      const int hz = tone == &s.tone_a ? v34::kToneAHz : v34::kToneBHz;
      double full = 0;
      for (std::size_t i = k; i < end; ++i) {
        if (s.info[i].channel == tone->channel && s.info[i].carrier_hz == hz)
          full = std::max(full, s.info[i].amplitude);
      }
      if (full == 0) continue;
      const auto more = tone_segments(r.channel[static_cast<std::size_t>(tone->channel)], hz, full, s.info[k].t0 - 0.02,
                                      s.info[end - 1].t1 + 0.1);
      tone->segments.insert(tone->segments.end(), more.begin(), more.end());
    }
  }
}

ToneHeard tone(const Recording& r, int channel, int hz, double from, double to) {
  ToneHeard heard;
  heard.channel = channel;
  ToneDetector detector(hz);
  const auto& x = r.channel[static_cast<std::size_t>(channel)];
  const auto first = static_cast<std::size_t>(std::max(0.0, from) * kRateHz);
  const auto last = std::min(x.size(), static_cast<std::size_t>(std::max(0.0, to) * kRateHz));
  for (std::size_t i = first; i < last; ++i) {
    const auto event = detector.put(x[i]);
    if (event == ToneEvent::kReversal) {
      heard.reversals.push_back(seconds(static_cast<double>(first) + detector.reversal_time()));
    }
  }
  return heard;
}

void find_menus(const Recording& r, StartUp& s) {
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    const int channel = static_cast<int>(c);
    const V8Octets low = v8_octets(r.channel[c], v8::Channel::kLow);
    const V8Octets high = v8_octets(r.channel[c], v8::Channel::kHigh);
    for (const V8Octets* octets : {&low, &high}) {
      if (const auto q = quick_connect_of(*octets, channel)) s.quick_connect.push_back(*q);
    }
    if (auto m = menu_of(low, channel); m && (s.cm.empty() || m->amplitude > s.cm[0].amplitude)) {
      s.cm = {*m};
      s.cj = low.cj > m->t0 ? low.cj : 0;
      s.cj_octets = low.cj > m->t0 ? std::min(low.cj_octets, v8::kCjOctets) : 0;
      if (s.cj > 0) s.cm[0].t1 = s.cj;
    }
    if (auto m = menu_of(high, channel); m && (s.jm.empty() || m->amplitude > s.jm[0].amplitude)) {
      s.jm = {*m};
      s.jm[0].t1 = carrier_end(r.channel[c], v8::Channel::kHigh, m->t1);
    }
  }
}

// A V.92 modem's echo, too, comes in the other channel.
void drop_quick_connect_echoes(StartUp& s) {
  const auto all = s.quick_connect;
  std::erase_if(s.quick_connect, [&](const QuickConnectHeard& q) {
    return std::any_of(all.begin(), all.end(), [&](const QuickConnectHeard& o) {
      return o.channel != q.channel && o.octet == q.octet && o.amplitude > q.amplitude && std::abs(o.t - q.t) < 0.4;
    });
  });
}

void assign_roles(const Recording& r, StartUp& s) {
  const int channels = static_cast<int>(r.channel.size());
  const auto other = [channels](int c) { return channels == 2 ? 1 - c : -1; };
  double best[2]{};
  for (const InfoHeard& i : s.info) {
    const int side = i.carrier_hz == v34::kDpskAnswerHz;
    if (i.amplitude > best[side]) {
      best[side] = i.amplitude;
      (side ? s.channel_2400 : s.channel_1200) = i.channel;
    }
  }
  if (s.channel_1200 < 0 && s.channel_2400 >= 0) s.channel_1200 = other(s.channel_2400);
  if (s.channel_2400 < 0 && s.channel_1200 >= 0) s.channel_2400 = other(s.channel_1200);
  if (!s.cm.empty()) {
    s.call_channel = s.cm[0].channel;
    s.answer_channel = other(s.call_channel);
    s.roles_from = "V.8: V.21(L) CM";
  } else if (!s.jm.empty()) {
    s.answer_channel = s.jm[0].channel;
    s.call_channel = other(s.answer_channel);
    s.roles_from = "V.8: V.21(H) JM";
  } else if (!s.answer_tones.empty()) {
    const auto loudest = std::max_element(s.answer_tones.begin(), s.answer_tones.end(),
                                          [](const auto& a, const auto& b) { return a.amplitude < b.amplitude; });
    s.answer_channel = loudest->channel;
    s.call_channel = other(s.answer_channel);
    s.roles_from = "answer tone";
  } else if (s.channel_1200 >= 0) {
    s.call_channel = s.channel_1200;
    s.answer_channel = s.channel_2400;
    s.roles_from = "Phase 2 carriers";
  }
}

}  // namespace

const char* AnswerToneHeard::kind() const {
  if (ansam) return reversals.empty() ? "ANSam" : "ANSam with reversals";
  return reversals.empty() ? "ANS" : "ANS with reversals";
}

const char* InfoHeard::type() const {
  switch (info.index()) {
    case 0:
      return carrier_hz == v34::kDpskCallHz ? "INFO0c" : "INFO0a";
    case 1:
      return "INFO0d";
    case 2:
      return digital ? "INFO1d" : "INFO1c";
    default:
      return "INFO1a";
  }
}

StartUp listen_start_up(const Recording& r) {
  StartUp s;
  s.answer_tones = answer_tones(r);
  s.v8bis_signals = v8bis_signals(r);
  s.v8bis = v8bis_messages(r, s.v8bis_signals);
  find_menus(r, s);
  drop_quick_connect_echoes(s);
  s.info = infos(r);
  assign_roles(r, s);
  bool digital = false;
  for (InfoHeard& i : s.info) {
    if (i.carrier_hz != v34::kDpskCallHz) continue;
    if (i.is_info0()) digital = i.info.index() == 1;
    i.digital = digital;
  }
  if (!s.info.empty()) {
    // Probing holds a tone near 2100 Hz, and data may.
    std::erase_if(s.answer_tones, [&](const AnswerToneHeard& a) { return a.t1 > s.info.front().t0; });
    // Tones A and B frame Phase 2; data and speech elsewhere may hold them too.
    const double from = s.info.front().t0 - 0.15, to = s.info.back().t1 + 0.4;
    if (s.channel_2400 >= 0) s.tone_a = tone(r, s.channel_2400, v34::kToneAHz, from, to);
    if (s.channel_1200 >= 0) s.tone_b = tone(r, s.channel_1200, v34::kToneBHz, from, to);
    find_tone_segments(r, s);
    for (std::size_t c = 0; c < r.channel.size(); ++c) {
      for (Probing& p : find_probing(r.channel[c], from, to)) {
        p.channel = static_cast<int>(c);
        s.probing.push_back(std::move(p));
      }
    }
    const auto all = s.probing;
    std::erase_if(s.probing, [&](const Probing& p) {  // echoes
      return std::any_of(all.begin(), all.end(), [&](const Probing& o) {
        return o.channel != p.channel && o.level_db[0] > p.level_db[0] + 6 && p.t0 < o.t1 && p.t1 > o.t0;
      });
    });
    std::sort(s.probing.begin(), s.probing.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
    // The bits of the sequences are reversals of the same carrier.
    for (ToneHeard* tone : {&s.tone_a, &s.tone_b}) {
      std::erase_if(tone->reversals, [&](double t) {
        return std::any_of(s.info.begin(), s.info.end(), [&](const InfoHeard& i) {
          return i.channel == tone->channel && t > i.t0 - 0.01 && t < i.t1 + 0.01;
        });
      });
    }
  }
  return s;
}

}  // namespace offhook::decode
