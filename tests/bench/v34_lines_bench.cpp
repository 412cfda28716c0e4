// SPDX-License-Identifier: MIT
//
// The tables of V.34: rate against noise with the channel's capacity beside it, echo, and lines. Two pumps under V.42
// over hostsim/channel; the figures of the closed modem beside them are slmodemd's against itself.
//
//   v34_lines_bench [noise|echo|lines|all] [MINUTES]     Markdown; docs/v34.md holds what it printed last
//
// MINUTES: of line for each SNR and for the lines whose errors are counted, 2 unless told.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "driver/base/terminal.h"
#include "tests/sim/v34_call.h"
#include "tests/unit/dsp/v34/confidence.h"

namespace {

using offhook::hostsim::LineConfig;
using offhook::test::V34Call;

// Only what a row names: no echo, no companding.
LineConfig clean() {
  LineConfig c;
  c.near_echo_db = c.far_echo_db = 200;
  c.noise_dbm0 = -90;
  c.codec = "none";
  return c;
}

constexpr double kReceivedDbm0 = -22;  // sent -12, loss 10

struct Row {
  bool connected;
  unsigned call_rate, answer_rate;  // received, bit/s
  double call_snr, answer_snr;
  double connected_s;
  unsigned retrains, renegotiations;
  double kbytes_s;                   // user bytes received, both directions
  std::uint64_t blocks, bad_blocks;  // V.42 frames of 128 octets in both directions, after the rate has settled
  std::uint64_t missing;             // bytes that were not received
  bool intact;
};

// @param seconds  of data mode; the rate may settle in the first minute of long ones, or the first half of others
Row measure(const std::string& what, const LineConfig& line, double seconds, unsigned gap = 0) {
  V34Call call(line, 1);
  offhook::Progress progress(what);
  Row r{};
  const auto count = [&](std::uint64_t* blocks, std::uint64_t* bad) {
    const auto near = call.near().lapm_status(), far = call.far().lapm_status();
    *bad = near.bad_frames + far.bad_frames;
    *blocks = *bad + near.i_frames_received + far.i_frames_received;
  };
  r.connected = call.connect(40);
  r.connected_s = call.connected_s();
  if (!r.connected) return r;
  const std::uint64_t before = call.arrived();
  std::uint64_t blocks = 0, bad = 0;
  if (gap == 0) {
    const double settle = std::min(60.0, seconds / 2);
    call.run(settle);
    count(&blocks, &bad);
    for (double at = settle; at < seconds; at += 10) {
      progress.update(at / seconds, std::to_string(static_cast<int>(at)) + " s of line");
      call.run(std::min(10.0, seconds - at));
    }
  } else {
    call.run(seconds, gap);
  }
  count(&r.blocks, &r.bad_blocks);
  r.blocks -= blocks, r.bad_blocks -= bad;
  r.kbytes_s = static_cast<double>(call.arrived() - before) / seconds / 1000;
  r.call_rate = call.near().pump_status().rx_bit_rate;
  r.answer_rate = call.far().pump_status().rx_bit_rate;
  r.call_snr = call.near_instruments().snr_db;
  r.answer_snr = call.far_instruments().snr_db;
  r.retrains = call.retrains();
  r.renegotiations = std::max(call.near_instruments().renegotiations, call.far_instruments().renegotiations);
  for (int s = 0; s < 40 && (s < 2 || call.missing() > 0); ++s) call.drain(1);
  r.missing = call.missing();
  r.intact = call.intact();
  return r;
}

void head(const char* title, const char* more, const char* rule) {
  std::printf("\n### %s\n\n", title);
  std::printf(
      "| %-32s | received by call, answer modem | SNR there, dB | data after, s | retrains, reneg. | kB/s "
      "both | lost bytes |%s\n",
      "line", more);
  std::printf("|---|---|---|---|---|---|---|%s\n", rule);
}

void print(const char* what, const Row& r, const std::string& more) {
  if (!r.connected) {
    std::printf("| %-32s | no connection | | | | | |%s\n", what, more.c_str());
  } else {
    std::printf("| %-32s | %5u %5u | %4.1f %4.1f | %4.1f | %u, %u | %4.2f | %llu%s |%s\n", what, r.call_rate,
                r.answer_rate, r.call_snr, r.answer_snr, r.connected_s, r.retrains, r.renegotiations, r.kbytes_s,
                static_cast<unsigned long long>(r.missing), r.intact ? "" : " and WRONG ones", more.c_str());
  }
  std::fflush(stdout);
}

std::string against(const Row& r, unsigned closed, unsigned goal) {
  char text[64];
  const char* met = r.connected && std::min(r.call_rate, r.answer_rate) >= goal ? "met" : "MISSED";
  std::snprintf(text, sizeof text, " %s | %u %s |", closed > 0 ? std::to_string(closed).c_str() : "none", goal,
                goal > 0 ? met : "");
  return text;
}

// slmodemd with itself; 0: no connection.
unsigned closed_modem(int snr) {
  return snr >= 38   ? 33600
         : snr >= 36 ? 31200
         : snr >= 34 ? 28800
         : snr >= 32 ? 26400
         : snr >= 28 ? 24000
         : snr >= 27 ? 21600
                     : 0;
}

std::string errors(const Row& r) {
  const double blocks = static_cast<double>(r.blocks), bad = static_cast<double>(r.bad_blocks);
  const auto interval = offhook::v34::clopper_pearson(bad, blocks, 0.95);
  char text[80];
  std::snprintf(text, sizeof text, " %.0f of %.0f | %.1e .. %.1e |", bad, blocks, interval.low, interval.high);
  return text;
}

void noise_table(double seconds) {
  char title[80];
  std::snprintf(title, sizeof title, "Rate against white noise (SNR and capacity in 3.4 kHz, %.0f minutes each)",
                seconds / 60);
  head(title, " slmodemd | goal | capacity | gap to it, dB | bad blocks of 128 octets | 95 % |",
       "---|---|---|---|---|---|");
  for (int snr = 38; snr >= 10; snr -= snr > 26 ? 1 : 2) {
    LineConfig c = clean();
    c.noise_dbm0 = kReceivedDbm0 - snr + 10 * std::log10(4000 / 3400.0);  // levels.h: noise over 0 to 4000 Hz
    char what[64], more[160];
    std::snprintf(what, sizeof what, "%d dB", snr);
    const Row r = measure(what, c, seconds);
    const unsigned closed = closed_modem(snr);
    const unsigned goal = closed == 0 ? 0 : std::min(33600u, closed + (snr < 38 ? 2400 : 0));
    const double capacity = 3400 * std::log2(1 + std::pow(10, snr / 10.0));
    // Excess of the line over what a code at capacity would need for the rate.
    const auto gap = [&](unsigned rate) { return snr - 10 * std::log10(std::pow(2, rate / 3400.0) - 1); };
    std::snprintf(more, sizeof more, " %.0f | %.1f %.1f |", capacity, gap(r.call_rate), gap(r.answer_rate));
    print(what, r, against(r, closed, goal) + more + errors(r));
  }
}

void echo_table() {
  head("Echo below what was sent, noise-free", " slmodemd | goal |", "---|---|");
  struct Case {
    double far, near;
    unsigned closed, goal;
  };
  for (const Case e : {Case{40, 10, 31200, 33600}, Case{30, 15, 24000, 33600}, Case{25, 200, 19200, 28800}}) {
    LineConfig c = clean();
    c.far_echo_db = e.far - 2 * c.loss_db;  // the line adds twice its loss
    c.near_echo_db = e.near;
    char what[64];
    std::snprintf(what, sizeof what, e.near < 100 ? "far %.0f dB, near %.0f dB" : "far %.0f dB, near none", e.far,
                  e.near);
    const Row r = measure(what, c, 20);
    print(what, r, against(r, e.closed, e.goal));
  }
}

void line_table(double seconds) {
  head("Lines (4-wire, noise -70 dBm0 unless named)", " bad blocks of 128 octets | 95 % |", "---|---|");
  // Longer if the line continues to cause errors.
  const auto row_of = [&](const std::string& what, double length, unsigned gap, auto&& change) {
    LineConfig c = clean();
    c.noise_dbm0 = -70;
    change(c);
    const Row r = measure(what, c, length, gap);
    print(what.c_str(), r, errors(r));
  };
  const auto row = [&](const std::string& what, auto&& change) { row_of(what, 20, 0, change); };
  const auto errors_row = [&](const std::string& what, auto&& change) { row_of(what, seconds, 0, change); };
  row("clean", [](LineConfig&) {});
  for (const int ppm : {-100, 100})
    row("clock " + std::to_string(ppm) + " ppm", [=](LineConfig& c) { c.clock_ppm = ppm; });
  for (const int hz : {-7, 7})
    row("offset " + std::to_string(hz) + " Hz", [=](LineConfig& c) { c.frequency_offset_hz = hz; });
  for (const int ms : {100, 600, 1200})
    row("round trip " + std::to_string(ms) + " ms", [=](LineConfig& c) { c.delay_ms = ms / 2; });
  errors_row("A-law", [](LineConfig& c) { c.codec = "a-law"; });
  errors_row("mu-law", [](LineConfig& c) { c.codec = "mu-law"; });
  errors_row("mu-law, robbed bit", [](LineConfig& c) { c.codec = "mu-law", c.robbed_bit = true; });
  errors_row("A-law, robbed bit", [](LineConfig& c) { c.codec = "a-law", c.robbed_bit = true; });
  for (const int level : {-20, -35, -45}) {
    for (const double rate : {0.1, 1.0, 10.0}) {
      char what[64];
      std::snprintf(what, sizeof what, "impulses, %g a second, %d dBm0", rate, level);
      errors_row(what, [=](LineConfig& c) { c.impulse_rate_hz = rate, c.impulse_dbm0 = level; });
    }
  }
  row("V.56bis AD-1 EDD-1", [](LineConfig& c) { c.channel = "v56bis-ad1-edd1"; });
  row("V.56bis AD-9 EDD-3", [](LineConfig& c) { c.channel = "v56bis-ad9-edd3"; });
  row("2-wire, near 12, far 30, mu-law",
      [](LineConfig& c) { c.near_echo_db = 12, c.far_echo_db = 30, c.codec = "mu-law"; });
  for (const int ms : {5, 20, 200})
    row_of("gap of " + std::to_string(ms) + " ms", 20, static_cast<unsigned>(8 * ms), [](LineConfig&) {});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string table = argc > 1 ? argv[1] : "all";
  const double minutes = argc > 2 ? std::atof(argv[2]) : 2;
  const bool known = table == "all" || table == "noise" || table == "echo" || table == "lines";
  if (argc > 3 || !known || !(minutes > 0 && minutes <= 1e4)) {
    std::fprintf(stderr, "v34_lines_bench: expected [noise|echo|lines|all] [MINUTES up to 10000]\n");
    return 1;
  }
  if (table == "all" || table == "noise") noise_table(60 * minutes);
  if (table == "all" || table == "echo") echo_table();
  if (table == "all" || table == "lines") line_table(60 * minutes);
}
