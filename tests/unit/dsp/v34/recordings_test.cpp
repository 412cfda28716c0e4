// SPDX-License-Identifier: MIT
// The passive receivers of Phases 1 and 2 on recorded calls of real modems, against what an independent decoder found.
// The recordings are no part of the project: without their folder the tests are skipped.
#include "tests/recordings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "dsp/v34/phase2/info_detector.h"
#include "dsp/v34/phase2/tones.h"
#include "dsp/v8/answer_tone.h"
#include "dsp/v8/fsk.h"
#include "dsp/v8/menu.h"

namespace offhook::v34 {
namespace {

using nlohmann::json;

/// One channel of a 16-bit stereo file at 8000 Hz with the plain 44-byte header.
std::vector<float> read_channel(const std::filesystem::path& path, int channel) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<float> x;
  for (size_t k = 44 + 2 * static_cast<size_t>(channel); k + 1 < bytes.size(); k += 4) {
    x.push_back(static_cast<int16_t>(static_cast<uint8_t>(bytes[k]) | static_cast<uint8_t>(bytes[k + 1]) << 8));
  }
  return x;
}

/// Menus of one channel: the octets between a synchronization and the next, with their number.
std::vector<std::vector<uint8_t>> menus(const std::vector<float>& x, v8::Channel channel, float least_peak,
                                        int* zeros) {
  v8::FskReceiver receiver(channel);
  std::vector<std::vector<uint8_t>> all;
  v8::Octet octet;
  *zeros = 0;
  for (const float v : x) {
    if (!receiver.put(v, &octet) || octet.peak < least_peak) continue;
    if (octet.value == v8::kSyncCm) {
      all.emplace_back();
    } else if (octet.value == 0 && !all.empty()) {
      ++*zeros;
    } else if (!all.empty() && octet.ones_before < 5 && *zeros == 0) {
      all.back().push_back(octet.value);
    }
  }
  return all;
}

std::vector<uint8_t> octets_of(const std::string& hex) {
  std::istringstream in(hex);
  std::vector<uint8_t> all;
  for (int v = 0; in >> std::hex >> v;) all.push_back(static_cast<uint8_t>(v));
  return all;
}

template <class Info>
bool info_of(const json& entry, Info* info) {
  const std::string raw = entry.at("raw");
  uint8_t bits[Info::kBits]{};
  if (raw.size() != Info::kBits) return false;
  for (size_t k = 0; k < raw.size(); ++k) bits[k] = raw[k] == '1';
  return decode(bits, info);
}

template <class Info>
std::vector<typename InfoDetector<Info>::Found> infos(const std::vector<float>& x, int carrier_hz) {
  DpskReceiver receiver(carrier_hz);
  auto detector = std::make_unique<InfoDetector<Info>>();
  std::vector<typename InfoDetector<Info>::Found> all;
  DpskDecision decision;
  for (const float v : x) {
    if (receiver.put(v, &decision) && detector->put(decision)) all.push_back(detector->found());
  }
  return all;
}

class RecordedCall : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::filesystem::path calls = recordings() / "calls";
    const std::string lacks = absent(calls, {"truth.json", GetParam()});
    if (!lacks.empty()) GTEST_SKIP() << lacks << " is not on this machine";
    truth_ = json::parse(std::ifstream(calls / "truth.json")).at(GetParam());
    for (int k = 0; k < 2; ++k) x_[k] = read_channel(calls / GetParam(), k);
  }
  json truth_;
  std::vector<float> x_[2];
};

TEST_P(RecordedCall, MenusAndCjAreThoseOfTheReference) {
  const struct {
    const char* key;
    v8::Channel channel;
  } kinds[] = {{"cm", v8::Channel::kLow}, {"jm", v8::Channel::kHigh}};
  for (const auto& kind : kinds) {
    const json& want = truth_.at(kind.key);
    int zeros = 0;
    const auto found = menus(x_[want.at("channel").get<int>()], kind.channel, 300, &zeros);
    const std::vector<uint8_t> octets = octets_of(want.at("octets"));
    int equal = 0;
    for (const auto& menu : found) equal += menu == octets;
    EXPECT_GE(equal, want.at("identical_sequences").get<int>()) << kind.key;
    if (kind.channel == v8::Channel::kLow) {
      EXPECT_GE(zeros, truth_.at("cj_complete_octets").get<int>());
    }
  }
}

TEST_P(RecordedCall, AnswerToneIsAnsamWithItsReversals) {
  for (const json& want : truth_.at("answer_tones")) {
    v8::AnswerToneDetector detector;
    std::vector<double> reversals;
    bool ansam = false;
    for (const float v : x_[want.at("channel").get<int>()]) {
      if (detector.put(v) == ToneEvent::kReversal) reversals.push_back(detector.detector().reversal_time() / 8000);
      ansam |= detector.tone() == v8::AnswerTone::kAnsam;
    }
    EXPECT_EQ(ansam, want.at("kind").get<std::string>().find("ANSam") == 0);
    for (const double t : want.at("reversals")) {
      double nearest = 1;
      for (const double r : reversals) nearest = std::min(nearest, std::abs(r - t));
      EXPECT_LT(nearest, 0.001) << "reversal at " << t;
    }
  }
}

TEST_P(RecordedCall, EveryInfoSequenceOfBothSidesIsFound) {
  const int call = truth_.at("channel_1200hz"), answer = truth_.at("channel_2400hz");
  const auto check = [](const json& wanted, const auto& found) {
    for (const json& entry : wanted) {
      auto info = found.empty() ? decltype(found[0].info){} : found[0].info;
      if (!info_of(entry, &info)) continue;  // of another kind
      int equal = 0;
      for (const auto& f : found) equal += f.info == info;
      EXPECT_GE(equal, 1) << entry.at("type") << " at " << entry.at("t0");
    }
  };
  const json& all = truth_.at("info");
  if (all.contains("info0_1200")) check(all["info0_1200"], infos<Info0>(x_[call], kDpskCallHz));
  if (all.contains("info0_2400")) check(all["info0_2400"], infos<Info0>(x_[answer], kDpskAnswerHz));
  if (all.contains("info1_1200")) check(all["info1_1200"], infos<Info1c>(x_[call], kDpskCallHz));
  if (all.contains("info1_2400")) {
    check(all["info1_2400"], infos<Info1a>(x_[answer], kDpskAnswerHz));
    check(all["info1_2400"], infos<Info1aV90>(x_[answer], kDpskAnswerHz));
  }
}

TEST_P(RecordedCall, ReversalsOfBothTonesAreWithin1msOfTheReference) {
  for (const char* key : {"tone_A", "tone_B"}) {
    const json& want = truth_.at("phase2").at(key);
    ToneDetector detector(key[5] == 'A' ? kToneAHz : kToneBHz);
    std::vector<double> found;
    for (const float v : x_[want.at("channel").get<int>()]) {
      if (detector.put(v) == ToneEvent::kReversal) found.push_back(detector.reversal_time() / 8000);
    }
    const double start = truth_.at("phase2").at("t_start");
    for (const double t : want.at("reversals")) {
      if (t < start) continue;
      double nearest = 1;
      for (const double r : found) nearest = std::min(nearest, std::abs(r - t));
      EXPECT_LT(nearest, 0.001) << key << " at " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordedCall,
                         testing::Values("3com-sportsterflash-28800-28800.wav", "aztech-ti-28800-33600.wav",
                                         "conexant-rh56sp-33600-33600.wav", "ktx-33600fm-24000-24000.wav",
                                         "motorola-sm56-31200-31200.wav", "Smartlink-SL2800-smooth-crescendo.wav",
                                         "USR-Sportster-bong-bong.wav"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace offhook::v34
