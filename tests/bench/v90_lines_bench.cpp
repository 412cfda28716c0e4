// SPDX-License-Identifier: MIT
//
// The tables of V.90: our two modems over hostsim/line's digital trunk, rates and blocks of 1000 bits with errors.
//
//   v90_lines_bench [noise|power|trunk|loop|all] [MINUTES]     Markdown; docs/v90.md holds what it printed last
//
// MINUTES: of data mode on each line, 1 unless told. What it costs follows on standard error.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/unit/dsp/v34/confidence.h"
#include "tests/v90_call.h"

namespace {

using offhook::V90Call;

V90Call::Options clean() {
  V90Call::Options o;
  o.trunk.noise_dbm0 = -80;
  o.v8 = false;
  return o;
}

std::string blocks(std::uint64_t bad, std::uint64_t all) {
  const auto interval = offhook::v34::clopper_pearson(static_cast<double>(bad), static_cast<double>(all), 0.95);
  char text[80];
  std::snprintf(text, sizeof text, "%llu of %llu | %.1e .. %.1e", static_cast<unsigned long long>(bad),
                static_cast<unsigned long long>(all), interval.low, interval.high);
  return text;
}

double total_seconds = 0;

void row(const std::string& what, const V90Call::Options& o, double minutes) {
  V90Call call(o);
  const bool connected = call.connect(40);
  const double after = call.seconds();
  const unsigned first_down = call.analogue_status().rx_bit_rate, first_up = call.digital_status().rx_bit_rate;
  if (!connected) {
    std::printf("| %s | none |\n", what.c_str());
    total_seconds += call.seconds();
    return;
  }
  call.run(60 * minutes);
  const auto a = call.analogue_instruments();
  const auto down = call.down(), up = call.up();
  std::printf("| %s | %u %u | %u %u | %.1f | %.1f | %.0f | %s | %s | %u, %u |\n", what.c_str(), first_down, first_up,
              call.analogue_status().rx_bit_rate, call.digital_status().rx_bit_rate, after,
              static_cast<double>(a.noise_rms), static_cast<double>(a.least_distance),
              blocks(down.bad_blocks(), down.blocks()).c_str(), blocks(up.bad_blocks(), up.blocks()).c_str(),
              call.analogue_status().retrains, a.renegotiations);
  std::fflush(stdout);
  total_seconds += call.seconds();
}

void head(const char* title) {
  std::printf("\n### %s\n\n", title);
  std::printf(
      "| line | down, up at first | at the end | data after, s | noise | least distance | bad blocks down | 95 %% | up "
      "| 95 %% "
      "| retrains, reneg. |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void noise(double minutes) {
  head("White noise at both receivers, loop 6 dB");
  for (const double level : {-90., -85., -80., -75., -70., -65., -60., -55., -50.}) {
    V90Call::Options o = clean();
    o.trunk.noise_dbm0 = level;
    row(std::to_string(static_cast<int>(level)) + " dBm0", o, minutes);
  }
}

void power(double minutes) {
  head("Limit of the digital modem's power, noise -80 dBm0");
  for (const int level : {-6, -9, -12, -14, -16}) {
    V90Call::Options o = clean();
    o.digital_dbm0 = static_cast<float>(level);
    row(std::to_string(level) + " dBm0", o, minutes);
  }
}

void trunk(double minutes) {
  head("Robbed bits, pads and laws, noise -80 dBm0");
  const char* of[] = {"none", "1 of 6", "2 of 6", "3 of 6", "4 of 6", "5 of 6", "6 of 6"};
  const unsigned patterns[] = {0, 1, 0b001001, 0b010101, 0b110110, 0b111110, 63};
  for (int k = 0; k < 7; ++k) {
    V90Call::Options o = clean();
    o.trunk.robbed_bits = patterns[k];
    row(std::string("robbed bits ") + of[k], o, minutes);
  }
  for (const int pad : {3, 6, 9}) {
    V90Call::Options o = clean();
    o.trunk.pad_db = pad;
    row("pad " + std::to_string(pad) + " dB", o, minutes);
    o.trunk.robbed_bits = 1;
    row("pad " + std::to_string(pad) + " dB, robbed bits 1 of 6", o, minutes);
  }
  for (const char* law : {"mu-law", "a-law"}) {
    for (const char* codec : {"mu-law", "a-law"}) {
      if (std::strcmp(law, "mu-law") == 0 && std::strcmp(codec, "mu-law") == 0) continue;
      V90Call::Options o = clean();
      o.trunk.law = law;
      o.trunk.codec = codec;
      row(std::string(law) + " modem, " + codec + " line card", o, minutes);
    }
  }
}

void loop(double minutes) {
  head("Loops, echo, clocks, round trips, noise -80 dBm0");
  const auto with = [minutes](const std::string& what, auto change) {
    V90Call::Options o = clean();
    change(o.trunk);
    row(what, o, minutes);
  };
  for (const int loss : {0, 3, 10, 15})
    with("loop " + std::to_string(loss) + " dB", [loss](auto& t) { t.loss_db = loss; });
  for (const int slope : {3, 6, 9}) {
    with("3400 Hz " + std::to_string(slope) + " dB down", [slope](auto& t) { t.slope_db = slope; });
  }
  for (const int hz : {0, 60, 120})
    with("high-pass " + std::to_string(hz) + " Hz", [hz](auto& t) { t.high_pass_hz = hz; });
  for (const int db : {6, 10, 20})
    with("near echo " + std::to_string(db) + " dB", [db](auto& t) { t.near_echo_db = db; });
  for (const int db : {10, 14})
    with("line card's echo " + std::to_string(db) + " dB", [db](auto& t) { t.card_echo_db = db; });
  for (const int ppm : {-100, -30, 30, 100}) {
    with("clock " + std::to_string(ppm) + " ppm", [ppm](auto& t) { t.clock_ppm = ppm; });
  }
  for (const int ms : {0, 50, 150, 300, 600}) {
    with("one way " + std::to_string(ms) + " ms", [ms](auto& t) { t.delay_ms = ms; });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const double minutes = argc > 2 ? std::atof(argv[2]) : 1;
  if ((what != "all" && what != "noise" && what != "power" && what != "trunk" && what != "loop") || !(minutes > 0)) {
    std::fprintf(stderr, "usage: v90_lines_bench [noise|power|trunk|loop|all] [MINUTES]\n");
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  if (what == "all" || what == "noise") noise(minutes);
  if (what == "all" || what == "power") power(minutes);
  if (what == "all" || what == "trunk") trunk(minutes);
  if (what == "all" || what == "loop") loop(minutes);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fprintf(stderr, "%.0f s of line in %.0f s: trunk and both modems %.0f ns a sample period\n", total_seconds, wall,
               1e9 * wall / (8000 * total_seconds));
  return 0;
}
