// SPDX-License-Identifier: MIT
#include "hostsim/host/network.h"

#include <algorithm>

namespace offhook::hostsim {

NetworkLoad::NetworkLoad(Engine& engine, Cpu& cpu, const LoadDevice& spec, std::uint64_t seed, std::uint64_t stream,
                         const DeviceHost& host)
    : engine_(engine), cpu_(cpu), spec_(spec), random_(seed, stream) {
  isr_.net = dpc_.net = reader_.net = this;
  // Draws 2 n and 2 n + 1 are for the n-th segment's interrupt and DPC; draw 0 is the time of the first segment.
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

// Jobs of a segment if no other DPC runs: its interrupt, its DPC, and the reader unless it already runs. They end
// before the next segment arrives.
bool NetworkLoad::plans() {
  if (polling_ || spec_.napi_budget > 0 || dpc_id_ == kNoEntity || unread_ != processed_) return false;
  planned_ = {{{isr_id_, isr_.costs.ahead()}, {dpc_id_, dpc_.costs.ahead()}, {reader_id_, read_cost()}}};
  jobs_ = cpu_.unfinished_jobs(reader_id_) > 0 ? 2 : 3;
  return planned_[0].cost + planned_[1].cost + read_cost() < spec_.every_ns;
}

// Segments after which the sender continues immediately.
bool NetworkLoad::costs(Ns at, std::span<Ns> costs) {
  costs[0] = isr_.costs.ahead();
  costs[1] = dpc_.costs.ahead();
  if (jobs_ == 3) costs[2] = read_cost();
  return costs[0] + costs[1] + read_cost() < spec_.every_ns && unread_ + 1 < spec_.window &&
         at + spec_.every_ns < spec_.end_ns;
}

Ns NetworkLoad::passed(Ns at) {
  (void)isr_.costs.take();
  (void)dpc_.costs.take();
  segments_++;
  if (jobs_ < 3) {  // the reader can read it
    unread_++;
    processed_++;
  }
  return at + spec_.every_ns;
}

void NetworkLoad::fire(Ns now) {
  const bool planned = plans();
  if (planned) {
    const Ns next = cpu_.repeat_unbroken(std::span(planned_).first(jobs_), *this);
    if (next != now) return engine_.at(next, *this);
  }
  segments_++;
  unread_++;
  const bool interrupts = !polling_;
  polling_ = spec_.napi_budget > 0;
  sending_ = unread_ < spec_.window && now + spec_.every_ns < spec_.end_ns;
  const bool sends = sending_;
  if (interrupts && !(planned && cpu_.run_unbroken(std::span(planned_).first(jobs_)))) cpu_.release(isr_id_);
  if (sends) engine_.at(now + spec_.every_ns, *this);
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
