// SPDX-License-Identifier: MIT
#include "dsp/v22/pump.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>

#include "dsp/pump/pump_type.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

namespace offhook::test {
namespace {

constexpr size_t kSecond = 8000;

class V22bis : public testing::Test {
 protected:
  V22bis() { bits_[0].tx = 0x1234567, bits_[1].tx = 0x7654321; }
  PumpPair make(LineConfig line = {}) { return PumpPair(oh_v22bis_type(), line, {bits_[0].port(), bits_[1].port()}); }

  /// Errors of both directions in the next `seconds`, after
  /// 0.5 s and one delay in which the bit testers synchronise.
  uint64_t errors(PumpPair& pair, size_t seconds, size_t delay_samples = 40) {
    pair.run(kSecond / 2 + delay_samples);
    const uint64_t bad = bits_[0].bad + bits_[1].bad, good = bits_[0].good + bits_[1].good;
    pair.run(seconds * kSecond);
    seen_ = bits_[0].good + bits_[1].good - good;
    return bits_[0].bad + bits_[1].bad - bad;
  }
  BitTester bits_[2];
  uint64_t seen_ = 0;  // correct bits in the last errors()
};

TEST_F(V22bis, CarriesBitsBothWaysOverACleanLine) {
  PumpPair pair = make();
  ASSERT_TRUE(pair.connect(8));
  EXPECT_EQ(errors(pair, 10), 0u);
  EXPECT_EQ(seen_, 2u * 2400 * 10);
  for (int end : {0, 1}) {
    const oh_pump_status s = pair.status(end);
    EXPECT_EQ(s.tx_bit_rate, 2400u);
    EXPECT_EQ(s.rx_bit_rate, 2400u);
    EXPECT_EQ(s.retrains, 0u);
    EXPECT_EQ(s.bits_received, bits_[end].good + bits_[end].bad);
  }
}

TEST_F(V22bis, TakesAndGivesBitsOnlyInDataMode) {
  PumpPair pair = make();
  while (!pair.connected()) {
    for (int end : {0, 1}) {
      const oh_pump_status s = pair.status(end);
      if (s.state != OH_PUMP_DATA) {
        ASSERT_EQ(s.bits_sent + s.bits_received, 0u);
        ASSERT_EQ(s.tx_bit_rate + s.rx_bit_rate, 0u);
      }
    }
    pair.run(1);
    ASSERT_LT(pair.status(0).samples, 10 * kSecond);
  }
}

TEST_F(V22bis, AnswererIsSilentThenSendsTheToneOfV25) {
  PumpPair pair = make();
  pair.run(kSecond * 18 / 10);
  EXPECT_EQ(pair.peak(1), 0) << "silent for at least 1.8 s";
  pair.run(kSecond * 7 / 10);
  EXPECT_GT(pair.peak(1), 0) << "and for 2.5 s at the most";
  pair.clear_level();
  pair.run(kSecond);
  EXPECT_NEAR(dbm0(pair.mean_square(1)), -12, 0.1);
  EXPECT_EQ(pair.peak(0), 0) << "the caller waits for the end of the tone";
  EXPECT_EQ(pair.status(1).state, OH_PUMP_CONNECTING);
}

// Some answering modems send unscrambled ones immediately.
TEST_F(V22bis, TheCallerAnswersUnscrambledOnesThatNoAnswerToneCameBefore) {
  for (const double attenuation_db : {0., 25.}) {
    PumpPair pair = make({.attenuation_db = attenuation_db});
    pair.run(kSecond);
    ASSERT_EQ(pair.peak(1), 0) << "before its answer tone";
    oh_v22bis_begin(pair.pump(1), -100);
    ASSERT_TRUE(pair.connect(6)) << attenuation_db;
    EXPECT_EQ(pair.status(0).rx_bit_rate, 2400u);
    EXPECT_EQ(errors(pair, 5), 0u);
  }
}

TEST_F(V22bis, WorksAt17DbSignalToNoise) {
  PumpPair pair = make({.snr_db = 17});
  ASSERT_TRUE(pair.connect(10));
  const uint64_t bad = errors(pair, 20);
  EXPECT_LT(double(bad), 1e-4 * double(seen_));
  EXPECT_EQ(pair.status(0).retrains + pair.status(1).retrains, 0u);
}

// 6.6. In the 4 kHz band; in the modem's band it is 8 dB better.
TEST_F(V22bis, ALineThatIsTooNoisyFor2400Gets1200) {
  PumpPair pair = make({.snr_db = 4});
  pair.run(60 * kSecond);
  const uint64_t bad = errors(pair, 20);
  EXPECT_LT(double(bad), 2e-3 * double(seen_));
  EXPECT_NEAR(double(seen_), 2 * 1200 * 20, 100);
  for (int end : {0, 1}) EXPECT_EQ(pair.status(end).rx_bit_rate, 1200u);
}

TEST_F(V22bis, WorksAt17DbAndLowLevel) {
  PumpPair pair = make({.attenuation_db = 20, .snr_db = 17});
  ASSERT_TRUE(pair.connect(10));
  const uint64_t bad = errors(pair, 10);
  EXPECT_LT(double(bad), 1e-4 * double(seen_));
}

TEST_F(V22bis, WorksWith300MsDelayEachWay) {
  PumpPair pair = make({.delay_samples = 2400});
  ASSERT_TRUE(pair.connect(12, 160));
  EXPECT_EQ(errors(pair, 10, 2400), 0u);
}

TEST_F(V22bis, FallsBackWhenOneEndIsLimitedTo1200) {
  for (int limited : {0, 1}) {
    LineConfig line;
    line.max_bit_rate[limited] = 1200;
    PumpPair pair = make(line);
    ASSERT_TRUE(pair.connect(10)) << limited;
    EXPECT_EQ(pair.status(0).rx_bit_rate, 1200u);
    EXPECT_EQ(pair.status(1).rx_bit_rate, 1200u);
    EXPECT_EQ(errors(pair, 5), 0u);
    EXPECT_EQ(seen_, 2u * 1200 * 5);
  }
}

TEST_F(V22bis, LevelsAreAsConfigured) {
  for (double level : {-6.0, -12.0, -20.0}) {
    PumpPair pair = make({.tx_level_dbm0 = level});
    ASSERT_TRUE(pair.connect(8));
    pair.clear_level();
    pair.run(20 * kSecond);
    for (int end : {0, 1}) {
      EXPECT_NEAR(dbm0(pair.mean_square(end)), level, 0.3) << end;
      EXPECT_NEAR(pair.status(end).rx_level_dbm0, dbm0(pair.mean_square(1 - end)), 0.3) << end;
    }
  }
}

TEST_F(V22bis, DoesNotClipAtTheHighestLevel) {
  PumpPair pair = make({.tx_level_dbm0 = -3});
  ASSERT_TRUE(pair.connect(8));
  pair.clear_level();
  pair.run(30 * kSecond);
  for (int end : {0, 1}) {
    EXPECT_LT(pair.peak(end), 32000);
    EXPECT_NEAR(dbm0(pair.mean_square(end)), -3, 0.3) << "a wrapped sample would show";
  }
  EXPECT_EQ(errors(pair, 3), 0u);
}

TEST_F(V22bis, AShortGapFilledInCostsOnlyTheBitsOfTheGap) {
  for (int end : {0, 1}) {
    for (size_t gap : {18u, 105u, 300u, 600u}) {
      PumpPair pair = make({.snr_db = 30});
      ASSERT_TRUE(pair.connect(8));
      pair.run(kSecond);
      pair.lose(end, gap);
      EXPECT_EQ(errors(pair, 3), 0u) << gap << " samples at end " << end;
      EXPECT_EQ(pair.status(0).retrains + pair.status(1).retrains, 0u) << gap;
      EXPECT_EQ(pair.status(end).samples, pair.status(1 - end).samples);
      EXPECT_EQ(pair.status(end).filled_in, gap);
    }
  }
}

TEST_F(V22bis, ALongGapFilledInIsWaitedFor) {
  for (int end : {0, 1}) {
    for (size_t gap : {1600u, 8000u}) {
      PumpPair pair = make({.snr_db = 25});
      ASSERT_TRUE(pair.connect(8));
      pair.run(kSecond);
      pair.lose(end, gap);
      pair.run(5 * kSecond);
      ASSERT_TRUE(pair.connected()) << gap << " samples at end " << end;
      EXPECT_EQ(errors(pair, 3), 0u);
      EXPECT_EQ(pair.status(0).retrains + pair.status(1).retrains, 0u) << gap;
      EXPECT_EQ(pair.status(end).samples, pair.status(1 - end).samples);
    }
  }
}

TEST_F(V22bis, RecoversFromSamplesLostWithoutAWord) {
  for (int end : {0, 1}) {
    for (size_t gap : {1u, 7u, 50u, 210u, 700u, 1600u, 8000u}) {
      PumpPair pair = make({.snr_db = 25, .seed = unsigned(gap)});
      ASSERT_TRUE(pair.connect(8));
      pair.run(kSecond);
      pair.lose(end, gap, false);
      pair.run(9 * kSecond);
      ASSERT_TRUE(pair.connected()) << gap << " samples at end " << end;
      EXPECT_EQ(errors(pair, 3), 0u) << gap << " samples at end " << end;
    }
  }
}

TEST_F(V22bis, RecoversFromRepeatedGapsOverALongDelayInNoise) {
  PumpPair pair = make({.delay_samples = 2400, .snr_db = 20});
  ASSERT_TRUE(pair.connect(12));
  for (int i = 0; i < 6; ++i) {
    pair.lose(i & 1, 2000);
    pair.run(8 * kSecond);
    ASSERT_TRUE(pair.connected()) << "gap " << i;
  }
  EXPECT_EQ(errors(pair, 3, 2400), 0u);
}

TEST_F(V22bis, FailsForGoodWhenTheFarEndIsGone) {
  PumpPair pair = make();
  ASSERT_TRUE(pair.connect(8));
  pair.lose(1, 45 * kSecond, false);
  EXPECT_EQ(pair.status(0).state, OH_PUMP_FAILED);
  pair.clear_level();
  pair.run(5 * kSecond);
  EXPECT_EQ(pair.status(0).state, OH_PUMP_FAILED);
  EXPECT_EQ(pair.peak(0), 0);
}

TEST_F(V22bis, EveryBlockLengthGivesTheSameBits) {
  constexpr size_t kDelay = 512, kLength = 20 * kSecond;
  std::vector<uint8_t> reference[2];
  for (size_t block : {1u, 2u, 7u, 18u, 90u, 105u, 160u, 511u, 512u}) {
    // No noise, because it is drawn in the order of the blocks.
    PumpPair clean = make({.delay_samples = kDelay});
    for (auto& b : bits_) {
      b = BitTester{};
      b.tx = 0x1234567;
      b.keep = true;
    }
    clean.run(kLength, block);
    for (int end : {0, 1}) {
      if (block == 1) {
        reference[end] = bits_[end].received;
        ASSERT_GT(reference[end].size(), 2400u * 10);
      } else {
        EXPECT_EQ(bits_[end].received, reference[end]) << "blocks of " << block << " at end " << end;
      }
    }
  }
}

TEST_F(V22bis, AllocatesNothingAfterInit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "mallinfo2 does not count under a sanitizer";
#endif
  oh_pump_config config{};
  config.format = kLinear8000;
  config.role = OH_PUMP_ANSWER;
  config.tx_level_dbm0 = -12;
  config.port = bits_[0].port();
  const oh_pump_type* ops = oh_v22bis_type();
  const size_t size = ops->size(&config);
  std::unique_ptr<void, void (*)(void*)> self(std::aligned_alloc(64, size), std::free);
  const size_t before = mallinfo2().uordblks;
  ASSERT_EQ(ops->init(self.get(), &config), 0);
  int16_t rx[105], tx[105];
  std::mt19937 random(1);
  for (int block = 0; block < 100000; ++block) {
    for (int16_t& x : rx) x = int16_t(int(random() % 4000) - 2000);
    if (block % 1000 == 999) {
      ops->report_gap(self.get(), 105);
    } else {
      ops->process(self.get(), rx, tx, 105);
    }
    ASSERT_EQ(mallinfo2().uordblks, before) << "block " << block;
  }
}

TEST_F(V22bis, StaysInsideItsMemory) {
  oh_pump_config config{};
  config.format = kLinear8000;
  config.tx_level_dbm0 = -12;
  config.port = bits_[0].port();
  const oh_pump_type* ops = oh_v22bis_type();
  const size_t size = ops->size(&config);
  EXPECT_EQ(size % 64, 0u);
  auto* self = static_cast<uint8_t*>(std::aligned_alloc(64, size + 4096));
  memset(self, 0xA5, size + 4096);
  ASSERT_EQ(ops->init(self, &config), 0);
  ops->report_gap(self, 10 * kSecond);
  for (size_t i = size; i < size + 4096; ++i) ASSERT_EQ(self[i], 0xA5);
  std::free(self);
}

TEST_F(V22bis, RefusesWhatItCannotDo) {
  const oh_pump_type* ops = oh_v22bis_type();
  oh_pump_config good{};
  good.format = kLinear8000;
  good.tx_level_dbm0 = -12;
  good.port = bits_[0].port();
  ASSERT_GT(ops->size(&good), 0u);
  std::vector<oh_pump_config> bad(8, good);
  bad[0].format.rx.rate_hz = 7200;
  bad[1].max_bit_rate = 300;
  bad[2].tx_level_dbm0 = 0;
  bad[3].tx_level_dbm0 = NAN;
  bad[4].port.get_bit = nullptr;
  bad[5].tx_level_dbm0 = -60;
  bad[6].format.tx.encoding = OH_MULAW;
  bad[7].struct_size -= 4;
  alignas(64) static uint8_t memory[16384];
  ASSERT_LE(ops->size(&good), sizeof memory);
  for (size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(ops->size(&bad[i]), 0u) << i;
    EXPECT_EQ(ops->init(memory, &bad[i]), -EINVAL) << i;
  }
}

}  // namespace
}  // namespace offhook::test
