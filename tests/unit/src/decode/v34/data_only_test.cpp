// SPDX-License-Identifier: MIT
//
// Recordings that lack what a whole call has: those that begin in data mode, and one channel with both directions.
// They are cut and mixed from recorded calls, and held against what is read of the whole.
#include "src/decode/v34/data_only.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "src/decode/call/verdict.h"
#include "tests/unit/src/decode/call/recorded_calls.h"

namespace offhook::decode {
namespace {

constexpr const char* kWays[] = {"call_to_answer", "answer_to_call"};
const char* const kPlainV34[] = {"3com-sportsterflash-28800-28800.wav", "aztech-ti-28800-33600.wav",
                                 "conexant-rh56sp-33600-33600.wav", "ktx-33600fm-24000-24000.wav",
                                 "motorola-sm56-31200-31200.wav"};

// Seven seconds of data mode with nothing before and behind: symbol rate, carrier and clock are those that the whole
// call's training has.
TEST(DecodeDataOnly, OfACutOutDataModeSymbolRateCarrierAndClockAreFound) {
  NEEDS_RECORDINGS();
  int directions = 0;
  for (const std::string file : kPlainV34) {
    const Call piece = analyse(cut(file, 20, 27));
    EXPECT_TRUE(piece.trainings.empty()) << file;
    const Json& training = own(file)["trainings"].back();
    for (const char* way : kWays) {
      SCOPED_TRACE(file + ", " + way);
      const Json& side = training[way];
      const auto clock = std::find_if(piece.symbol_clocks.begin(), piece.symbol_clocks.end(),
                                      [&](const SymbolClock& c) { return c.channel == side["channel"].get<int>(); });
      ASSERT_NE(clock, piece.symbol_clocks.end());
      EXPECT_EQ(clock->symbol_rate, std::lround(side["symbol_rate"].get<double>()));
      EXPECT_NEAR(clock->clock_ppm, side["segments"][0]["trn"]["clock_ppm"].get<double>(), 3);
      const std::optional<V34Band> band = v34_band(*clock);
      ASSERT_TRUE(band);
      EXPECT_NEAR(carrier_hz(band->rate, band->carrier), side["carrier_hz"].get<double>(), 0.01);
      ++directions;
    }
  }
  EXPECT_EQ(directions, 10);
}

// A recording that begins in data mode, as one of the whole call has it behind that.
TEST(DecodeDataOnly, WhatFollowsTheFirstRenegotiationIsReadWhereTheRecordingBeginsInDataMode) {
  NEEDS_RECORDINGS();
  constexpr double kFrom = 20;
  const std::string file = "conexant-rh56sp-33600-33600.wav";
  const Json late = json_of(analyse(cut(file, kFrom)));
  const Json& whole = own(file);
  EXPECT_EQ(late["verdict"]["technology"], "V.34");
  EXPECT_EQ(late["roles"]["call_channel"], whole["roles"]["call_channel"]);
  ASSERT_EQ(late["changes"].size(), whole["changes"].size());
  for (std::size_t k = 0; k < late["changes"].size(); ++k) {
    EXPECT_EQ(late["changes"][k]["name"], whole["changes"][k]["name"]);
    EXPECT_NEAR(late["changes"][k]["start_s"].get<double>() + kFrom, whole["changes"][k]["start_s"].get<double>(),
                0.01);
  }
  for (const char* way : kWays) {
    SCOPED_TRACE(way);
    const Json &have = late["trainings"][0][way], &want = whole["trainings"][0][way];
    ASSERT_EQ(have["segments"].size() + 2, want["segments"].size());
    for (std::size_t k = 0; k < have["segments"].size(); ++k) {
      const Json &mp = have["segments"][k]["mp"], &of = want["segments"][k + 2]["mp"];
      ASSERT_FALSE(mp.empty());
      EXPECT_EQ(mp[0]["bits"], of[0]["bits"]);
    }
  }
  // These MPs are of type 0, and what they leave as it is was not recorded.
  const Json& data = late["verdict"]["directions"][0];
  EXPECT_EQ(data["rate_from"], "both MPs");
  EXPECT_EQ(data["bit_rate"], 33600);
  EXPECT_NE(data["reason"].get<std::string>().find("precoder"), std::string::npos) << data["reason"];
}

// The answer modem 20 dB below the call modem, as at the call modem's telephone socket: Phases 1 to 3 of both, and MP
// of the louder.
TEST(DecodeDataOnly, OfBothDirectionsInOneChannelV8InfoPhase3AndTheLoudersMpAreRead) {
  NEEDS_RECORDINGS();
  for (const std::string file : {"ktx-33600fm-24000-24000.wav", "motorola-sm56-31200-31200.wav"}) {
    SCOPED_TRACE(file);
    const Json one = json_of(analyse(mixed(file, 0.1f)));
    const Json& whole = own(file);
    EXPECT_EQ(one["verdict"]["technology"], "V.34");
    EXPECT_EQ(one["roles"]["call_channel"], 0);
    EXPECT_EQ(one["roles"]["answer_channel"], 0);
    for (const char* menu : {"cm", "jm"}) EXPECT_EQ(one["v8"][menu]["octets"], whole["v8"][menu]["octets"]) << menu;
    EXPECT_TRUE(one["v8"].contains("cj"));
    ASSERT_EQ(one["phase2"]["info"].size(), whole["phase2"]["info"].size());
    for (std::size_t k = 0; k < whole["phase2"]["info"].size(); ++k) {
      const std::string bits = one["phase2"]["info"][k]["bits"], want = whole["phase2"]["info"][k]["bits"];
      EXPECT_EQ(bits.substr(4, bits.size() - 8), want.substr(4, want.size() - 8));  // but for the fill
    }
    ASSERT_EQ(one["trainings"].size(), 1u);
    for (const char* way : kWays) {
      SCOPED_TRACE(way);
      ASSERT_FALSE(one["trainings"][0][way]["segments"].empty());
      const Json& have = one["trainings"][0][way]["segments"][0];
      const Json& want = whole["trainings"][0][way]["segments"][0];
      EXPECT_NEAR(have["trn"]["start_s"].get<double>(), want["trn"]["start_s"].get<double>(), 0.001);
      EXPECT_NEAR(have["trn"]["symbols"].get<int>(), want["trn"]["symbols"].get<int>(), 30);
      EXPECT_EQ(have["j"]["points"], want["j"]["points"]);
    }
    const Json& have = one["trainings"][0]["call_to_answer"]["segments"][1]["mp"];
    const Json& want = whole["trainings"][0]["call_to_answer"]["segments"][1]["mp"];
    ASSERT_FALSE(have.empty());
    EXPECT_EQ(have[0]["bits"], want[0]["bits"]);
  }
}

}  // namespace
}  // namespace offhook::decode
