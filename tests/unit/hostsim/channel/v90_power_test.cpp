// SPDX-License-Identifier: MIT
//
// The power with which V.90's analogue modem sends, where the digital modem asks for less.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "dsp/v34/phase2/info.h"
#include "hostsim/channel/g711.h"
#include "tests/unit/dsp/v34/pump_line.h"
#include "tests/v90_call.h"

namespace offhook {
namespace {

/// dB of what the analogue modem has sent from Phase 3 on: its first S, of 128 symbols, and four seconds of data.
struct Sent {
  double training_db, data_db;
};

double db(const std::vector<int16_t>& sent, size_t from, size_t to) {
  double sum = 0;
  for (size_t n = from; n < to; ++n) sum += static_cast<double>(sent[n]) * sent[n];
  return 10 * std::log10(sum / static_cast<double>(to - from));
}

/// @param phase3  past the end of INFO1a, the last of the analogue modem's sequences
Sent sent_by_analogue(V90Call& call, const V90Call::Received& received, size_t phase3) {
  const std::vector<int16_t>& sent = received.analogue_sent;
  size_t s = phase3;
  for (size_t quiet = 0; s < sent.size(); ++s) {  // 70 ms of silence come first (9.3.2.1)
    quiet = std::abs(sent[s]) < 20 ? quiet + 1 : quiet;
    if (quiet > 400 && std::abs(sent[s]) >= 20) break;
  }
  constexpr size_t kEdge = 60, kS = 200;
  const size_t data = sent.size();
  call.run(4);
  return {db(sent, s + kEdge, s + kEdge + kS), db(sent, data, sent.size())};
}

// Table 9, bits 12:14: the digital modem recommends a power reduction in dB, and the analogue modem, whose INFO0a says
// that it can reduce its power, sends so much weaker from Phase 3 on. INFO1d is another one on the trunk, and nothing
// else of the call is.
TEST(V90Power, TheAnalogueModemSendsWithSoMuchLessAsInfo1dAsksFor) {
  V90Call plain(V90Call::from_phase2_on());
  V90Call::Received received;
  plain.record(&received);
  ASSERT_TRUE(plain.connect(15));
  std::vector<double> digital, analogue;
  for (const uint8_t octet : received.digital_sent) digital.push_back(hostsim::mu_law_decode(octet));
  for (const int16_t x : received.analogue_sent) analogue.push_back(x);
  v34::Info1aV90 info1a{};
  const size_t phase3 = test::find_info(analogue, 2400, &info1a);
  ASSERT_GT(phase3, 0u);
  const Sent before = sent_by_analogue(plain, received, phase3);
  for (const uint8_t less : {uint8_t{0}, uint8_t{1}, uint8_t{7}}) {
    SCOPED_TRACE(testing::Message() << int(less) << " dB less");
    const auto other =
        test::changed<v34::Info1c>(digital, 0, [less](v34::Info1c& info) { info.min_power_reduction = less; });
    std::vector<uint8_t> octets;
    for (const float x : other.samples) octets.push_back(hostsim::mu_law_encode(static_cast<int16_t>(std::lrint(x))));
    V90Call call(V90Call::from_phase2_on());
    call.instead(other.from, octets);
    V90Call::Received of_call;
    call.record(&of_call);
    ASSERT_TRUE(call.connect(15));
    const Sent after = sent_by_analogue(call, of_call, phase3);
    EXPECT_NEAR(before.training_db - after.training_db, less, 0.15);
    EXPECT_NEAR(before.data_db - after.data_db, less, 0.15);
    EXPECT_EQ(call.analogue_status().modulation, OH_MODULATION_V90);
    EXPECT_EQ(call.analogue_status().retrains + call.digital_status().retrains, 0u);
  }
}

}  // namespace
}  // namespace offhook
