// SPDX-License-Identifier: MIT
// Our V.8 against spandsp's, either way round.
#include <gtest/gtest.h>
#include <spandsp.h>

#include <cstring>
#include <vector>

#include "dsp/v8/v8.h"

namespace offhook::v8 {
namespace {

struct Spandsp {
  explicit Spandsp(bool calling) {
    std::memset(&parms, 0, sizeof parms);
    parms.modem_connect_tone = MODEM_CONNECT_TONES_ANSAM_PR;
    parms.call_function = V8_CALL_V_SERIES;
    parms.modulations = V8_MOD_V34 | V8_MOD_V32 | V8_MOD_V22 | V8_MOD_V21;
    parms.protocol = V8_PROTOCOL_LAPM_V42;
    state = v8_init(nullptr, calling, &parms, &Spandsp::handler, this);
  }
  ~Spandsp() { v8_free(state); }
  static void handler(void* user, v8_parms_t* result) {
    auto& s = *static_cast<Spandsp*>(user);
    s.result = *result;
    if (result->status == V8_STATUS_V8_CALL) s.done = true;
  }
  v8_parms_t parms, result{};
  v8_state_t* state;
  bool done = false;
};

void call(V8& ours, Spandsp& theirs, double seconds) {
  constexpr int kBlock = 160;
  std::int16_t to_us[kBlock]{}, to_them[kBlock]{};
  for (int n = 0; n < static_cast<int>(seconds * 8000); n += kBlock) {
    std::int16_t from_us[kBlock], from_them[kBlock]{};
    v8_rx(theirs.state, to_them, kBlock);
    v8_tx(theirs.state, from_them, kBlock);
    for (int k = 0; k < kBlock; ++k) {
      from_us[k] = static_cast<std::int16_t>(ours.process(to_us[k]));
    }
    for (int k = 0; k < kBlock; ++k) {
      to_us[k] = static_cast<std::int16_t>(from_them[k] / 2);
      to_them[k] = static_cast<std::int16_t>(from_us[k] / 2);
    }
  }
}

Config config(oh_pump_role role) {
  Config c;
  c.role = role;
  c.menu.call_function = CallFunction::kData;
  c.menu.modulations = kV34 | kV22bis;
  c.menu.has_protocol = true;
  c.menu.protocol = kProtocolLapm;
  return c;
}

TEST(V8Interop, WeCallSpandspAnswers) {
  V8 ours(config(OH_PUMP_CALL));
  Spandsp theirs(false);
  call(ours, theirs, 12);
  ASSERT_EQ(ours.state(), State::kDone) << "step " << int(ours.step());
  EXPECT_TRUE(theirs.done);
  EXPECT_EQ(ours.result().modulation, kV34);
  EXPECT_EQ(ours.result().joint.call_function, CallFunction::kData);
  EXPECT_TRUE(theirs.result.modulations & V8_MOD_V34);
  EXPECT_FALSE(theirs.result.modulations & V8_MOD_V32);
}

TEST(V8Interop, SpandspCallsWeAnswer) {
  V8 ours(config(OH_PUMP_ANSWER));
  Spandsp theirs(true);
  call(ours, theirs, 12);
  ASSERT_EQ(ours.state(), State::kDone) << "step " << int(ours.step());
  EXPECT_TRUE(theirs.done);
  EXPECT_EQ(ours.result().modulation, kV34);
  EXPECT_EQ(ours.result().far.call_function, CallFunction::kData);
  EXPECT_EQ(ours.result().far.modulations & (kV34 | kV32bis | kV22bis | kV21), kV34 | kV32bis | kV22bis | kV21);
  EXPECT_EQ(theirs.result.modulations & (V8_MOD_V34 | V8_MOD_V32 | V8_MOD_V22), unsigned(V8_MOD_V34 | V8_MOD_V22));
}

}  // namespace
}  // namespace offhook::v8
