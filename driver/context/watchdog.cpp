// SPDX-License-Identifier: MIT
#include "driver/context/watchdog.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace offhook {

namespace {

constexpr std::int64_t kGiga = 1'000'000'000, kLookNs = 200'000'000;
constexpr std::int64_t kBusy = 5;       // a fifth of the time: no machine takes less
constexpr int kLooksAwake = 3;          // the first to the third check are two periods apart
constexpr std::size_t kStack = 65'536;  // of the process's locked memory

std::int64_t now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * kGiga + t.tv_nsec;
}

/// Slow: the kernel formats some sixty lines. @return how often the thread has given up the CPU to wait; -1: unknown
std::int64_t read_times_slept(int tid) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/status", tid);
  const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  std::array<char, 4096> text;
  const ssize_t n = read(fd, text.data(), text.size());
  close(fd);
  constexpr std::string_view kKey = "\nvoluntary_ctxt_switches:\t";
  const std::string_view status(text.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  const std::size_t at = status.find(kKey);
  std::int64_t times = -1;
  if (at != std::string_view::npos)
    std::from_chars(status.data() + at + kKey.size(), status.data() + status.size(), times);
  return times;
}

bool is_real_time(int tid) {
  const int policy = sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK;
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

}  // namespace

/// Made with the first watched thread; it lasts as long as the process. It takes only its own lock, and a thread that
/// holds that lock takes no other. malloc()'s lock may be held by a thread that cannot get the CPU.
class Watchdog {
 public:
  static Watchdog& of_process() {
    static Watchdog& one = *new Watchdog;  // so that threads that end after main() still find it
    return one;
  }
  int priority() const { return priority_; }
  void add(Watched* thread) {
    const Lock lock(*this);
    if (threads_ == nullptr) sem_post(&some_);
    thread->next_ = threads_;
    threads_ = thread;
  }
  void remove(Watched* thread) {
    const Lock lock(*this);
    Watched** at = &threads_;
    while (*at != thread) at = &(*at)->next_;
    *at = thread->next_;
  }

 private:
  // The holder may be a normal thread on a CPU with a spinning thread, so it inherits the watchdog's priority.
  struct Lock {
    explicit Lock(Watchdog& w) : watchdog(w) { pthread_mutex_lock(&watchdog.mutex_); }
    ~Lock() { pthread_mutex_unlock(&watchdog.mutex_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    Watchdog& watchdog;
  };

  Watchdog() {
    pthread_mutexattr_t inherits;
    pthread_mutexattr_init(&inherits);
    pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex_, &inherits);
    pthread_mutexattr_destroy(&inherits);
    sem_init(&some_, 0, 0);
    sem_init(&up_, 0, 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
#ifndef __SANITIZE_THREAD__  // its part of a stack is larger
    pthread_attr_setstacksize(&attributes, kStack);
#endif
    pthread_t thread;
    const bool made = pthread_create(
                          &thread, &attributes,
                          [](void* self) -> void* {
                            static_cast<Watchdog*>(self)->run();
                            return nullptr;
                          },
                          this) == 0;
    pthread_attr_destroy(&attributes);
    while (made && sem_wait(&up_) != 0) {
    }
  }

  void run() {
    rlimit limit{};
    getrlimit(RLIMIT_RTPRIO, &limit);
    for (const int wanted : {99, static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 99))}) {
      const sched_param p{wanted};
      if (wanted == 0 || pthread_setschedparam(pthread_self(), SCHED_FIFO, &p) != 0) continue;
      priority_ = wanted;
      break;
    }
    sem_post(&up_);
    for (;;) {
      if (!look()) {
        while (sem_wait(&some_) != 0) {
        }
      }
      const timespec period{0, kLookNs};
      clock_nanosleep(CLOCK_MONOTONIC, 0, &period, nullptr);
    }
  }
  bool look() {
    const Lock lock(*this);
    for (Watched* thread = threads_; thread != nullptr; thread = thread->next_) thread->look();
    return threads_ != nullptr;
  }

  pthread_mutex_t mutex_;
  sem_t some_, up_;
  int priority_ = 0;
  Watched* threads_ = nullptr;
};

Watched::Watched(WatchRule& rule) : rule_(rule), tid_(static_cast<int>(syscall(SYS_gettid))) {
  pthread_getcpuclockid(pthread_self(), &clock_);
  before_.fill({now(CLOCK_MONOTONIC), now(clock_)});
  Watchdog::of_process().add(this);
}

Watched::~Watched() {
  Watchdog::of_process().remove(this);
}

void Watched::look() {
  const Look newest{now(CLOCK_MONOTONIC), now(clock_)};
  const auto [last, first] = before_;
  before_ = {newest, last};
  const std::int64_t reported = reported_.exchange(-1);
  asked_.store(true);
  if (rule_.demoted.load() || (newest.spent_ns - last.spent_ns) * kBusy < newest.at_ns - last.at_ns ||
      !is_real_time(tid_)) {
    looks_awake_ = 0;
    return;
  }
  if (reported < 0) rule_.reads.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t slept = reported >= 0 ? reported : read_times_slept(tid_);
  looks_awake_ = slept < 0 ? 0 : looks_awake_ > 0 && slept == slept_ ? looks_awake_ + 1 : 1;
  slept_ = slept;
  const auto most = static_cast<std::int64_t>(rule_.share * static_cast<double>(newest.at_ns - first.at_ns));
  // A thread that was watched for less than two checks had too little time to judge its share.
  const bool whole = newest.at_ns - first.at_ns > kLookNs * 3 / 2;
  if (looks_awake_ < kLooksAwake && !(whole && newest.spent_ns - first.spent_ns > most)) return;
  const sched_param normal{0};
  if (sched_setscheduler(tid_, SCHED_OTHER, &normal) == 0) rule_.demoted.store(true);
}

void Watched::report_now() {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return;
  asked_.store(false);
  reported_.store(usage.ru_nvcsw);
}

int watchdog_priority() {
  return Watchdog::of_process().priority();
}

}  // namespace offhook
