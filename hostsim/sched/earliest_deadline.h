// SPDX-License-Identifier: MIT
//
// Earliest deadline first (Liu and Layland 1973): the key is the absolute deadline of the current job.
#pragma once

#include "hostsim/sched/thread_policy.h"

namespace offhook::hostsim {

struct EarliestDeadline {};

class EarliestDeadlineThread final : public ThreadPolicy {
 public:
  explicit EarliestDeadlineThread(const EarliestDeadline&) {}

  void begin_job(Ns, const CurrentJob& job, bool) override { deadline_ = job.deadline; }
  Migration migration() const override { return Migration::kPush; }
  Standing standing(Ns) const override { return {Band::kDeadline, deadline_}; }

 private:
  Ns deadline_ = kNever;
};

}  // namespace offhook::hostsim
