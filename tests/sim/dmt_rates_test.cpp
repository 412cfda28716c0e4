// SPDX-License-Identifier: MIT
//
// What the DMT pumps carry against what the loop alone would carry: the standard loops and ten random ones under three
// noises, at both rates. Each figure is at least 95 % of the loop's, or a cause that is measured in the same cell
// explains it. `--gtest_filter=DmtRates.*` prints the table; OFFHOOK_DSL_HYBRID_DB sets the hybrid of
// the printed table (default: 200, no echo), without a limit for what the echo takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

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
constexpr double kLeastPilotDb = 20;  // below it the timing loop's noise limits every tone
// 15 bits a tone need 58 dB. The window's place is the one that is best for one filter of all tones, and it costs the
// upper tones of some loops: CSA 7 carries 1492 kbit/s upstream with the window elsewhere.
constexpr std::uint32_t kBitsAtHighSnr = 300;
constexpr double kAtHighSnr = 0.85;
constexpr std::uint32_t kFewBits = 64;  // of a symbol: one bit more or less is 1.6 %

/// Cable `n` of the random ones: one to three sections of 24 or 26 AWG, 5 to 16 kft together, some with a bridged tap.
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
  std::uint64_t wrong = 0;
  double pilot_db = 0;
  bool enough() const { return gross >= kEnough * loop; }
};
struct Cell {
  std::string cable, noise;
  bool full_rate = false;
  Direction down, up;
  std::uint32_t crc_errors = 0;
  bool in_data = false;
};

/// What the loop leaves of the pilot.
double loop_pilot_db(const LoopConfig& loop, const dmt::Band& band) {
  const double hz = band.pilot * hostsim::kAdslToneHz;
  double noise = std::pow(10, loop.noise_dbm_hz / 10);
  for (const hostsim::Disturbers& d : loop.disturbers) noise += hostsim::crosstalk_psd(d, loop.cable, hz);
  return static_cast<double>(band.dbm_hz) + 10 * std::log10(std::norm(hostsim::insertion_gain(loop.cable, hz)) / noise);
}

constexpr double kSeconds = 0.5;

Cell measure(const std::string& cable, const char* noise, bool full_rate, double hybrid_db) {
  Cell cell{cable, *noise == 0 ? "AWGN" : noise, full_rate, {}, {}};
  LoopConfig c;
  c.cable = hostsim::cable_named(cable);
  c.disturbers = hostsim::disturbers_named(noise);
  c.front_end.hybrid_loss_db = hybrid_db;
  const dmt::Band& down = full_rate ? dmt::kFullDown : dmt::kLiteDown;
  const dmt::Band& up = full_rate ? dmt::kFullUp : dmt::kLiteUp;
  cell.down.loop = std::min(hostsim::loop_rates(c, down).whole_bits, kFrameLimit);
  cell.up.loop = hostsim::loop_rates(c, up).whole_bits;
  cell.down.pilot_db = loop_pilot_db(c, down);
  cell.up.pilot_db = loop_pilot_db(c, up);
  DmtCall call(c, full_rate);
  if (call.connect(2) < 0) return cell;
  call.run(0.1);  // what the interleavers hold
  const std::uint64_t first_down = call.remote.received, first_up = call.central.received;
  call.run(kSeconds);
  cell.in_data = call.in_data();
  const auto fill = [](Direction* d, const DmtCall::End& end, const oh_dmt_instruments& i, std::uint64_t first) {
    d->gross = i.gross_bit_rate;
    d->net = end.status().rx_bit_rate;
    d->carried = static_cast<std::uint32_t>(static_cast<double>(end.received - first) / kSeconds);
    d->wrong = end.wrong;
  };
  const auto remote = call.remote_instruments(), central = call.central_instruments();
  fill(&cell.down, call.remote, remote, first_down);
  fill(&cell.up, call.central, central, first_up);
  cell.crc_errors = remote.crc_errors + central.crc_errors;
  return cell;
}

/// Why a cell has less than the loop alone; empty: it has not.
std::string reason(const Cell& cell) {
  if (cell.in_data && cell.down.enough() && cell.up.enough()) return "";
  const std::uint32_t few = kFewBits * dmt::kDataSymbolsPerSecond;
  const auto pilot = [](const Direction& d) { return d.pilot_db < kLeastPilotDb; };
  if (!cell.in_data) {
    if (std::min(cell.down.loop, cell.up.loop) <= few) return "few";
    return pilot(cell.down) || pilot(cell.up) ? "pilot" : "?";
  }
  const auto why = [&](const Direction& d) -> std::string {
    if (d.enough()) return "";
    if (d.loop <= few) return "few";
    return pilot(d)                                                                                  ? "pilot"
           : d.loop >= kBitsAtHighSnr * dmt::kDataSymbolsPerSecond && d.gross >= kAtHighSnr * d.loop ? "window"
                                                                                                     : "?";
  };
  const std::string down = why(cell.down), up = why(cell.up);
  return down.empty() || down == up ? up + (up.empty() ? down : "") : up.empty() ? down : down + ", " + up;
}

double kbit(std::uint32_t bit_rate) {
  return bit_rate * 1e-3;
}

void print(const Cell& c) {
  std::printf("| %s | %s | %s | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %s |\n",
              c.cable.c_str(), c.noise.c_str(), c.full_rate ? "full" : "lite", kbit(c.down.loop), kbit(c.up.loop),
              kbit(c.down.gross), kbit(c.up.gross), kbit(c.down.net), kbit(c.up.net), kbit(c.down.carried),
              kbit(c.up.carried), 100.0 * c.down.gross / std::max(c.down.loop, 1u),
              100.0 * c.up.gross / std::max(c.up.loop, 1u), reason(c).c_str());
  std::fflush(stdout);
}

void compare(const std::vector<std::string>& cables) {
  const char* set = std::getenv("OFFHOOK_DSL_HYBRID_DB");
  const double hybrid_db = set != nullptr ? std::atof(set) : 200;
  int cells = 0, unexplained = 0;
  std::puts("| loop | noise | rate | loop alone | gross | net | carried | % of the loop | why less |");
  std::puts("|---|---|---|---|---|---|---|---|---|");
  for (const bool full_rate : {false, true}) {
    for (const std::string& cable : cables) {
      for (const char* noise : {"", "24 ISDN", "24 HDSL"}) {
        const Cell cell = measure(cable, noise, full_rate, hybrid_db);
        print(cell);
        SCOPED_TRACE(cell.cable + ", " + cell.noise + (full_rate ? ", full rate" : ""));
        EXPECT_EQ(cell.down.wrong + cell.up.wrong, 0u);
        EXPECT_EQ(cell.crc_errors, 0u);
        EXPECT_LE(cell.down.gross, kFrameLimit);
        for (const Direction& d : {cell.down, cell.up}) {
          EXPECT_LT(d.net, std::max(d.gross, 1u));
          EXPECT_NEAR(d.carried, d.net, 0.03 * d.net);
        }
        ++cells;
        unexplained += reason(cell).find('?') != std::string::npos;
      }
    }
  }
  if (hybrid_db >= 200) EXPECT_LE(20 * unexplained, cells) << "cells with less and without a reason";
}

TEST(DmtRates, StandardLoopsCarryWhatTheLoopAloneWould) {
  compare(hostsim::cable_names());
}

TEST(DmtRates, RandomLoopsCarryWhatTheLoopAloneWould) {
  std::vector<std::string> cables;
  for (std::uint64_t n = 0; n < 10; ++n) cables.push_back(random_cable(n));
  compare(cables);
}

}  // namespace
}  // namespace offhook
