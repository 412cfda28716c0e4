// SPDX-License-Identifier: MIT
#include "src/measure/kernel.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "src/measure/real_time.h"

namespace offhook::measure {

namespace {

constexpr int kLow = 40, kHigh = 41;

/// A thread at a priority on the measuring CPU.
class Peer {
 public:
  Peer(int priority, std::function<void()> body) : body_(std::move(body)) {
    pthread_create(
        &thread_, nullptr,
        [](void* self) -> void* {
          static_cast<Peer*>(self)->body_();
          return nullptr;
        },
        this);
    const sched_param p{priority};
    pthread_setschedparam(thread_, SCHED_FIFO, &p);  // not permitted: it stays normal; the caller reports that once
  }
  ~Peer() { pthread_join(thread_, nullptr); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

 private:
  std::function<void()> body_;
  pthread_t thread_{};
};

struct Semaphore {
  explicit Semaphore(unsigned n = 0) { sem_init(&s, 0, n); }
  ~Semaphore() { sem_destroy(&s); }
  void post() { sem_post(&s); }
  void wait() {
    while (sem_wait(&s) != 0) {
    }
  }
  sem_t s;
};

/// A bounded message queue as in the report: whole messages of 32 bytes.
class Queue {
 public:
  static constexpr long kMessages = 10;  // the limit of an unprivileged user
  explicit Queue(const char* tag) : name_("/offhook-" + std::to_string(getpid()) + tag) {
    mq_attr a{};
    a.mq_maxmsg = kMessages;
    a.mq_msgsize = sizeof message_;
    fd_ = mq_open(name_.c_str(), O_CREAT | O_RDWR | O_EXCL, 0600, &a);
  }
  ~Queue() {
    if (fd_ >= 0) mq_close(fd_);
    mq_unlink(name_.c_str());
  }
  bool good() const { return fd_ >= 0; }
  void send() { mq_send(fd_, message_, sizeof message_, 0); }
  void receive() {
    char m[sizeof message_];
    mq_receive(fd_, m, sizeof m, nullptr);
  }

 private:
  std::string name_;
  mqd_t fd_ = -1;
  char message_[32]{};
};

struct Timer {
  KernelRow row;
  /// Calls and times `operation` this many times. `before` is called before every `batch` of them and not timed.
  template <class Operation, class Before>
  void time(int repetitions, Operation operation, int batch, Before before) {
    for (int k = 0; k < repetitions; ++k) {
      if (k % batch == 0) before();
      const std::int64_t begin = now_ns();
      operation();
      row.time.add(static_cast<std::uint64_t>(now_ns() - begin));
    }
  }
  template <class Operation>
  void time(int repetitions, Operation operation) {
    time(repetitions, operation, repetitions, [] {});
  }
};

class KernelBench {
 public:
  KernelBench(int of_each, const std::function<void(double)>& progress, std::vector<std::string>& not_had)
      : repetitions(of_each), without(not_had), progress_(progress) {}
  template <class Body>
  void measure(const char* name, const char* equivalent, const Body& body) {
    Timer t{{.name = name, .equivalent = equivalent, .time = {}}};
    body(t);
    rows.push_back(t.row);
    progress_(static_cast<double>(rows.size()) / kRows);
  }

  const int repetitions;
  std::vector<std::string>& without;
  std::vector<KernelRow> rows;

 private:
  static constexpr double kRows = 19;
  const std::function<void(double)>& progress_;
};

/// Keeps this thread on its CPU, with a priority if permitted, during the object's lifetime. Threads that it starts
/// stay there, so no operation crosses CPUs.
class OnOneCpu {
 public:
  OnOneCpu() {
    const int cpu = sched_getcpu();
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<std::size_t>(std::max(cpu, 0)), &here);
    sched_setaffinity(0, sizeof here, &here);
    pthread_getschedparam(pthread_self(), &policy_, &normal_);
  }
  ~OnOneCpu() {
    pthread_setschedparam(pthread_self(), policy_, &normal_);
    sched_setaffinity(0, sizeof before_, &before_);
  }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_;
  int policy_ = 0;
  sched_param normal_{};
};

void semaphores(KernelBench& bench) {
  bench.measure("Semaphore/Mutex", "pthread_mutex_lock, _unlock", [&](Timer& t) {
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    t.time(bench.repetitions, [&] {
      pthread_mutex_lock(&m);
      pthread_mutex_unlock(&m);
    });
  });
  bench.measure("Sema/Mutex Ping", "sem_post, sem_wait, two threads of equal priority", [&](Timer& t) {
    Semaphore there, back;
    std::atomic<bool> over{false};
    Peer peer(kLow, [&] {
      for (;;) {
        there.wait();
        if (over) return;
        back.post();
      }
    });
    t.time(bench.repetitions, [&] {
      there.post();
      back.wait();
    });
    over = true;
    there.post();
  });
}

void heap(KernelBench& bench) {
  bench.measure("HeapAlloc", "malloc(128)", [&](Timer& t) {
    std::vector<void*> kept;
    kept.reserve(static_cast<std::size_t>(bench.repetitions));
    t.time(bench.repetitions, [&] { kept.push_back(malloc(128)); });
    for (void* p : kept) free(p);
  });
  bench.measure("HeapFree", "free", [&](Timer& t) {
    std::vector<void*> kept(static_cast<std::size_t>(bench.repetitions));
    for (void*& p : kept) p = malloc(128);
    std::size_t next = 0;
    t.time(bench.repetitions, [&] { free(kept[next++]); });
  });
  for (const auto& [name, bytes] : {std::pair{"LocalAlloc 32B", 32}, {"LocalAlloc 128B", 128}}) {
    bench.measure(name, bytes == 32 ? "malloc(32), then free" : "malloc(128), then free", [&, bytes = bytes](Timer& t) {
      t.time(bench.repetitions, [&] {
        void* volatile p = malloc(static_cast<std::size_t>(bytes));
        free(p);
      });
    });
  }
  bench.measure("LocalFree", "free of 32 bytes", [&](Timer& t) {
    std::vector<void*> kept(static_cast<std::size_t>(bench.repetitions));
    for (void*& p : kept) p = malloc(32);
    std::size_t next = 0;
    t.time(bench.repetitions, [&] { free(kept[next++]); });
  });
}

void clocks(KernelBench& bench) {
  bench.measure("GetTickCount", "clock_gettime(CLOCK_MONOTONIC_COARSE)", [&](Timer& t) {
    timespec s;
    t.time(bench.repetitions, [&] { clock_gettime(CLOCK_MONOTONIC_COARSE, &s); });
  });
  bench.measure("GetSystemTime", "clock_gettime(CLOCK_REALTIME)", [&](Timer& t) {
    timespec s;
    t.time(bench.repetitions, [&] { clock_gettime(CLOCK_REALTIME, &s); });
  });
}

void threads(KernelBench& bench) {
  bench.measure("Create Task", "pthread_create, priority set, pthread_join",
                [&](Timer& t) { t.time(bench.repetitions / 10 + 1, [] { Peer peer(kHigh, [] {}); }); });
  // Linux cannot suspend a thread of the same process: SIGSTOP stops all of them. A thread that waits on a futex for
  // its turn is suspended in the report's sense.
  const auto futex = [](std::atomic<int>& word, int operation, int value) {
    syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  };
  bench.measure("Suspend Ping", "futex wake of a higher thread, which waits again", [&](Timer& t) {
    std::atomic<int> turn{0};
    std::atomic<bool> over{false};
    Peer peer(kHigh, [&] {
      for (int seen = 0; !over;) {
        futex(turn, FUTEX_WAIT, seen);
        seen = turn.load();
      }
    });
    t.time(bench.repetitions, [&] {
      turn.fetch_add(1);
      futex(turn, FUTEX_WAKE, 1);
    });
    over = true;
    turn.fetch_add(1);
    futex(turn, FUTEX_WAKE, 1);
  });
  bench.measure("Suspend/Resume", "sched_setscheduler to SCHED_IDLE and back", [&](Timer& t) {
    Semaphore end;
    std::atomic<int> tid{0};
    Peer peer(kLow - 1, [&] {
      tid = static_cast<int>(syscall(SYS_gettid));
      end.wait();
    });
    while (tid == 0) usleep(1000);
    t.time(bench.repetitions, [&] {
      const sched_param none{0}, low{kLow - 1};
      sched_setscheduler(tid, SCHED_IDLE, &none);
      sched_setscheduler(tid, SCHED_FIFO, &low);
    });
    end.post();
  });
}

void events(KernelBench& bench) {
  bench.measure("Event Pending", "eventfd written for a waiting higher thread", [&](Timer& t) {
    const int event = eventfd(0, EFD_CLOEXEC);
    std::atomic<bool> over{false};
    std::uint64_t one = 1;
    {
      Peer peer(kHigh, [&] {
        std::uint64_t n;
        while (!over && read(event, &n, sizeof n) == sizeof n) {
        }
      });
      t.time(bench.repetitions, [&] { [[maybe_unused]] const ssize_t n = write(event, &one, sizeof one); });
      over = true;
      [[maybe_unused]] const ssize_t n = write(event, &one, sizeof one);
    }
    close(event);
  });
  bench.measure("Set Event", "eventfd written, without a waiting thread", [&](Timer& t) {
    const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    std::uint64_t one = 1;
    t.time(bench.repetitions, [&] { [[maybe_unused]] const ssize_t n = write(event, &one, sizeof one); });
    close(event);
  });
  bench.measure("Ping Event", "two eventfds, two threads of equal priority", [&](Timer& t) {
    const int there = eventfd(0, EFD_CLOEXEC), back = eventfd(0, EFD_CLOEXEC);
    std::atomic<bool> over{false};
    std::uint64_t one = 1, n;
    {
      Peer peer(kLow, [&] {
        std::uint64_t m;
        while (read(there, &m, sizeof m) == sizeof m && !over) {
          [[maybe_unused]] const ssize_t k = write(back, &one, sizeof one);
        }
      });
      t.time(bench.repetitions, [&] {
        [[maybe_unused]] const ssize_t a = write(there, &one, sizeof one);
        [[maybe_unused]] const ssize_t b = read(back, &n, sizeof n);
      });
      over = true;
      [[maybe_unused]] const ssize_t a = write(there, &one, sizeof one);
    }
    close(there);
    close(back);
  });
}

void queues(KernelBench& bench) {
  Queue there("-there"), back("-back");
  if (!there.good() || !back.good()) {
    bench.without.push_back("the queue operations: no POSIX message queue (" + std::string(std::strerror(errno)) + ")");
    return;
  }
  bench.measure("Ping Queue", "two mq_open queues, two threads of equal priority", [&](Timer& t) {
    std::atomic<bool> over{false};
    Peer peer(kLow, [&] {
      for (;;) {
        there.receive();
        if (over) return;
        back.send();
      }
    });
    t.time(bench.repetitions, [&] {
      there.send();
      back.receive();
    });
    over = true;
    there.send();
  });
  constexpr int kBatch = static_cast<int>(Queue::kMessages);
  int inside = 0;
  const auto empty = [&] {
    for (; inside > 0; --inside) there.receive();
  };
  bench.measure("Fill Queue", "mq_send without blocking", [&](Timer& t) {
    t.time(
        bench.repetitions,
        [&] {
          there.send();
          ++inside;
        },
        kBatch, empty);
  });
  empty();
  bench.measure("Empty Queue", "mq_receive without blocking", [&](Timer& t) {
    t.time(
        bench.repetitions,
        [&] {
          there.receive();
          --inside;
        },
        kBatch,
        [&] {
          for (; inside < kBatch; ++inside) there.send();
        });
  });
  empty();
  bench.measure("Queue Send/Recv", "mq_send and mq_receive of one thread", [&](Timer& t) {
    t.time(bench.repetitions, [&] {
      there.send();
      there.receive();
    });
  });
}

}  // namespace

std::vector<KernelRow> measure_kernel(int repetitions, const std::function<void(double)>& progress,
                                      std::vector<std::string>& without) {
  const OnOneCpu here;
  if (const std::string why = become_fifo_unwatched(kLow); !why.empty()) without.push_back(why);
  KernelBench bench(repetitions, progress, without);
  semaphores(bench);
  heap(bench);
  clocks(bench);
  threads(bench);
  events(bench);
  queues(bench);
  return std::move(bench.rows);
}

double measure_integer_mix() {
  struct Record {
    Record* next;
    int kind, value;
    char text[31];
  };
  Record first{nullptr, 1, 40, "DHRYSTONE PROGRAM, SOME STRING"}, second{&first, 2, 10, ""};
  std::array<int, 50> row{};
  volatile int sink = 0;
  const auto run = [&](int k) {
    std::memcpy(second.text, first.text, sizeof second.text);
    char other[31] = "DHRYSTONE PROGRAM, 2'ND STRING";
    const int order = std::strcmp(second.text, other);
    int a = 2 + (k & 7), b = 3;
    while (a < b + (order > 0 ? 1 : 0)) a += b;
    row[static_cast<std::size_t>(a) % row.size()] = b * 5 - a;
    second.value = row[static_cast<std::size_t>(b) % row.size()] + first.value;
    second.next->kind = second.kind == 2 ? 1 : 2;
    first = second.value > 7 ? Record{&second, first.kind, first.value, "DHRYSTONE PROGRAM, SOME STRING"} : first;
    b = (b * a) / 3 - a;
    sink = sink + b + second.value;
  };
  constexpr int kRuns = 2'000'000;
  const std::int64_t begin = now_ns();
  for (int k = 0; k < kRuns; ++k) run(k);
  return kRuns / (static_cast<double>(now_ns() - begin) * 1e-9);
}

}  // namespace offhook::measure
