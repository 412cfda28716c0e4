// SPDX-License-Identifier: MIT
#include "src/measure/trunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <stdexcept>

#include "dsp/blocks/level.h"
#include "dsp/v34/phase2/line_probe.h"
#include "hostsim/channel/g711.h"
#include "hostsim/engine/random.h"
#include "offhook/modem_card.h"

namespace offhook::measure {
namespace {

constexpr double kRateHz = OH_MODEM_RATE_HZ;
constexpr double kL2Dbm0 = -16;
constexpr std::int64_t kEarliest = -4000, kLatest = 16000;  // in samples, from the lag at the beginning
constexpr std::size_t kReference = 2048, kBlock = 400;      // samples
constexpr std::int64_t kMostJump = 800;
constexpr double kFound = 0.4;    // correlation of the reference at its position
constexpr double kFollows = 0.7;  // of a block, relative to the reference's
constexpr double kMapShare = 0.98;
constexpr std::uint16_t kSeenOften = 4;  // occurrences of an octet in an interval

double linear(oh_encoding law, std::uint8_t octet) {
  return law == OH_ALAW ? hostsim::a_law_decode(octet) : hostsim::mu_law_decode(octet);
}

std::uint8_t octet_of(oh_encoding law, double x) {
  const auto sample = static_cast<std::int16_t>(std::lround(std::clamp(x, -32768.0, 32767.0)));
  return law == OH_ALAW ? hostsim::a_law_encode(sample) : hostsim::mu_law_encode(sample);
}

std::vector<double> linear(oh_encoding law, const std::vector<std::uint8_t>& octets) {
  std::vector<double> all;
  all.reserve(octets.size());
  for (const std::uint8_t octet : octets) all.push_back(linear(law, octet));
  return all;
}

/// Inner products of n samples of x from `begin` with samples of y that are `lag` later. Outside, y is silence.
struct Products {
  double xy = 0, xx = 0, yy = 0;
  double correlation() const { return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0; }
};
Products products(std::span<const double> x, std::size_t begin, std::size_t n, std::span<const double> y,
                  std::int64_t lag) {
  Products sum;
  for (std::size_t k = begin; k < begin + n; ++k) {
    const std::int64_t at = static_cast<std::int64_t>(k) + lag;
    const double later = at >= 0 && at < static_cast<std::int64_t>(y.size()) ? y[static_cast<std::size_t>(at)] : 0;
    sum.xy += x[k] * later;
    sum.xx += x[k] * x[k];
    sum.yy += later * later;
  }
  return sum;
}

/// The lag with the greatest correlation of either sign.
struct Match {
  std::int64_t lag = 0;
  Products products;
  double strength() const { return std::abs(products.correlation()); }
};
Match best_match(std::span<const double> x, std::size_t begin, std::size_t n, std::span<const double> y,
                 std::int64_t from, std::int64_t to) {
  Match best;
  for (std::int64_t lag = from; lag <= to; ++lag) {
    const Match match{lag, products(x, begin, n, y, lag)};
    if (match.strength() > best.strength()) best = match;
  }
  return best;
}

/// Received octets by sent octets, in each interval.
class OctetMap {
 public:
  void count(std::size_t interval, std::uint8_t sent, std::uint8_t received) {
    ++counts_[at(interval, sent, received)];
  }

  /// The most frequent one; none if it occurred too rarely.
  std::optional<std::uint8_t> mode(std::size_t interval, std::uint8_t sent) const {
    const auto begin = counts_.begin() + static_cast<long>(at(interval, sent, 0));
    const auto most = std::max_element(begin, begin + 256);
    if (*most < kSeenOften) return std::nullopt;
    return static_cast<std::uint8_t>(most - begin);
  }
  /// Share of the octets that arrived as their mode.
  double share_of_modes() const {
    std::uint64_t all = 0, modes = 0;
    for (std::size_t row = 0; row < counts_.size(); row += 256) {
      std::uint64_t sum = 0, most = 0;
      for (std::size_t k = row; k < row + 256; ++k) sum += counts_[k], most = std::max<std::uint64_t>(most, counts_[k]);
      if (most >= kSeenOften) all += sum, modes += most;
    }
    return all > 0 ? static_cast<double>(modes) / static_cast<double>(all) : 0;
  }
  bool is_identity() const {
    for (std::size_t interval = 0; interval < kTrunkIntervals; ++interval)
      for (int sent = 0; sent < 256; ++sent)
        if (mode(interval, static_cast<std::uint8_t>(sent)).value_or(sent) != sent) return false;
    return true;
  }
  /// In a robbed interval, the last bit is the same for every octet or, with a pad after it, fewer octets remain.
  void find_robbed(TrunkDirection* d) const {
    std::array<std::set<std::uint8_t>, kTrunkIntervals> seen;
    for (std::size_t i = 0; i < kTrunkIntervals; ++i)
      for (int sent = 0; sent < 256; ++sent)
        if (const auto octet = mode(i, static_cast<std::uint8_t>(sent))) seen[i].insert(*octet);
    const std::size_t most = std::max_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) {
                               return a.size() < b.size();
                             })->size();
    for (std::size_t i = 0; i < kTrunkIntervals; ++i) {
      const auto last_bits = std::count_if(seen[i].begin(), seen[i].end(), [](std::uint8_t o) { return (o & 1) != 0; });
      const bool one_bit = last_bits == 0 || last_bits == static_cast<std::ptrdiff_t>(seen[i].size());
      if (seen[i].size() > 8 && (one_bit || 4 * seen[i].size() < 3 * most))
        d->robbed_intervals.push_back(static_cast<int>(i));
    }
  }

 private:
  static std::size_t at(std::size_t interval, std::uint8_t sent, std::uint8_t received) {
    return (interval * 256 + sent) * 256 + received;
  }
  std::vector<std::uint16_t> counts_ = std::vector<std::uint16_t>(kTrunkIntervals * 256 * 256);
};

/// Tracks the random octets from block to block.
class Follower {
 public:
  Follower(const TrunkSignal& sent, const TrunkReceived& received)
      : sent_(sent),
        received_(received),
        x_(linear(sent.law(), sent.octets())),
        y_(linear(received.law, received.octets)) {}

  /// @return whether the signal arrived at all
  bool find(TrunkDirection* d) {
    if (products(y_, 0, y_.size(), y_, 0).yy == 0) return false;
    for (std::size_t begin = sent_.codes_begin(); begin + kReference <= sent_.codes_end(); begin += 4 * kReference) {
      const Match match = best_match(x_, begin, kReference, y_, kEarliest, kLatest);
      if (match.strength() < kFound) continue;
      reference_ = match.strength();
      lag_ = d->lag_samples = match.lag;
      return true;
    }
    return false;
  }

  void follow(TrunkDirection* d) {
    Products sum;
    for (std::size_t begin = sent_.codes_begin(); begin + kBlock <= sent_.codes_end(); begin += kBlock) {
      const std::uint64_t lost = lost_in(begin);
      d->lost_samples += lost;
      if (lost > 0) continue;
      if (products(x_, begin, kBlock, y_, lag_).correlation() < kFollows * reference_ && !find_again(begin, d))
        continue;
      const Products block = products(x_, begin, kBlock, y_, lag_);
      sum.xy += block.xy, sum.xx += block.xx;
      for (std::size_t k = begin; k < begin + kBlock; ++k) {
        const auto at = static_cast<std::size_t>(static_cast<std::int64_t>(k) + lag_);
        map_.count(at % kTrunkIntervals, sent_.octets()[k], received_.octets[at]);
      }
    }
    d->loss_db = sum.xx > 0 && sum.xy != 0 ? 0 - power_db(std::pow(sum.xy / sum.xx, 2)) : 0;
    d->same = map_.share_of_modes();
    d->path = d->same < kMapShare                                  ? TrunkPath::kAltered
              : sent_.law() == received_.law && map_.is_identity() ? TrunkPath::kTransparent
                                                                   : TrunkPath::kMapped;
    if (d->path == TrunkPath::kMapped) map_.find_robbed(d);
  }

  /// The result of V.34's Phase 2 for the received L2.
  void probe(TrunkDirection* d) const {
    constexpr std::size_t kSettled = 800;
    v34::LineProbe probe;
    probe.start();
    for (std::size_t k = sent_.codes_end() + kSettled; k < sent_.codes_end() + TrunkSignal::kProbing; ++k) {
      const std::int64_t at = static_cast<std::int64_t>(k) + lag_;
      if (at < 0 || at >= static_cast<std::int64_t>(y_.size())) break;
      probe.put(static_cast<float>(y_[static_cast<std::size_t>(at)]));
    }
    if (probe.windows() == 0) return;
    probe.analyse();
    std::vector<double> snr;
    for (const v34::ProbingTone& tone : v34::kProbingTone) {
      snr.push_back(static_cast<double>(probe.snr_db(tone.multiple - 1)));
      d->tones.push_back({tone.multiple * v34::kProbingSpacingHz, snr.back()});
    }
    std::nth_element(snr.begin(), snr.begin() + static_cast<long>(snr.size() / 2), snr.end());
    d->snr_db = snr[snr.size() / 2];
    const v34::Info0 all{.supports_2743 = true,
                         .supports_2800 = true,
                         .supports_3429 = true,
                         .low_carrier_3000 = true,
                         .high_carrier_3000 = true,
                         .low_carrier_3200 = true,
                         .high_carrier_3200 = true,
                         .may_transmit_3429 = true,
                         .can_reduce_power = true,
                         .max_rate_difference = 5,
                         .cme = false,
                         .supports_1664_points = true,
                         .clock = v34::TransmitClock::kInternal,
                         .acknowledge = false};
    for (int k = 0; k < v34::kSymbolRates; ++k) {
      const auto rate = static_cast<v34::SymbolRate>(k);
      d->rates.push_back({symbol_rate_hz(rate), 2400 * probe.best(rate, all, true).max_rate});
    }
  }

 private:
  std::uint64_t lost_in(std::size_t begin) const {
    std::uint64_t lost = 0;
    for (std::size_t k = begin; k < begin + kBlock; ++k) {
      const std::int64_t at = static_cast<std::int64_t>(k) + lag_;
      const bool inside = at >= 0 && at < static_cast<std::int64_t>(received_.octets.size());
      lost += !inside || received_.lost[static_cast<std::size_t>(at)];
    }
    return lost;
  }
  /// Searches for the block at another lag. @return false if it is not found, for example in a drop-out
  bool find_again(std::size_t begin, TrunkDirection* d) {
    const Match match = best_match(x_, begin, kBlock, y_, lag_ - kMostJump, lag_ + kMostJump);
    if (match.strength() < kFollows * reference_ || match.lag == lag_) return false;
    d->jumps.push_back({static_cast<double>(static_cast<std::int64_t>(begin) + match.lag) / kRateHz, match.lag - lag_});
    lag_ = match.lag;
    return lost_in(begin) == 0;
  }

  const TrunkSignal& sent_;
  const TrunkReceived& received_;
  std::vector<double> x_, y_;
  double reference_ = 0;
  std::int64_t lag_ = 0;
  OctetMap map_;
};

/// The loudest reflection that the sender receives.
std::optional<TrunkEcho> find_echo(const TrunkSignal& sent, const TrunkReceived& heard) {
  constexpr std::int64_t kLongest = 6400;
  constexpr double kDeviations = 7;  // of the correlation with noise
  const std::vector<double> x = linear(sent.law(), sent.octets()), y = linear(heard.law, heard.octets);
  const std::size_t n = std::min<std::size_t>(8000, sent.codes_end() - sent.codes_begin());
  const Match match = best_match(x, sent.codes_begin(), n, y, 0, kLongest);
  if (match.strength() < kDeviations / std::sqrt(static_cast<double>(n))) return std::nullopt;
  return TrunkEcho{static_cast<double>(match.lag) * 1000 / kRateHz,
                   -power_db(std::pow(match.products.xy / match.products.xx, 2))};
}

}  // namespace

TrunkSignal::TrunkSignal(oh_encoding law, std::size_t periods, std::uint64_t seed) : law_(law) {
  if (law != OH_MULAW && law != OH_ALAW) throw std::invalid_argument("a trunk test needs octets of G.711");
  if (periods < kLeastPeriods) throw std::invalid_argument("a trunk test lasts at least 10 s");
  octets_.assign(periods, oh_silence(law));
  const hostsim::Random random(seed, 1);
  // Seven of eight are below the two highest segments, so all octets occur, at the level of a modem.
  for (std::size_t k = codes_begin(); k < codes_end(); ++k) {
    const std::uint64_t dice = random.word(k);
    const auto any = static_cast<std::uint8_t>(dice);
    const bool loud = (dice >> 8 & 7) == 0 || std::abs(linear(law, any)) < 8000;
    octets_[k] = loud ? any : octet_of(law, linear(law, any) / 8);
  }
  const double rms = dbm0_to_rms(kL2Dbm0);
  for (std::size_t k = 0; k < kProbing; ++k)
    octets_[codes_end() + k] =
        octet_of(law, rms * static_cast<double>(v34::kProbingTable.sample[k % v34::kProbingSamples]));
}

std::string TrunkDirection::path_name() const {
  constexpr const char* kNames[] = {"nothing arrived", "transparent", "mapped", "altered"};
  return kNames[static_cast<int>(path)];
}

int TrunkDirection::best_rate() const {
  int best = 0;
  for (const TrunkRate& rate : rates) best = std::max(best, rate.bit_rate);
  return best;
}

TrunkDirection analyse_trunk(const TrunkSignal& sent, const TrunkReceived& received, const TrunkReceived& echo) {
  TrunkDirection d;
  const auto follower = std::make_unique<Follower>(sent, received);
  d.echo = find_echo(sent, echo);
  if (!follower->find(&d)) return d;
  follower->follow(&d);
  follower->probe(&d);
  return d;
}

double TrunkResult::round_trip_ms() const {
  return static_cast<double>(a_to_b.lag_samples + b_to_a.lag_samples) * 1000 / kRateHz;
}

namespace {

void say_path(const TrunkDirection& d, const std::string& way, std::vector<std::string>* all) {
  if (d.path == TrunkPath::kSilent) {
    all->push_back(way + ": the test signal did not arrive; the call has no audio in this direction");
    return;
  }
  if (d.path == TrunkPath::kTransparent) all->push_back(way + ": every octet arrives unchanged");
  if (d.path == TrunkPath::kMapped) {
    all->push_back(fmt::format("{}: each octet arrives as another fixed one, with {:.1f} dB of loss{}", way, d.loss_db,
                               d.robbed_intervals.empty() ? std::string()
                                                          : fmt::format(" and the last bit of {} in 6 octets robbed",
                                                                        d.robbed_intervals.size())));
  }
  if (d.path == TrunkPath::kAltered) {
    all->push_back(
        fmt::format("{}: the same octet arrives as different octets ({:.0f} % as the most frequent one); there are "
                    "converters, another codec, an echo canceller or a conference in the path",
                    way, 100 * d.same));
  }
  if (d.lost_samples > 0)
    all->push_back(fmt::format("{}: {} samples were lost; each loss of more than about 15 ms can cause a retrain", way,
                               d.lost_samples));
  if (!d.jumps.empty()) {
    all->push_back(fmt::format(
        "{}: the delay jumped {} times, first by {:+.1f} ms; give every jitter buffer on the path a fixed depth", way,
        d.jumps.size(), static_cast<double>(d.jumps.front().samples) * 1000 / kRateHz));
  }
  all->push_back(fmt::format("{}: V.34 would project {} bit/s, SNR {:.0f} dB", way, d.best_rate(), d.snr_db));
}

void say_echo(const TrunkDirection& d, const char* end, std::vector<std::string>* all) {
  if (!d.echo) return;
  all->push_back(
      fmt::format("end {} hears itself after {:.1f} ms, {:.1f} dB weaker", end, d.echo->delay_ms, d.echo->loss_db));
}

}  // namespace

std::vector<std::string> TrunkResult::findings() const {
  std::vector<std::string> all;
  say_path(a_to_b, "A to B", &all);
  say_path(b_to_a, "B to A", &all);
  say_echo(a_to_b, "A", &all);
  say_echo(b_to_a, "B", &all);
  if (a_to_b.path != TrunkPath::kSilent && b_to_a.path != TrunkPath::kSilent)
    all.push_back(fmt::format("round trip {:.1f} ms, with both ends' buffers", round_trip_ms()));
  for (const auto& [end, possible] : {std::pair{"A", v90_from_a()}, std::pair{"B", v90_from_b()}})
    all.push_back(fmt::format("a digital modem of V.90 at end {}: {}", end,
                              possible ? "possible, its octets arrive by a fixed map"
                                       : "not possible, its octets do not arrive by a fixed map"));
  return all;
}

namespace {

using J = record::Rows<TrunkJump>;
constexpr record::Row kJumpRows[] = {
    J::of<&TrunkJump::at_s>("at_s", "s", "time of the jump, from the first received sample").decimals(3),
    J::of<&TrunkJump::samples>("samples", "", "size of the jump; positive: the delay grew"),
};
constexpr record::Table kJump{kJumpRows};

using R = record::Rows<TrunkRate>;
constexpr record::Row kRateRows[] = {
    R::of<&TrunkRate::symbol_rate>("symbol_rate", "symbols/s", "symbol rate of V.34").decimals(1),
    R::of<&TrunkRate::bit_rate>("bit_rate", "bit/s", "bit rate that V.34's Phase 2 would project; 0: unusable"),
};
constexpr record::Table kRate{kRateRows};

using P = record::Rows<TrunkTone>;
constexpr record::Row kToneRows[] = {
    P::of<&TrunkTone::frequency_hz>("frequency_hz", "Hz", "frequency of a tone of the probing signal"),
    P::of<&TrunkTone::snr_db>("snr_db", "dB", "level of the tone over noise and distortion within 150 Hz around it")
        .decimals(1),
};
constexpr record::Table kTone{kToneRows};

using E = record::Rows<TrunkEcho>;
constexpr record::Row kEchoRows[] = {
    E::of<&TrunkEcho::delay_ms>("delay_ms", "ms", "delay of the loudest reflection").decimals(2),
    E::of<&TrunkEcho::loss_db>("loss_db", "dB", "loss of the loudest reflection").decimals(1),
};
constexpr record::Table kEcho{kEchoRows};

using D = record::Rows<TrunkDirection>;
constexpr record::Row kDirectionRows[] = {
    D::of("path", "", "effect on the octets: nothing arrived, transparent, mapped or altered",
          [](const TrunkDirection& d) { return d.path_name(); }),
    D::of<&TrunkDirection::same>("same", "",
                                 "share of octets that arrived as the most frequent octet for their value, 0 to 1")
        .decimals(4),
    D::of<&TrunkDirection::loss_db>("loss_db", "dB", "loss of level").decimals(2),
    D::of<&TrunkDirection::robbed_intervals>("robbed_intervals", "",
                                             "intervals, 0 to 5, whose octets arrive without their last bit"),
    D::of<&TrunkDirection::lost_samples>("lost_samples", "", "samples that did not arrive"),
    D::part<&TrunkDirection::jumps>("jumps", kJump),
    D::of<&TrunkDirection::snr_db>("snr_db", "dB", "median SNR of the probing tones").decimals(1),
    D::part<&TrunkDirection::tones>("tones", kTone),
    D::part<&TrunkDirection::rates>("rates", kRate),
    D::part<&TrunkDirection::echo>("echo", kEcho),
};
constexpr record::Table kDirection{kDirectionRows};

using T = record::Rows<TrunkResult>;
constexpr record::Row kResultRows[] = {
    T::of<&TrunkResult::seconds>("seconds", "s", "duration of the test").decimals(1),
    T::of("round_trip_ms", "ms", "round trip, including the buffers of both ends",
          [](const TrunkResult& t) { return t.round_trip_ms(); })
        .decimals(2),
    T::part<&TrunkResult::a_to_b>("a_to_b", kDirection),
    T::part<&TrunkResult::b_to_a>("b_to_a", kDirection),
    T::of("v90_from_a", "", "whether a digital modem of V.90 can be at end A",
          [](const TrunkResult& t) { return t.v90_from_a(); }),
    T::of("v90_from_b", "", "whether a digital modem of V.90 can be at end B",
          [](const TrunkResult& t) { return t.v90_from_b(); }),
    T::of("findings", "", "findings, one sentence each", [](const TrunkResult& t) { return t.findings(); }),
};

}  // namespace

constinit const record::Table kTrunkResult{kResultRows};

}  // namespace offhook::measure
