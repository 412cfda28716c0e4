// SPDX-License-Identifier: MIT
#include "hostsim/load/network.h"

#include <algorithm>

namespace offhook::hostsim {

NetworkLoad::NetworkLoad(Engine& engine, Cpu& cpu, const LoadDevice& spec, std::uint64_t seed, std::uint64_t stream,
                         const DeviceHost& host)
    : engine_(engine), cpu_(cpu), spec_(spec), random_(seed, stream) {
  isr_.net = dpc_.net = reader_.net = this;
  dpc_id_ = add_deferred(cpu, spec, host, dpc_);
  isr_id_ = cpu.add_interrupt({spec.name, spec.level, dpc_id_}, isr_);
  reader_id_ =
      cpu.add_thread(spec.name + " reader",
                     host.reader ? host.reader(spec.reader_priority) : FixedPriority{spec.reader_priority, 0}, reader_);
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

void NetworkLoad::fire(Ns now) {
  sending_ = false;
  segments_++;
  unread_++;
  cpu_.release(isr_id_);
  send(now, spec_.every_ns);
}

// Draws 2 n and 2 n + 1 are of the n-th segment's interrupt and DPC; 0 is of the time of the first one.
Ns NetworkLoad::Isr::next(Ns) {
  entered = !entered;
  return entered ? drawn_cost(net->random_, 2 * ++jobs, net->spec_.isr_ns, net->spec_.isr_spread) : 0;
}

Ns NetworkLoad::Dpc::next(Ns) {
  entered = !entered;
  if (entered) return drawn_cost(net->random_, 2 * ++jobs + 1, net->spec_.dpc_ns, net->spec_.dpc_spread);
  net->processed_++;
  if (net->cpu_.unfinished_jobs(net->reader_id_) == 0) net->cpu_.release(net->reader_id_);
  return 0;
}

Ns NetworkLoad::Reader::next(Ns now) {
  if (reading) {
    net->unread_--;
    net->processed_--;
    net->send(now, std::max(net->spec_.every_ns, net->spec_.round_trip_ns));
  }
  reading = net->processed_ > 0;
  return reading ? std::max<Ns>(net->spec_.read_ns, 1) : 0;
}

}  // namespace offhook::hostsim
