// SPDX-License-Identifier: MIT
#pragma once

#include "hostsim/cpu/cpu.h"

namespace offhook::hostsim {

/// Each job runs a job of the first program and then a job of the second. Both outlive it.
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
