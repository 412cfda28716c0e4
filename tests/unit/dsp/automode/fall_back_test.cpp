// SPDX-License-Identifier: MIT
//
// A modulation that trains in vain again and again is left for V.32bis in the same call, by both ends.
#include <gtest/gtest.h>

#include <array>
#include <new>

#include "driver/user_modem/modulations.h"
#include "dsp/automode/automode.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook {
namespace {

/// Replaces V.34: V.8 may choose it; then it is silent and trains again every three seconds.
struct Vain {
  bool gives_up_trainings = true;
  bool begun = false;
  uint64_t samples = 0;

  static Vain& of(void* self) { return *static_cast<Vain*>(self); }
};

int init(void* self, const oh_pump_config* c) {
  new (self) Vain{.gives_up_trainings = c->min_bit_rate == 0};
  return 0;
}
void process(void* self, const void*, void* tx, size_t n) {
  for (size_t k = 0; k < n; ++k) static_cast<int16_t*>(tx)[k] = 0;
  Vain::of(self).samples += n;
}
void status(const void* self, oh_pump_status* s) {
  const Vain& v = *static_cast<const Vain*>(self);
  oh_pump_status all{};
  all.state = OH_PUMP_TRAINING;
  // An end that notices fewer of them has one retrain, as in a good direction.
  all.retrains = v.gives_up_trainings ? static_cast<uint32_t>(v.samples / 24000) : v.samples > 24000 ? 1 : 0;
  all.modulation = OH_MODULATION_V34;
  give_status(all, s);
}

const oh_pump_type* vain_type() {
  static constexpr oh_pump_type kType = {.format_count = 1,
                                         .name = "in vain",
                                         .formats = &kLinear8000,
                                         .roles = kBothRoles,
                                         .fpu = kEveryOperation,
                                         .longest_step = 0,
                                         .size = [](const oh_pump_config*) { return sizeof(Vain); },
                                         .init = init,
                                         .process = process,
                                         .report_gap = [](void* self, size_t n) { Vain::of(self).samples += n; },
                                         .status = status,
                                         .hang_up = [](void*) {},
                                         .release = [](void*) {},
                                         .advance = oh_pump_advance_each};
  return &kType;
}

automode::Table table() {
  static constexpr Modulation kRows[] = {kV32bis, [] {
                                           Modulation vain = kV34;
                                           vain.type = vain_type;
                                           vain.begin = [](void* self, bool, float) { Vain::of(self).begun = true; };
                                           return vain;
                                         }()};
  return {kRows, 2};
}

// @param far_notices  the answerer, otherwise the caller, counts its trainings
void expect_v32bis(bool call_notices, bool answer_notices) {
  test::BitTester bits[2];
  bits[0].tx = 0x1234567, bits[1].tx = 0x7654321;
  test::LineConfig line;
  line.snr_db = 45;
  line.min_bit_rate[0] = call_notices ? 0 : 4800;
  line.min_bit_rate[1] = answer_notices ? 0 : 4800;
  test::PumpPair pair(automode::type<table>(), line, {bits[0].port(), bits[1].port()});
  pair.run(8 * 8000);
  EXPECT_EQ(pair.status(0).modulation, OH_MODULATION_V34);
  ASSERT_TRUE(pair.connect(30)) << pair.status(0).state << " " << pair.status(1).state;
  pair.run(8000);
  for (test::BitTester& b : bits) b.good = b.bad = 0;
  pair.run(8000);
  for (const int end : {0, 1}) {
    const oh_pump_status s = pair.status(end);
    EXPECT_EQ(s.modulation, OH_MODULATION_V32BIS);
    EXPECT_EQ(s.rx_bit_rate, 14400u);
    EXPECT_GE(s.retrains, 2u) << "those in vain, and the fall-back";
    EXPECT_EQ(bits[end].bad, 0u);
    EXPECT_GT(bits[end].good, 10000u);
  }
}

TEST(AutomodeFallBack, BothEndsTrainInVain) {
  expect_v32bis(true, true);
}
TEST(AutomodeFallBack, TheAnswererFollowsTheCallersAa) {
  expect_v32bis(true, false);
}
TEST(AutomodeFallBack, TheCallerFollowsTheAnswerersAc) {
  expect_v32bis(false, true);
}

}  // namespace
}  // namespace offhook
