// SPDX-License-Identifier: MIT
#include "src/measure/rehearsal.h"

#include <gtest/gtest.h>

#include <vector>

#include "hostsim/call/connection.h"
#include "hostsim/call/subscriber_call.h"

using namespace offhook;
using namespace offhook::measure;

namespace {

constexpr double kSeconds = 2;

hostsim::Scenario g_lite() {
  hostsim::Scenario s;
  s.pump = hostsim::PumpKind::kDevice;
  s.line_kind = hostsim::LineKind::kSubscriberLoop;
  s.loop.cable = "CSA 6";
  s.device.rate_hz = 1'104'000;
  s.device.block_plan = {4416};
  s.device.buffers = 3;
  return s;
}

struct Played {
  std::uint64_t sent_otherwise, bits, wrong_bits;
};

/// A separate pump on the rehearsal's line, behind a card with the same lead. @param late  this block is filled in
Played play(Rehearsal& rehearsal, int late = -1) {
  const hostsim::Scenario s = g_lite();
  const auto connection = hostsim::make_device_connection(s, nullptr);
  const oh_pump pump = connection->near_pump();
  const oh_line_end line = rehearsal.line();
  const std::size_t n = 1104, lead = 3 * n, ratio = 4;
  std::vector<std::int16_t> queued(lead), rx(ratio * n), tx(n);
  connection->start(0);
  for (int k = 0; k < static_cast<int>(kSeconds * 276'000 / n); ++k) {
    line.exchange(line.self, queued.data(), rx.data(), n);
    queued.erase(queued.begin(), queued.begin() + n);
    if (k == late) {
      pump.report_gap(pump.self, n);
      tx.assign(n, 0);
    } else {
      pump.process(pump.self, rx.data(), tx.data(), n);
    }
    queued.insert(queued.end(), tx.begin(), tx.end());
  }
  connection->exchange_user_data(1);
  const auto dmt = connection->dmt_status();
  return {rehearsal.sent_otherwise(), dmt->down.bits, dmt->down.wrong_bits};
}

TEST(Rehearsal, APumpThatIsServedInTimeHearsAndSendsTheSameAgain) {
  Rehearsal rehearsal(g_lite(), kSeconds, [](double) { return true; });
  const Played p = play(rehearsal);
  EXPECT_EQ(p.sent_otherwise, 0u);
  EXPECT_GT(p.bits, 500'000u);
  EXPECT_EQ(p.wrong_bits, 0u);
}

TEST(Rehearsal, WhatALateBlockChangesIsCounted) {
  Rehearsal rehearsal(g_lite(), kSeconds, [](double) { return true; });
  const Played p = play(rehearsal, 450);
  EXPECT_GE(p.sent_otherwise, 1000u);  // its own periods, except those that are silent by chance
  EXPECT_GT(p.bits, 500'000u);         // the far end continues
}

TEST(Rehearsal, ARecordingThatIsTooLongIsRefused) {
  EXPECT_THROW(Rehearsal(g_lite(), 1e6, [](double) { return true; }), std::invalid_argument);
}

}  // namespace
