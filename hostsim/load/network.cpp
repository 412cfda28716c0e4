// SPDX-License-Identifier: MIT
#include "hostsim/load/network.h"

#include <algorithm>

namespace offhook::hostsim {

NetworkLoad::NetworkLoad(Engine& engine, Cpu& cpu, const NetworkReceive& spec, std::uint64_t seed, std::uint64_t stream)
    : engine_(engine), cpu_(cpu), spec_(spec), random_(seed, stream) {
  isr_.net = dpc_.net = reader_.net = this;
  dpc_id_ = cpu.add_dpc({"network DPC"}, dpc_);
  isr_id_ = cpu.add_interrupt({"network", spec.level, dpc_id_}, isr_);
  reader_id_ = cpu.add_thread("network reader", FixedPriority{spec.reader_priority, 0}, reader_);
}

void NetworkLoad::start(Ns begin, Ns end) {
  end_ = end;
  send(begin, 0);
}

void NetworkLoad::send(Ns now, Ns delay) {
  if (sending_ || unread_ >= spec_.window || now + delay >= end_) return;
  sending_ = true;
  engine_.at(now + delay, *this);
}

void NetworkLoad::fire(Ns now) {
  sending_ = false;
  segments_++;
  unread_++;
  cpu_.release(isr_id_);
  send(now, spec_.segment_ns);
}

Ns NetworkLoad::Isr::next(Ns) {
  entered = !entered;
  return entered ? std::max<Ns>(net->spec_.isr_ns, 1) : 0;
}

Ns NetworkLoad::Dpc::next(Ns) {
  entered = !entered;
  if (entered) {
    const double u = 2 * net->random_.uniform(net->segments_) - 1;
    return std::max<Ns>(1, static_cast<Ns>(static_cast<double>(net->spec_.dpc_ns) * (1 + net->spec_.dpc_spread * u)));
  }
  net->processed_++;
  if (net->cpu_.unfinished_jobs(net->reader_id_) == 0) net->cpu_.release(net->reader_id_);
  return 0;
}

Ns NetworkLoad::Reader::next(Ns now) {
  if (reading) {
    net->unread_--;
    net->processed_--;
    net->send(now, std::max(net->spec_.segment_ns, net->spec_.round_trip_ns));
  }
  reading = net->processed_ > 0;
  return reading ? std::max<Ns>(net->spec_.read_ns, 1) : 0;
}

}  // namespace offhook::hostsim
