// SPDX-License-Identifier: MIT
//
// A DMT pump's start-up in every context of every kind of host: 4 ms blocks that cost a quarter of the CPU, three
// buffers. Nothing else is on the host but its clock, so that each context serves every block in time and what comes
// out is the same in all of them.
#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "hostsim/call/subscriber_call.h"
#include "tests/unit/hostsim/call/device_run.h"
#include "traces/scenario/scenario.h"

namespace offhook {
namespace {

struct Place {
  const char *host, *context;
};

hostsim::Scenario on_host(const Place& place, const char* device) {
  config::ScenarioBuilder b;
  b.set(std::string("host.name=") + place.host);
  b.set(std::string("device=") + device);
  b.set("line.kind=subscriber-loop");
  b.set("loop.cable=CSA 6");
  b.set("transfer.device_s=1.8");
  b.set(std::string("context=") + place.context);
  return b.finish();
}

class DmtInEveryContext : public testing::TestWithParam<Place> {};

TEST_P(DmtInEveryContext, TrainsAndCarriesBitsWithoutAnError) {
  for (const char* device : {"g-lite", "full-rate-dsl"}) {
    SCOPED_TRACE(device);
    const hostsim::CallResult r = test::run_device(on_host(GetParam(), device));
    EXPECT_TRUE(r.completed) << r.transfer.failure;
    EXPECT_EQ(r.blocks_late, 0u);
    ASSERT_NE(r.dmt, nullptr);
    EXPECT_TRUE(r.dmt->in_data);
    EXPECT_EQ(r.dmt->trainings, 1u);
    EXPECT_EQ(r.dmt->down.wrong_bits + r.dmt->up.wrong_bits, 0u);
    EXPECT_GT(r.dmt->down.bits, 500'000u);
    EXPECT_GT(r.dmt->up.bits, 100'000u);
  }
}

INSTANTIATE_TEST_SUITE_P(Contexts, DmtInEveryContext,
                         testing::Values(Place{"nt2000-p2-450", "INT"}, Place{"nt2000-p2-450", "DPC"},
                                         Place{"nt2000-p2-450", "THR 24"}, Place{"nt2000-p2-450", "WORKER"},
                                         Place{"nt2000-p2-450", "RES 3/5 strict"}, Place{"linux-hz250", "INT"},
                                         Place{"linux-hz250", "SOFTIRQ"}, Place{"linux-hz250", "THREADED"},
                                         Place{"linux-hz250", "FIFO 50"}, Place{"linux-hz250", "RR 50"},
                                         Place{"linux-hz250", "WORKER"}, Place{"linux-hz250", "OTHER -5"},
                                         Place{"linux-hz250", "RES 5ms/8ms"}),
                         [](const auto& param) {
                           std::string name = std::string(param.param.host).substr(0, 2);
                           for (const char* c = param.param.context; *c != '\0'; ++c)
                             if (std::isalnum(static_cast<unsigned char>(*c)) != 0) name += *c;
                           return name;
                         });

}  // namespace
}  // namespace offhook
