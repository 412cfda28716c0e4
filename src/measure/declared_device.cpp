// SPDX-License-Identifier: MIT
#include "src/measure/declared_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

#include "driver/live/timer_card.h"
#include "driver/session/live_driver.h"
#include "driver/session/snapshot.h"
#include "src/measure/kernel_trace.h"
#include "src/measure/real_time.h"

namespace offhook::measure {
namespace {

constexpr std::int64_t kKeptNs = 2'000'000'000;  // number of events before the worst block was noticed
constexpr auto kLook = std::chrono::milliseconds(50);

/// Work of a known length: a chain of multiplications that the compiler preserves. One copy for calibration and for
/// blocks: inlined into each, its loops would differ.
[[gnu::noipa]] void work(std::uint64_t rounds) {
  std::uint64_t x = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
}

/// Speed of work() on this CPU: the fastest of several measurements, because other work only makes them longer.
double rounds_per_ns() {
  constexpr std::uint64_t kRounds = 200'000;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t begin = thread_cpu_ns();
    work(kRounds);
    least = std::min(least, thread_cpu_ns() - begin);
  }
  return static_cast<double>(kRounds) / static_cast<double>(std::max<std::uint64_t>(least, 1));
}

/// The lengths of the blocks in a driver's plan. The first one is used twice, because the first interrupt can program
/// only the block after the current one.
class Blocks {
 public:
  explicit Blocks(const std::vector<std::uint32_t>& plan) : plan_(plan) {}
  std::uint32_t next() {
    if (first_) {
      first_ = false;
      return plan_.front();
    }
    return plan_[i_++ % plan_.size()];
  }

 private:
  const std::vector<std::uint32_t>& plan_;
  std::size_t i_ = 0;
  bool first_ = true;
};

/// The pump that does the work, and the line with the due times of its blocks.
class Work {
 public:
  explicit Work(const hostsim::SoftDevice& device)
      : device_(device), rounds_per_ns_(rounds_per_ns()), served_(device.block_plan), due_(device.block_plan) {
    left_of_service_ = length_ = served_.next();
    left_of_line_ = due_.next();
    for (float& f : varied_) f = static_cast<float>(spread_(random_) * device.cost_spread);
  }

  oh_pump pump() { return {process, report_gap, this}; }
  oh_line_end line() { return {exchange, this}; }
  WorstBlock worst() const { return worst_.load(); }
  int tid() const { return tid_.load(); }

 private:
  // The card's thread: samples were moved, and a block of them may be complete.
  static void exchange(void* self, const void*, void* captured, std::size_t n) {
    auto& w = *static_cast<Work*>(self);
    if (captured != nullptr) {
      auto* const samples = static_cast<std::int16_t*>(captured);
      std::fill(samples, samples + n, std::int16_t{0});
    }
    const std::int64_t now = now_ns();
    w.moved_ += n;
    // The earliest burst determines the beginning of the card's clock, because a late burst gives a later time.
    const double since_ns = static_cast<double>(w.moved_) * 1e9 / w.device_.rate_hz;
    w.began_ = std::min(w.began_, now - static_cast<std::int64_t>(since_ns));
    for (std::size_t left = n; left > 0;) {
      const std::size_t some = std::min<std::size_t>(left, w.left_of_line_);
      left -= some;
      w.left_of_line_ -= static_cast<std::uint32_t>(some);
      w.position_ += some;
      if (w.left_of_line_ > 0) continue;
      const double at_ns = static_cast<double>(w.position_) * 1e9 / w.device_.rate_hz;
      w.whole_[w.blocks_due_++ % w.whole_.size()].store(w.began_ + static_cast<std::int64_t>(at_ns),
                                                        std::memory_order_release);
      w.left_of_line_ = w.due_.next();
    }
  }

  static void process(void* self, const void*, void* tx, std::size_t n) {
    auto& w = *static_cast<Work*>(self);
    if (w.tid_.load(std::memory_order_relaxed) == 0) w.tid_.store(gettid());
    if (w.begun_ == 0) w.begun_ = now_ns();
    auto* const samples = static_cast<std::int16_t*>(tx);
    std::fill(samples, samples + n, std::int16_t{0});
    for (std::size_t left = n; left > 0;) {
      const std::size_t some = std::min<std::size_t>(left, w.left_of_service_);
      const double share = static_cast<double>(some) / w.length_;
      work(static_cast<std::uint64_t>(share * w.cost_ns() * w.rounds_per_ns_));
      left -= some;
      w.left_of_service_ -= static_cast<std::uint32_t>(some);
      if (w.left_of_service_ == 0) w.end_block();
    }
  }

  // Lost samples need no work.
  static void report_gap(void* self, std::size_t n) {
    auto& w = *static_cast<Work*>(self);
    for (; n >= w.left_of_service_; w.next_block()) n -= w.left_of_service_;
    w.left_of_service_ -= static_cast<std::uint32_t>(n);
  }

  double cost_ns() const {
    if (served_blocks_ == 0 && device_.worst_cost_ns > 0) return static_cast<double>(device_.worst_cost_ns);
    return static_cast<double>(device_.cost_ns) * (1 + varied_[served_blocks_ % varied_.size()]);
  }
  void end_block() {
    const std::int64_t now = now_ns(), due = whole_[served_blocks_ % whole_.size()].load(std::memory_order_acquire);
    if (due > 0 && now - due > longest_) {
      longest_ = now - due;
      worst_.store({served_blocks_, due, begun_, now});
    }
    next_block();
  }
  void next_block() {
    begun_ = 0;
    served_blocks_++;
    left_of_service_ = length_ = served_.next();
  }

  const hostsim::SoftDevice& device_;
  double rounds_per_ns_;
  std::mt19937_64 random_{1};
  std::uniform_real_distribution<double> spread_{-1, 1};
  std::array<float, 1024> varied_{};  // random costs of successive blocks
  // The card's thread.
  std::uint64_t moved_ = 0, position_ = 0, blocks_due_ = 0;
  std::int64_t began_ = std::numeric_limits<std::int64_t>::max();
  std::uint32_t left_of_line_ = 0;
  std::array<std::atomic<std::int64_t>, 4096> whole_{};  // due times of the blocks, more than a ring can hold
  // The service.
  Blocks served_, due_;
  std::uint64_t served_blocks_ = 0;
  std::uint32_t left_of_service_ = 0, length_ = 0;
  std::int64_t begun_ = 0, longest_ = 0;
  modem::Snapshot<WorstBlock> worst_;
  std::atomic<int> tid_{0};
};

/// The kernel's trace of the last seconds, and its data about the worst block so far.
class Watch {
 public:
  Watch() : trace_(all_scheduling_events(), kSchedulingRingKb) { trace_.on(); }
  /// Call it after the events of a complete block were received.
  void look(const Work& work, DeclaredDevice& result) {
    const WorstBlock worst = work.worst();
    trace_.read(events_);
    if (worst.ended > seen_) {
      seen_ = worst.ended;
      judge_block(result, worst, work.tid());
    }
    const std::int64_t from = now_ns() - kKeptNs;
    const auto kept = std::find_if(events_.begin(), events_.end(), [from](const auto& e) { return e.time >= from; });
    events_.erase(events_.begin(), kept);
  }
  std::uint64_t lost() const { return trace_.lost(); }

 private:
  void judge_block(DeclaredDevice& result, const WorstBlock& worst, int tid) const {
    std::vector<traces::KernelEvent> events = events_;
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    int cpu = -1;
    std::string own;
    for (const traces::KernelEvent& e : events) {
      if (e.type != traces::KernelEvent::Type::kSwitch || e.next.pid != tid || e.time > worst.ended) continue;
      cpu = e.cpu;
      own = e.next.name;
    }
    result.had = cpu < 0 ? std::vector<Culprit>{} : had_the_cpu(events, cpu, worst.due, worst.ended);
    const auto other =
        std::find_if(result.had.begin(), result.had.end(), [&](const Culprit& c) { return c.name != own; });
    const auto us = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-3; };
    result.verdict =
        cpu < 0 ? "the trace does not show where the thread ran"
        : other == result.had.end() || other->ns * 20 < worst.ended - worst.due ? "nothing else had the CPU for long"
        : other->as.empty()
            ? fmt::format("CPU {} was idle or not traced for {:.1f} us of it", cpu, us(other->ns))
            : fmt::format("{} {} had CPU {} for {:.1f} us of it", other->as, other->name, cpu, us(other->ns));
  }

  KernelTrace trace_;
  std::vector<traces::KernelEvent> events_;
  std::int64_t seen_ = 0;
};

}  // namespace

DeclaredDevice measure_declared_device(const hostsim::SoftDevice& device, const DeclaredDeviceConfig& config,
                                       const std::function<bool(double)>& progress) {
  if (const std::string problem = device.problem(); !problem.empty()) throw std::invalid_argument(problem);
  DeclaredDevice result;
  const auto work = std::make_unique<Work>(device);
  std::optional<Watch> watch;
  if (config.cause) watch.emplace();
  TimerCard card(work->line(), device.streams());
  LiveDevice& live = result.live;
  live.buffer_samples = device.buffer();
  live.in_data = true;
  LiveDriver driver(card, work->pump(),
                    {.context = config.context,
                     .interrupt_priority = config.interrupt_priority,
                     .block_plan = device.block_plan,
                     .transmit_lead_samples = device.lead(),
                     .log = config.watch.log});
  const std::int64_t began = now_ns();
  do {
    std::this_thread::sleep_for(kLook);
    if (watch) watch->look(*work, result);
    live.seconds = static_cast<double>(now_ns() - began) * 1e-9;
    if (config.watch.look) config.watch.look(driver, card);
  } while (live.seconds < config.seconds && progress(live.seconds / config.seconds));
  driver.stop();
  if (watch) {
    watch->look(*work, result);
    result.lost_events = watch->lost();
  }
  result.worst = work->worst();
  take_counts(driver, card, &live);
  return result;
}

}  // namespace offhook::measure
