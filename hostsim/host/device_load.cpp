// SPDX-License-Identifier: MIT
#include "hostsim/host/device_load.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "hostsim/host/network.h"

namespace offhook::hostsim {
namespace {

/// Transfers at their own rate, independent of the host.
class TransferLoad final : public DeviceLoad, private RepeatedChain {
 public:
  TransferLoad(Engine& engine, Cpu& cpu, const LoadDevice& spec, std::uint64_t seed, std::uint64_t stream,
               const DeviceHost& host)
      : engine_(engine), cpu_(cpu), spec_(spec), random_(seed, stream) {
    // Draws 3 n + 1 and 3 n + 2. For n = 0, the first transfer's time replaces a jitter.
    isr_.costs = {random_, 1, 3, spec.isr_ns, spec.isr_spread};
    dpc_.costs = {random_, 2, 3, spec.dpc_ns, spec.dpc_spread};
    id_ = add_device(cpu, spec, host, {isr_, dpc_, handler_});
    first_ = spec.begin_ns + static_cast<Ns>(random_.uniform(0) * static_cast<double>(spec.every_ns));
  }
  void start() override { schedule(time_of(0)); }
  std::uint64_t transfers() const override { return count_; }
  void fire(Ns now) override {
    next_ = time_of(count_ + 1);
    Ns next = now;
    if (!id_.threaded) {
      plan();
      next = cpu_.repeat_unbroken(jobs(), *this);
    }
    if (next == now) {
      count_++;
      next = next_;
      if (id_.threaded || !ends_before_next(now) || !cpu_.run_unbroken(jobs())) cpu_.release(id_.interrupt);
    }
    schedule(next);
  }

 private:
  /// One interval of CPU time per job.
  struct Work final : Program {
    Ns next(Ns) override {
      entered = !entered;
      return entered ? costs.take() : 0;
    }
    DrawnCosts costs;
    bool entered = false;
  };

  std::span<const PlannedJob> jobs() const { return std::span(planned_).first(has_dpc() ? 2 : 1); }
  void plan() { planned_ = {{{id_.interrupt, isr_.costs.ahead()}, {id_.dpc, has_dpc() ? dpc_.costs.ahead() : 0}}}; }
  bool has_dpc() const { return id_.dpc != kNoEntity; }
  bool ends_before_next(Ns at) const { return at + planned_[0].cost + planned_[1].cost < next_; }
  bool costs(Ns at, std::span<Ns> costs) override {
    plan();
    for (std::size_t i = 0; i < costs.size(); i++) costs[i] = planned_[i].cost;
    return ends_before_next(at) && at < spec_.end_ns;
  }
  Ns passed(Ns) override {
    (void)isr_.costs.take();
    if (has_dpc()) (void)dpc_.costs.take();
    count_++;
    const Ns at = next_;
    next_ = time_of(count_ + 1);
    return at;
  }
  Ns time_of(std::uint64_t transfer) const {
    Ns at = first_ + static_cast<Ns>(transfer) * spec_.every_ns;
    if (spec_.jitter > 0)
      at += static_cast<Ns>(spec_.jitter * random_.uniform(3 * (transfer + 1)) * static_cast<double>(spec_.every_ns));
    return at;
  }
  void schedule(Ns at) {
    if (at < spec_.end_ns) engine_.at(at, *this);
  }

  Engine& engine_;
  Cpu& cpu_;
  LoadDevice spec_;
  Random random_;
  Work isr_, dpc_;
  Chain handler_{isr_, dpc_};
  DeviceEntities id_{};
  std::array<PlannedJob, 2> planned_{};
  Ns first_ = 0;
  Ns next_ = 0;  // transfer, after the current one
  std::uint64_t count_ = 0;
};

}  // namespace

void DrawnCosts::draw() {
  at_ = 0;
  double u[kAhead] = {};
  if (spread_ != 0) random_.uniforms(index_, step_, u, kAhead);
  index_ += step_ * kAhead;
  for (std::size_t i = 0; i < kAhead; i++) {
    const double cost = static_cast<double>(mean_) * (1 + spread_ * (2 * u[i] - 1));
    costs_[i] = spread_ == 0 ? std::max<Ns>(mean_, 1) : cost > 1 ? static_cast<Ns>(cost) : 1;
  }
}

DeviceEntities add_device(Cpu& cpu, const LoadDevice& spec, const DeviceHost& host, const DevicePrograms& work) {
  constexpr int kHighLevel = 31;  // a handler that holds off all interrupts is not a thread
  const bool has_dpc = spec.dpc_ns > 0 || spec.window > 0;
  InterruptSpec interrupt{spec.name, spec.level, kNoEntity, spec.cpu};
  if (host.handler && spec.level < kHighLevel) {
    Program& handler = has_dpc ? static_cast<Program&>(work.both) : work.isr;
    return {cpu.add_threaded_interrupt(std::move(interrupt), host.hard_irq_ns, host.handler(), handler).interrupt,
            kNoEntity, true};
  }
  if (has_dpc) interrupt.dpc = cpu.add_dpc({spec.name + " DPC", spec.dpc_importance, spec.cpu}, work.dpc);
  const EntityId dpc = interrupt.dpc;
  return {cpu.add_interrupt(std::move(interrupt), work.isr), dpc};
}

std::unique_ptr<DeviceLoad> make_device_load(Engine& engine, Cpu& cpu, const LoadDevice& spec, std::uint64_t seed,
                                             std::uint64_t stream, const DeviceHost& host) {
  if (spec.window > 0) return std::make_unique<NetworkLoad>(engine, cpu, spec, seed, stream, host);
  return std::make_unique<TransferLoad>(engine, cpu, spec, seed, stream, host);
}

}  // namespace offhook::hostsim
