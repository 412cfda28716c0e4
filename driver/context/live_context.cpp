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
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

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
         "): a line \"@audio - rtprio 95\" in /etc/security/limits.d/, or the systemd " + "unit (LimitRTPRIO=95)";
}

double number(std::string_view text, std::string_view whole) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0)) {
    throw std::invalid_argument("\"" + std::string(whole) +
                                "\" is no live context; expected OTHER, FIFO 1..99, RR 1..99, or RES X/Y in ms");
  }
  return value;
}

}  // namespace

ContextSpec ContextSpec::parse(std::string_view text) {
  ContextSpec spec;
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view kind = text.substr(0, space);
  const std::string_view rest = text.substr(std::min(space + 1, text.size()));
  if (kind == "OTHER" && rest.empty()) {
    spec.kind = Kind::kNormal;
  } else if (kind == "FIFO" || kind == "RR") {
    spec.kind = kind == "RR" ? Kind::kRoundRobin : Kind::kFifo;
    const double priority = number(rest, text);
    if (priority > 99 || priority != std::floor(priority)) number("", text);
    spec.priority = static_cast<int>(priority);
  } else if (kind == "RES") {
    spec.kind = Kind::kReservation;
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const double x = number(rest.substr(0, slash), text);
    const double y = number(rest.substr(std::min(slash + 1, rest.size())), text);
    if (x > y || x < 0.001024 || y > 4000) {
      throw std::invalid_argument("\"" + std::string(text) +
                                  "\" cannot be reserved; expected X at least 1.024 us, at most Y, and Y at most 4 s");
    }
    spec.budget_ns = std::llround(x * 1e6);
    spec.period_ns = std::llround(y * 1e6);
  } else {
    number("", text);
  }
  return spec;
}

std::string ContextSpec::str() const {
  const auto ms = [](std::int64_t ns) {
    std::string s = std::to_string(static_cast<double>(ns) * 1e-6);
    s.erase(s.find_last_not_of('0') + 1);
    return s.back() == '.' ? s.substr(0, s.size() - 1) : s;
  };
  switch (kind) {
    case Kind::kNormal:
      return "OTHER";
    case Kind::kFifo:
      return "FIFO " + std::to_string(priority);
    case Kind::kRoundRobin:
      return "RR " + std::to_string(priority);
    case Kind::kReservation:
      return "RES " + ms(budget_ns) + "/" + ms(period_ns);
  }
  return "";
}

// Every mlockall() walks all there is mapped, and every thread made after it has its whole stack touched: a bank of 64
// would do the one 64 times and the other for 8 MB each, while the first of its modems are at work.
std::string lock_memory() {
  static const bool locked = [] {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return false;
#ifndef __SANITIZE_THREAD__  // its own part of a stack is larger
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
#endif
    return true;
  }();
  if (locked) return "";
  return "memory cannot be locked (" + reason() +
         "): needs CAP_IPC_LOCK or a larger memlock limit: \"@audio - memlock unlimited\" in /etc/security/limits.d/, "
         "or "
         "the systemd unit (LimitMEMLOCK=infinity)";
}

std::string keep_to_cpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0) return "";
  return "CPU " + std::to_string(cpu) + " cannot be had";
}

std::string become_fifo(int priority) {
  const sched_param p{priority};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &p) == 0) return "";
  return "SCHED_FIFO " + std::to_string(priority) + " is not permitted: " + rtprio_advice(priority);
}

LiveContext::LiveContext(const ContextSpec& spec, std::function<std::uint32_t()> service)
    : spec_(spec), service_(std::move(service)) {
  sem_init(&requested_, 0, 0);
  sem_init(&ended_, 0, 0);
}

LiveContext::~LiveContext() {
  stop();
  sem_destroy(&requested_);
  sem_destroy(&ended_);
}

oh_context LiveContext::driver_context() {
  return {[](void* self) {
            auto* context = static_cast<LiveContext*>(self);
            std::int64_t none = 0;
            context->requested_at_.compare_exchange_strong(none, now(CLOCK_MONOTONIC), std::memory_order_relaxed);
            sem_post(&context->requested_);
          },
          this};
}

void LiveContext::lacking(const std::string& what) {
  if (what.empty()) return;
  if (!spec_.best_effort) throw std::runtime_error(what + "; or go on without by --best-effort");
  shortcomings_.push_back(what);
}

// Before the thread serves anything; from start(), so that a refusal can be thrown.
void LiveContext::schedule() {
  const int tid = tid_.load();
  if (spec_.cpu) {
    if (spec_.kind == ContextSpec::Kind::kReservation) {
      lacking("a reservation cannot be kept to CPU " + std::to_string(*spec_.cpu) +
              ": the kernel admits SCHED_DEADLINE threads for all CPUs together");
    } else {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(static_cast<std::size_t>(*spec_.cpu), &set);
      if (sched_setaffinity(tid, sizeof set, &set) != 0) {
        lacking("CPU " + std::to_string(*spec_.cpu) + " cannot be had: " + reason());
      }
    }
  }
  switch (spec_.kind) {
    case ContextSpec::Kind::kNormal:
      break;
    case ContextSpec::Kind::kFifo:
    case ContextSpec::Kind::kRoundRobin: {
      const sched_param p{spec_.priority};
      const int policy = spec_.kind == ContextSpec::Kind::kFifo ? SCHED_FIFO : SCHED_RR;
      if (sched_setscheduler(tid, policy, &p) != 0) {
        lacking(spec_.str() + " is not permitted (" + reason() + "): " + rtprio_advice(spec_.priority));
      }
      break;
    }
    case ContextSpec::Kind::kReservation: {
      SchedAttributes attributes{};
      attributes.policy = SCHED_DEADLINE;
      attributes.flags = kResetOnFork;
      attributes.runtime = static_cast<std::uint64_t>(spec_.budget_ns);
      attributes.deadline = attributes.period = static_cast<std::uint64_t>(spec_.period_ns);
      if (set_attributes(tid, attributes) == 0) break;
      if (errno == EBUSY) {
        lacking(spec_.str() + " was refused: all reservations together would exceed " +
                "what /proc/sys/kernel/sched_rt_runtime_us leaves");
      } else {
        lacking(spec_.str() + " is not permitted (" + reason() +
                "): SCHED_DEADLINE needs CAP_SYS_NICE (the systemd unit)");
      }
      break;
    }
  }
}

void LiveContext::start() {
  lacking(offhook::lock_memory());
  if (spec_.cpu_dma_latency) {
    dma_latency_ = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    const std::int32_t none = 0;
    // Kept while the file is open. Absent where there is no power management: nothing is lacking then.
    if (dma_latency_ >= 0 && write(dma_latency_, &none, sizeof none) != sizeof none) {
      close(dma_latency_);
      dma_latency_ = -1;
    }
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);  // locked in full, so not eight megabytes
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
  while (tid_.load() == 0) sched_yield();
  try {
    schedule();
  } catch (...) {
    stop();
    throw;
  }
  const bool real_time = spec_.kind != ContextSpec::Kind::kNormal;
  if (real_time && spec_.watchdog_share > 0) {
    watched_ = pthread_create(
                   &watchdog_, nullptr,
                   [](void* self) -> void* {
                     static_cast<LiveContext*>(self)->watch();
                     return nullptr;
                   },
                   this) == 0;
  }
}

void LiveContext::stop() {
  if (!running_) return;
  stopping_.store(true);
  sem_post(&requested_);
  pthread_join(thread_, nullptr);
  if (watched_) {
    sem_post(&ended_);
    pthread_join(watchdog_, nullptr);
  }
  if (dma_latency_ >= 0) close(dma_latency_);
  dma_latency_ = -1;
  running_ = watched_ = false;
}

void LiveContext::loop() {
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
    }
    service_();
    const std::int64_t used = now(CLOCK_THREAD_CPUTIME_ID) - spent;
    service_time_.add(used);
    calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (spec_.kind == ContextSpec::Kind::kReservation) {
      // Away for as long as only a replenishment takes: the kernel's enforcement struck within the call.
      if (now(CLOCK_MONOTONIC) - begin - used > (spec_.period_ns - spec_.budget_ns) / 2) throttles_.fetch_add(1);
      keep_budget();
    }
  }
}

void LiveContext::keep_budget() {
  const std::int64_t at = now(CLOCK_MONOTONIC);
  const std::int64_t spent = now(CLOCK_THREAD_CPUTIME_ID);
  if (at - period_began_ >= spec_.period_ns) {  // a new period began while it slept, or was away
    period_began_ = at;
    spent_before_ = spent;
    return;
  }
  if (spent - spent_before_ < spec_.budget_ns || demoted_.load(std::memory_order_relaxed)) return;
  yields_.fetch_add(1, std::memory_order_relaxed);
  sched_yield();  // of a SCHED_DEADLINE thread: sleeps until the next replenishment
  period_began_ = now(CLOCK_MONOTONIC);
  spent_before_ = now(CLOCK_THREAD_CPUTIME_ID);
}

// Looks once a second; above the thread where it may be.
void LiveContext::watch() {
  become_fifo(99);
  clockid_t clock;
  if (pthread_getcpuclockid(thread_, &clock) != 0) return;
  std::int64_t spent = now(clock);
  std::int64_t at = now(CLOCK_MONOTONIC);
  for (;;) {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (sem_timedwait(&ended_, &until) == 0) return;
    const std::int64_t spent_now = now(clock);
    const std::int64_t at_now = now(CLOCK_MONOTONIC);
    const auto limit = static_cast<std::int64_t>(spec_.watchdog_share * static_cast<double>(at_now - at));
    if (!demoted_.load() && spent_now - spent > limit) {
      const sched_param normal{0};
      if (sched_setscheduler(tid_.load(), SCHED_OTHER, &normal) == 0) demoted_.store(true);
    }
    spent = spent_now;
    at = at_now;
  }
}

}  // namespace offhook
