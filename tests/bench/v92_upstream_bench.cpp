// SPDX-License-Identifier: MIT
//
// Errors and rates of V.92's PCM upstream: calls between our two modems over simulated trunks of many kinds.
//
//   v92_upstream_bench [SECONDS [SEEDS [ROW [FIRST]]]]
//
// SECONDS of data mode in each call, 20 by default; SEEDS calls on each trunk, 3 by default; ROW limits the run to
// trunks whose name contains it; FIRST is the first seed, 1 by default. Prints one Markdown row for each trunk: calls
// that connected with the PCM upstream, rates, blocks of 1000 bits with an error, and the upper bound (95 %, one-sided)
// of their share. Blocks count from the first bit of data mode on. Exit status 2: a call did not connect, or a bound
// exceeds one in 1000 although the trunk had enough blocks to show it (3000).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/unit/dsp/v34/confidence.h"
#include "tests/v90_call.h"

namespace {

using offhook::V90Call;
using Trunk = offhook::hostsim::DigitalTrunkConfig;

struct Row {
  const char* name;
  void (*make)(Trunk& t);
};

constexpr Row kRows[] = {
    {"clean, -85 dBm0", [](Trunk& t) { t.noise_dbm0 = -85; }},
    {"noise -80 dBm0", [](Trunk&) {}},
    {"noise -70 dBm0", [](Trunk& t) { t.noise_dbm0 = -70; }},
    {"noise -60 dBm0", [](Trunk& t) { t.noise_dbm0 = -60; }},
    {"pad 3 dB", [](Trunk& t) { t.pad_db = 3; }},
    {"pad 6 dB", [](Trunk& t) { t.pad_db = 6; }},
    {"robbed bits 1 of 6", [](Trunk& t) { t.robbed_bits = 1; }},
    {"robbed bits 2 of 6", [](Trunk& t) { t.robbed_bits = 0b001001; }},
    {"robbed bits 3 of 6", [](Trunk& t) { t.robbed_bits = 0b010101; }},
    {"robbed bits 6 of 6", [](Trunk& t) { t.robbed_bits = 63; }},
    {"pad 6 dB, robbed bits 1 of 6", [](Trunk& t) { t.pad_db = 6, t.robbed_bits = 1; }},
    {"a-law", [](Trunk& t) { t.law = t.codec = "a-law"; }},
    {"a-law, pad 6 dB", [](Trunk& t) { t.law = t.codec = "a-law", t.pad_db = 6; }},
    {"mu-law modem, a-law card", [](Trunk& t) { t.codec = "a-law"; }},
    {"a-law modem, mu-law card", [](Trunk& t) { t.law = "a-law"; }},
    {"loop 0 dB", [](Trunk& t) { t.loss_db = 0; }},
    {"loop 12 dB", [](Trunk& t) { t.loss_db = 12; }},
    {"loop 20 dB", [](Trunk& t) { t.loss_db = 20; }},
    {"clock +50 ppm", [](Trunk& t) { t.clock_ppm = 50; }},
    {"clock -100 ppm", [](Trunk& t) { t.clock_ppm = -100; }},
    {"card's echo 14 dB", [](Trunk& t) { t.card_echo_db = 14; }},
    {"card's echo 30 dB", [](Trunk& t) { t.card_echo_db = 30; }},
    {"card's echo 40 dB", [](Trunk& t) { t.card_echo_db = 40; }},
    {"delay 100 ms", [](Trunk& t) { t.delay_ms = 100; }},
};

struct Total {
  int calls = 0, connected = 0, pcm = 0;
  unsigned least_up = ~0u, most_up = 0, least_down = ~0u, most_down = 0, retrains = 0, renegotiations = 0;
  double after_s = 0;
  std::uint64_t bad = 0, blocks = 0, bad_down = 0, blocks_down = 0;
};

void call(const Row& row, int seed, double seconds, Total* t) {
  V90Call::Options o = V90Call::from_phase2_on();
  o.digital_v92 = o.analogue_v92 = true;
  o.trunk.noise_dbm0 = -80;
  o.seed = static_cast<std::uint64_t>(seed);
  row.make(o.trunk);
  V90Call c(o);
  ++t->calls;
  if (!c.connect(25)) return;
  ++t->connected;
  t->after_s += c.seconds();
  t->pcm += c.digital_instruments().upstream_symbol_rate_hz == 8000;
  c.run(seconds);
  const unsigned up = c.digital_status().rx_bit_rate, down = c.analogue_status().rx_bit_rate;
  t->least_up = std::min(t->least_up, up), t->most_up = std::max(t->most_up, up);
  t->least_down = std::min(t->least_down, down), t->most_down = std::max(t->most_down, down);
  t->retrains += c.analogue_status().retrains;
  t->renegotiations += c.digital_instruments().renegotiations;
  t->bad += c.up().bad_blocks(), t->blocks += c.up().blocks();
  t->bad_down += c.down().bad_blocks(), t->blocks_down += c.down().blocks();
}

/// @return whether the row meets the limit
bool print(const Row& row, const Total& t) {
  constexpr double kMost = 1e-3;
  constexpr std::uint64_t kEnough = 3000;
  const double bound =
      offhook::v34::clopper_pearson(static_cast<double>(t.bad), static_cast<double>(t.blocks), 0.90).high;
  std::printf("| %s | %d of %d, %d | %u to %u | %u to %u | %llu of %llu | %.1e | %llu of %llu | %.1f | %u, %u |\n",
              row.name, t.connected, t.calls, t.pcm, t.least_up, t.most_up, t.least_down, t.most_down,
              static_cast<unsigned long long>(t.bad), static_cast<unsigned long long>(t.blocks), bound,
              static_cast<unsigned long long>(t.bad_down), static_cast<unsigned long long>(t.blocks_down),
              t.after_s / std::max(1, t.connected), t.retrains, t.renegotiations);
  std::fflush(stdout);
  return t.connected == t.calls && (t.blocks < kEnough || bound < kMost);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 3;
  const char* wanted = argc > 3 ? argv[3] : "";
  const int first = argc > 4 ? std::atoi(argv[4]) : 1;
  std::printf(
      "| trunk | calls, PCM | bit/s up | bit/s down | bad blocks up | 95 %% below | bad down | data after, s | "
      "retrains, "
      "reneg. |\n|---|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const Row& row : kRows) {
    if (std::strstr(row.name, wanted) == nullptr) continue;
    Total total;
    for (int seed = first; seed < first + seeds; ++seed) call(row, seed, seconds, &total);
    good &= print(row, total);
  }
  return good ? 0 : 2;
}
