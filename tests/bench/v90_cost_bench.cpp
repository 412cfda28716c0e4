// SPDX-License-Identifier: MIT
//
// What the two modems of V.90 cost in data mode, a service of 40 sample periods (5 ms) at a time. What both receive in
// a call is recorded; then each is put back to where data mode began and given the same again, so many times: the pump
// computes the same each time, so that the least time of a service is what it takes when nothing else does.
//
//   v90_cost_bench [SECONDS [TIMES]]     of data mode, 10 and 9 unless told; Markdown, as in docs/v90.md
//
// Cycles are those of the processor's time stamp counter. Exit status 1: no connection, or bits were wrong.
// The timed calls have names of their own: instructions of SECONDS * 8000 sample periods are
//
//     valgrind --tool=callgrind '--toggle-collect=measured_digital' v90_cost_bench 1 1
//
// and measured_analogue, those of the bench's bits included. (valgrind has no AVX-512: the variant is AVX2.)
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "dsp/blocks/kernels.h"
#include "tests/v90_call.h"

extern "C" __attribute__((noinline)) void measured_digital(void* self, const void* rx, void* tx, size_t n) {
  oh_v90_type()->process(self, rx, tx, n);
}
extern "C" __attribute__((noinline)) void measured_analogue(void* self, const void* rx, void* tx, size_t n) {
  oh_v90_type()->process(self, rx, tx, n);
}

namespace {

using offhook::V90Call;

constexpr size_t kBlock = 40;
constexpr size_t kRatio = offhook::hostsim::DigitalTrunk::kReceivedRatio;
constexpr double kVendorCycles = 8270;  // 14.7 % of 450 MHz at 8000 samples/s

/// Services after each restore that are not counted, because the caches are full of the copied data.
constexpr size_t kCold = 21;

/// The least cycles of each service.
template <class Sample>
std::vector<double> cycles(V90Call& call, bool digital, const std::vector<Sample>& received, int times) {
  const size_t apart = digital ? kBlock : kBlock * kRatio;
  std::vector<double> least(received.size() / apart, 1e300);
  int16_t tx[kBlock];
  for (int k = 0; k < times; ++k) {
    call.take_up(0);
    void* self = digital ? call.digital() : call.analogue();
    for (size_t n = 0; n < least.size(); ++n) {
      const uint64_t begin = __rdtsc();
      (digital ? measured_digital : measured_analogue)(self, &received[n * apart], tx, kBlock);
      least[n] = std::min(least[n], static_cast<double>(__rdtsc() - begin) / kBlock);
    }
  }
  least.erase(least.begin(), least.begin() + std::min<ptrdiff_t>(kCold, std::ssize(least) - 1));
  return least;
}

/// Least cycles of the pumps' port calls in each sample period.
std::vector<double> cycles_of_bits(double sent, double received, int times) {
  constexpr int kPeriods = 100'000;
  offhook::CheckedBits bits(1);
  oh_bit_port port = V90Call::port(bits);
  asm volatile("" : "+m"(port));  // called as a pump would call it
  double least = 1e300;
  for (int k = 0; k < times; ++k) {
    const uint64_t begin = __rdtsc();
    for (int n = 0; n < static_cast<int>(sent * kPeriods); ++n) port.get_bit(port.user);
    for (int n = 0; n < static_cast<int>(received * kPeriods); ++n) port.put_bit(port.user, n & 1);
    least = std::min(least, static_cast<double>(__rdtsc() - begin) / kPeriods);
  }
  return {least};
}

double tsc_ghz() {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const uint64_t from = __rdtsc();
  while (Clock::now() - begin < std::chrono::milliseconds(200)) {
  }
  const std::chrono::duration<double, std::nano> gone = Clock::now() - begin;
  return static_cast<double>(__rdtsc() - from) / gone.count();
}

void print(const char* name, std::vector<double> each, double ghz) {
  double mean = 0;
  for (const double c : each) mean += c / static_cast<double>(each.size());
  std::sort(each.begin(), each.end());
  const double worst = each.back();
  std::printf("| %s | %.0f | %.0f | %.2f | %.2f | %.2f | %.0f |\n", name, mean / ghz, mean, mean / kVendorCycles,
              each[each.size() * 99 / 100] / mean, worst / mean, static_cast<double>(each.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  const int times = argc > 2 ? std::atoi(argv[2]) : 9;
  V90Call::Options o;
  o.trunk.noise_dbm0 = -80;
  o.v8 = false;
  V90Call call(o);
  V90Call::Received received;
  if (!call.connect(20)) return 1;
  call.run(1);
  call.keep();
  call.record(&received);
  const uint64_t wrong = call.down().errors() + call.up().errors();
  call.run(seconds);
  call.record(nullptr);
  const bool good = call.down().errors() + call.up().errors() == wrong;
  const double ghz = tsc_ghz();
  std::printf(
      "| %u down, %u up, %s | ns a sample | cycles | of the vendor's %.0f | 99 %% over mean | worst over mean | "
      "services |\n"
      "|---|---|---|---|---|---|---|\n",
      call.analogue_status().rx_bit_rate, call.digital_status().rx_bit_rate, offhook::best_kernels().name,
      kVendorCycles);
  print("analogue modem", cycles(call, false, received.analogue, times), ghz);
  print("digital modem", cycles(call, true, received.digital, times), ghz);
  const double down = call.analogue_status().rx_bit_rate / 8000., up = call.digital_status().rx_bit_rate / 8000.;
  print("of which the analogue modem's bits", cycles_of_bits(up, down, times), ghz);
  print("of which the digital modem's bits", cycles_of_bits(down, up, times), ghz);
  return good ? 0 : 1;
}
