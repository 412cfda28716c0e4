// SPDX-License-Identifier: MIT
//
// Calls for the tests of this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hostsim/call/call.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/engine/random.h"
#include "offhook/event_log.h"
#include "traces/scenario/profile.h"
#include "traces/scenario/scenario.h"

namespace offhook::test {

/// A scenario on the paper's host, in the context with this name in the paper's tables.
inline hostsim::Scenario scenario(std::string_view context, bool spinner = true) {
  hostsim::Scenario s;
  s.host = config::load_host("nt2000-p2-450");
  s.context = ContextSpec::parse(context);
  s.load.spinner = spinner;
  return s;
}

inline std::vector<std::uint8_t> random_file(std::size_t bytes) {
  std::vector<std::uint8_t> file(bytes);
  const hostsim::Random random(1, 2);
  for (std::size_t i = 0; i < bytes; i++) file[i] = static_cast<std::uint8_t>(random.word(i));
  return file;
}

/// All results of a call.
struct Recorded {
  hostsim::CallResult result;
  std::vector<oh_event> events;
  std::vector<std::string> names;  ///< of the entities in the log
  std::vector<std::int16_t> line;  ///< received and sent samples, block by block
};

/// Runs it to the end. With a file the pumps are real; without one, the link model transfers scenario.bytes.
inline Recorded run(const hostsim::Scenario& s, std::span<const std::uint8_t> file = {}, bool keep_events = true) {
  const hostsim::CostProfile profile = config::load_profile(s.cost_profile);
  std::vector<oh_event> ring(1 << 16);
  oh_event_log log{};
  oh_event_log_init(&log, ring.data(), ring.size(), 0);
  Recorded r;
  const auto tap = [&r](std::span<const std::int16_t> received, std::span<const std::int16_t> sent) {
    r.line.insert(r.line.end(), received.begin(), received.end());
    r.line.insert(r.line.end(), sent.begin(), sent.end());
  };
  auto connection = file.empty() ? hostsim::make_link_model_connection(s, profile, &log)
                                 : hostsim::make_sampled_connection(
                                       s, {hostsim::near_type(s), hostsim::far_type(s), file, tap}, &log);
  hostsim::Call call(s, profile, std::move(connection), keep_events ? &log : nullptr);
  std::vector<oh_event> out(ring.size());
  bool more = true;
  for (hostsim::Ns horizon = 1'000'000'000; more; horizon += 1'000'000'000) {
    more = call.advance(horizon);
    const std::size_t n = oh_event_log_read(&log, out.data(), out.size());
    if (keep_events) r.events.insert(r.events.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
  }
  r.result = call.result();
  r.names = call.entity_names();
  return r;
}

}  // namespace offhook::test
