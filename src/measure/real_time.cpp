// SPDX-License-Identifier: MIT
#include "src/measure/real_time.h"

#include <semaphore.h>
#include <time.h>

#include <atomic>

namespace offhook::measure {

std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

std::uint64_t thread_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

std::vector<std::string> run_as(const LiveContextConfig& spec, const std::function<void()>& body) {
  sem_t done;
  sem_init(&done, 0, 0);
  LiveContext context(spec, [&] {
    body();
    sem_post(&done);
    return 1u;
  });
  context.start();
  context.request();
  while (sem_wait(&done) != 0) {
  }
  context.stop();
  sem_destroy(&done);
  return context.shortcomings();
}

}  // namespace offhook::measure
