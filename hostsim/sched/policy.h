// SPDX-License-Identifier: MIT
//
// The policies a thread may have, as plain data, and the admission test of those that reserve.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "hostsim/sched/constant_bandwidth.h"
#include "hostsim/sched/earliest_deadline.h"
#include "hostsim/sched/fixed_priority.h"
#include "hostsim/sched/rez.h"
#include "hostsim/sched/slot.h"

namespace offhook::hostsim {

/// A custom policy: the function is called once, when the thread gets the policy. See sched/thread_policy.h.
using OwnPolicy = std::function<std::unique_ptr<ThreadPolicy>()>;

using Policy = std::variant<FixedPriority, EarliestDeadline, ConstantBandwidth, Slot, Rez, OwnPolicy>;

std::unique_ptr<ThreadPolicy> make_thread_policy(const Policy& policy);

/// @return the share of the CPU that `policy` reserves; 0 if it reserves none
/// @throws std::invalid_argument naming the thread unless 0 < X <= Y
double reserved_share(const std::string& thread, const Policy& policy);

}  // namespace offhook::hostsim
