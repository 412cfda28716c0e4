// SPDX-License-Identifier: MIT
//
// A device's call to its end, and a host that holds interrupts off.
#pragma once

#include "hostsim/call/call.h"
#include "offhook/event_log.h"

namespace offhook::test {

/// A device that keeps interrupts off for the given time, repeatedly.
inline hostsim::Scenario held_off(hostsim::Scenario s, hostsim::Ns every_ns, hostsim::Ns for_ns) {
  hostsim::LoadDevice holder;
  holder.name = "holder";
  holder.every_ns = every_ns;
  holder.isr_ns = for_ns;
  holder.level = 31;
  s.load.devices = {holder};
  return s;
}

inline hostsim::CallResult run_device(const hostsim::Scenario& s, oh_event_log* log = nullptr) {
  const auto call = make_device_call(s, log);
  while (call->advance(call->now() + 100'000'000)) {
  }
  return call->result();
}

}  // namespace offhook::test
