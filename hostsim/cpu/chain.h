// SPDX-License-Identifier: MIT
#pragma once

#include "hostsim/cpu/cpu.h"

namespace offhook::hostsim {

/// Each job runs one job of the first program, then one of the second. Both must outlive it.
class Chain final : public Program {
 public:
  Chain(Program& first, Program& then) : first_(first), then_(then) {}
  Ns next(Ns now) override {
    if (!in_second_) {
      if (const Ns cost = first_.next(now); cost > 0) return cost;
      in_second_ = true;
    }
    const Ns cost = then_.next(now);
    in_second_ = cost > 0;
    return cost;
  }

 private:
  Program& first_;
  Program& then_;
  bool in_second_ = false;
};

}  // namespace offhook::hostsim
