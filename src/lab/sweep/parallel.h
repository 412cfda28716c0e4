// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

namespace offhook::sweep {

/// Call job(0) ... job(n - 1), each once, on `threads` threads (the caller's among them). Jobs are begun in order.
/// @param stop called before each job; if it returns true, no more jobs begin; may be empty
/// @throws the exception of the first failing job, after the running jobs have ended; no more jobs begin
void parallel(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& job,
              const std::function<bool()>& stop = {});

}  // namespace offhook::sweep
