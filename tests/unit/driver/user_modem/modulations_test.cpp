// SPDX-License-Identifier: MIT
//
// The rows of the table, and the pumps behind those that spandsp has, with start-stop characters over them.
#include "driver/user_modem/modulations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/blocks/tone.h"
#include "dsp/link/start_stop.h"
#include "dsp/v8/answer_tone.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

// This include is last, because it defines std's rounding functions as macros.
#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

namespace offhook {
namespace {

using test::LineConfig;
using test::PumpPair;

TEST(Modulations, EveryRowIsItsPumps) {
  std::set<std::string> names, carriers;
  uint32_t ids = 0, fastest = 0;
  for (const Modulation& m : kModulations) {
    SCOPED_TRACE(m.name);
    EXPECT_EQ(m.type()->name, std::string(m.name));
    EXPECT_EQ(ids & m.id, 0u);
    ids |= m.id;
    EXPECT_TRUE(names.insert(m.name).second);
    EXPECT_TRUE(carriers.insert(m.carrier).second);
    EXPECT_LE(m.min_bit_rate, m.max_bit_rate);
    EXPECT_GE(m.max_bit_rate, fastest) << "from the slowest to the fastest";
    fastest = m.max_bit_rate;
    EXPECT_EQ(m.begin == nullptr, m.id == OH_MODULATION_NONE);
    EXPECT_EQ(&modulation_of(m.id), &m);
  }
  EXPECT_EQ(ids, kAllModulations);
  EXPECT_EQ(kModulations.back().id, OH_MODULATION_NONE);
}

/// Two modems of one kind, each with a queue of characters.
class Slow : public testing::TestWithParam<Modulation> {
 protected:
  PumpPair make(const LineConfig& line) {
    return PumpPair(GetParam().type(), line, {ends_[0].port(), ends_[1].port()});
  }
  uint32_t rate(int sender) const {
    const bool turned = std::string_view(GetParam().name).ends_with("turned");
    return (sender == 0) != turned ? GetParam().min_bit_rate : GetParam().max_bit_rate;
  }
  // This many characters in each direction, and the received ones.
  void exchange(PumpPair* pair, uint32_t n) {
    std::mt19937 random(7);
    double seconds = 0;
    for (int end = 0; end < 2; ++end) {
      sent_[end].resize(n * rate(end) / GetParam().max_bit_rate);
      for (uint8_t& c : sent_[end]) c = static_cast<uint8_t>(random());
      ASSERT_EQ(ends_[end].write(sent_[end].data(), static_cast<uint32_t>(sent_[end].size())), sent_[end].size());
      seconds = std::max(seconds, 10.0 * static_cast<double>(sent_[end].size()) / rate(end));
    }
    pair->run(static_cast<size_t>((seconds + 3) * 8000));
    for (int end = 0; end < 2; ++end) {
      came_[end].resize(sent_[1 - end].size() + 100);
      came_[end].resize(ends_[end].read(came_[end].data(), static_cast<uint32_t>(came_[end].size())));
    }
  }
  void expect_whole() {
    EXPECT_EQ(came_[0], sent_[1]);
    EXPECT_EQ(came_[1], sent_[0]);
  }
  v14::Link ends_[2];
  std::vector<uint8_t> sent_[2], came_[2];
};

TEST_P(Slow, CarriesCharactersBothWaysAtEveryDelay) {
  for (const size_t delay : {40, 1200, 4800}) {
    SCOPED_TRACE(testing::Message() << delay << " samples");
    PumpPair pair = make({.delay_samples = delay, .attenuation_db = 15, .snr_db = 25});
    ASSERT_TRUE(pair.connect(25));
    for (const int end : {0, 1}) {
      EXPECT_EQ(pair.status(end).modulation, GetParam().id);
      EXPECT_EQ(pair.status(end).tx_bit_rate, rate(end));
      EXPECT_EQ(pair.status(end).rx_bit_rate, rate(1 - end));
    }
    exchange(&pair, 300);
    expect_whole();
    EXPECT_EQ(pair.status(0).retrains, 0u);
  }
}

TEST_P(Slow, AnswererIsSilentThenSendsItsTone) {
  v14::Link link;
  oh_pump_config config{};
  config.format = kLinear8000;
  config.role = OH_PUMP_ANSWER;
  config.tx_level_dbm0 = -12;
  config.port = link.port();
  const oh_pump_type* type = GetParam().type();
  std::vector<unsigned char> memory(type->size(&config) + 64);
  void* self = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
  ASSERT_EQ(type->init(self, &config), 0);
  ToneDetector ans(v8::kAnswerToneHz), mark(GetParam().mark_hz != 0 ? GetParam().mark_hz : 2250);
  size_t silent = 0;
  float ans_ms = 0, mark_ms = 0;
  for (size_t k = 0; k < 8 * 8000; ++k) {
    int16_t rx = 0, tx;
    type->process(self, &rx, &tx, 1);
    if (silent == k && tx == 0) ++silent;
    ans.put(tx);
    mark.put(tx);
    ans_ms = std::max(ans_ms, ans.steady_ms());
    mark_ms = std::max(mark_ms, mark.steady_ms());
  }
  // V.25 4.3: 1.8 to 2.5 s, and the tone for 3.3 +- 0.7 s; Bell's is the mark of Bell 103.
  EXPECT_GE(silent, 1.8 * 8000);
  EXPECT_LE(silent, 2.5 * 8000);
  if (GetParam().id == OH_MODULATION_BELL103 || GetParam().id == OH_MODULATION_BELL212A) {
    EXPECT_EQ(ans_ms, 0);
    EXPECT_EQ(GetParam().mark_hz, 2225);
  } else {
    EXPECT_GE(ans_ms, 2600);
    EXPECT_LE(ans_ms, 4000);
  }
  EXPECT_GT(mark_ms, 1000);
  type->release(self);
}

TEST_P(Slow, AShortGapFilledInCostsOnlyACharacterOrSo) {
  PumpPair pair = make({.snr_db = 30});
  ASSERT_TRUE(pair.connect(25));
  pair.run(8000);
  pair.lose(0, 80);
  pair.run(4000);
  for (v14::Link& end : ends_) {
    uint8_t false_starts[16];
    EXPECT_LE(end.read(false_starts, sizeof false_starts), 4u) << "a gap looks like start bits";
  }
  exchange(&pair, 100);
  expect_whole();
  EXPECT_EQ(pair.status(0).filled_in, 80u);
  EXPECT_EQ(pair.status(0).samples, pair.status(1).samples);
}

TEST_P(Slow, HangingUpEndsTheCallAtBothEnds) {
  PumpPair pair = make({.snr_db = 30});
  ASSERT_TRUE(pair.connect(25));
  pair.run(8000);
  pair.hang_up(0);
  EXPECT_EQ(pair.status(0).state, OH_PUMP_IDLE);
  pair.run(45 * 8000);
  EXPECT_EQ(pair.status(0).state, OH_PUMP_IDLE);
  EXPECT_EQ(pair.status(1).state, OH_PUMP_FAILED);
  EXPECT_EQ(pair.status(1).failure, OH_PUMP_FAILURE_NONE);
}

// V.23 with other senders and rates, as rows of the table.
constexpr Modulation kV23Turned = fsk::row<kV23TurnedLine>("V23C", 0), kV23At600 = fsk::row<kV23At600Line>("V23C", 0),
                     kV23At600Turned = fsk::row<kV23At600TurnedLine>("V23C", 0);

INSTANTIATE_TEST_SUITE_P(OfSpandsp, Slow,
                         testing::Values(kV21, kV23, kV23Turned, kV23At600, kV23At600Turned, kBell103, kBell212a, kV22),
                         [](const auto& row) { return std::string(row.param.name); });

/// spandsp's own modulator and correlator at the other end, which sends start-stop characters from its first sample.
struct ForeignFsk {
  ForeignFsk(const fsk::Channel& sends, const fsk::Channel& receives, const std::vector<uint8_t>& characters) {
    for (const uint8_t c : characters) {
      bits.push_back(0);
      for (int k = 0; k < 8; ++k) bits.push_back(c >> k & 1);
      bits.push_back(1);
    }
    const auto spec = [](const fsk::Channel& c) {
      return fsk_spec_t{"far", c.zero_hz, c.one_hz, -14, -48, c.bit_rate * 100};
    };
    const fsk_spec_t out = spec(sends), in = spec(receives);
    fsk_tx_init(
        &tx, &out, [](void* self) { return static_cast<ForeignFsk*>(self)->next(); }, this);
    fsk_rx_init(
        &rx, &in, FSK_FRAME_MODE_ASYNC,
        [](void* self, int bit) {
          if (bit >= 0) static_cast<ForeignFsk*>(self)->came.push_back(static_cast<uint8_t>(bit));
        },
        this);
  }
  int next() { return ready && at < bits.size() ? bits[at++] : 1; }
  std::vector<uint8_t> bits, came;
  std::size_t at = 0;
  bool ready = false;
  fsk_tx_state_t tx;
  fsk_rx_state_t rx;
};

/// The characters in the bits of a correlator, LSB first.
std::vector<uint8_t> characters_in(const std::vector<uint8_t>& bits) {
  std::vector<uint8_t> out;
  for (std::size_t k = 0; k + 9 < bits.size();) {
    if (bits[k] != 0 || bits[k + 9] != 1) {
      ++k;
      continue;
    }
    uint8_t c = 0;
    for (int b = 0; b < 8; ++b) c = static_cast<uint8_t>(c | bits[k + 1 + static_cast<std::size_t>(b)] << b);
    out.push_back(c);
    k += 10;
  }
  return out;
}

TEST(V23Turned, SpandspIsTheFarEndOfEverySenderAndRate) {
  for (const fsk::Line* line : {&kV23Line, &kV23TurnedLine, &kV23At600Line, &kV23At600TurnedLine}) {
    for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
      SCOPED_TRACE(std::string(line->name) + (role == OH_PUMP_CALL ? " calls" : " answers"));
      const bool calls = role == OH_PUMP_CALL;
      const fsk::Channel &own = calls ? line->call : line->answer, &other = calls ? line->answer : line->call;
      const std::vector<uint8_t> text = {'V', '.', '2', '3', 0x00, 0xff, 0x55, 'e', 'n', 'd'};
      ForeignFsk far(other, own, text);
      v14::Link link;
      oh_pump_config config{};
      config.format = kLinear8000;
      config.role = role;
      config.tx_level_dbm0 = -12;
      config.port = link.port();
      const oh_pump_type* type =
          v23_with_rates(static_cast<uint32_t>(line->call.bit_rate), static_cast<uint32_t>(line->answer.bit_rate));
      ASSERT_NE(type, nullptr);
      std::vector<unsigned char> memory(type->size(&config) + 64);
      void* self = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
      ASSERT_EQ(type->init(self, &config), 0);
      ASSERT_EQ(link.write(text.data(), static_cast<uint32_t>(text.size())), text.size());
      std::vector<uint8_t> came;
      int16_t to_far = 0;
      for (size_t k = 0; k < 16 * 8000; ++k) {
        int16_t from_far = 0;
        far.ready = k > 10 * 8000;
        fsk_tx(&far.tx, &from_far, 1);
        fsk_rx(&far.rx, &to_far, 1);
        type->process(self, &from_far, &to_far, 1);
        uint8_t c = 0;
        while (link.read(&c, 1) == 1) came.push_back(c);
      }
      oh_pump_status s{};
      s.struct_size = sizeof s;
      type->status(self, &s);
      EXPECT_EQ(s.state, OH_PUMP_DATA);
      EXPECT_EQ(s.tx_bit_rate, static_cast<uint32_t>(own.bit_rate));
      EXPECT_EQ(s.rx_bit_rate, static_cast<uint32_t>(other.bit_rate));
      EXPECT_EQ(came, text);
      // Characters that the correlator finds before the first carrier were not sent by this end.
      const std::vector<uint8_t> heard = characters_in(far.came);
      EXPECT_NE(std::search(heard.begin(), heard.end(), text.begin(), text.end()), heard.end());
      type->release(self);
    }
  }
  EXPECT_EQ(v23_with_rates(1200, 1200), nullptr);
}

// A caller that receives only other modulations reports that; one that receives nothing does not.
TEST(SlowAlone, SomebodyElsesToneIsNothingInCommon) {
  v14::Link link;
  for (const bool tone : {false, true}) {
    oh_pump_config config{};
    config.format = kLinear8000;
    config.role = OH_PUMP_CALL;
    config.tx_level_dbm0 = -12;
    config.port = link.port();
    const oh_pump_type* type = kV21.type();
    std::vector<unsigned char> memory(type->size(&config) + 64);
    void* self = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
    ASSERT_EQ(type->init(self, &config), 0);
    for (size_t k = 0; k < 61 * 8000; ++k) {
      const int16_t rx = tone ? static_cast<int16_t>(1000 * std::sin(2 * M_PI * 2225 / 8000 * double(k))) : int16_t{0};
      int16_t tx;
      type->process(self, &rx, &tx, 1);
      ASSERT_EQ(tx, 0);
    }
    oh_pump_status s;
    type->status(self, &s);
    EXPECT_EQ(s.state, OH_PUMP_FAILED);
    EXPECT_EQ(s.failure, tone ? OH_PUMP_NOTHING_IN_COMMON : OH_PUMP_FAILURE_NONE);
    type->release(self);
  }
}

}  // namespace
}  // namespace offhook
