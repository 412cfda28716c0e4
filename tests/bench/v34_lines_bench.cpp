// SPDX-License-Identifier: MIT
//
// The tables of V.34: rate against noise with the channel's capacity beside it, echo, and lines. Two pumps under V.42
// over hostsim/line; the figures of the closed modem beside them are slmodemd's against itself.
//
//   v34_lines_bench [noise|echo|lines]     Markdown; docs/v34.md holds what it printed last
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
  double kbytes_s;                   // user bytes that arrived, both directions
  std::uint64_t blocks, bad_blocks;  // V.42 frames of 128 octets, both directions, in the second half
  std::uint64_t missing;             // bytes that never arrived
  bool intact;
};

Row measure(const LineConfig& line, double seconds, unsigned gap = 0) {
  V34Call call(line, 1);
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
    call.run(seconds / 2);
    count(&blocks, &bad);
    call.run(seconds / 2);
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

// slmodemd against itself; 0: no connection.
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
  head("Rate against white noise (SNR and capacity in 3.4 kHz, 2 minutes each)",
       " slmodemd | goal | capacity | gap to it, dB | bad blocks of 128 octets (95 %) |", "---|---|---|---|---|");
  for (int snr = 38; snr >= 10; snr -= snr > 26 ? 1 : 2) {
    LineConfig c = clean();
    c.noise_dbm0 = kReceivedDbm0 - snr + 10 * std::log10(4000 / 3400.0);  // levels.h: over 0 to 4000 Hz
    const Row r = measure(c, 120);
    const unsigned closed = closed_modem(snr);
    const unsigned goal = closed == 0 ? 0 : std::min(33600u, closed + (snr < 38 ? 2400 : 0));
    const double capacity = 3400 * std::log2(1 + std::pow(10, snr / 10.0));
    // What the line has more than a code at capacity would need for the rate.
    const auto gap = [&](unsigned rate) { return snr - 10 * std::log10(std::pow(2, rate / 3400.0) - 1); };
    const double blocks = static_cast<double>(r.blocks), bad = static_cast<double>(r.bad_blocks);
    const auto interval = offhook::v34::clopper_pearson(bad, blocks, 0.95);
    char what[64], more[128];
    std::snprintf(what, sizeof what, "%d dB", snr);
    std::snprintf(more, sizeof more, " %.0f | %.1f %.1f | %.1e (%.0e .. %.0e) |", capacity, gap(r.call_rate),
                  gap(r.answer_rate), bad / std::max(blocks, 1.0), interval.low, interval.high);
    print(what, r, against(r, closed, goal) + more);
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
    const Row r = measure(c, 20);
    print(what, r, against(r, e.closed, e.goal));
  }
}

void line_table() {
  head("Lines (4-wire, noise -70 dBm0 unless named)", "", "");
  const auto row = [&](const std::string& what, auto&& change, unsigned gap = 0) {
    LineConfig c = clean();
    c.noise_dbm0 = -70;
    change(c);
    print(what.c_str(), measure(c, 20, gap), "");
  };
  row("clean", [](LineConfig&) {});
  for (const int ppm : {-100, 100})
    row("clock " + std::to_string(ppm) + " ppm", [=](LineConfig& c) { c.clock_ppm = ppm; });
  for (const int hz : {-7, 7})
    row("offset " + std::to_string(hz) + " Hz", [=](LineConfig& c) { c.frequency_offset_hz = hz; });
  for (const int ms : {100, 600, 1200})
    row("round trip " + std::to_string(ms) + " ms", [=](LineConfig& c) { c.delay_ms = ms / 2; });
  row("A-law", [](LineConfig& c) { c.codec = "a-law"; });
  row("mu-law", [](LineConfig& c) { c.codec = "mu-law"; });
  row("mu-law, robbed bit", [](LineConfig& c) { c.codec = "mu-law", c.robbed_bit = true; });
  row("impulses, one a second, -20 dBm0", [](LineConfig& c) { c.impulse_rate_hz = 1; });
  row("V.56bis AD-1 EDD-1", [](LineConfig& c) { c.channel = "v56bis-ad1-edd1"; });
  row("V.56bis AD-9 EDD-3", [](LineConfig& c) { c.channel = "v56bis-ad9-edd3"; });
  row("2-wire, near 12, far 30, mu-law",
      [](LineConfig& c) { c.near_echo_db = 12, c.far_echo_db = 30, c.codec = "mu-law"; });
  for (const int ms : {5, 20, 200})
    row(
        "gap of " + std::to_string(ms) + " ms", [](LineConfig&) {}, static_cast<unsigned>(8 * ms));
}

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = [&](const char* name) { return argc < 2 || std::strcmp(argv[1], name) == 0; };
  if (wanted("noise")) noise_table();
  if (wanted("echo")) echo_table();
  if (wanted("lines")) line_table();
}
