// SPDX-License-Identifier: MIT
#include "src/decode/presentation/notes.h"

#include <gtest/gtest.h>

#include "dsp/v34/phase2/tones.h"
#include "src/decode/call/call.h"

namespace offhook::decode {
namespace {

// INFO0 and INFO1 of the call modem in channel 0 and of the answer modem in channel 1, from `t` on.
void add_phase2(Call& call, double t, int call_info0) {
  const auto add = [&](double at, int channel, const decltype(InfoHeard::info)& info) {
    InfoHeard& heard = call.start_up.info.emplace_back();
    heard.t0 = at;
    heard.t1 = at + 0.1;
    heard.channel = channel;
    heard.carrier_hz = channel == 0 ? v34::kDpskCallHz : v34::kDpskAnswerHz;
    heard.info = info;
  };
  for (int k = 0; k < call_info0; ++k) add(t + 0.2 * k, 0, v34::Info0{});
  add(t + 0.3, 1, v34::Info0{});
  add(t + 1.6, 0, v34::Info1c{});
  add(t + 2, 1, v34::Info1a{});
}

Call call_with_channels() {
  Call call;
  call.start_up.channel_1200 = 0;
  call.start_up.channel_2400 = 1;
  return call;
}

bool has_repeated_info0(const Call& call) {
  for (const std::string& note : notes(call)) {
    if (note.starts_with("INFO0 repeated")) return true;
  }
  return false;
}

TEST(DecodeNotes, Info0OfASecondStartUpIsNoRepetition) {
  Call call = call_with_channels();
  add_phase2(call, 3, 1);
  add_phase2(call, 15, 1);
  EXPECT_FALSE(has_repeated_info0(call));
  add_phase2(call, 30, 2);
  EXPECT_TRUE(has_repeated_info0(call));
}

// Of channels that are shifted by seconds, the echo is no echo in time.
TEST(DecodeNotes, Info0InTheOtherChannelIsNoRepetition) {
  Call call = call_with_channels();
  add_phase2(call, 3, 1);
  InfoHeard echo = call.start_up.info.front();
  echo.t0 += 0.5;
  echo.channel = 1;
  call.start_up.info.insert(call.start_up.info.begin() + 2, echo);
  EXPECT_FALSE(has_repeated_info0(call));
}

}  // namespace
}  // namespace offhook::decode
