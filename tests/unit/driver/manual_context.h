// SPDX-License-Identifier: MIT
//
// A context for a driver that the test serves by hand: it counts what the interrupt routine asked for, and calls
// nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "offhook/context.h"

namespace offhook::test {

struct ManualContext {
  std::atomic<std::uint64_t> requests{0};
  /// @pre `this` must outlive the driver
  oh_context context() {
    static constexpr oh_context_ops kOps = {sizeof(oh_context_ops),
                                            [](void*) { return 0; },
                                            [](void* self) { ++static_cast<ManualContext*>(self)->requests; },
                                            [](void*) {},
                                            nullptr,
                                            nullptr,
                                            nullptr};
    return {&kOps, this};
  }
};

}  // namespace offhook::test
