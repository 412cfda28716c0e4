// SPDX-License-Identifier: MIT
#include "hostsim/sched/policy.h"

#include <stdexcept>

namespace offhook::hostsim {
namespace {

struct Make {
  std::unique_ptr<ThreadPolicy> operator()(const FixedPriority& p) { return std::make_unique<FixedPriorityThread>(p); }
  std::unique_ptr<ThreadPolicy> operator()(const EarliestDeadline& p) {
    return std::make_unique<EarliestDeadlineThread>(p);
  }
  std::unique_ptr<ThreadPolicy> operator()(const ConstantBandwidth& p) {
    return std::make_unique<ConstantBandwidthThread>(p);
  }
  std::unique_ptr<ThreadPolicy> operator()(const Slot& p) { return std::make_unique<SlotThread>(p); }
  std::unique_ptr<ThreadPolicy> operator()(const Rez& p) { return std::make_unique<RezThread>(p); }
  std::unique_ptr<ThreadPolicy> operator()(const OwnPolicy& make) { return make(); }
};

}  // namespace

std::unique_ptr<ThreadPolicy> make_thread_policy(const Policy& policy) {
  return std::visit(Make{}, policy);
}

double reserved_share(const std::string& thread, const Policy& policy) {
  Ns amount = 0;
  Ns period = 0;
  if (const auto* slot = std::get_if<Slot>(&policy)) {
    amount = slot->length;
    period = slot->period;
  } else if (const auto* cbs = std::get_if<ConstantBandwidth>(&policy)) {
    amount = cbs->budget;
    period = cbs->period;
  } else if (const auto* rez = std::get_if<Rez>(&policy)) {
    amount = rez->budget;
    period = rez->period;
  } else {
    return 0;
  }
  if (amount <= 0 || amount > period) {
    throw std::invalid_argument("reservation of '" + thread + "' cannot be admitted: " + std::to_string(amount) +
                                " of every " + std::to_string(period) + ", expected 0 < X <= Y");
  }
  return static_cast<double>(amount) / static_cast<double>(period);
}

}  // namespace offhook::hostsim
