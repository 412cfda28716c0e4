// SPDX-License-Identifier: MIT
#include "src/measure/bank.h"

#include <fmt/format.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include "driver/base/thread.h"
#include "src/measure/bank_modems.h"
#include "src/measure/real_time.h"

namespace offhook::measure {

namespace {

constexpr std::uint32_t kBurst = WiredCard::kBurst;
constexpr std::uint32_t kBlockBursts = 12;  // mean over 100 samples
constexpr double kConnectS = 20;

double cpu_s(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// The time that the hypervisor took on one CPU or on all, since this machine started.
double stolen_ms(std::optional<int> cpu) {
  std::ifstream in("/proc/stat");
  const std::string wanted = cpu ? fmt::format("cpu{}", *cpu) : "cpu";
  for (std::string line; std::getline(in, line);) {
    std::array<unsigned long long, 8> t{};
    std::array<char, 16> name{};
    if (sscanf(line.c_str(), "%15s %llu %llu %llu %llu %llu %llu %llu %llu", name.data(), &t[0], &t[1], &t[2], &t[3],
               &t[4], &t[5], &t[6], &t[7]) == 9 &&
        wanted == name.data())
      return 1000.0 * static_cast<double>(t[7]) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  return 0;
}

/// Acts as the hardware of all cards.
class Hardware {
 public:
  Hardware(const BankConfig& config, BankModems& modems) : config_(config), modems_(modems) {
    thread_ = start_thread([this] { run(); });
    while (!up_.load()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ~Hardware() { stop(); }
  void stop() {
    stop_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  double cpu_seconds() {
    clockid_t clock;
    return pthread_getcpuclockid(thread_.native_handle(), &clock) == 0 ? cpu_s(clock) : 0;
  }
  // After stop().
  const StallWatch& stalls() const { return stalls_; }
  double seconds() const { return static_cast<double>(passed_) / WiredCard::kRateHz; }
  const std::string& shortcoming() const { return shortcoming_; }
  bool demoted() const { return rule_.demoted.load(); }

 private:
  void run() {
    if (config_.context.cpu) shortcoming_ = keep_to_cpu(*config_.context.cpu);
    if (shortcoming_.empty()) shortcoming_ = become_fifo(config_.hardware_priority, &rule_);
    up_.store(true);
    const std::size_t pairs = modems_.size() / 2;
    std::vector<std::array<std::array<std::int16_t, kBurst>, 2>> wires(pairs);
    for (std::size_t k = 0; k < modems_.size(); ++k) modems_.card(k).power_up();
    SamplePacer pacer(WiredCard::kRateHz, 0);
    pacer.start();
    for (std::uint64_t burst = 0; !stop_.load(std::memory_order_relaxed); ++burst) {
      passed_ += kBurst;
      pacer.sleep_until(passed_);
      const std::uint64_t now = pacer.samples_now();
      stalls_.look(passed_, now > passed_ ? now - passed_ : 0, [this] { return modems_.blocks_late(); });
      for (std::size_t p = 0; p < pairs; ++p) {
        if (!config_.together && burst < p * kBlockBursts / pairs) continue;
        auto& [to_far, to_near] = wires[p];
        std::array<std::int16_t, kBurst> played;
        if (modems_.card(2 * p).run(played.data(), to_near.data())) modems_.interrupt(2 * p);
        if (modems_.card(2 * p + 1).run(to_near.data(), to_far.data())) modems_.interrupt(2 * p + 1);
        to_far = played;
      }
      modems_.interrupts_ended();
    }
  }

  const BankConfig& config_;
  BankModems& modems_;
  std::atomic<bool> up_{false}, stop_{false};
  std::uint64_t passed_ = 0;
  StallWatch stalls_;
  std::string shortcoming_;
  WatchRule rule_;
  std::thread thread_;
};

/// CPU seconds so far.
struct CpuTimes {
  explicit CpuTimes(Hardware& hardware)
      : process(cpu_s(CLOCK_PROCESS_CPUTIME_ID)),
        owner(cpu_s(CLOCK_THREAD_CPUTIME_ID)),
        playing(hardware.cpu_seconds()) {}
  double process, owner, playing;
};

}  // namespace

void measure_bank(const BankConfig& config, const std::function<bool(double, const std::string&)>& progress,
                  BankResult& result) {
  if (config.channels < 2 || config.channels % 2 != 0)
    throw std::runtime_error(
        fmt::format("a bank of {} channels; expected an even number, because they call each other", config.channels));
  const std::unique_ptr<BankModems> modems = make_bank_modems(config);
  result.without = modems->shortcomings();
  const double stolen_before = stolen_ms(config.context.cpu);
  Hardware hardware(config, *modems);
  if (!hardware.shortcoming().empty()) {
    if (!config.context.best_effort)
      throw std::runtime_error("the hardware's thread: " + hardware.shortcoming() +
                               "; or continue without it by --best-effort");
    result.without.push_back("the hardware's thread: " + hardware.shortcoming());
  }
  modems->begin_calls();

  const auto connected = [&modems] { return modems->connected(); };
  const auto work = [&modems] {
    modems->work();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  const std::int64_t began = now_ns();
  bool go_on = true;
  while (go_on && connected() < config.channels && now_ns() - began < static_cast<std::int64_t>(kConnectS * 1e9)) {
    work();
    go_on = progress(0, fmt::format("{} of {} connected", connected(), config.channels));
  }
  result.connected = connected();
  result.blocks_late_connecting = modems->blocks_late();
  const std::int64_t data_began = now_ns();
  const CpuTimes before(hardware);
  double passed = 0;
  int still_connected = result.connected;
  while (go_on && passed < config.seconds) {
    work();
    still_connected = connected();
    passed = static_cast<double>(now_ns() - data_began) * 1e-9;
    go_on = progress(passed / config.seconds, "");
  }
  const CpuTimes after(hardware);
  const double owner = after.owner - before.owner, playing = after.playing - before.playing;
  if (passed > 0) {
    result.modems_share = (after.process - before.process - owner - playing) / passed;
    result.hardware_share = playing / passed;
    result.owner_share = owner / passed;
  }
  result.stolen_ms = stolen_ms(config.context.cpu) - stolen_before;
  result.connected = std::min(result.connected, still_connected);
  hardware.stop();
  if (hardware.demoted())
    result.without.push_back("the hardware's thread: the watchdog demoted the thread to normal priority");

  result.channels = config.channels;
  result.seconds = hardware.seconds();
  result.stalls = hardware.stalls().stalls();
  result.blocks_late_in_stalls = hardware.stalls().blocks_late();
  modems->add_up(result);
}

}  // namespace offhook::measure
