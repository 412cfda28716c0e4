// SPDX-License-Identifier: MIT
#include "src/decode/start_up/info.h"

#include <array>
#include <cmath>

#include "dsp/v34/phase2/tones.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {
namespace {

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
      for (std::size_t k = 0; k < 8; ++k) sync = sync << 1 | s.bit[static_cast<std::size_t>(at) + k];
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

// Where sequences overlap the shortest is the one that was sent: behind a good CRC the remainder is zero, and stays so
// while zeros follow, so that a sender which leaves out the fill ones may pass for a longer sequence.
void drop_longer(std::vector<InfoHeard>& found) {
  const std::vector<InfoHeard> all = found;
  std::erase_if(found, [&](const InfoHeard& x) {
    return std::any_of(all.begin(), all.end(), [&](const InfoHeard& o) {
      return o.channel == x.channel && o.carrier_hz == x.carrier_hz && o.bits.size() < x.bits.size() && o.t0 < x.t1 &&
             o.t1 > x.t0;
    });
  });
}

}  // namespace

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

std::vector<InfoHeard> find_infos(const Recording& r) {
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
  const auto is_echo = [](const InfoHeard& x, const InfoHeard& of) {
    return of.carrier_hz == x.carrier_hz && of.info.index() == x.info.index() && of.amplitude > 2 * x.amplitude &&
           std::abs(of.t0 - x.t0) < 0.4;
  };
  drop_echoes(found, is_echo);
  // One channel with both directions has their echoes too.
  const std::vector<InfoHeard> all = r.channel.size() == 1 ? found : std::vector<InfoHeard>{};
  std::erase_if(found, [&](const InfoHeard& x) {
    return std::any_of(all.begin(), all.end(), [&](const InfoHeard& of) { return is_echo(x, of); });
  });
  drop_longer(found);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
  bool digital = false;
  for (InfoHeard& i : found) {
    if (i.carrier_hz != v34::kDpskCallHz) continue;
    if (i.is_info0()) digital = i.info.index() == 1;
    i.digital = digital;
  }
  // INFO0 of both come in the same second, also where they are repeated.
  for (InfoHeard& i : found) {
    i.far_digital = i.carrier_hz == v34::kDpskAnswerHz && std::any_of(found.begin(), found.end(), [&](const auto& o) {
                      return o.info.index() == 1 && std::abs(o.t0 - i.t0) < kOnePhase2S;
                    });
  }
  return found;
}

}  // namespace offhook::decode
