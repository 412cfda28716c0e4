// SPDX-License-Identifier: MIT
//
// The library by its public header alone: samples and files in, JSON, text, page and files out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <stdexcept>

#include "offhook/decode.h"

namespace offhook::decode {
namespace {

using testing::HasSubstr;

// ANS of V.25 at the given rate, 3 s after 1 s of silence.
Samples answer_tone(int rate_hz) {
  std::vector<float> x(static_cast<std::size_t>(5 * rate_hz));
  for (std::size_t i = static_cast<std::size_t>(rate_hz); i < static_cast<std::size_t>(4 * rate_hz); ++i)
    x[i] = static_cast<float>(0.1 * std::sin(2 * std::numbers::pi * 2100 * static_cast<double>(i) / rate_hz));
  return {{x}, rate_hz, "tone"};
}

TEST(DecodeLibrary, SamplesAtAnyRateGiveJsonTextAndPage) {
  for (const int rate : {8000, 44100}) {
    const auto call = decode_samples(answer_tone(rate));
    EXPECT_THAT(to_json(*call), HasSubstr("\"schema\": \"offhook.decode/1\""));
    EXPECT_THAT(to_json(*call), HasSubstr("\"name\": \"ANS\""));
    EXPECT_THAT(to_text(*call), HasSubstr("ANS"));
    EXPECT_THAT(to_html(*call), HasSubstr("ANS"));
    EXPECT_TRUE(payloads(*call).empty());
  }
}

TEST(DecodeLibrary, ProgressGoesFromZeroToOneAndNamesWhatIsDone) {
  double last = 0;
  decode_samples(answer_tone(8000), {.progress = [&](double share, const std::string& what) {
                   EXPECT_GE(share, last);
                   EXPECT_LE(share, 1);
                   EXPECT_FALSE(what.empty());
                   last = share;
                 }});
  EXPECT_GT(last, 0.5);
}

TEST(DecodeLibrary, WhatIsNoRecordingIsRefusedWithItsName) {
  const auto message = [](Samples samples) {
    try {
      decode_samples(std::move(samples));
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message({{}, 8000, "mine"}), HasSubstr("mine: 0 channels"));
  EXPECT_THAT(message({{{}}, 8000, "mine"}), HasSubstr("mine: no samples"));
  EXPECT_THAT(message({{{0, 0}, {0}}, 8000, "mine"}), HasSubstr("differ in length"));
  EXPECT_THAT(message({{{0}}, 1000, "mine"}), HasSubstr("1000 samples/s"));
  EXPECT_THROW(decode_file("there/is/none.wav"), std::runtime_error);
}

}  // namespace
}  // namespace offhook::decode
