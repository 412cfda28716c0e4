// SPDX-License-Identifier: MIT
#include "src/decode/start_up/v8.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "dsp/v8/fsk.h"
#include "src/decode/line/spectrum.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {
namespace {

constexpr double kFskBitS = 1.0 / 300;

// Sequences of V.8 in one channel and band: octets between one set of ten ones and the next.
struct Sequence {
  std::vector<std::uint8_t> octets;  // the synchronization octet first
  std::vector<v8::Octet> heard;      // the same with the properties of each
  double t0 = 0, t1 = 0;             // from the first start bit to the last stop bit
  double amplitude = 0;

  double clarity() const {
    double sum = 0;
    for (const v8::Octet& o : heard) sum += static_cast<double>(o.clarity);
    return heard.empty() ? 0 : sum / static_cast<double>(heard.size());
  }
};

// For a single sequence. Noise and data have about 0.4; with an echo, single octets of a menu have less than
// this, so repeated sequences need no such limit.
constexpr double kLeastClarity = 0.5;

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
    // When the carrier comes on, some of the ten ones before the first octet are lost, or read as an octet.
    const Sequence* const last = out.sequences.empty() ? nullptr : &out.sequences.back();
    const bool inside = last != nullptr && !last->octets.empty() && is_sync(last->octets[0]) && t0 - last->t1 <= 0.1;
    if (octet.ones_before >= 9 || (is_sync(octet.value) && !inside)) out.sequences.push_back({{}, {}, t0, 0, 0});
    const bool zero = octet.value == 0 && static_cast<double>(octet.clarity) >= kLeastClarity;
    zeros = zero && octet.ones_before <= 2 ? zeros + 1 : zero ? 1 : 0;
    if (zeros == 1) zeros_t = t0;
    if (zeros >= 2) {
      out.cj = zeros_t;
      out.cj_octets = zeros;
    }
    if (out.sequences.empty() || (!out.sequences.back().octets.empty() && t0 - out.sequences.back().t1 > 0.1)) continue;
    Sequence& s = out.sequences.back();
    s.octets.push_back(octet.value);
    s.heard.push_back(octet);
    s.t1 = stop_t + 0.5 * kFskBitS;
    s.amplitude = std::max(s.amplitude, static_cast<double>(octet.peak));
  }
  return out;
}

// The end of a band's carrier after `t`: its two frequencies fall to a quarter of the power they had, or to half
// of the total: the next signal is louder.
double carrier_end(std::span<const float> x, v8::Channel band, double t) {
  constexpr int kWindow = kRateHz / 100;
  double all = 0;
  const auto power = [&](std::size_t at) {
    const auto window = x.subspan(at, kWindow);
    all = 0;
    for (const float v : window) all += static_cast<double>(v) * v / kWindow;
    return 2 *
           (std::norm(spectrum_at(window, v8::fsk_hz(band, 0))) + std::norm(spectrum_at(window, v8::fsk_hz(band, 1))));
  };
  auto at = static_cast<std::size_t>(std::max(0.0, t - 0.02) * kRateHz);
  if (at + kWindow > x.size()) return t;
  const double before = power(at);
  const double share = before / std::max(all, 1e-9);
  const auto there = [&](double p) { return p > before / 4 && p > share / 2 * all; };
  while (at + kWindow <= x.size() && there(power(at))) at += kRateHz / 1000;
  return seconds(at + kWindow / 2);
}

// A menu without its synchronization octet and without CJ, which follows the last CM without a break; its zeros are no
// category.
std::vector<std::uint8_t> menu_octets(const Sequence& s) {
  std::vector<std::uint8_t> octets(s.octets.begin() + 1, s.octets.end());
  while (!octets.empty() && octets.back() == 0) octets.pop_back();
  return octets;
}

// The combination of sequences with as many octets: the sign of the sum of each bit's contrast. The confidence of an
// octet is the share of this contrast, over all copies, that agrees with the bit that agrees least.
void combine(const std::vector<const Sequence*>& copies, MenuHeard* m) {
  for (std::size_t k = 0; k < m->octets.size(); ++k) {
    double least = 1;
    unsigned value = 0;
    for (std::size_t bit = 0; bit < 8; ++bit) {
      double sum = 0, all = 0;
      for (const Sequence* s : copies) {
        const double contrast = static_cast<double>(s->heard[k + 1].contrast[bit]);
        sum += contrast;
        all += std::abs(contrast);
      }
      if (sum > 0) value |= 1U << bit;
      least = std::min(least, all > 0 ? (1 + std::abs(sum) / all) / 2 : 0.5);
    }
    m->octets[k] = static_cast<std::uint8_t>(value);
    m->confidence.push_back(least);
  }
}

std::optional<MenuHeard> menu_of(const V8Octets& v8, int channel) {
  constexpr double kLongestPause = 2;              // s; a menu is sent over and over
  std::vector<std::pair<std::size_t, int>> count;  // of the sequences with a number of octets
  std::vector<const Sequence*> right;
  for (auto at = v8.sequences.begin(); at != v8.sequences.end(); ++at) {
    const Sequence& s = *at;
    if (s.octets.size() < 2 || s.octets[0] != v8::kSyncCm) continue;
    const bool repeated = (at != v8.sequences.begin() && (at - 1)->octets == s.octets) ||
                          (at + 1 != v8.sequences.end() && (at + 1)->octets == s.octets);
    if (s.clarity() < kLeastClarity && !repeated) continue;
    if (!right.empty() && s.t0 - right.back()->t1 > kLongestPause) {
      if (right.size() > 1) break;  // the rest is data that resemble it
      right.clear();
      count.clear();
    }
    right.push_back(&s);
    const std::size_t n = menu_octets(s).size();
    const auto same = std::find_if(count.begin(), count.end(), [&](const auto& c) { return c.first == n; });
    ++(same == count.end() ? count.emplace_back(n, 0) : *same).second;
  }
  if (right.empty()) return {};
  const auto best =
      std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<const Sequence*> copies;
  for (const Sequence* s : right)
    if (menu_octets(*s).size() == best->first) copies.push_back(s);
  MenuHeard m;
  m.channel = channel;
  m.octets.resize(best->first);
  combine(copies, &m);
  m.identical = static_cast<int>(
      std::count_if(copies.begin(), copies.end(), [&](const Sequence* s) { return menu_octets(*s) == m.octets; }));
  m.sequences = static_cast<int>(right.size());
  m.t0 = right.front()->t0;
  m.t1 = right.back()->t1;
  for (const Sequence* s : right) m.amplitude = std::max(m.amplitude, s->amplitude);
  if (v8::decode(m.octets.data(), static_cast<int>(m.octets.size()), &m.menu) == 0) return {};
  return m;
}

// QC1 or QCA1, which is sent twice; a single one needs a CM or JM after it.
std::optional<QuickConnectHeard> quick_connect_of(const V8Octets& v8, int channel) {
  std::optional<QuickConnectHeard> heard;
  for (std::size_t k = 0; k < v8.sequences.size(); ++k) {
    const Sequence& s = v8.sequences[k];
    if (s.octets.size() != 2 || s.octets[0] != v90::kSyncQuickConnect || s.clarity() < kLeastClarity) continue;
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

}  // namespace

V8Heard find_v8(const Recording& r) {
  V8Heard s;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    const int channel = static_cast<int>(c);
    const V8Octets low = v8_octets(r.samples(c), v8::Channel::kLow);
    const V8Octets high = v8_octets(r.samples(c), v8::Channel::kHigh);
    for (const V8Octets* octets : {&low, &high}) {
      if (const auto q = quick_connect_of(*octets, channel)) s.quick_connect.push_back(*q);
    }
    if (auto m = menu_of(low, channel); m && (s.cm.empty() || m->amplitude > s.cm[0].amplitude)) {
      s.cm = {*m};
      s.cj = low.cj > m->t0 ? low.cj : 0;
      s.cj_octets = low.cj > m->t0 ? low.cj_octets : 0;
      if (s.cj > 0) s.cm[0].t1 = s.cj;
    }
    if (auto m = menu_of(high, channel); m && (s.jm.empty() || m->amplitude > s.jm[0].amplitude)) {
      s.jm = {*m};
      s.jm[0].t1 = carrier_end(r.samples(c), v8::Channel::kHigh, m->t1);
    }
  }
  // Menus begin with the call function (V.8 5.2), are repeated, and answered: sequences without any of this are
  // data that look like one.
  const auto alone = [](const std::vector<MenuHeard>& menus) {
    constexpr int kCategory = 0x1F, kCallFunction = 0x01;  // V.8 Table 2: b0 to b4
    return !menus.empty() && menus[0].sequences == 1 &&
           (menus[0].octets.empty() || (menus[0].octets[0] & kCategory) != kCallFunction);
  };
  if (alone(s.cm) && s.jm.empty()) s.cm.clear(), s.cj = 0, s.cj_octets = 0;
  if (alone(s.jm) && s.cm.empty()) s.jm.clear();
  drop_echoes(s.quick_connect, [](const QuickConnectHeard& q, const QuickConnectHeard& of) {
    return of.octet == q.octet && of.amplitude > q.amplitude && std::abs(of.t - q.t) < 0.4;
  });
  return s;
}

}  // namespace offhook::decode
