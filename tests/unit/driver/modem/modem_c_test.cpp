// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "offhook/modem.h"

namespace {

TEST(ModemC, RefusesAConfigurationThatCannotBeMeantAndSaysWhy) {
  const auto refused = [](auto change) {
    oh_modem_config config;
    oh_modem_default_config(&config, OH_PUMP_CALL);
    change(config);
    const char* reason = "";
    oh_modem* modem = oh_modem_create(&config, &reason);
    oh_modem_destroy(modem);
    return modem == nullptr ? std::string(reason) : "accepted";
  };
  EXPECT_EQ(refused([](auto&) {}), "accepted");
  EXPECT_EQ(refused([](auto& c) { c.struct_size -= 4; }), "a configuration of unknown size");
  EXPECT_EQ(refused([](auto& c) { c.pump = nullptr; }), "no pump");
  EXPECT_EQ(refused([](auto& c) { c.window = 65; }), "a window that is not 1 to 64 frames");
  EXPECT_EQ(refused([](auto& c) { c.error_control = static_cast<oh_error_control>(3); }),
            "an error control that is not none, optional or required");
}

}  // namespace
