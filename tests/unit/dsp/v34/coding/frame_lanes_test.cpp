// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/frame_lanes.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/dsp/v34/parameter_sets.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

// Every parameter set in turn, with any code, scrambler and precoder: small filters, such as receivers ask for, and
// now and then one whose sums need more than 32 bits.
CodingParameters parameters_of(Random& random, size_t n) {
  static const std::vector<ParameterSet> sets = all_parameter_sets();
  CodingParameters p{};
  p.framing = sets[n * 37 % sets.size()].framing();
  p.scrambling = n % 2 == 0 ? kGpc : kGpa;
  p.trellis = static_cast<TrellisCode>(random.below(3));
  const uint32_t most = n % 5 == 0 ? 0 : n % 7 == 0 ? 32768 : 10922;
  for (auto& h : p.precoder.h) {
    h.re = static_cast<int16_t>(static_cast<int>(random.below(2 * most + 1)) - static_cast<int>(most));
    h.im = static_cast<int16_t>(static_cast<int>(random.below(2 * most + 1)) - static_cast<int>(most));
  }
  return p;
}

FrameBits random_bits(Random& random) {
  const auto word = [&] { return uint64_t{random.next()} << 32 | random.next(); };
  const uint64_t low = word();
  return {low, word()};
}

class FrameLanesTest : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (!cpu_has(GetParam())) GTEST_SKIP() << "not on this processor";
  }
};

// As many objects as any run of lanes, and others that are left over; with each frame some stay out.
TEST_P(FrameLanesTest, EncodersGiveTheSymbolsTheyGiveAlone) {
  Random random(1, 1);
  for (const size_t count : {1u, 3u, 4u, 8u, 15u, 16u, 17u, 41u}) {
    std::vector<Encoder> together, alone;
    for (size_t n = 0; n < count; ++n) {
      together.emplace_back(parameters_of(random, n + count));
      alone.push_back(together.back());
    }
    for (int frame = 0; frame < 300; ++frame) {
      std::vector<FrameToEncode> work;
      std::vector<size_t> of;
      for (size_t n = 0; n < count; ++n) {
        if (frame > 20 && random.below(4) == 0) continue;
        work.push_back({&together[n], random_bits(random), random.bit(), {}});
        of.push_back(n);
      }
      const std::vector<FrameToEncode> given = work;
      encode_frames(work.data(), static_cast<int>(work.size()), GetParam());
      for (size_t k = 0; k < work.size(); ++k) {
        FixedPoint x[kSymbolsPerMappingFrame];
        Encoder& one = alone[of[k]];
        one.frame(given[k].primary, given[k].aux, x);
        for (int s = 0; s < kSymbolsPerMappingFrame; ++s) {
          ASSERT_EQ(work[k].x[s].re, x[s].re) << count << " encoders, frame " << frame << ", symbol " << s;
          ASSERT_EQ(work[k].x[s].im, x[s].im) << count << " encoders, frame " << frame << ", symbol " << s;
        }
        ASSERT_EQ(together[of[k]].trellis_state(), one.trellis_state());
        ASSERT_EQ(together[of[k]].quadrant_state(), one.quadrant_state());
        ASSERT_EQ(together[of[k]].position().in_superframe(), one.position().in_superframe());
      }
    }
  }
}

// What an encoder sends, and among it points that no encoder sends.
TEST_P(FrameLanesTest, DecodersGiveTheBitsTheyGiveAlone) {
  Random random(2, 1);
  for (const size_t count : {1u, 3u, 4u, 8u, 15u, 16u, 17u, 41u}) {
    std::vector<Encoder> sender;
    std::vector<Decoder> together, alone;
    for (size_t n = 0; n < count; ++n) {
      const CodingParameters p = parameters_of(random, n + count);
      sender.emplace_back(p);
      together.emplace_back(p);
      alone.push_back(together.back());
    }
    uint64_t right = 0, sent = 0;
    for (int frame = 0; frame < 300; ++frame) {
      std::vector<FrameToDecode> work;
      std::vector<size_t> of;
      for (size_t n = 0; n < count; ++n) {
        if (frame > 20 && random.below(4) == 0) continue;
        FrameToDecode w{};
        w.decoder = &together[n];
        Encoder::Symbol s[kSymbolsPerMappingFrame];
        sender[n].frame(random_bits(random), random.bit(), s);
        const bool noisy = random.below(8) == 0;
        for (int k = 0; k < kSymbolsPerMappingFrame; ++k) {
          w.y[k] = s[k].y;
          if (!noisy) continue;
          w.y[k] = {static_cast<int16_t>(2 * static_cast<int>(random.below(256)) - 255),
                    static_cast<int16_t>(2 * static_cast<int>(random.below(256)) - 255)};
        }
        work.push_back(w);
        of.push_back(n);
      }
      decode_frames(work.data(), static_cast<int>(work.size()), GetParam());
      for (size_t k = 0; k < work.size(); ++k) {
        Decoder& one = alone[of[k]];
        FrameBits bits;
        uint8_t aux = 0;
        const bool gives_aux = one.gives_aux();
        ASSERT_EQ(work[k].bits, one.frame(work[k].y, &bits, &aux));
        ASSERT_EQ(work[k].primary.low, bits.low) << count << " decoders, frame " << frame;
        ASSERT_EQ(work[k].primary.high, bits.high) << count << " decoders, frame " << frame;
        if (gives_aux) {
          ASSERT_EQ(work[k].aux, aux);
        }
        ASSERT_EQ(together[of[k]].position().in_superframe(), one.position().in_superframe());
        right += bits.low != 0;
        ++sent;
      }
    }
    EXPECT_GT(right, sent / 2);  // bits, and not silence
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, FrameLanesTest, testing::ValuesIn(kInstructionSets), [](const auto& one) {
  return std::string(kernels_for(cpu_has(one.param) ? one.param : InstructionSet::kPlain).name) +
         (cpu_has(one.param) ? "" : "_absent" + std::to_string(static_cast<int>(one.param)));
});

}  // namespace
}  // namespace offhook::v34
