// SPDX-License-Identifier: MIT
#include "src/measure/bank.h"

#include <fmt/format.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include "driver/card/timer/timer_card.h"
#include "driver/session/session.h"
#include "src/measure/real_time.h"

namespace offhook::measure {

namespace {

constexpr std::uint32_t kRateHz = OH_MODEM_RATE_HZ;
constexpr std::uint32_t kBurst = kRateHz / 1000;
constexpr std::uint32_t kBlockBursts = 12;  // of 100 samples on average
constexpr double kConnectS = 20;

double cpu_s(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// A card whose samples another thread moves.
class WiredCard final : public LocalCard {
 public:
  WiredCard() : LocalCard(oh_modem_streams(kRateHz)) { sem_init(&interrupt_, 0, 0); }
  ~WiredCard() override { sem_destroy(&interrupt_); }
  void start() override {}
  Wait wait() override {
    while (sem_wait(&interrupt_) != 0) {
    }
    return stopped_.load() ? Wait::kStopped : Wait::kInterrupt;
  }
  void stop() override {
    stopped_.store(true);
    sem_post(&interrupt_);
  }

  // The hardware's thread.
  void power_up() { oh_card_engine_start(&engine_, 0); }
  /// The next burst. @param[out] played [kBurst]  @param captured [kBurst]
  void run(std::int16_t* played, const std::int16_t* captured) {
    if (oh_card_engine_copy(&engine_, played, captured, kBurst, 0) > 0) sem_post(&interrupt_);
  }

 private:
  sem_t interrupt_;
  std::atomic<bool> stopped_{false};
};

/// Bytes that can be checked where they arrive.
class Pattern {
 public:
  explicit Pattern(std::uint32_t seed) : x_(seed * 2654435761u + 1) {}
  std::uint8_t peek() const { return static_cast<std::uint8_t>(x_ >> 24); }
  void next() { x_ = x_ * 1664525u + 1013904223u; }

 private:
  std::uint32_t x_;
};

/// Card, modem, and the bytes that its owner sends and expects.
struct Channel {
  explicit Channel(std::uint32_t seed, std::uint32_t far_seed) : sent(seed), expected(far_seed) {}
  WiredCard card;
  std::unique_ptr<modem::Session> session;
  Pattern sent, expected;
  std::uint64_t bytes = 0, wrong = 0;

  void move_bytes() {
    std::array<std::uint8_t, 512> buffer;
    Pattern ahead = sent;
    const std::size_t room = std::min(buffer.size(), session->writable());
    for (std::size_t i = 0; i < room; ++i, ahead.next()) buffer[i] = ahead.peek();
    for (std::size_t taken = session->write(buffer.data(), room); taken > 0; --taken) sent.next();
    const std::size_t got = session->read(buffer.data(), buffer.size());
    for (std::size_t i = 0; i < got; ++i, expected.next()) wrong += buffer[i] != expected.peek();
    bytes += got;
  }
};

/// What the hypervisor had of one CPU, or of all, since this machine began.
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

/// Plays the hardware of all cards.
class Hardware {
 public:
  Hardware(const BankConfig& config, const std::vector<std::unique_ptr<Channel>>& channels)
      : config_(config), channels_(channels) {
    thread_ = std::thread([this] { run(); });
    while (!up_.load()) std::this_thread::yield();
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
  double seconds() const { return static_cast<double>(passed_) / kRateHz; }
  const std::string& shortcoming() const { return shortcoming_; }
  bool demoted() const { return rule_.demoted.load(); }

 private:
  void run() {
    if (config_.context.cpu) shortcoming_ = keep_to_cpu(*config_.context.cpu);
    if (shortcoming_.empty()) shortcoming_ = become_fifo(config_.hardware_priority, &rule_);
    up_.store(true);
    const std::size_t pairs = channels_.size() / 2;
    std::vector<std::array<std::array<std::int16_t, kBurst>, 2>> wires(pairs);
    for (auto& channel : channels_) channel->card.power_up();
    SamplePacer pacer(kRateHz, 0);
    pacer.start();
    for (std::uint64_t burst = 0; !stop_.load(std::memory_order_relaxed); ++burst) {
      passed_ += kBurst;
      pacer.sleep_until(passed_);
      const std::uint64_t now = pacer.samples_now();
      stalls_.look(passed_, now > passed_ ? now - passed_ : 0, [this] { return blocks_late(); });
      for (std::size_t p = 0; p < pairs; ++p) {
        if (!config_.together && burst < p * kBlockBursts / pairs) continue;
        auto& [to_far, to_near] = wires[p];
        std::array<std::int16_t, kBurst> played;
        channels_[2 * p]->card.run(played.data(), to_near.data());
        channels_[2 * p + 1]->card.run(to_near.data(), to_far.data());
        to_far = played;
      }
    }
  }
  std::uint64_t blocks_late() const {
    std::uint64_t sum = 0;
    for (const auto& channel : channels_) sum += channel->session->counters().blocks_late;
    return sum;
  }

  const BankConfig& config_;
  const std::vector<std::unique_ptr<Channel>>& channels_;
  std::atomic<bool> up_{false}, stop_{false};
  std::uint64_t passed_ = 0;
  StallWatch stalls_;
  std::string shortcoming_;
  WatchRule rule_;
  std::thread thread_;
};

std::vector<std::unique_ptr<Channel>> make_channels(const BankConfig& config) {
  modem::SessionConfig session;
  session.context = config.context;
  session.interrupt_priority = config.interrupt_priority;
  std::vector<std::unique_ptr<Channel>> channels;
  for (int i = 0; i < config.channels; ++i) {
    const auto n = static_cast<std::uint32_t>(i);
    channels.push_back(std::make_unique<Channel>(n, n ^ 1));
    channels.back()->session = std::make_unique<modem::Session>(channels.back()->card, session);
  }
  return channels;
}

/// CPU seconds so far.
struct CpuTimes {
  explicit CpuTimes(Hardware& hardware)
      : process(cpu_s(CLOCK_PROCESS_CPUTIME_ID)),
        owner(cpu_s(CLOCK_THREAD_CPUTIME_ID)),
        playing(hardware.cpu_seconds()) {}
  double process, owner, playing;
};

/// What driver, card and context of each modem counted.
void add_up(const std::vector<std::unique_ptr<Channel>>& channels, BankResult& result) {
  for (const auto& c : channels) {
    const oh_driver_counters d = c->session->counters();
    result.blocks += d.blocks_served;
    result.blocks_late += d.blocks_late;
    result.samples_late += d.samples_late;
    result.pending_max_samples = std::max(result.pending_max_samples, d.pending_max);
    result.underrun_samples += c->session->card_counters().underrun_samples;
    result.bytes += c->bytes;
    result.bytes_wrong += c->wrong;
    result.dispatch.add(c->session->context().dispatch_latency());
    result.service.add(c->session->context().service_time());
  }
}

}  // namespace

void measure_bank(const BankConfig& config, const std::function<bool(double, const std::string&)>& progress,
                  BankResult& result) {
  if (config.channels < 2 || config.channels % 2 != 0)
    throw std::runtime_error(
        fmt::format("a bank of {} channels; expected an even number: they call each other", config.channels));
  const std::vector<std::unique_ptr<Channel>> channels = make_channels(config);
  result.without = channels.front()->session->shortcomings();
  const double stolen_before = stolen_ms(config.context.cpu);
  Hardware hardware(config, channels);
  if (!hardware.shortcoming().empty()) {
    if (!config.context.best_effort)
      throw std::runtime_error("the hardware's thread: " + hardware.shortcoming() +
                               "; or go on without by --best-effort");
    result.without.push_back("the hardware's thread: " + hardware.shortcoming());
  }
  for (std::size_t i = 0; i < channels.size(); ++i)
    channels[i]->session->begin_call(
        {.pump = config.modem.type(),
         .role = i % 2 == 0 ? OH_PUMP_CALL : OH_PUMP_ANSWER,
         .window = config.modem.v42_window,
         .error_control = {.mode = config.modem.v42_window > 0 ? modem::ErrorControl::kRequired
                                                               : modem::ErrorControl::kNone}});

  const auto connected = [&channels] {
    return static_cast<int>(std::count_if(channels.begin(), channels.end(),
                                          [](const auto& c) { return c->session->status().connected(); }));
  };
  const auto work = [&channels] {
    for (const auto& c : channels) c->move_bytes();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  const std::int64_t began = now_ns();
  bool go_on = true;
  while (go_on && connected() < config.channels && now_ns() - began < static_cast<std::int64_t>(kConnectS * 1e9)) {
    work();
    go_on = progress(0, fmt::format("{} of {} connected", connected(), config.channels));
  }
  result.connected = connected();
  const std::int64_t data_began = now_ns();
  const CpuTimes before(hardware);
  double passed = 0;
  while (go_on && passed < config.seconds) {
    work();
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
  result.connected = std::min(result.connected, connected());
  hardware.stop();
  if (hardware.demoted()) result.without.push_back("the hardware's thread: the watchdog made a normal thread of it");

  result.channels = config.channels;
  result.seconds = hardware.seconds();
  result.stalls = hardware.stalls().stalls();
  result.blocks_late_in_stalls = hardware.stalls().blocks_late();
  add_up(channels, result);
}

}  // namespace offhook::measure
