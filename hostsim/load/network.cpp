// SPDX-License-Identifier: MIT
#include "hostsim/load/network.h"

#include <algorithm>

namespace offhook::hostsim {

NetworkLoad::NetworkLoad(Engine& engine, Cpu& cpu, const LoadDevice& spec, std::uint64_t seed, std::uint64_t stream,
                         const DeviceHost& host)
    : engine_(engine), cpu_(cpu), spec_(spec), random_(seed, stream) {
  isr_.net = dpc_.net = reader_.net = this;
  // Draws 2 n and 2 n + 1 are of the n-th segment's interrupt and DPC; 0 is of the time of the first one.
  isr_.costs = {random_, 2, 2, spec.isr_ns, spec.isr_spread};
  dpc_.costs = {random_, 3, 2, spec.dpc_ns, spec.dpc_spread};
  const DeviceEntities entities = add_device(cpu, spec, host, {isr_, dpc_, handler_});
  isr_id_ = entities.interrupt;
  dpc_id_ = entities.dpc;
  reader_id_ = cpu.add_thread(spec.name + " reader",
                              host.reader ? host.reader(spec.reader_priority) : FixedPriority{spec.reader_priority, 0},
                              reader_, kNever, spec.reader_cpu);
}

void NetworkLoad::start() {
  const double wait = random_.uniform(0) * static_cast<double>(spec_.every_ns);
  const Ns at = spec_.begin_ns + static_cast<Ns>(wait);
  sending_ = at < spec_.end_ns;
  if (sending_) engine_.at(at, *this);
}

void NetworkLoad::send(Ns now, Ns delay) {
  if (sending_ || unread_ >= spec_.window || now + delay >= spec_.end_ns) return;
  sending_ = true;
  engine_.at(now + delay, *this);
}

// Of a segment that finds no DPC of another: its interrupt, its DPC, and the reader, unless it has something to read
// already or has to wait.
bool NetworkLoad::runs_unbroken() {
  if (spec_.napi_budget > 0 || dpc_id_ == kNoEntity || unread_ != processed_ + 1) return false;
  planned_ = {{{isr_id_, isr_.costs.ahead()}, {dpc_id_, dpc_.costs.ahead()}, {reader_id_, read_cost()}}};
  const std::span<const PlannedJob> jobs = planned_;
  if (cpu_.unfinished_jobs(reader_id_) > 0) return cpu_.run_unbroken(jobs.first(2));
  if (cpu_.run_unbroken(jobs)) return true;
  planned_.back().cost = 0;
  return cpu_.run_unbroken(jobs);
}

bool NetworkLoad::costs(Ns at, std::span<Ns> costs) {
  costs[0] = isr_.costs.ahead();
  costs[1] = dpc_.costs.ahead();
  costs[2] = read_cost();
  return at < spec_.end_ns;
}

void NetworkLoad::passed() {
  (void)isr_.costs.take();
  (void)dpc_.costs.take();
  segments_++;
}

void NetworkLoad::fire(Ns now) {
  segments_++;
  unread_++;
  const bool interrupts = !polling_;
  polling_ = spec_.napi_budget > 0;
  const bool sends = unread_ < spec_.window && now + spec_.every_ns < spec_.end_ns;
  sending_ = sends;
  const bool unbroken = interrupts && runs_unbroken();
  if (interrupts && !unbroken) cpu_.release(isr_id_);
  if (!sends) return;
  Ns next = now + spec_.every_ns;
  if (unbroken && unread_ == 0) next = cpu_.repeat_unbroken(planned_, spec_.every_ns, *this);
  sending_ = next < spec_.end_ns;
  if (sending_) engine_.at(next, *this);
}

Ns NetworkLoad::Isr::next(Ns) {
  entered = !entered;
  return entered ? costs.take() : 0;
}

Ns NetworkLoad::Dpc::next(Ns now) {
  constexpr int kRoundSegments = 300;
  constexpr Ns kRound = 2'000'000;
  const int budget = net->spec_.napi_budget;
  if (entered) {
    net->processed_++;
    took++;
    if (net->cpu_.unfinished_jobs(net->reader_id_) == 0) net->cpu_.release(net->reader_id_);
    const bool left = net->unread_ > net->processed_;
    const bool round_over = budget > 0 && took % budget == 0 && (took >= kRoundSegments || now - began >= kRound);
    entered = budget > 0 && left && (!round_over || net->dpc_id_ == kNoEntity);
    net->polling_ = budget > 0 && left;
    if (net->polling_ && !entered) net->cpu_.release(net->dpc_id_);
  } else {
    entered = true;
    began = now;
    took = 0;
  }
  return entered ? costs.take() : 0;
}

Ns NetworkLoad::Reader::next(Ns now) {
  if (reading) {
    net->unread_--;
    net->processed_--;
    net->send(now, std::max(net->spec_.every_ns, net->spec_.round_trip_ns));
  }
  reading = net->processed_ > 0;
  return reading ? net->read_cost() : 0;
}

}  // namespace offhook::hostsim
