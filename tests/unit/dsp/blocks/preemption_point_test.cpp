// SPDX-License-Identifier: MIT
#include "dsp/blocks/preemption_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "dsp/v34/session/pump.h"

namespace offhook {
namespace {

int points = 0;

struct Free {
  void operator()(void* p) const { std::free(p); }
};

struct End {
  explicit End(oh_pump_role role) {
    oh_pump_config config{};
    config.format = type->formats[0];
    config.role = role;
    config.tx_level_dbm0 = -12;
    config.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
    memory.reset(std::aligned_alloc(64, type->size(&config)));
    EXPECT_EQ(type->init(memory.get(), &config), 0);
  }
  oh_pump_state state() const {
    oh_pump_status s{};
    type->status(memory.get(), &s);
    return s.state;
  }
  const oh_pump_type* type = oh_v34_type();
  std::unique_ptr<void, Free> memory;
};

struct Passed {
  std::vector<std::int16_t> samples;          // of the calling end
  int at_init = 0, at_most = 0, in_data = 0;  // number of points: in init, in one sample, in data mode
};

Passed call() {
  Passed passed;
  points = 0;
  End ends[] = {End(OH_PUMP_CALL), End(OH_PUMP_ANSWER)};
  passed.at_init = points;
  std::int16_t line[2]{};
  for (int t = 0; t < 12 * 8000; ++t) {
    std::int16_t sent[2];
    for (int k = 0; k < 2; ++k) {
      points = 0;
      ends[k].type->process(ends[k].memory.get(), &line[k], &sent[k], 1);
      passed.at_most = std::max(passed.at_most, points);
      if (t >= 11 * 8000) passed.in_data += points;
    }
    for (int k = 0; k < 2; ++k) line[k] = static_cast<std::int16_t>(sent[1 - k] / 3);
    passed.samples.push_back(sent[0]);
  }
  EXPECT_EQ(ends[0].state(), OH_PUMP_DATA);
  EXPECT_EQ(ends[1].state(), OH_PUMP_DATA);
  return passed;
}

TEST(PreemptionPoint, LongStepsAreCutAndWhoRunsMeanwhileChangesNoSample) {
  oh_set_preemption_point([] {
    ++points;
#if defined(__x86_64__)
    // As left by other threads that ran meanwhile.
    __asm__ volatile("pxor %%xmm0, %%xmm0\n pcmpeqd %%xmm15, %%xmm15" : : : "xmm0", "xmm15");
#endif
  });
  const Passed cut = call();
  oh_set_preemption_point(nullptr);
  const Passed whole = call();
  EXPECT_EQ(whole.at_init + whole.at_most, 0) << "nobody asked for them";
  EXPECT_GT(cut.at_init, 1000) << "tables are filled";
  EXPECT_GT(cut.at_most, 200) << "the equaliser is designed from the training";
  EXPECT_EQ(cut.in_data, 0) << "data mode has no long step";
  EXPECT_TRUE(cut.samples == whole.samples);
}

}  // namespace
}  // namespace offhook
