// SPDX-License-Identifier: MIT
//
// Quick Connect of other makes, as a recording of both directions has it: an Agere modem and the server that it called.
// QC2 and QCA2 of V.8 bis, then QTS, ANSpcm at -12 dBm0, TONEq and a short Phase 2. What its truth.json says was read
// by other means.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "dsp/v34/phase2/info_detector.h"
#include "dsp/v90/session/short_phase1.h"
#include "tests/recordings.h"

namespace offhook::v90 {
namespace {

constexpr const char* kFile = "Agere-SV92-QC.wav";
// Seconds of the recording, of truth.json.
constexpr double kQcaEnds = 2.98, kAnspcmBegins = 3.0989, kAnspcmEnds = 4.7605, kInfo0dBegins = 4.841;

/// 16-bit samples of two channels at 8000 Hz: the answering server's, the calling modem's.
struct Recorded {
  Recorded() {
    std::ifstream file(recordings() / "calls" / kFile, std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(file)), {});
    const size_t data = all.find("data") + 8;
    for (size_t at = data; at + 4 <= all.size(); at += 4) {
      int16_t pair[2];
      std::memcpy(pair, all.data() + at, sizeof pair);
      digital.push_back(pair[0]);
      analogue.push_back(pair[1]);
    }
  }
  std::vector<float> digital, analogue;
};

class RecordedQuickConnect : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string lacks = absent(recordings() / "calls", {kFile}); !lacks.empty())
      GTEST_SKIP() << lacks << " is not on this machine";
  }
};

size_t sample(double s) {
  return static_cast<size_t>(s * 8000);
}

TEST_F(RecordedQuickConnect, OurAnalogueModemAnswersTheServersAnspcm) {
  const Recorded r;
  ShortPhase1Config config;
  config.calls = true;
  ShortPhase1 analogue(config);
  double tone = 0, silence = 0;
  for (size_t n = sample(kQcaEnds); n < sample(kInfo0dBegins + 0.2) && analogue.state() != ShortPhase1::State::kEnded;
       ++n) {
    analogue.process(r.digital[n]);
    if (analogue.state() == ShortPhase1::State::kTone && tone == 0) tone = static_cast<double>(n) / 8000;
    if (analogue.state() == ShortPhase1::State::kSilence && silence == 0) silence = static_cast<double>(n) / 8000;
  }
  EXPECT_TRUE(analogue.heard_qts());
  EXPECT_GT(tone, kAnspcmBegins);
  EXPECT_LT(tone, kAnspcmBegins + 1) << "within the second of Figure 3";
  EXPECT_GT(silence, kAnspcmEnds - 0.005);
  EXPECT_LT(silence, kAnspcmEnds + 0.08);
  EXPECT_EQ(analogue.outcome(), ShortPhase1::Outcome::kPhase2);
}

TEST_F(RecordedQuickConnect, OurDigitalModemHearsTheCallersToneq) {
  const Recorded r;
  ShortPhase1Config config;
  config.digital = true;
  config.uqts = 78;
  ShortPhase1 digital(config);
  double heard = 0;
  for (size_t n = sample(kQcaEnds); n < sample(kInfo0dBegins + 0.2) && digital.state() != ShortPhase1::State::kEnded;
       ++n) {
    digital.process_digital(r.analogue[n]);
    if (digital.state() == ShortPhase1::State::kSilence && heard == 0) heard = static_cast<double>(n) / 8000;
  }
  EXPECT_GT(heard, kAnspcmBegins + 0.5);
  EXPECT_LT(heard, kAnspcmEnds) << "no later than the server";
  EXPECT_EQ(digital.outcome(), ShortPhase1::Outcome::kPhase2);
}

// Tables 15, 16 and 19.
TEST_F(RecordedQuickConnect, BothAskForTheShortPhase2AndChooseWithoutInfo1d) {
  const Recorded r;
  DpskReceiver server(v34::kDpskCallHz), caller(v34::kDpskAnswerHz);
  v34::InfoDetector<v34::Info0d> info0d;
  v34::InfoDetector<v34::Info0> info0a;
  v34::InfoDetector<v34::Info1aV90> info1a;
  v34::InfoDetector<v34::Info1c> info1d;
  int found = 0;
  for (size_t n = sample(4.7); n < sample(6); ++n) {
    DpskDecision decision;
    if (server.put(r.digital[n], &decision)) {
      if (info0d.put(decision)) ++found;
      EXPECT_FALSE(info1d.put(decision));
    }
    if (caller.put(r.analogue[n], &decision)) {
      if (info0a.put(decision)) ++found;
      if (info1a.put(decision)) ++found;
    }
  }
  EXPECT_EQ(found, 3);
  EXPECT_TRUE(info0d.found().info.v92);
  EXPECT_TRUE(info0d.found().info.short_phase2);
  EXPECT_EQ(static_cast<unsigned>(info0a.found().info.clock), v34::kInfo0aV92 | v34::kInfo0aShortPhase2);
  EXPECT_EQ(info1a.found().info.u_info, 78);
  EXPECT_EQ(info1a.found().info.rate_upstream, v34::SymbolRate::k3429);
  EXPECT_FALSE(info1a.found().info.high_carrier);
}

}  // namespace
}  // namespace offhook::v90
