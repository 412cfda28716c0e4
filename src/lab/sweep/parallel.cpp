// SPDX-License-Identifier: MIT
#include "src/lab/sweep/parallel.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace offhook::sweep {

void parallel(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& job,
              const std::function<bool()>& stop) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;  // over `failure`
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t i; (!stop || !stop()) && (i = next++) < n;) job(i);
    } catch (...) {
      next = n;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (unsigned i = 1; i < threads && i < n; ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // the limit of processes is reached: the existing threads do all work
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace offhook::sweep
