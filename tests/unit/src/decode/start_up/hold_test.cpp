// SPDX-License-Identifier: MIT
//
// Modem-on-hold of V.92 in a recording of our own modems: what each of them received, as the two channels of a file.
#include "src/decode/start_up/hold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hostsim/channel/g711.h"
#include "src/decode/presentation/names.h"
#include "tests/v90_call.h"

namespace offhook::decode {
namespace {

constexpr int kFromAnalogue = 0, kFromDigital = 1;  // channels

/// From the order on, so many seconds of a call in which the analogue or the digital modem has been given it.
std::vector<HoldHeard> heard_after(oh_hold_order order, bool analogue, uint8_t timeout, double seconds) {
  V90Call::Options o = V90Call::from_phase2_on();
  o.analogue.hold_timeout = o.digital.hold_timeout = timeout;
  V90Call call(o);
  EXPECT_TRUE(call.connect(20));
  V90Call::Received received;
  call.record(&received);
  EXPECT_EQ(oh_v90_hold(analogue ? call.analogue() : call.digital(), order), 0);
  call.run(seconds);
  call.record(nullptr);
  std::vector<std::vector<float>> channels(2);
  for (const uint8_t octet : received.digital)
    channels[kFromAnalogue].push_back(static_cast<float>(hostsim::mu_law_decode(octet)) / 32768);
  for (std::size_t k = 0; k < received.analogue.size(); k += 2)
    channels[kFromDigital].push_back(received.analogue[k] / 32768.f);
  const std::size_t n = std::min(channels[0].size(), channels[1].size());
  for (auto& channel : channels) channel.resize(n);
  return find_hold(make_recording(channels, 8000, "hold"));
}

/// "2400 MHreq", "1200 MHack hold for 30 s".
std::vector<std::string> in_words(const std::vector<HoldHeard>& heard) {
  std::vector<std::string> words;
  for (const HoldHeard& h : heard) {
    const std::string detail = describe(h.message);
    words.push_back(std::to_string(h.carrier_hz) + " " + name(h.message.signal) + (detail.empty() ? "" : " " + detail));
  }
  return words;
}

TEST(DecodeHold, ReadsRequestAndGrantOfEitherModem) {
  const auto by_analogue = heard_after(OH_HOLD_REQUEST, true, 3, 3);
  EXPECT_EQ(in_words(by_analogue), (std::vector<std::string>{"2400 MHreq", "1200 MHack hold for 30 s"}));
  EXPECT_EQ(by_analogue.at(0).channel, kFromAnalogue);
  EXPECT_EQ(by_analogue.at(1).channel, kFromDigital);
  EXPECT_GT(by_analogue.at(1).t0, by_analogue.at(0).t0);
  // A sequence has 40 bits of 1/600 s and follows the one before without a break.
  for (const HoldHeard& h : by_analogue) EXPECT_NEAR(h.t1 - h.t0, h.count * 40 / 600., 0.003);
  EXPECT_EQ(in_words(heard_after(OH_HOLD_REQUEST, false, 13, 3)),
            (std::vector<std::string>{"1200 MHreq", "2400 MHack hold without limit"}));
}

TEST(DecodeHold, ReadsADenialAndTheFastReconnect) {
  EXPECT_EQ(in_words(heard_after(OH_HOLD_REQUEST, true, 0, 4)),
            (std::vector<std::string>{"2400 MHreq", "1200 MHnack denied, and so is any later request", "2400 MHfrr"}));
}

TEST(DecodeHold, ReadsWhyTheCallIsClearedDown) {
  EXPECT_EQ(in_words(heard_after(OH_HOLD_CLEAR_INCOMING, true, 0, 2)),
            (std::vector<std::string>{"2400 MHclrd incoming call", "1200 MHcda"}));
  EXPECT_EQ(in_words(heard_after(OH_HOLD_CLEAR_OUTGOING, false, 0, 2)),
            (std::vector<std::string>{"1200 MHclrd outgoing call", "2400 MHcda"}));
}

TEST(DecodeHold, ReadsNothingInARetrain) {
  V90Call call(V90Call::from_phase2_on());
  ASSERT_TRUE(call.connect(20));
  V90Call::Received received;
  call.record(&received);
  oh_v90_retrain(call.analogue());
  call.run(6);
  std::vector<float> channel;
  for (std::size_t k = 0; k < received.analogue.size(); k += 2) channel.push_back(received.analogue[k] / 32768.f);
  EXPECT_TRUE(find_hold(make_recording({channel}, 8000, "retrain")).empty());
}

}  // namespace
}  // namespace offhook::decode
