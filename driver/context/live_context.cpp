// SPDX-License-Identifier: MIT
#include "driver/context/live_context.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace offhook {

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;

std::int64_t now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * kGiga + t.tv_nsec;
}

#ifndef SCHED_DEADLINE
constexpr int SCHED_DEADLINE = 6;
#endif
constexpr std::uint64_t kResetOnFork = 1;

/// sched_setattr(2): neither the structure nor the call is in Debian 12's libc, and the kernel's header clashes with
/// it.
struct SchedAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};

int set_attributes(pid_t tid, SchedAttributes attributes) {
  attributes.size = sizeof attributes;
  return static_cast<int>(syscall(SYS_sched_setattr, tid, &attributes, 0));
}

std::string reason() {
  return std::strerror(errno);
}

std::string rtprio_advice(int priority) {
  rlimit limit{};
  getrlimit(RLIMIT_RTPRIO, &limit);
  return "needs CAP_SYS_NICE, or an rtprio limit of at least " + std::to_string(priority) + " (now " +
         std::to_string(limit.rlim_cur) +
         "): a line \"@audio - rtprio 95\" in /etc/security/limits.d/, or the systemd " + "unit (LimitRTPRIO=99)";
}

constexpr oh_context_kind kRuns[] = {OH_CONTEXT_FIFO, OH_CONTEXT_ROUND_ROBIN, OH_CONTEXT_NORMAL, OH_CONTEXT_WORKER,
                                     OH_CONTEXT_RESERVATION};

/// Period of the kernel's clock interrupt: the resolution of its coarse clocks. 4 ms with CONFIG_HZ=250.
std::int64_t tick_ns() {
  timespec t;
  clock_getres(CLOCK_MONOTONIC_COARSE, &t);
  return t.tv_sec * kGiga + t.tv_nsec;
}

/// @throws std::invalid_argument unless this host runs it
void check(const LiveContextConfig& config) {
  if (std::find(std::begin(kRuns), std::end(kRuns), config.kind) == std::end(kRuns))
    throw std::invalid_argument(not_of_this_host(config, "Linux, outside the kernel", kRuns));
  if (config.kind != OH_CONTEXT_RESERVATION) return;
  const std::int64_t budget = config.live_budget_ns(), period = config.live_period_ns();
  if (budget > period || budget < 1024 || period > 4 * kGiga)
    throw std::invalid_argument("\"" + config.str() +
                                "\" cannot be reserved; expected X at least 1.024 us, at most Y, and Y at most 4 s" +
                                (config.in_ticks() ? ", in ticks of " + std::to_string(tick_ns() / 1000) + " us" : ""));
}

}  // namespace

LiveContextConfig LiveContextConfig::parse(std::string_view text) {
  LiveContextConfig config(ContextSpec::parse(text));
  check(config);
  return config;
}

std::int64_t LiveContextConfig::live_budget_ns() const {
  return kind != OH_CONTEXT_RESERVATION ? 0 : in_ticks() ? x_ticks * tick_ns() : budget_ns;
}

std::int64_t LiveContextConfig::live_period_ns() const {
  return kind != OH_CONTEXT_RESERVATION ? 0 : in_ticks() ? y_ticks * tick_ns() : period_ns;
}

// Every mlockall() walks all mapped memory, and the whole stack of every later thread is touched. A bank of 64 would
// lock memory 64 times and touch 8 MB for each thread while its first modems are already running.
std::string lock_memory() {
  static const int error = [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return errno;
#ifndef __SANITIZE_THREAD__  // its part of a stack is larger
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
#endif
    return 0;
  }();
  if (error == 0) return "";
  errno = error;  // of the only attempt, at every call
  return "memory cannot be locked (" + reason() +
         "): needs CAP_IPC_LOCK or a larger memlock limit: \"@audio - memlock unlimited\" in /etc/security/limits.d/, "
         "or the systemd unit (LimitMEMLOCK=infinity)";
}

std::string keep_to_cpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0) return "";
  return "CPU " + std::to_string(cpu) + " is not available";
}

std::string become_fifo_unwatched(int priority) {
  const sched_param p{priority};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &p) == 0) return "";
  return "SCHED_FIFO " + std::to_string(priority) + " is not permitted: " + rtprio_advice(priority);
}

namespace {

thread_local WatchRule own_rule;
thread_local std::optional<Watched> watched_as_fifo;

}  // namespace

std::string become_fifo(int priority, WatchRule* rule) {
  std::string why = become_fifo_unwatched(priority);
  if (!why.empty()) return why;
  watched_as_fifo.emplace(rule != nullptr ? *rule : own_rule);
  return why;
}

void report_to_watchdog() {
  if (watched_as_fifo) watched_as_fifo->report();
}

LiveContext::LiveContext(const LiveContextConfig& config, std::function<std::uint32_t()> service)
    : config_(config), service_(std::move(service)) {
  rule_.share = config.watchdog_share;
  sem_init(&requested_, 0, 0);
}

LiveContext::~LiveContext() {
  stop();
  sem_destroy(&requested_);
}

oh_context LiveContext::driver_context() {
  static constexpr auto of = [](void* self) { return static_cast<LiveContext*>(self); };
  static constexpr auto attempt = [](LiveContext* context, const auto& what) {
    context->refused_ = 0;
    try {
      what();
    } catch (const std::invalid_argument&) {
      return -EINVAL;
    } catch (const std::runtime_error&) {
      return -(context->refused_ != 0 ? context->refused_ : EPERM);
    }
    return 0;
  };
  static constexpr oh_context_ops kOps = {
      sizeof(oh_context_ops),
      [](void* self) { return attempt(of(self), [self] { of(self)->start(); }); },
      [](void* self) { of(self)->request(); },
      [](void* self) { of(self)->stop(); },
      [](void* self, const oh_context_spec* spec) {
        return attempt(of(self), [&] { of(self)->reconfigure(ContextSpec(*spec)); });
      },
      [](void* self, oh_context_latency* latency) {
        const LogLinearHistogram waited = of(self)->dispatch_latency();
        const std::int64_t last = of(self)->waited_ns_.load(std::memory_order_relaxed);
        *latency = {waited.count(), static_cast<std::uint64_t>(last), waited.max()};
      },
      [](void* self, char* text, std::size_t size) {
        const std::string name = of(self)->config_.str();
        if (size > 0) text[name.copy(text, size - 1)] = 0;
        return name.size();
      }};
  return {&kOps, this};
}

void LiveContext::request() {
  std::int64_t none = 0;
  requested_at_.compare_exchange_strong(none, now(CLOCK_MONOTONIC), std::memory_order_relaxed);
  sem_post(&requested_);
}

void LiveContext::lacking(const LiveContextConfig& config, const std::string& what, int error) {
  if (what.empty()) return;
  refused_ = error;
  if (!config.best_effort) throw std::runtime_error(what + "; or continue without it by --best-effort");
  shortcomings_.push_back(what);
}

// Scheduling of the thread while it waits or serves. Set by the owner's calls, so that a refusal can be thrown.
void LiveContext::schedule(const LiveContextConfig& config) {
  const int tid = tid_.load();
  const bool reserves = config.kind == OH_CONTEXT_RESERVATION;
  if (config.cpu && reserves) {
    lacking(config,
            "a reservation cannot be pinned to CPU " + std::to_string(*config.cpu) +
                ": the kernel admits SCHED_DEADLINE threads for all CPUs together",
            EINVAL);
  }
  if (config.cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
      if (reserves || cpu == *config.cpu) CPU_SET(static_cast<std::size_t>(cpu), &set);
    if (sched_setaffinity(tid, sizeof set, &set) != 0)
      lacking(config, "CPU " + std::to_string(*config.cpu) + " is not available: " + reason(), errno);
  }
  SchedAttributes attributes{};
  attributes.policy = SCHED_OTHER;
  // Without a number, it is the limit of the process itself, which needs no permission.
  attributes.nice = config.kind == OH_CONTEXT_NORMAL && config.nice != 0 ? config.nice : getpriority(PRIO_PROCESS, 0);
  std::string advice = "a nice value below 0 needs CAP_SYS_NICE";
  if (config.kind == OH_CONTEXT_FIFO || config.kind == OH_CONTEXT_ROUND_ROBIN) {
    attributes.policy = config.kind == OH_CONTEXT_FIFO ? SCHED_FIFO : SCHED_RR;
    attributes.priority = static_cast<std::uint32_t>(config.priority);
    advice = rtprio_advice(config.priority);
    if (const int most = watchdog_priority() - 1; config.watchdog_share > 0 && most > 0 && config.priority > most) {
      lacking(config,
              config.str() + " leaves no room for the watchdog above it; expected a priority of at most " +
                  std::to_string(most),
              EINVAL);
    }
  } else if (reserves) {
    attributes.policy = SCHED_DEADLINE;
    attributes.flags = kResetOnFork;
    attributes.runtime = static_cast<std::uint64_t>(config.live_budget_ns());
    attributes.deadline = attributes.period = static_cast<std::uint64_t>(config.live_period_ns());
    advice = "SCHED_DEADLINE needs CAP_SYS_NICE (the systemd unit)";
  }
  if (set_attributes(tid, attributes) == 0) return;
  const int error = errno;
  lacking(config,
          config.str() + (error == EBUSY ? " was refused: all reservations together would exceed what "
                                           "/proc/sys/kernel/sched_rt_runtime_us leaves"
                                         : " is not permitted (" + reason() + "): " + advice),
          error);
}

void LiveContext::reconfigure(const ContextSpec& spec) {
  LiveContextConfig wanted = config_;
  static_cast<ContextSpec&>(wanted) = spec;
  check(wanted);
  if (running_) {
    schedule(wanted);
    rule_.demoted.store(false);
  }
  config_ = wanted;
  budget_ns_.store(0);  // none, as long as the two do not fit together
  period_ns_.store(wanted.live_period_ns());
  budget_ns_.store(wanted.live_budget_ns());
}

void LiveContext::start() {
  check(config_);
  lacking(config_, offhook::lock_memory(), EPERM);
  if (config_.cpu_dma_latency) {
    dma_latency_ = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    const std::int32_t none = 0;
    // Kept while the file is open. Absent without power management: it is not needed then.
    if (dma_latency_ >= 0 && write(dma_latency_, &none, sizeof none) != sizeof none) {
      close(dma_latency_);
      dma_latency_ = -1;
    }
  }
  stopping_.store(false);
  tid_.store(0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);  // locked in full, so less than eight megabytes
  const int error = pthread_create(
      &thread_, &attributes,
      [](void* self) -> void* {
        static_cast<LiveContext*>(self)->loop();
        return nullptr;
      },
      this);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::runtime_error(std::string("cannot make a thread: ") + std::strerror(error));
  running_ = true;
  // Yielding is not enough: on one CPU, a caller of a higher priority never lets it run.
  while (tid_.load() == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  try {
    reconfigure(config_);
  } catch (...) {
    stop();
    throw;
  }
}

void LiveContext::stop() {
  if (!running_) return;
  stopping_.store(true);
  sem_post(&requested_);
  pthread_join(thread_, nullptr);
  if (dma_latency_ >= 0) close(dma_latency_);
  dma_latency_ = -1;
  running_ = false;
}

void LiveContext::loop() {
  std::optional<Watched> watched;
  if (config_.watchdog_share > 0) watched.emplace(rule_);
  tid_.store(static_cast<int>(syscall(SYS_gettid)));
  period_began_ = now(CLOCK_MONOTONIC);
  spent_before_ = now(CLOCK_THREAD_CPUTIME_ID);
  for (;;) {
    while (sem_wait(&requested_) != 0) {
    }
    if (stopping_.load(std::memory_order_relaxed)) return;
    const std::int64_t begin = now(CLOCK_MONOTONIC);
    const std::int64_t spent = now(CLOCK_THREAD_CPUTIME_ID);
    if (const std::int64_t since = requested_at_.exchange(0, std::memory_order_relaxed); since != 0) {
      dispatch_.add(begin - since);
      waited_ns_.store(begin - since, std::memory_order_relaxed);
    }
    service_();
    if (watched) watched->report();
    const std::int64_t used = now(CLOCK_THREAD_CPUTIME_ID) - spent;
    service_time_.add(used);
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const std::int64_t budget = budget_ns_.load(std::memory_order_relaxed);
    if (budget > 0) {
      const std::int64_t period = period_ns_.load(std::memory_order_relaxed);
      // It was preempted for as long as a replenishment takes: the kernel throttled it within the service run.
      if (now(CLOCK_MONOTONIC) - begin - used > (period - budget) / 2) throttles_.fetch_add(1);
      keep_budget(budget, period);
    }
  }
}

void LiveContext::keep_budget(std::int64_t budget_ns, std::int64_t period_ns) {
  const std::int64_t at = now(CLOCK_MONOTONIC);
  const std::int64_t spent = now(CLOCK_THREAD_CPUTIME_ID);
  if (at - period_began_ >= period_ns) {  // a new period began while it slept or was preempted
    period_began_ = at;
    spent_before_ = spent;
    return;
  }
  if (spent - spent_before_ < budget_ns || rule_.demoted.load(std::memory_order_relaxed)) return;
  yields_.fetch_add(1, std::memory_order_relaxed);
  sched_yield();  // of a SCHED_DEADLINE thread: sleeps until the next replenishment
  period_began_ = now(CLOCK_MONOTONIC);
  spent_before_ = now(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace offhook
