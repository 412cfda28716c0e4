// SPDX-License-Identifier: MIT
//
// The tables of V.34: rate against noise with the channel's capacity beside it, echo, and lines. Two pumps under V.42
// over hostsim/line; the figures of the closed modem beside them are slmodemd's against itself (docs/developers).
//
//   v34_lines_bench [noise|echo|lines]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/sim/v34_call.h"
#include "tests/unit/dsp/v34/confidence.h"

namespace {

using offhook::hostsim::LineConfig;
using offhook::test::V34Call;

// Nothing but what a row names: no echo, no companding.
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
  double kbytes;
  bool intact;
  std::uint64_t blocks, bad_blocks;  // V.42 frames of 128 octets, both directions, in the second half
};

Row measure(const LineConfig& line, double seconds, unsigned gap = 0, std::uint64_t seed = 1) {
  V34Call call(line, seed);
  Row r{};
  const auto count = [&](std::uint64_t* blocks, std::uint64_t* bad) {
    const auto near = call.near().lapm_status(), far = call.far().lapm_status();
    *bad = near.bad_frames + far.bad_frames;
    *blocks = *bad + near.i_frames_received + far.i_frames_received;
  };
  r.connected = call.connect(40);
  if (r.connected) {
    std::uint64_t blocks = 0, bad = 0;
    if (gap == 0) {
      call.run(seconds / 2);
      count(&blocks, &bad);
      call.run(seconds / 2);
    } else {
      call.run(seconds, gap);
    }
    count(&r.blocks, &r.bad_blocks);
    r.blocks -= blocks, r.bad_blocks -= bad;
    r.call_rate = call.near().pump_status().rx_bit_rate;
    r.answer_rate = call.far().pump_status().rx_bit_rate;
    r.call_snr = call.near_instruments().snr_db;
    r.answer_snr = call.far_instruments().snr_db;
  }
  r.connected_s = call.connected_s();
  r.retrains = call.retrains();
  r.renegotiations = std::max(call.near_instruments().renegotiations, call.far_instruments().renegotiations);
  r.kbytes = static_cast<double>(call.arrived()) / 1000;
  r.intact = call.intact();
  return r;
}

void print(const char* what, const Row& r, const char* yardstick) {
  if (!r.connected) {
    std::printf("%-33s no connection  %s\n", what, yardstick);
    return;
  }
  std::printf("%-33s %5u %5u  %5.1f %5.1f dB  %5.1f s %3u %3u  %7.1f kB %-6s  %s\n", what, r.call_rate, r.answer_rate,
              r.call_snr, r.answer_snr, r.connected_s, r.retrains, r.renegotiations, r.kbytes,
              r.intact ? "intact" : "WRONG", yardstick);
  std::fflush(stdout);
}

void print_head(const char* title, const char* yardstick) {
  std::printf("%s\n%-33s  call answer  SNR there      up  retr. reneg.  arrived         %s\n", title, "", yardstick);
}

// 0: no connection.
unsigned closed_modem(int snr) {
  return snr >= 38   ? 33600
         : snr >= 36 ? 31200
         : snr >= 34 ? 28800
         : snr >= 32 ? 26400
         : snr >= 28 ? 24000
         : snr >= 27 ? 21600
                     : 0;
}

void noise_table() {
  print_head("Rate against white noise; SNR and capacity in 3.4 kHz",
             "slmodemd  goal   capacity  gap of both  bad blocks (95 %)");
  for (int snr = 38; snr >= 10; snr -= snr > 26 ? 1 : 2) {
    LineConfig c = clean();
    c.noise_dbm0 = kReceivedDbm0 - snr + 10 * std::log10(4000 / 3400.0);  // levels.h: over 0 to 4000 Hz
    const Row r = measure(c, 120);
    const unsigned closed = closed_modem(snr);
    const unsigned goal = closed == 0 ? 0 : std::min(33600u, closed + (snr < 38 ? 2400 : 0));
    const double capacity = 3400 * std::log2(1 + std::pow(10, snr / 10.0));
    // What the line has more than a code at capacity would need for the rate.
    const auto gap = [&](unsigned rate) { return snr - 10 * std::log10(std::pow(2, rate / 3400.0) - 1); };
    const auto interval =
        offhook::v34::clopper_pearson(static_cast<double>(r.bad_blocks), static_cast<double>(r.blocks), 0.95);
    char what[64], yardstick[128];
    std::snprintf(what, sizeof what, "SNR %d dB", snr);
    std::snprintf(yardstick, sizeof yardstick, "%5u   %5u %s %6.0f   %4.1f %4.1f dB  %4.1e (%.0e .. %.0e)", closed,
                  goal, std::min(r.call_rate, r.answer_rate) >= goal ? "met   " : "MISSED", capacity, gap(r.call_rate),
                  gap(r.answer_rate),
                  static_cast<double>(r.bad_blocks) / static_cast<double>(std::max<std::uint64_t>(r.blocks, 1)),
                  interval.low, interval.high);
    print(what, r, yardstick);
  }
}

void echo_table() {
  print_head("Echo below what was sent, noise-free", "");
  struct Case {
    double far, near;
    const char* yardstick;
  };
  for (const Case e : {Case{40, 10, "slmodemd 31200, goal 33600"}, Case{30, 15, "slmodemd 24000, goal 33600"},
                       Case{25, 200, "slmodemd 19200, goal 28800"}}) {
    LineConfig c = clean();
    // The figure is the far echo against what was sent; the line adds twice its loss.
    c.far_echo_db = e.far - 2 * c.loss_db;
    c.near_echo_db = e.near;
    char what[64];
    std::snprintf(what, sizeof what, "far %.0f dB, near %.0f dB", e.far, e.near);
    print(what, measure(c, 40), e.yardstick);
  }
}

void line_table() {
  print_head("Lines: 4-wire, noise -70 dBm0 unless named", "");
  struct Case {
    std::string what;
    LineConfig line;
    unsigned gap;
  };
  std::vector<Case> cases;
  const auto add = [&](std::string what, auto&& change, unsigned gap = 0) {
    LineConfig c = clean();
    c.noise_dbm0 = -70;
    change(c);
    cases.push_back({std::move(what), c, gap});
  };
  add("clean", [](LineConfig&) {});
  for (const double ppm : {-100.0, 100.0})
    add("clock " + std::to_string(int(ppm)) + " ppm", [=](LineConfig& c) { c.clock_ppm = ppm; });
  for (const double hz : {-7.0, 7.0})
    add("offset " + std::to_string(int(hz)) + " Hz", [=](LineConfig& c) { c.frequency_offset_hz = hz; });
  for (const double ms : {50.0, 300.0, 600.0}) {
    add("round trip " + std::to_string(int(2 * ms)) + " ms", [=](LineConfig& c) { c.delay_ms = ms; });
  }
  add("A-law", [](LineConfig& c) { c.codec = "a-law"; });
  add("mu-law", [](LineConfig& c) { c.codec = "mu-law"; });
  add("mu-law, robbed bit", [](LineConfig& c) { c.codec = "mu-law", c.robbed_bit = true; });
  add("impulses, one a second, -20 dBm0", [](LineConfig& c) { c.impulse_rate_hz = 1; });
  add("V.56bis AD-1 EDD-1", [](LineConfig& c) { c.channel = "v56bis-ad1-edd1"; });
  add("V.56bis AD-9 EDD-3", [](LineConfig& c) { c.channel = "v56bis-ad9-edd3"; });
  add("2-wire, near 12, far 30, mu-law",
      [](LineConfig& c) { c.near_echo_db = 12, c.far_echo_db = 30, c.codec = "mu-law"; });
  add(
      "gap of 5 ms", [](LineConfig&) {}, 40);
  add(
      "gap of 20 ms", [](LineConfig&) {}, 160);
  add(
      "gap of 200 ms", [](LineConfig&) {}, 1600);
  for (const Case& c : cases) print(c.what.c_str(), measure(c.line, 20, c.gap), "");
}

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = [&](const char* name) { return argc < 2 || std::strcmp(argv[1], name) == 0; };
  if (wanted("noise")) noise_table();
  if (wanted("echo")) echo_table();
  if (wanted("lines")) line_table();
}
