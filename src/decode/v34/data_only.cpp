// SPDX-License-Identifier: MIT
#include "src/decode/v34/data_only.h"

#include <algorithm>
#include <cmath>

namespace offhook::decode {
namespace {

// One channel as one direction, and how well the TRN in it fits.
struct Fit {
  Direction direction;
  double correlation = 0;  // of the best TRN; 0: there is none
};

Fit best_fit(const Recording& r, const SymbolClock& clock, const V34Band& band, Scrambling scrambling) {
  Fit best;
  best.direction.rate = band.rate;
  best.direction.carrier = band.carrier;
  best.direction.scrambling = scrambling;
  best.direction.channel = clock.channel;
  const auto x = r.samples(static_cast<std::size_t>(clock.channel));
  for (const v34::Carrier carrier : {v34::Carrier::kLow, v34::Carrier::kHigh}) {
    if (carrier == v34::Carrier::kHigh && carrier_hz(band.rate, carrier) == carrier_hz(band.rate, v34::Carrier::kLow))
      break;
    const Baseband line(x, carrier_hz(band.rate, carrier), symbol_rate_hz(band.rate));
    Direction d = best.direction;
    d.carrier = carrier;
    for (const Anchor& a : find_anchors(line, d, 0, r.duration_s)) {
      if (a.correlation > best.correlation) best = {d, a.correlation};
    }
  }
  return best;
}

}  // namespace

std::optional<V34Band> v34_band(const SymbolClock& clock) {
  for (int k = 0; k < v34::kSymbolRates; ++k) {
    const auto rate = static_cast<v34::SymbolRate>(k);
    if (std::lround(symbol_rate_hz(rate)) != clock.symbol_rate) continue;
    const double low = carrier_hz(rate, v34::Carrier::kLow), high = carrier_hz(rate, v34::Carrier::kHigh);
    return V34Band{rate, clock.carrier_hz > (low + high) / 2 ? v34::Carrier::kHigh : v34::Carrier::kLow};
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
  // What correlates with TRN may be the scrambled ones of another modem: it is V.34 when something can be read.
  const auto is_read = [](const Segment& p) { return p.t_pp > 0 || p.j_points > 0 || !p.mp.empty() || p.t_e_end > 0; };
  for (const Training::Side* side : {&t.from_1200, &t.from_2400}) {
    if (std::any_of(side->segments.begin(), side->segments.end(), is_read)) return t;
  }
  return std::nullopt;
}

}  // namespace offhook::decode
