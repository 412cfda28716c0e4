// SPDX-License-Identifier: MIT
//
// Which parts of a recording are calls: digits and answer tones as calls of few samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sndfile.h>
#include <spandsp.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "dsp/blocks/sincos.h"
#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/call/verdict.h"

namespace offhook::decode {
namespace {

using Sound = std::vector<short>;

Sound tones(std::initializer_list<double> hz, double s) {
  Sound x(static_cast<std::size_t>(s * kRateHz));
  for (std::size_t i = 0; i < x.size(); ++i) {
    double v = 0;
    for (const double f : hz) v += 2000 * std::sin(2 * kPi * std::fmod(f * seconds(i), 1.0));
    x[i] = static_cast<short>(v);
  }
  return x;
}
Sound silence(double s) {
  return tones({}, s);
}
Sound answer_tone() {
  return tones({2100}, 4);
}
Sound dial_tone() {
  return tones({350, 440}, 2);
}
Sound digits() {
  Sound x;
  dtmf_tx_state_t* tx = dtmf_tx_init(nullptr);
  dtmf_tx_put(tx, "5551234", -1);
  for (int k = 0; k < 10; ++k) {
    short block[800];
    const int n = dtmf_tx(tx, block, 800);
    x.insert(x.end(), block, block + n);
  }
  dtmf_tx_free(tx);
  return x;
}

std::vector<std::shared_ptr<const Call>> calls_in(std::initializer_list<Sound> sounds) {
  const auto file = std::filesystem::temp_directory_path() / ("offhook-calls-" + std::to_string(getpid()) + ".wav");
  SF_INFO info{};
  info.samplerate = kRateHz;
  info.channels = 1;
  info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
  SNDFILE* f = sf_open(file.c_str(), SFM_WRITE, &info);
  for (const Sound& x : sounds) sf_write_short(f, x.data(), static_cast<sf_count_t>(x.size()));
  sf_close(f);
  std::vector<std::shared_ptr<const Call>> calls;
  decode_calls(file, {}, [&](std::shared_ptr<const Call> call) { calls.push_back(std::move(call)); });
  std::filesystem::remove(file);
  return calls;
}

TEST(DecodeSeparateCalls, SilenceSeparatesAndTimesCountFromEachBeginning) {
  const auto calls = calls_in({silence(2), answer_tone(), silence(6), digits(), silence(1), answer_tone(), silence(6)});
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0]->recording.call, 1);
  EXPECT_NEAR(calls[0]->recording.start_s, 1, 0.05);
  EXPECT_TRUE(calls[0]->signals.empty());
  EXPECT_EQ(calls[1]->recording.call, 2);
  EXPECT_NEAR(calls[1]->recording.start_s, 11, 0.05);
  ASSERT_EQ(calls[1]->signals.size(), 1U);
  EXPECT_NEAR(calls[1]->signals[0].t0, 1, 0.1);
  for (const auto& call : calls) {
    ASSERT_EQ(call->start_up.answer_tones.size(), 1U);
    EXPECT_EQ(verdict_of(*call).technology, "ANS alone");
  }
  EXPECT_THAT(to_csv(*calls[1]), testing::HasSubstr(",2,12.0"));
  EXPECT_THAT(to_labels(*calls[1]), testing::HasSubstr("0: DTMF: 5551234\n"));
}

TEST(DecodeSeparateCalls, ADialToneAfterOtherSoundBeginsAnotherCall) {
  const auto calls = calls_in({answer_tone(), dial_tone(), digits(), silence(1), answer_tone()});
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0]->start_up.answer_tones.size(), 1U);
  EXPECT_NEAR(calls[1]->recording.start_s, 4, 0.1);
  EXPECT_EQ(calls[1]->signals.front().name, "dial tone");
}

TEST(DecodeSeparateCalls, SilenceAfterTheDigitsIsOfTheSameCall) {
  const auto calls = calls_in({dial_tone(), digits(), silence(7), answer_tone()});
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0]->recording.call, 0);
  EXPECT_EQ(calls[0]->recording.start_s, 0);
  EXPECT_EQ(calls[0]->signals.size(), 2U);
  EXPECT_EQ(calls[0]->start_up.answer_tones.size(), 1U);
}

TEST(DecodeSeparateCalls, OtherSoundsAreNoCalls) {
  const auto calls = calls_in({tones({700}, 2), silence(6), answer_tone(), silence(8), tones({700}, 1), silence(5),
                               dial_tone(), digits(), silence(1), answer_tone()});
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_NEAR(calls[0]->recording.start_s, 7, 0.05);
  EXPECT_EQ(calls[1]->signals.size(), 2U);
}

TEST(DecodeSeparateCalls, OneCallAfterMoreThanAnHourOfSilenceIsFound) {
  const auto calls = calls_in({silence(3700), answer_tone(), silence(1)});
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_NEAR(calls[0]->recording.start_s, 3699, 0.05);
  EXPECT_EQ(calls[0]->start_up.answer_tones.size(), 1U);
}

TEST(DecodeSeparateCalls, MoreThanAnHourOfSilenceHasNoModem) {
  const auto calls = calls_in({silence(3700)});
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_FALSE(modem_found(*calls[0]));
  EXPECT_NEAR(calls[0]->recording.duration_s, 3700, 0.05);
}

TEST(DecodeSeparateCalls, ARecordingOfNoneIsOneWithoutAModem) {
  const auto calls = calls_in({tones({700}, 2), silence(6), tones({700}, 2)});
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_FALSE(modem_found(*calls[0]));
  EXPECT_EQ(calls[0]->recording.call, 0);
  EXPECT_NEAR(calls[0]->recording.duration_s, 10, 1e-9);
}

}  // namespace
}  // namespace offhook::decode
