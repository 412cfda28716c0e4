// SPDX-License-Identifier: MIT
#include "driver/tty/last_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offhook::modem {
namespace {

using testing::HasSubstr;

std::string reason_of_training(oh_modulation modulation, oh_start_up waits_for) {
  LastCall call;
  call.begin(OH_PUMP_CALL, 0);
  CallStatus status{};
  status.pump.state = OH_PUMP_TRAINING;
  status.pump.modulation = modulation;
  status.line.start_up = waits_for;
  call.follow(status, "", 1000);
  call.end(OH_CALL_END_TRAINING_FAILED);
  return call.reason();
}

TEST(LastCall, NamesWhatWasMissingByTheProcedureOfTheModulation) {
  EXPECT_THAT(reason_of_training(OH_MODULATION_V34, OH_START_UP_PROBING), HasSubstr("line probing did not end"));
  EXPECT_THAT(reason_of_training(OH_MODULATION_V90, OH_START_UP_PROBING), HasSubstr("line probing did not end"));
  EXPECT_THAT(reason_of_training(OH_MODULATION_V90, OH_START_UP_RATES), HasSubstr("Phase 4"));
  EXPECT_THAT(reason_of_training(OH_MODULATION_V32BIS, OH_START_UP_PROBING), HasSubstr("AA or AC"));
}

}  // namespace
}  // namespace offhook::modem
