// SPDX-License-Identifier: MIT
//
// Addresses of cards: which kind they go to, and what is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "driver/session/devices.h"
#include "tests/unit/driver/live/loop_device.h"

namespace offhook {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// @return why there is no such card; empty if there is
std::string refusal(const std::string& address) {
  try {
    return open_card(address) != nullptr ? "" : "nothing";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

TEST(Cards, AnAddressGoesToItsKindWhichRefusesItItself) {
  use_loop_devices();
  const struct {
    const char *address, *refusal;
  } each[] = {{"unix:/nobody/listens", "/nobody/listens: "},
              {"file:/there/is/none.wav", "/there/is/none.wav"},
              {"alsa:nobody", "alsa:nobody: cannot be opened"},
              {"portaudio:nobody", "portaudio:nobody: no such device"}};
  for (const auto& one : each) {
    EXPECT_THAT(refusal(one.address), HasSubstr(one.refusal));
    EXPECT_THAT(refusal(one.address), Not(HasSubstr("is not a card")));
  }
  EXPECT_EQ(refusal("null"), "");
  EXPECT_EQ(refusal("alsa:loop0"), "");
}

TEST(Cards, WhatIsNoAddressIsToldAllKinds) {
  for (const std::string address :
       {"", "tape", "unix", "unix:", "file", "file:", "alsa:", "portaudio", "null:", "null:x"}) {
    const std::string why = refusal(address);
    EXPECT_THAT(why, HasSubstr("\"" + address + "\" is not a card; expected "));
    for (const char* usage : {"null", "file:", "unix:PATH", "alsa:NAME", "portaudio:NAME"})
      EXPECT_THAT(why, HasSubstr(usage));
  }
}

TEST(Cards, WhatTheCallerTakesBesidesIsToldToo) {
  try {
    open_card("tape", {}, "kernel:N or sip:USER@HOST");
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("audiosocket:HOST:PORT, dahdi:CHANNEL, kernel:N or sip:USER@HOST (see offhook devices)"));
  }
}

TEST(Cards, WhatIsBuiltInCanBeUsed) {
  use_loop_devices();
  int built_in = 0;
  for (const CardDevice& device : card_devices()) {
    if (device.kind != "built-in") continue;
    ++built_in;
    EXPECT_TRUE(device.usable) << device.address;
    EXPECT_NE(device.capability, "") << device.address;
  }
  EXPECT_EQ(built_in, 3);
}

}  // namespace
}  // namespace offhook
