// SPDX-License-Identifier: MIT
#include "src/decode/start_up/info.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "dsp/v34/phase2/tones.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {
namespace {

// Decisions of one phase of the DPSK receiver: the latest, of which no search is done yet.
struct Stream {
  std::vector<std::uint8_t> bit;
  std::vector<float> cosine, peak;
  std::vector<double> t;
  std::size_t dropped = 0;  // before these

  std::size_t end() const { return dropped + bit.size(); }
  void drop_before(std::size_t number) {
    const auto n = static_cast<std::ptrdiff_t>(number - dropped);
    bit.erase(bit.begin(), bit.begin() + n);
    cosine.erase(cosine.begin(), cosine.begin() + n);
    peak.erase(peak.begin(), peak.begin() + n);
    t.erase(t.begin(), t.begin() + n);
    dropped = number;
  }
};

constexpr int kFill = 4;

// Sequences of one type in one channel and band.
template <class T>
class Search {
 public:
  Search(int channel, int carrier_hz) : channel_(channel), carrier_hz_(carrier_hz) { next_.fill(kFill); }

  // @param last  there is nothing behind the decisions of `s`
  void look(const Stream& s, std::size_t phase, bool last) {
    for (; next_[phase] + kBits - (last ? kFill : 0) <= s.end(); ++next_[phase]) {
      if (auto h = heard(s, next_[phase] - s.dropped)) heard_[phase].push_back(std::move(*h));
    }
  }
  // The first decision that look() still needs.
  std::size_t needs(std::size_t phase) const { return next_[phase] - kFill; }

  // All phases have the same sequences: each becomes one of `found`.
  void take(std::vector<InfoHeard>& found) const {
    constexpr double kBitS = 1.0 / kDpskBaud;
    for (const auto& of_phase : heard_) {
      for (const InfoHeard& h : of_phase) {
        const auto same = std::find_if(found.begin(), found.end(), [&](const InfoHeard& o) {
          return o.channel == channel_ && o.carrier_hz == carrier_hz_ && o.info.index() == h.info.index() &&
                 std::abs(o.t0 - h.t0) < 4 * kBitS;
        });
        // From the clearest phase, but the fill bits, which no CRC protects, by majority of the phases.
        InfoHeard& kept = same == found.end() ? found.emplace_back(h) : *same;
        const auto ones = kept.ones;
        const int phases = same == found.end() ? 0 : kept.phases;
        if (h.clarity > kept.clarity) kept = h;
        kept.phases = phases + 1;
        kept.ones = ones;
        kept.ones.resize(kBits);
        for (std::size_t k = 0; k < kBits; ++k) {
          kept.ones[k] += h.bits[k];
          if (k < kFill || k >= kBits - kFill) kept.bits[k] = 2 * kept.ones[k] >= kept.phases;
        }
      }
    }
  }

 private:
  static constexpr std::size_t kBits = T::kBits;

  // @param at  the first bit after the fill bits; those before and after may be cut short
  std::optional<InfoHeard> heard(const Stream& s, std::size_t at) const {
    std::uint32_t sync = 0;
    for (std::size_t k = 0; k < 8; ++k) sync = sync << 1 | s.bit[at + k];
    if (sync != v34::InfoReceiver<T>::kSync) return {};
    std::uint8_t bits[kBits];
    for (std::size_t k = 0; k < kBits; ++k) {
      const std::size_t i = at - kFill + k;
      bits[k] = i < s.bit.size() ? s.bit[i] : 1;
    }
    T info{};
    if (!v34::decode(bits, &info)) return {};
    float clarity = 0, peak = 0;
    for (std::size_t k = at; k < at + kBits - 2 * kFill; ++k) {
      clarity += s.cosine[k];
      peak += s.peak[k];
    }
    clarity /= kBits - 2 * kFill;
    peak /= kBits - 2 * kFill;
    if (clarity < 0.75f) return {};
    InfoHeard h;
    h.channel = channel_;
    h.carrier_hz = carrier_hz_;
    constexpr double kBitS = 1.0 / kDpskBaud;
    h.t0 = s.t[at] - (kFill + 0.5) * kBitS;
    h.t1 = h.t0 + static_cast<double>(kBits) * kBitS;
    h.amplitude = peak;
    h.phases = 1;
    h.clarity = clarity;
    h.bits.assign(bits, bits + kBits);
    h.info = info;
    return h;
  }

  int channel_, carrier_hz_;
  std::array<std::size_t, DpskReceiver::kPhases> next_;
  std::array<std::vector<InfoHeard>, DpskReceiver::kPhases> heard_;
};

// All sequences in a channel and band that are of one of these types. The decisions of an hour would take 290 MB: they
// are searched while they come.
template <class... T>
void find_infos_of(std::span<const float> x, int channel, int carrier_hz, std::vector<InfoHeard>& found) {
  constexpr std::size_t kPiece = 8192;
  std::array<Stream, DpskReceiver::kPhases> streams;
  std::tuple<Search<T>...> searches{Search<T>(channel, carrier_hz)...};
  const auto look = [&](std::size_t phase, bool last) {
    Stream& s = streams[phase];
    std::apply(
        [&](auto&... search) {
          (search.look(s, phase, last), ...);
          s.drop_before(std::min({search.needs(phase)...}));
        },
        searches);
  };
  DpskReceiver receiver(carrier_hz);
  DpskDecision d{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!receiver.put(x[i], &d)) continue;
    Stream& s = streams[d.phase];
    s.bit.push_back(d.bit);
    s.cosine.push_back(std::abs(d.turn.re));
    s.peak.push_back(d.peak);
    s.t.push_back(seconds(static_cast<double>(i) - DpskReceiver::kDelaySamples));
    if (s.bit.size() >= kPiece) look(d.phase, false);
  }
  for (std::size_t phase = 0; phase < streams.size(); ++phase) look(phase, true);
  std::apply([&](const auto&... search) { (search.take(found), ...); }, searches);
}

// If sequences overlap, the shortest is the one that was sent: behind a good CRC the remainder is zero, and stays so
// while zeros follow. So a sequence whose sender leaves out the fill ones may resemble a longer one.
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
    const int channel = static_cast<int>(c);
    find_infos_of<v34::Info0, v34::Info0d, v34::Info1c>(r.channel[c], channel, v34::kDpskCallHz, found);
    find_infos_of<v34::Info0, v34::Info1a, v34::Info1aV90>(r.channel[c], channel, v34::kDpskAnswerHz, found);
  }
  const auto is_echo = [](const InfoHeard& x, const InfoHeard& of) {
    return of.carrier_hz == x.carrier_hz && of.info.index() == x.info.index() && of.amplitude > 2 * x.amplitude &&
           std::abs(of.t0 - x.t0) < 0.4;
  };
  drop_echoes(found, is_echo);
  // If one channel has both directions, it also has their echoes.
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
  // INFO0 of both come in the same second, even if they are repeated.
  for (InfoHeard& i : found) {
    i.far_digital = i.carrier_hz == v34::kDpskAnswerHz && std::any_of(found.begin(), found.end(), [&](const auto& o) {
                      return o.info.index() == 1 && std::abs(o.t0 - i.t0) < kOnePhase2S;
                    });
  }
  return found;
}

}  // namespace offhook::decode
