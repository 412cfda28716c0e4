// SPDX-License-Identifier: MIT
#include "driver/kernel/kernel_transfer.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/driver/kernel/kernel_stand_in.h"

namespace offhook {
namespace {

KernelTransfer::Config config_of(std::vector<const char*> contexts, int switches = 0) {
  KernelTransfer::Config config;
  config.call.block_plan[0] = 80;
  config.call.block_plan_length = 1;
  for (const char* context : contexts) config.contexts.push_back(ContextSpec::parse(context));
  config.switches = switches;
  config.switch_samples = 80'000;
  return config;
}

TEST(KernelTransfer, CarriesOctetsBothWaysAndTakesTheWholeLog) {
  KernelStandIn device;
  device.to_give.resize(5000);
  std::iota(device.to_give.begin(), device.to_give.end(), 0);
  KernelTransfer::Config config = config_of({"SOFTIRQ"});
  config.to_send = {1, 2, 3};
  std::size_t events = 0;
  config.events = [&](std::span<const oh_event> taken, std::uint64_t) { events += taken.size(); };
  KernelTransfer transfer(device, config);
  transfer.begin();
  EXPECT_FALSE(transfer.connected());
  for (int k = 0; k < 20; ++k, transfer.wait()) transfer.look();
  transfer.end();
  EXPECT_TRUE(transfer.connected());
  EXPECT_EQ(transfer.rx_bit_rate(), 33'600u);
  EXPECT_EQ(transfer.received(), device.to_give);
  EXPECT_EQ(device.taken, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(events, 20u * KernelStandIn::kBlocksALook * 8 + 1 + 5);  // the link is up, and five pieces have arrived
  EXPECT_EQ(transfer.log_events(), events);
  EXPECT_FALSE(device.running);
  ASSERT_EQ(device.contexts.size(), 1u);
  EXPECT_EQ(device.contexts[0].kind, OH_CONTEXT_SOFTIRQ);
}

TEST(KernelTransfer, ChangesContextsEvenlyOverTheCall) {
  KernelStandIn device;
  KernelTransfer transfer(device, config_of({"INT", "SOFTIRQ", "WORKER"}, 9));
  transfer.begin();
  while (transfer.look().samples < 40'000) transfer.wait();
  EXPECT_EQ(transfer.switches(), 5);  // of 10 parts
  while (transfer.look().samples < 80'000) transfer.wait();
  EXPECT_EQ(transfer.switches(), 9);
  ASSERT_EQ(device.contexts.size(), 10u);
  EXPECT_EQ(device.contexts[4].kind, OH_CONTEXT_SOFTIRQ);
  EXPECT_EQ(device.contexts[9].kind, OH_CONTEXT_INTERRUPT);
}

}  // namespace
}  // namespace offhook
