// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

namespace offhook::sweep {

/// Calls job(0) ... job(n - 1), each once, on `threads` threads including the caller's. Jobs are started in order.
/// @param stop called before each job. If it returns true, no more jobs start; may be empty
/// @throws the exception of the first failing job, after the running jobs have ended; no more jobs start
void parallel(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& job,
              const std::function<bool()>& stop = {});

}  // namespace offhook::sweep
