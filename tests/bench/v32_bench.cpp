// SPDX-License-Identifier: MIT
//
// V.32bis in numbers: what a pump costs, what each rate needs of the line, and what a call makes of noise. Theory
// beside it: square constellations of as many bits a symbol at a bit error rate of 10^-5, for the trellis codes less
// their nominal gain of 4 dB.
//
//   v32_bench [cost|need|noise]     Markdown; docs/v32.md holds what it printed last
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "dsp/v32/line_monitor.h"
#include "dsp/v32/pump.h"
#include "tests/bench/pump_cost.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace {

using offhook::test::BitTester;
using offhook::test::LineConfig;
using offhook::test::PumpPair;

constexpr double kBandDb = 2.218;  // 4000 Hz over 2400 Hz, because PumpPair's SNR refers to 4 kHz

struct Ends {
  BitTester bits[2];
  PumpPair pair;
  explicit Ends(const LineConfig& line) : pair(oh_v32bis_type(), line, {bits[0].port(), bits[1].port()}) {
    bits[0].tx = 0x1234567, bits[1].tx = 0x7654321;
  }
  void clear() {
    for (BitTester& b : bits) b.good = b.bad = 0;
  }
  double error_rate() const {  // a wrong bit counts three times
    const double bad = static_cast<double>(bits[0].bad + bits[1].bad) / 3;
    return bad / std::max<double>(1, static_cast<double>(bits[0].good + bits[1].good));
  }
};

double q(double x) {
  return 0.5 * std::erfc(x / std::sqrt(2));
}

// SNR at which square QAM with this many bits per symbol has a bit error rate of 1e-5.
double uncoded_db(int bits) {
  const double m = std::pow(2, bits);
  double low = 0, high = 40;
  while (high - low > 0.001) {
    const double db = (low + high) / 2, snr = std::pow(10, db / 10);
    const double p = 4.0 / bits * (1 - 1 / std::sqrt(m)) * q(std::sqrt(3 * snr / (m - 1)));
    (p > 1e-5 ? low : high) = db;
  }
  return high;
}

void cost() {
  oh_pump_config c{};
  c.struct_size = sizeof c;
  c.format = offhook::kLinear8000;
  c.tx_level_dbm0 = -12;
  BitTester bits;
  c.port = bits.port();
  std::printf("\n### Cost at 14 400 bit/s\n\n");
  offhook::test::print_cost(oh_v32bis_type(), 25, 20);
  std::printf("\nState: %zu bytes.\n", oh_v32bis_type()->size(&c));
}

// Fixed rate: noise in intervals of 1.5 s, so that the pump does not renegotiate.
void need() {
  std::printf("\n### What each rate needs (SNR in 2400 Hz for a bit error rate of 1e-5, in steps of 0.5 dB)\n\n");
  std::printf("| bit/s | measured | theory | asked for at start-up |\n|---|---|---|---|\n");
  for (int k = 0; k < 5; ++k) {
    const offhook::v32::Rate& r = offhook::v32::kRates[k];
    const double theory = uncoded_db(r.bits) - (r.trellis ? 4 : 0);
    double least = -1;
    for (double snr = theory - 0.5; snr < theory + 6; snr += 0.5) {
      Ends e({.max_bit_rate = {r.bit_rate, 0}});
      if (!e.pair.connect(25)) break;
      e.pair.run(8000);
      BitTester sum[2];
      for (int burst = 0; burst < 12; ++burst) {
        e.pair.set_snr(snr - kBandDb);
        e.pair.run(400);
        e.clear();
        e.pair.run(12000);
        for (const int end : {0, 1}) sum[end].good += e.bits[end].good, sum[end].bad += e.bits[end].bad;
        e.pair.set_snr(60);
        e.pair.run(4000);
      }
      e.bits[0] = sum[0], e.bits[1] = sum[1];
      if (e.error_rate() <= 1e-5 && e.bits[0].good > 0) {
        least = snr;
        break;
      }
    }
    std::printf("| %u | %.1f | %.1f | %.1f |\n", r.bit_rate, least, theory, offhook::v32::kLeastSnrDb[k]);
    std::fflush(stdout);
  }
}

void noise() {
  std::printf("\n### Rate against white noise (SNR in 2400 Hz; 30 s of data)\n\n");
  std::printf("| SNR, dB | bit/s | bit error rate | capacity of 2400 Hz, bit/s | retrains |\n|---|---|---|---|---|\n");
  for (int snr = 34; snr >= 10; snr -= 2) {
    Ends e({.snr_db = snr - kBandDb});
    const bool connected = e.pair.connect(40);
    const double capacity = 2400 * std::log2(1 + std::pow(10, snr / 10.0));
    if (!connected) {
      std::printf("| %d | no connection | | %.0f | |\n", snr, capacity);
      continue;
    }
    e.pair.run(8000);
    e.clear();
    e.pair.run(30 * 8000);
    std::printf("| %d | %u | %.1e | %.0f | %u |\n", snr, e.pair.status(0).rx_bit_rate, e.error_rate(), capacity,
                std::max(e.pair.status(0).retrains, e.pair.status(1).retrains));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = [&](const char* name) { return argc < 2 || std::strcmp(argv[1], name) == 0; };
  if (wanted("cost")) cost();
  if (wanted("need")) need();
  if (wanted("noise")) noise();
}
