// SPDX-License-Identifier: MIT
//
// The cost of the two modems of V.90, or of V.92 with PCM upstream, in data mode and in training. A call is recorded;
// then each modem is restored to an earlier state and receives the same samples again, several times. The pump computes
// the same each time, so the least time of a service is its cost when nothing else runs. A service has 40 sample
// periods (5 ms) in data mode, and 8 in training.
//
//   v90_cost_bench [SECONDS [TIMES [v92]]]     SECONDS of data mode (10), TIMES runs (9); Markdown, as in docs/v90.md
//
// The longest step is that of oh_pump_type: the excess of the costliest block of up to 512 periods over as many of data
// mode, in periods of data mode.
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
#include <cstring>
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

/// From the start of Phase 2 to data mode: mean, costliest buffer of 512 periods, longest step.
template <class Sample>
void print_training(const char* name, V90Call& call, bool digital, const std::vector<Sample>& received, int times,
                    double data_cycles, double ghz) {
  constexpr size_t kPiece = 8, kBuffer = 512 / kPiece;
  const size_t apart = digital ? kPiece : kPiece * kRatio;
  std::vector<double> least(received.size() / apart, 1e300);
  int16_t tx[kPiece];
  for (int k = 0; k < times; ++k) {
    call.take_up(0);
    void* self = digital ? call.digital() : call.analogue();
    for (size_t n = 0; n < least.size(); ++n) {
      const uint64_t begin = __rdtsc();
      oh_v90_type()->process(self, &received[n * apart], tx, kPiece);
      least[n] = std::min(least[n], static_cast<double>(__rdtsc() - begin));
    }
  }
  double sum = 0, costliest = 0, longest = 0;
  size_t at = 0;
  for (size_t n = 0; n < least.size(); ++n) {
    sum += least[n];
    double block = 0;
    for (size_t k = n; k < std::min(least.size(), n + kBuffer); ++k) {
      block += least[k];
      const double more = block / data_cycles - static_cast<double>((k - n + 1) * kPiece);
      if (more > longest) longest = more, at = n;
    }
    costliest = std::max(costliest, block);
  }
  std::printf("| %s | %.0f | %.0f | %.0f, at %.2f s |\n", name, sum / static_cast<double>(least.size() * kPiece) / ghz,
              costliest / ghz / 1000, longest, static_cast<double>(at * kPiece) / 8000);
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

/// @return the mean, cycles
double print(const char* name, std::vector<double> each, double ghz) {
  double mean = 0;
  for (const double c : each) mean += c / static_cast<double>(each.size());
  std::sort(each.begin(), each.end());
  const double worst = each.back();
  std::printf("| %s | %.0f | %.0f | %.2f | %.2f | %.2f | %.0f |\n", name, mean / ghz, mean, mean / kVendorCycles,
              each[each.size() * 99 / 100] / mean, worst / mean, static_cast<double>(each.size()));
  return mean;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  const int times = argc > 2 ? std::atoi(argv[2]) : 9;
  V90Call::Options o;
  o.trunk.noise_dbm0 = -80;
  o.v8 = false;
  o.analogue_v92 = o.digital_v92 = argc > 3 && std::strcmp(argv[3], "v92") == 0;
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
  const double analogue = print("analogue modem", cycles(call, false, received.analogue, times), ghz);
  const double digital = print("digital modem", cycles(call, true, received.digital, times), ghz);
  const double down = call.analogue_status().rx_bit_rate / 8000., up = call.digital_status().rx_bit_rate / 8000.;
  print("of which the analogue modem's bits", cycles_of_bits(up, down, times), ghz);
  print("of which the digital modem's bits", cycles_of_bits(down, up, times), ghz);
  V90Call training(o);
  V90Call::Received all;
  training.keep();
  training.record(&all);
  if (!training.connect(20)) return 1;
  training.record(nullptr);
  std::printf("\n| training | ns a sample | costliest 512 periods, us | longest step, periods |\n|---|---|---|---|\n");
  print_training("analogue modem", training, false, all.analogue, times, analogue, ghz);
  print_training("digital modem", training, true, all.digital, times, digital, ghz);
  return good ? 0 : 1;
}
