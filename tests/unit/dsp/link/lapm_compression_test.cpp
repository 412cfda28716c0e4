// SPDX-License-Identifier: MIT
//
// V.42bis and V.44 over LAPM: what the two ends agree on, and that nothing stays in an encoder.
#include <algorithm>

#include "dsp/link/lapm.h"
#include "tests/unit/dsp/link/by_hand.h"
#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::test {
namespace {

/// Both ends send 6000 compressible bytes: each direction is compressed if both ends permit it.
/// @param originator, answerer  permitted directions: enum oh_lapm_compression, combined
void expect_directions(LapmPair& pair, unsigned originator, unsigned answerer) {
  for (int i : {0, 1}) pair[i].to_send = std::vector<uint8_t>(6000, uint8_t('a' + i));
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 60));
  pair.run(1);
  const unsigned up = (originator & 1) && (answerer & 2), down = (originator & 2) && (answerer & 1);
  EXPECT_EQ(pair[0].status().compression, up | down << 1);
  EXPECT_EQ(pair[1].status().compression, down | up << 1);
  for (int i : {0, 1}) {
    const oh_lapm_status s = pair[i].status(), far = pair[1 - i].status();
    EXPECT_EQ(pair[1 - i].received, pair[i].to_send);
    EXPECT_EQ(s.bytes_sent, 6000u);
    EXPECT_EQ(far.bytes_delivered, 6000u);
    EXPECT_EQ(s.octets_sent, far.octets_delivered);
    EXPECT_EQ(s.unacknowledged, 0u);
    if (s.compression & OH_LAPM_COMPRESS_SENT) {
      EXPECT_LT(s.octets_sent, 2000u);
    } else {
      EXPECT_EQ(s.octets_sent, 6000u);
    }
  }
}

// V.42bis 5.1: directions that each end permits, and the smaller value of each parameter.
TEST(Lapm, AgreesOnTheDirectionsOfCompression) {
  for (unsigned a = 0; a <= 3; ++a) {
    for (unsigned b = 0; b <= 3; ++b) {
      SCOPED_TRACE(testing::Message() << "originator " << a << " answerer " << b);
      LapmPair pair({.bit_rate = 33600}, [&](oh_lapm_config& c) {
        const bool originator = c.role == OH_PUMP_CALL;
        c.link.compression = uint8_t(originator ? a : b);
        c.link.codewords = originator ? 700 : 4096;
        c.link.max_string = originator ? 100 : 9;
      });
      ASSERT_NO_FATAL_FAILURE(expect_directions(pair, a, b));
      for (int i : {0, 1}) {
        const oh_lapm_status s = pair[i].status();
        if (s.compression == 0) continue;
        EXPECT_EQ(s.codewords, 700u);
        EXPECT_EQ(s.max_string, 9u);
      }
    }
  }
}

// V.44 7.4: the same for V.44, whose parameters are per direction.
TEST(Lapm, AgreesOnTheDirectionsOfV44) {
  for (unsigned a = 0; a <= 3; ++a) {
    for (unsigned b = 0; b <= 3; ++b) {
      SCOPED_TRACE(testing::Message() << "originator " << a << " answerer " << b);
      LapmPair pair({.bit_rate = 33600}, [&](oh_lapm_config& c) {
        const bool originator = c.role == OH_PUMP_CALL;
        c.link.v44 = uint8_t(originator ? a : b);
        if (originator) c.link.v44_tx = {300, 700, 40}, c.link.v44_rx = {5000, 20000, 255};
      });
      ASSERT_NO_FATAL_FAILURE(expect_directions(pair, a, b));
      for (int i : {0, 1}) {
        const oh_lapm_status s = pair[i].status(), far = pair[1 - i].status();
        EXPECT_EQ(s.v44, s.compression != 0);
        if (s.compression == 0) continue;
        const oh_v44_parameters& tx = s.v44_tx;
        EXPECT_EQ(tx.codewords, far.v44_rx.codewords);
        EXPECT_EQ(tx.history, far.v44_rx.history);
        EXPECT_EQ(tx.max_string, far.v44_rx.max_string);
        EXPECT_EQ(tx.codewords, i == 0 ? 300 : 2048);
      }
    }
  }
}

// V.42bis 5.7, V.44 7.13: when the line would be idle, no data remain in the encoder.
class LapmFlush : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(V44, LapmFlush, testing::Bool());

TEST_P(LapmFlush, SingleCharactersAreNotKeptForLongerStrings) {
  LapmPair pair({}, [](oh_lapm_config& c) { (GetParam() ? c.link.v44 : c.link.compression) = 3; });
  pair[0].to_send = std::vector<uint8_t>(3000, 'x');  // long enough for compressed mode
  ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 30));
  for (int i = 0; i < 40; ++i) {
    pair[0].to_send.push_back('x');
    const double start = pair.seconds();
    ASSERT_TRUE(pair.run_until([&] { return pair.complete(); }, 1)) << i;
    EXPECT_LT(pair.seconds() - start, 0.15) << "two frames' time at 2400 bit/s";
  }
  EXPECT_EQ(pair[1].received, pair[0].to_send);
}

// V.42bis 5.6: each establishment begins with empty dictionaries. Here the far end lost this end's UA and asks again
// after data were encoded.
using ByHandAgain = ByHand;
TEST_F(ByHandAgain, AnEstablishmentBeginsWithEmptyDictionaries) {
  compression = 3;
  restart();
  ASSERT_EQ(send(offer(3, 1024, 32), 1000).size(), 1u);
  connect();
  ASSERT_EQ(end_->status().compression, 3u);
  // As a receiver accepts them: the frames in the order of N(S), and no others.
  int expected = 0;
  const auto data_of = [&expected](const std::vector<Octets>& frames) {
    Octets data;
    for (const Octets& f : frames) {
      if (f.size() <= 3 || (f[1] & 1) != 0 || f[1] >> 1 != expected) continue;
      expected = (expected + 1) % 128;
      data.insert(data.end(), f.begin() + 3, f.end());
    }
    return data;
  };
  const Octets text(400, 'a');
  const auto say = [&] {
    EXPECT_EQ(oh_lapm_write(end_->lapm, text.data(), text.size()), text.size());
    return data_of(flags(1200));
  };
  const Octets first = say();
  ASSERT_GT(first.size(), 4u);
  ASSERT_LT(first.size(), 300u) << "in compressed mode";
  auto again = send({0x03, 0x7F}, 1200);
  const auto ua = std::find(again.begin(), again.end(), Octets{0x03, 0x73});
  ASSERT_NE(ua, again.end()) << "UA";
  again.erase(again.begin(), ua);  // including the frame that was on its way
  expected = 0;
  Octets second = data_of(again);  // unacknowledged data may arrive again
  if (second.empty()) second = say();
  for (int k = 0; k < 5 && second.size() < first.size(); ++k) {
    const Octets more = data_of(flags(1200));
    second.insert(second.end(), more.begin(), more.end());
  }
  ASSERT_GE(second.size(), first.size());
  second.resize(first.size());
  EXPECT_EQ(second, first) << "the strings of before are not known any more";
}

}  // namespace
}  // namespace offhook::test
