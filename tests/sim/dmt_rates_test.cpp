// SPDX-License-Identifier: MIT
//
// Rates of the DMT pumps against what the loop alone would carry: the standard loops and ten random ones, three noises,
// both rates, without echo and with a hybrid. Each figure is at least 95 % of the loop's, or its cell is measured again
// to find the reason, which has to explain it:
//
//    echo D     the same cell without echo carries D kbit/s, at least 95 %
//    isi D      the loop without noise, crosstalk and echo, with converters of 16 bits, leaves an error on each tone;
//               with the noise of the loop it loads D kbit/s, no more than 95 %
//    frame B    the tones load B bits by the error in MEDLEY, or the loop alone does: fewer than the smallest frame has
//    window D   the noise of the loop through a symbol's window, in which a narrow gap of crosstalk is filled from its
//               sides, loads D kbit/s, less than 95 %; the cell has at least 95 % of D
//
// Of the six cells of a loop, half are measured without echo and the other half with the hybrid. With OFFHOOK_DSL_ALL=1, all
// are: `OFFHOOK_DSL_ALL=1 sim --gtest_filter='*DmtRates*'` prints the table, OFFHOOK_DSL_HYBRID_DB=12 that of another hybrid.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "dsp/dmt/constellation.h"
#include "dsp/dmt/loading.h"
#include "hostsim/call/loop_rates.h"
#include "hostsim/engine/random.h"
#include "tests/unit/hostsim/channel/dmt_call.h"

namespace offhook {
namespace {

using hostsim::LoopConfig;
using test::DmtCall;

constexpr std::uint32_t kFrameLimit = 8'160'000;  // 255 octets, 4000 symbols per second
constexpr double kEnough = 0.95;
constexpr double kNoEcho = 200;

/// Random cable `n`: one to three sections of 24 or 26 AWG, 5 to 16 kft together, some with a bridged tap.
std::string random_cable(std::uint64_t n) {
  const hostsim::Random random(43, 1);
  std::uint64_t at = 100 * n;
  const auto uniform = [&](double from, double to) { return from + (to - from) * random.uniform(at++); };
  const auto section = [&](char joint, double kft) {
    const int gauge = uniform(0, 1) < 0.5 ? 24 : 26;
    return std::to_string(gauge) + joint + std::to_string(kft).substr(0, 4);
  };
  const int sections = 1 + static_cast<int>(uniform(0, 3));
  const double total = uniform(5, 16);
  std::string words;
  for (int k = 0; k < sections; ++k) {
    words += (words.empty() ? "" : " ") + section(':', total / sections * uniform(0.6, 1.4));
    if (uniform(0, 1) < 0.4) words += " " + section('/', uniform(0.2, 1.5));
  }
  return words;
}

struct Direction {
  std::uint32_t loop = 0, gross = 0, net = 0, carried = 0;
  std::vector<float> error;       // of each tone in MEDLEY, at unit power
  std::vector<float> loop_error;  // for the loop alone
  bool enough() const { return gross >= kEnough * loop; }
};
struct Cell {
  std::string cable, noise;
  bool full_rate = false;
  double hybrid_db = kNoEcho;
  Direction down, up;
  std::uint64_t wrong = 0;
  std::uint32_t crc_errors = 0;
  bool in_data = false;
  const dmt::Band& band(bool is_down) const {
    if (is_down) return full_rate ? dmt::kFullDown : dmt::kLiteDown;
    return full_rate ? dmt::kFullUp : dmt::kLiteUp;
  }
  LoopConfig loop() const {
    LoopConfig c;
    c.cable = hostsim::cable_named(cable);
    c.disturbers = hostsim::disturbers_named(noise);
    c.front_end.hybrid_loss_db = hybrid_db;
    return c;
  }
};

double noise_psd(const LoopConfig& loop, double hz) {
  double noise = std::pow(10, loop.noise_dbm_hz / 10);
  for (const hostsim::Disturbers& d : loop.disturbers) noise += hostsim::crosstalk_psd(d, loop.cable, hz);
  return noise;
}

/// The noise in a tone's bin: its spectrum through the window of one symbol, sinc squared.
double windowed_psd(const LoopConfig& loop, double hz) {
  constexpr int kReach = 24, kSteps = 8;  // tones on each side, points of each
  double sum = 0, all = 0;
  for (int n = -kReach * kSteps; n <= kReach * kSteps; ++n) {
    const double tones = static_cast<double>(n) / kSteps, at = hz + tones * hostsim::kAdslToneHz;
    if (at <= 0) continue;
    const double x = 3.14159265358979 * tones, sinc = n == 0 ? 1 : std::sin(x) / x;
    sum += sinc * sinc * noise_psd(loop, at);
    all += sinc * sinc;
  }
  return sum / all;
}

template <typename Psd>
std::vector<float> loop_error(const LoopConfig& loop, const dmt::Band& band, Psd psd) {
  std::vector<float> error(static_cast<std::size_t>(band.tones()), 0);
  for (int k = band.first; k <= band.last; ++k) {
    const double hz = k * hostsim::kAdslToneHz;
    const double signal =
        std::pow(10, static_cast<double>(band.dbm_hz) / 10) * std::norm(hostsim::insertion_gain(loop.cable, hz));
    error[static_cast<std::size_t>(k)] = static_cast<float>(psd(loop, hz) / signal);
  }
  return error;
}

constexpr double kSeconds = 0.25;

void measure(Cell* cell, const LoopConfig& c, double seconds) {
  for (const bool is_down : {true, false}) {
    Direction& d = is_down ? cell->down : cell->up;
    d.loop = hostsim::loop_rates(c, cell->band(is_down)).whole_bits;
    d.loop_error = loop_error(c, cell->band(is_down), noise_psd);
  }
  cell->down.loop = std::min(cell->down.loop, kFrameLimit);
  DmtCall call(c, cell->full_rate);
  cell->in_data = call.connect(2) > 0;
  std::uint64_t first[] = {0, 0};
  if (cell->in_data) {
    call.run(0.1);  // content of the interleavers
    first[0] = call.remote.received;
    first[1] = call.central.received;
    call.run(seconds);
    cell->in_data = call.in_data();
  }
  for (const bool is_down : {true, false}) {
    Direction& d = is_down ? cell->down : cell->up;
    const DmtCall::End& end = is_down ? call.remote : call.central;
    const auto i = is_down ? call.remote_instruments() : call.central_instruments();
    d.gross = i.gross_bit_rate;
    d.net = end.status().rx_bit_rate;
    d.carried = static_cast<std::uint32_t>(static_cast<double>(end.received - first[is_down ? 0 : 1]) / seconds);
    d.error.assign(static_cast<std::size_t>(cell->band(is_down).tones()), 0);
    for (std::size_t k = 0; k < d.error.size(); ++k)
      d.error[k] = i.snr_db[k] > 0 ? std::pow(10.f, -i.snr_db[k] / 10) : 0;
    cell->wrong += end.wrong;
    cell->crc_errors += i.crc_errors;
  }
}

Cell measure(const std::string& cable, const char* noise, bool full_rate, double hybrid_db) {
  Cell cell{cable, noise, full_rate, hybrid_db, {}, {}};
  measure(&cell, cell.loop(), kSeconds);
  return cell;
}

/// gross bit/s with these errors, gains and trellis code included; 0: less than a frame.
std::uint32_t loaded(const dmt::Band& band, const std::vector<float>& error) {
  dmt::Loading loading;
  return dmt::load(band, error.data(), 0, &loading) ? loading.gross_bit_rate() : 0;
}
/// bit/s of whole bits at nominal power, as counted for the loop alone.
std::uint32_t whole_bits(const dmt::Band& band, const std::vector<float>& error) {
  int sum = 0;
  for (int k = band.first; k <= band.last; ++k) {
    const double e = static_cast<double>(error[static_cast<std::size_t>(k)]);
    if (!band.carries(k) || e <= 0) continue;
    const int bits = static_cast<int>(std::log2(1 + 1 / (e * static_cast<double>(dmt::kGap))));
    sum += bits < dmt::kLeastBits ? 0 : std::min(bits, band.most_bits);
  }
  return static_cast<std::uint32_t>(sum) * dmt::kDataSymbolsPerSecond;
}

std::string figure(const char* word, double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%s %.*f", word, decimals, value);
  return text;
}

constexpr std::uint32_t kLeastFrame = 2 * 8 * dmt::kDataSymbolsPerSecond;

/// Why a direction has less than the loop alone; "?": no measurement explains it.
/// @param[in,out] quiet  the cell without echo, measured at first use
std::string reason(const Cell& cell, bool is_down, std::optional<Cell>* quiet) {
  const dmt::Band& band = cell.band(is_down);
  const Direction& d = is_down ? cell.down : cell.up;
  if (d.loop < kLeastFrame && !cell.in_data) return figure("frame", d.loop / dmt::kDataSymbolsPerSecond, 0);
  const std::uint32_t bits = whole_bits(band, d.error);
  const bool is_measured = std::any_of(d.error.begin(), d.error.end(), [](float e) { return e > 0; });
  if (!cell.in_data && is_measured && bits < kLeastFrame) return figure("frame", bits / dmt::kDataSymbolsPerSecond, 0);
  const std::uint32_t windowed = loaded(band, loop_error(cell.loop(), band, windowed_psd));
  const bool is_narrow = windowed < kEnough * d.loop;
  const std::string window = figure("window", windowed * 1e-3, 0);
  if (cell.hybrid_db < kNoEcho) {
    if (!*quiet) {
      Cell& again = quiet->emplace(cell);
      again.hybrid_db = kNoEcho;
      measure(&again, again.loop(), 0.02);
    }
    const Direction& q = is_down ? (*quiet)->down : (*quiet)->up;
    const std::string echo = figure("echo", q.gross * 1e-3, 0);
    if ((*quiet)->in_data && q.enough()) return echo;
    if ((*quiet)->in_data && is_narrow && q.gross >= kEnough * windowed) return echo + ", " + window;
  }
  if (cell.in_data && is_narrow && d.gross >= kEnough * windowed) return window;
  Cell bare = cell;
  LoopConfig c = cell.loop();
  c.noise_dbm_hz = -200;
  c.disturbers.clear();
  c.front_end.hybrid_loss_db = kNoEcho;
  c.front_end.bits = 16;
  measure(&bare, c, 0.02);
  std::vector<float> error = (is_down ? bare.down : bare.up).error;
  for (std::size_t k = 0; k < error.size(); ++k) error[k] += d.loop_error[k];
  const std::uint32_t left = loaded(band, error);
  return bare.in_data && left < kEnough * d.loop ? figure("isi", left * 1e-3, 0) : "?";
}

/// For both directions; empty: both have enough.
std::string reasons(const Cell& cell) {
  std::string words;
  std::optional<Cell> quiet;
  bool silent_reason = cell.in_data;  // if nothing trained, the reason of one direction is that of the cell
  for (const bool is_down : {true, false}) {
    const Direction& d = is_down ? cell.down : cell.up;
    if (d.loop == 0 || d.enough()) continue;
    const std::string why = reason(cell, is_down, &quiet);
    if (!cell.in_data && why == "?") continue;
    silent_reason = true;
    words += (words.empty() ? "" : ", ") + std::string(is_down ? "down: " : "up: ") + why;
  }
  if (!silent_reason && std::min(cell.down.loop, cell.up.loop) >= kLeastFrame) words += "?";
  if (!silent_reason && words.empty()) words = figure("frame", std::min(cell.down.loop, cell.up.loop) / 4e3, 0);
  return words;
}

double kbit(std::uint32_t bit_rate) {
  return bit_rate * 1e-3;
}

void print(const Cell& c, const std::string& why) {
  const auto percent = [](const Direction& d) {
    return d.loop == 0 ? std::string("-") : figure("", std::floor(100.0 * d.gross / d.loop), 0).substr(1);
  };
  std::printf("| %.0f | %s | %s | %s | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %s / %s | %s |\n",
              c.hybrid_db, c.cable.c_str(), c.noise.empty() ? "AWGN" : c.noise.c_str(), c.full_rate ? "full" : "lite",
              kbit(c.down.loop), kbit(c.up.loop), kbit(c.down.gross), kbit(c.up.gross), kbit(c.down.net),
              kbit(c.up.net), kbit(c.down.carried), kbit(c.up.carried), percent(c.down).c_str(), percent(c.up).c_str(),
              why.c_str());
  std::fflush(stdout);
}

// hybrid, loop: the standard ones, then the random ones
class DmtRates : public testing::TestWithParam<std::tuple<double, int>> {};

TEST_P(DmtRates, CarryWhatTheLoopAloneWouldOrAMeasuredReason) {
  const int n = std::get<1>(GetParam());
  const std::vector<std::string> standard = hostsim::cable_names();
  const auto count = static_cast<int>(standard.size());
  const std::string cable =
      n < count ? standard[static_cast<std::size_t>(n)] : random_cable(static_cast<std::uint64_t>(n - count));
  const bool all = std::getenv("OFFHOOK_DSL_ALL") != nullptr;
  int index = n + (std::get<0>(GetParam()) == kNoEcho ? 1 : 0);
  for (const bool full_rate : {false, true}) {
    for (const char* noise : {"", "24 ISDN", "24 HDSL"}) {
      if (++index % 2 == 0 && !all) continue;
      const Cell cell = measure(cable, noise, full_rate, std::get<0>(GetParam()));
      const std::string why = reasons(cell);
      print(cell, why);
      SCOPED_TRACE(cell.cable + ", " + noise + (full_rate ? ", full rate" : ""));
      EXPECT_EQ(cell.wrong, 0u);
      EXPECT_EQ(cell.crc_errors, 0u);
      EXPECT_EQ(why.find('?'), std::string::npos) << "less than the loop alone, and nothing measured explains it";
      for (const Direction& d : {cell.down, cell.up}) {
        EXPECT_LE(d.gross, kFrameLimit);
        if (!cell.in_data) continue;
        EXPECT_LT(d.net, d.gross);
        EXPECT_NEAR(d.carried, d.net, 0.03 * d.net);
      }
    }
  }
}

double hybrid_db() {
  const char* set = std::getenv("OFFHOOK_DSL_HYBRID_DB");
  return set != nullptr ? std::atof(set) : 20;
}

INSTANTIATE_TEST_SUITE_P(NoEcho, DmtRates, testing::Combine(testing::Values(kNoEcho), testing::Range(0, 20)));
INSTANTIATE_TEST_SUITE_P(Hybrid, DmtRates, testing::Combine(testing::Values(hybrid_db()), testing::Range(0, 20)));

}  // namespace
}  // namespace offhook
