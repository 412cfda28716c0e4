// SPDX-License-Identifier: MIT
#include "hostsim/host/context.h"

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace offhook::hostsim {

void ServiceRun::begin() {
  if (context_.requested_at_ < 0) return;
  oh_context_latency& latency = context_.latency_;
  latency.count++;
  latency.last_ns = static_cast<std::uint64_t>(context_.cpu_.now() - context_.requested_at_);
  latency.max_ns = std::max(latency.max_ns, latency.last_ns);
  context_.requested_at_ = -1;
}

void ServiceRun::output() {
  const std::uint64_t late = driver_.counters.samples_late;
  oh_driver_service_output(&driver_);
  context_.served_.blocks_late += driver_.counters.samples_late > late;
}

int ServiceRun::end() {
  const int more = oh_driver_service_end(&driver_);
  ServiceCounts& served = context_.served_;
  served.blocks++;
  served.pending_max = std::max(served.pending_max, driver_.counters.pending_last);
  return more;
}

Ns ServiceRun::next() {
  switch (at_) {
    case At::kEntry:
      begin();
      break;
    case At::kOutput:
      output();
      at_ = At::kEnd;
      if (rest_ > 0) return rest_;
      [[fallthrough]];
    case At::kEnd:
      at_ = At::kEntry;
      if (end() == 0) return 0;
      break;
  }
  const std::uint32_t samples = oh_driver_service_begin(&driver_);
  if (samples == 0) {
    at_ = At::kEntry;
    return 0;
  }
  const Ns whole = std::max<Ns>(cost_.service(samples), 1);
  const Ns until_output = std::clamp<Ns>(static_cast<Ns>(static_cast<double>(whole) * cost_.phi()), 1, whole);
  rest_ = whole - until_output;
  at_ = At::kOutput;
  return until_output;
}

Ns InterruptRoutine::next(Ns now) {
  if (!entered_) {
    entered_ = true;
    const Ns cost = cost_.isr();
    oh_driver_isr(&driver_);
    if (cost > 0) return cost;
  }
  const Ns more = after_isr(now);
  if (more == 0) entered_ = false;
  return more;
}

oh_context Context::driver_context() {
  static constexpr auto of = [](void* self) { return static_cast<Context*>(self); };
  static constexpr oh_context_ops kOps = {
      sizeof(oh_context_ops),
      [](void* self) {
        of(self)->started_ = true;
        return 0;
      },
      [](void* self) {
        if (of(self)->requested_at_ < 0) of(self)->requested_at_ = of(self)->cpu_.now();
        of(self)->request_service();
      },
      [](void* self) { of(self)->started_ = false; },
      [](void* self, const oh_context_spec* spec) {
        try {
          of(self)->reconfigure(ContextSpec(*spec));
        } catch (const std::invalid_argument&) {
          return -EINVAL;
        } catch (const std::runtime_error&) {
          return -EBUSY;
        }
        return 0;
      },
      [](void* self, oh_context_latency* latency) { *latency = of(self)->latency_; },
      [](void* self, char* text, std::size_t size) {
        const std::string name = of(self)->spec_.str();
        if (size > 0) text[name.copy(text, size - 1)] = 0;
        return name.size();
      }};
  return {&kOps, this};
}

void Context::reconfigure(const ContextSpec& spec) {
  throw std::invalid_argument(spec_.str() + " cannot become " + spec.str() + " while it is running");
}

}  // namespace offhook::hostsim
