// SPDX-License-Identifier: MIT
#include "src/decode/v34/data_only.h"

#include <algorithm>
#include <cmath>

namespace offhook::decode {
namespace {

constexpr double kOffCarrierHz = 100;  // twice the accuracy of the middle of a band

// One channel as one direction, and how well the TRN in it fits.
struct Fit {
  Direction direction;
  double correlation = 0;  // of the best TRN; 0: there is none
};

// @param d  rate, carrier, scrambling and channel, which the result has if nothing is found
Fit best_fit(const Recording& r, const Direction& d, double from_s, double to_s) {
  Fit best{d};
  const auto x = r.samples(static_cast<std::size_t>(d.channel));
  for (const v34::Carrier carrier : {v34::Carrier::kLow, v34::Carrier::kHigh}) {
    if (carrier == v34::Carrier::kHigh && carrier_hz(d.rate, carrier) == carrier_hz(d.rate, v34::Carrier::kLow)) break;
    const Baseband line(x, carrier_hz(d.rate, carrier), symbol_rate_hz(d.rate));
    Direction tried = d;
    tried.carrier = carrier;
    for (const Anchor& a : find_anchors(line, tried, from_s, to_s)) {
      if (a.correlation > best.correlation) best = {tried, a.correlation};
    }
  }
  return best;
}

Fit best_fit(const Recording& r, const SymbolClock& clock, const V34Band& band, Scrambling scrambling) {
  Direction d;
  d.rate = band.rate;
  d.carrier = band.carrier;
  d.scrambling = scrambling;
  d.channel = clock.channel;
  return best_fit(r, d, 0, r.duration_s);
}

// The best of all symbol rates.
Fit best_fit(const Recording& r, int channel, Scrambling scrambling, double from_s, double to_s) {
  Fit best;
  best.direction.channel = channel;
  best.direction.scrambling = scrambling;
  for (int k = 0; k < v34::kSymbolRates; ++k) {
    Direction d = best.direction;
    d.rate = static_cast<v34::SymbolRate>(k);
    const Fit fit = best_fit(r, d, from_s, to_s);
    if (fit.correlation > best.correlation) best = fit;
  }
  return best;
}

// A match with TRN may be the scrambled ones of another modem: it is V.34 if a part of it can be decoded.
bool something_is_read(const Training& t) {
  const auto is_read = [](const Segment& p) { return p.t_pp > 0 || p.j_points > 0 || !p.mp.empty() || p.t_e_end > 0; };
  return std::any_of(t.from_1200.segments.begin(), t.from_1200.segments.end(), is_read) ||
         std::any_of(t.from_2400.segments.begin(), t.from_2400.segments.end(), is_read);
}

}  // namespace

std::optional<V34Band> v34_band(const SymbolClock& clock) {
  for (int k = 0; k < v34::kSymbolRates; ++k) {
    const auto rate = static_cast<v34::SymbolRate>(k);
    if (std::lround(symbol_rate_hz(rate)) != clock.symbol_rate) continue;
    const double low = carrier_hz(rate, v34::Carrier::kLow), high = carrier_hz(rate, v34::Carrier::kHigh);
    const V34Band band{rate, clock.carrier_hz > (low + high) / 2 ? v34::Carrier::kHigh : v34::Carrier::kLow};
    if (std::abs(clock.carrier_hz - carrier_hz(rate, band.carrier)) > kOffCarrierHz) return std::nullopt;
    return band;
  }
  return std::nullopt;
}

std::optional<Training> find_training_behind_data(const Recording& r, std::span<const SymbolClock> clocks,
                                                  bool data_mode) {
  struct Channel {
    Fit as_call, as_answer;
  };
  std::vector<Channel> channels;
  for (const SymbolClock& clock : clocks) {
    const std::optional<V34Band> band = v34_band(clock);
    if (band) channels.push_back({best_fit(r, clock, *band, kGpc), best_fit(r, clock, *band, kGpa)});
  }
  Training t;
  t.begins_in_data = true;
  t.from_1200.direction.channel = t.from_2400.direction.channel = -1;
  if (channels.size() == 1) {
    const Channel& c = channels[0];
    const bool call = c.as_call.correlation >= c.as_answer.correlation;
    const Fit& better = call ? c.as_call : c.as_answer;
    if (better.correlation == 0) return std::nullopt;
    (call ? t.from_1200 : t.from_2400).direction = better.direction;
  } else if (channels.size() == 2) {
    const auto sum = [&](const Channel& call, const Channel& answer) {
      return call.as_call.correlation + answer.as_answer.correlation;
    };
    const double straight = sum(channels[0], channels[1]), crossed = sum(channels[1], channels[0]);
    if (straight == 0 && crossed == 0) return std::nullopt;
    const bool first_calls = straight >= crossed;
    t.from_1200.direction = channels[first_calls ? 0 : 1].as_call.direction;
    t.from_2400.direction = channels[first_calls ? 1 : 0].as_answer.direction;
  } else {
    return std::nullopt;
  }
  read_training(r, {}, r.duration_s, data_mode, t);
  return something_is_read(t) ? std::optional(std::move(t)) : std::nullopt;
}

std::optional<Training> find_training_without_info1a(const Recording& r, const StartUp& s, bool data_mode) {
  constexpr double kPhase3WithinS = 15;  // of the last INFO sequence
  if (std::any_of(s.info.begin(), s.info.end(), [](const InfoHeard& i) { return i.is_v90(); })) return std::nullopt;
  Training t;
  t.without_info1a = true;
  t.info1a_t = s.info.back().t1;
  const double to_s = std::min(r.duration_s, t.info1a_t + kPhase3WithinS);
  t.from_1200.direction.channel = s.channel_1200;
  t.from_2400.direction.channel = s.channel_2400;
  for (Training::Side* side : {&t.from_1200, &t.from_2400}) {
    if (side->direction.channel < 0) continue;
    side->direction =
        best_fit(r, side->direction.channel, side == &t.from_1200 ? kGpc : kGpa, t.info1a_t, to_s).direction;
  }
  read_training(r, s, r.duration_s, data_mode, t);
  return something_is_read(t) ? std::optional(std::move(t)) : std::nullopt;
}

}  // namespace offhook::decode
