// SPDX-License-Identifier: MIT
#include "traces/scenario/profile.h"

#include <fmt/format.h>

#include <string>

#include "traces/scenario/data.h"
#include "traces/scenario/document.h"

namespace offhook::config {

using hostsim::CostProfile;
using hostsim::Ns;
using hostsim::Phase;

namespace {

struct ProfileFile {
  CostProfile profile;
  Ns handler_ns = 0;
  Ns interval_ns = 0;
};

KeyTable make_profile_keys() {
  using F = ProfileFile;
  KeyTable keys = {
      key_of_time<F>("isr.mean_us", 0, 1e5, "mean time of the interrupt routine when the service is deferred", kUs,
                     [](F& f) -> std::int64_t& { return f.profile.isr_mean_ns; }),
      key_of_time<F>("isr.max_us", 0, 1e5, "longest time of the interrupt routine", kUs,
                     [](F& f) -> std::int64_t& { return f.profile.isr_max_ns; }),
      key<F>("service.phi", 0, 1, "share of a service run after which its output is queued",
             [](F& f) -> Field { return &f.profile.phi; }),
      key<F>("service.spread", 0, 1, "random variation of a block's cost, as a share, both ways",
             [](F& f) -> Field { return &f.profile.service_spread; }),
      key<F>("logging.bytes_per_minute", 0, 1e12, "bytes written by the instrumented kernel",
             [](F& f) -> Field { return &f.profile.logging.bytes_per_minute; }),
      key<F>("logging.event_bytes", 1, 1e6, "size of one event",
             [](F& f) -> Field { return &f.profile.logging.event_bytes; }),
      key<F>("logging.event_ns", 0, 1e6, "CPU time of one event",
             [](F& f) -> Field { return &f.profile.logging.event_ns; }),
      key_of_time<F>("measured.handler_us", 0, 1e6,
                     "mean time of an interrupt handler that does everything, logging on; 0: not measured", kUs,
                     &F::handler_ns),
      key_of_time<F>("measured.interval_ms", 0, 1e4, "per", kMs, &F::interval_ns),
      key<F>("link.down_bps", 300, 1e9, "line rate towards the modem under test",
             [](F& f) -> Field { return &f.profile.link.down_bps; }),
      key<F>("link.up_bps", 300, 1e9, "line rate from the modem under test",
             [](F& f) -> Field { return &f.profile.link.up_bps; }),
      key<F>("link.one_way_delay_ms", 0, 2000, "delay from pump to pump",
             [](F& f) -> Field { return &f.profile.link.one_way_delay_ms; }),
      key<F>("link.frame_bytes", 1, 1024, "V.42 N401", [](F& f) -> Field { return &f.profile.link.frame_bytes; }),
      key<F>("link.packet_bytes", 1, 1e9, "bytes of the file in a packet",
             [](F& f) -> Field { return &f.profile.link.packet_bytes; }),
      key<F>("link.packet_header_octets", 0, 1000, "header octets per packet",
             [](F& f) -> Field { return &f.profile.link.packet_header_octets; }),
      key<F>("link.escaped_share", 0, 1, "share of octets that framing sends as two",
             [](F& f) -> Field { return &f.profile.link.escaped_share; }),
      key<F>("link.window", 1, 127, "V.42 k", [](F& f) -> Field { return &f.profile.link.window; }),
      key<F>("link.t401_ms", 1, 60000, "V.42 acknowledgement timer",
             [](F& f) -> Field { return &f.profile.link.t401_ms; }),
      key<F>("link.settling_ms", 0, 10000, "wrong bits after a hole in the signal",
             [](F& f) -> Field { return &f.profile.link.settling_ms; }),
      key<F>("link.sync_loss_samples", 0.001, 1e9, "mean number of lost samples until a receiver loses synchronisation",
             [](F& f) -> Field { return &f.profile.link.sync_loss_samples; }),
      key<F>("link.pool_sync_loss_samples", 0.001, 1e9, "mean number of lost samples for the server pool (Table 1)",
             [](F& f) -> Field { return &f.profile.link.pool_sync_loss_samples; }),
      key<F>("link.training_ms", 0, 60000, "duration of a retrain without loss of synchronisation",
             [](F& f) -> Field { return &f.profile.link.training_ms; }),
      key<F>("link.give_up_ms", 1, 600000, "time of unsuccessful training after which the call ends",
             [](F& f) -> Field { return &f.profile.link.give_up_ms; }),
  };
  using P = hostsim::PhaseProfile;
  const KeyTable of_phase = {
      key<P>("rate_hz", 1, 1e6, "the card's sample rate", &P::rate_hz),
      key<P>("block_plan_samples", 1, 256, "samples per interrupt, repeated", &P::block_plan),
      key_of_time<P>("service_us", 0, 1e6, "CPU time of a block", kUs, &P::service_ns),
      key_of_time<P>("worst_handler_us", 0, 1e6,
                     "handler time of the phase's first block, measured like measured.handler_us; 0: like the others",
                     kUs, &P::worst_service_ns),
      key_of_time<P>("lasts_s", 0, 1e6, "length of the phase; 0: until the call ends", kSecond, &P::lasts_ns)};
  static constexpr const char* kNames[hostsim::kPhases] = {"on_hook", "dialling", "connecting", "connected"};
  for (int i = 0; i < hostsim::kPhases; i++) {
    const KeyTable more = keys_under<F>(kNames[i], of_phase, [i](F& f) -> P& { return f.profile.phases[i]; });
    keys.insert(keys.end(), more.begin(), more.end());
  }
  return keys;
}

}  // namespace

const KeyTable& profile_keys() {
  static const KeyTable keys = make_profile_keys();
  return keys;
}

CostProfile load_profile(std::string_view name) {
  return read_profile(Document::read_file(data_file("profiles", name)), name);
}

CostProfile read_profile(const Document& document, std::string_view name) {
  ProfileFile file;
  document.apply(profile_keys(), &file);
  CostProfile& profile = file.profile;
  profile.name = name;
  for (const hostsim::PhaseProfile& phase : profile.phases) {
    if (phase.block_plan.empty() || phase.block_plan.size() > OH_BLOCK_PLAN_MAX) {
      throw Error(fmt::format("{}: every phase needs block_plan_samples with 1 to {} entries", document.name(),
                              +OH_BLOCK_PLAN_MAX));
    }
  }
  if (file.handler_ns > 0) {
    const Ns besides = profile.isr_mean_ns + profile.logging.in(file.interval_ns);
    const auto service = [&](Ns handler) {
      if (handler > besides) return handler - besides;
      throw Error(fmt::format("{}: a measured handler takes less time than the interrupt routine and the logging",
                              document.name()));
    };
    profile.phases[static_cast<int>(Phase::kConnected)].service_ns = service(file.handler_ns);
    for (hostsim::PhaseProfile& phase : profile.phases) {
      if (phase.worst_service_ns > 0) phase.worst_service_ns = service(phase.worst_service_ns);
    }
  }
  return profile;
}

}  // namespace offhook::config
