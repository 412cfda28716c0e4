// SPDX-License-Identifier: MIT
//
// The audio pump against the definition of its output, the same bytes at any cut into blocks, its refusals, its gaps,
// and its fitness for real time.
#include "dsp/audio/pump.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "dsp/audio/room.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/unit/dsp/audio/audio_signal.h"

namespace offhook::audio {
namespace {

constexpr std::uint32_t kPartitions[] = {32, 64, 128, 256, 512, 1024};

class Pump {
 public:
  explicit Pump(std::uint32_t partition, std::uint32_t rate_hz = 48'000, oh_pump_role role = OH_PUMP_CALL)
      : type_(oh_audio_type(partition)) {
    oh_pump_config c{};
    c.format = {{rate_hz, OH_LINEAR16}, {rate_hz, OH_LINEAR16}};
    c.role = role;
    memory_.reset(std::aligned_alloc(64, type_->size(&c)));
    std::memset(memory_.get(), 0x5a, type_->size(&c));
    EXPECT_EQ(type_->init(memory_.get(), &c), 0);
  }
  /// @param cut  the length of each next block
  template <class Cut>
  std::vector<std::int16_t> run(const std::vector<std::int16_t>& x, Cut cut) {
    std::vector<std::int16_t> y(x.size());
    for (std::size_t i = 0; i < x.size();) {
      const std::size_t n = std::min<std::size_t>(cut(), x.size() - i);
      type_->process(memory_.get(), x.data() + i, y.data() + i, n);
      i += n;
    }
    return y;
  }
  oh_pump_status status() const {
    oh_pump_status s{};
    type_->status(memory_.get(), &s);
    return s;
  }
  double metric(std::uint32_t index) const {
    oh_metric m{};
    EXPECT_EQ(oh_pump_metric(type_, memory_.get(), index, &m), 0);
    return m.value;
  }
  const oh_pump_type& type() const { return *type_; }
  void* self() { return memory_.get(); }

 private:
  const oh_pump_type* type_;
  std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
};

/// Equal on every machine.
std::vector<std::int16_t> samples(std::size_t n, float peak = 4000) {
  Noise noise(7);
  std::vector<std::int16_t> s(n);
  for (std::int16_t& v : s) v = static_cast<std::int16_t>(peak * noise.next());
  return s;
}

std::uint64_t hash(const std::vector<std::int16_t>& x) {
  std::uint64_t h = 14695981039346656037u;  // FNV-1a
  for (const std::int16_t s : x)
    for (const unsigned octet : {s & 0xffu, (s >> 8) & 0xffu}) h = (h ^ octet) * 1099511628211u;
  return h;
}

TEST(AudioPump, SendsTheRoomsSoundEqualisedOnePartitionLater) {
  std::vector<float> taps(Convolver::kMostTaps);
  room_response(taps.data(), Convolver::kMostTaps);
  const auto x = samples(16'384);
  const auto room = test::convolved(taps, {x.begin(), x.end()});
  for (const std::uint32_t rate_hz : {48'000u, 96'000u}) {
    const auto expected = test::equalised(room, rate_hz, kGainsDb);
    for (const std::uint32_t partition : kPartitions) {
      Pump pump(partition, rate_hz);
      const auto y = pump.run(x, [&] { return partition; });
      for (std::size_t i = 0; i < partition; ++i) ASSERT_EQ(y[i], 0);
      double most = 0;
      for (std::size_t i = partition; i < y.size(); ++i)
        most = std::max(most, std::abs(y[i] - expected[i - partition]));
      EXPECT_LT(most, 0.51) << partition << ", " << rate_hz << ": the nearest sample, and 0.01 for the arithmetic";
      EXPECT_EQ(pump.metric(0), 16'384. / partition);
      EXPECT_EQ(pump.metric(1), 0);
    }
  }
}

TEST(AudioPump, HasTheSameBytesAtAnyCutIntoBlocks) {
  // On every machine.
  constexpr std::uint64_t kHash[] = {0xff196ad71a4ee993, 0x2fb3842c45800555, 0xbcc6565fe88cdb51,
                                     0x5cd087b11a109d2f, 0x9cdd0bc3ceda52ac, 0xa894c5e4d9be7dbe};
  const auto x = samples(48'000);
  for (std::size_t k = 0; k < std::size(kPartitions); ++k) {
    const auto whole = Pump(kPartitions[k]).run(x, [] { return 48'000u; });
    EXPECT_EQ(hash(whole), kHash[k]) << kPartitions[k] << ": 0x" << std::hex << hash(whole);
    for (const std::uint32_t n : {1u, 32u, 441u, 1024u})
      EXPECT_TRUE(Pump(kPartitions[k]).run(x, [&] { return n; }) == whole) << kPartitions[k] << " in blocks of " << n;
    std::mt19937 random(1);
    EXPECT_TRUE(Pump(kPartitions[k]).run(x, [&] { return 1 + random() % 2000; }) == whole) << kPartitions[k];
  }
}

TEST(AudioPump, AGapIsSilenceThatTakesItsTime) {
  auto x = samples(8192);
  Pump whole(64), with_gap(64);
  std::fill(x.begin() + 1000, x.begin() + 1300, std::int16_t{0});
  const auto expected = whole.run(x, [] { return 64u; });
  auto y = with_gap.run({x.begin(), x.begin() + 1000}, [] { return 64u; });
  with_gap.type().report_gap(with_gap.self(), 300);
  const auto rest = with_gap.run({x.begin() + 1300, x.end()}, [] { return 64u; });
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), expected.begin() + 1300));
  EXPECT_EQ(with_gap.status().samples, 8192u);
  EXPECT_EQ(with_gap.status().filled_in, 300u);
  EXPECT_EQ(with_gap.status().state, OH_PUMP_DATA);
}

TEST(AudioPump, ClipsWhatIsTooLoudAndCountsIt) {
  Pump pump(32);
  const auto y = pump.run(samples(4800, 32'767), [] { return 32u; });
  EXPECT_GT(pump.metric(1), 0);
  EXPECT_EQ(*std::max_element(y.begin(), y.end()), INT16_MAX);
  EXPECT_EQ(*std::min_element(y.begin(), y.end()), INT16_MIN);
}

TEST(AudioPump, ThePlayerMeasuresItsOwnNoiseAt23Db) {
  Pump player(32, 48'000, OH_PUMP_ANSWER);
  const auto noise = player.run(std::vector<std::int16_t>(48'000), [] { return 480u; });
  EXPECT_NEAR(player.metric(0), -300, 200) << "silence";
  Pump other(32, 48'000, OH_PUMP_ANSWER);
  (void)other.run(noise, [] { return 480u; });
  EXPECT_NEAR(other.metric(0), 20 * std::log10(4000 / 32768. / std::sqrt(3)), 0.1);
}

TEST(AudioPump, RefusesOtherFormatsAndPartitions) {
  for (const std::uint32_t partition : {0u, 1u, 16u, 48u, 2048u}) EXPECT_EQ(oh_audio_type(partition), nullptr);
  const oh_pump_type& type = *oh_audio_type(32);
  oh_pump_config c{};
  c.format = {{48'000, OH_LINEAR16}, {48'000, OH_LINEAR16}};
  c.role = OH_PUMP_CALL;
  EXPECT_GT(type.size(&c), 0u);
  EXPECT_EQ(type.init(nullptr, &c), -EINVAL);
  c.format.rx.rate_hz = 96'000;
  EXPECT_EQ(type.size(&c), 0u) << "two rates";
  c.format = {{44'100, OH_LINEAR16}, {44'100, OH_LINEAR16}};
  EXPECT_EQ(type.size(&c), 0u);
  c.format = {{48'000, OH_MULAW}, {48'000, OH_MULAW}};
  EXPECT_EQ(type.size(&c), 0u);
  EXPECT_EQ(type.size(nullptr), 0u);
}

TEST(AudioPump, AllocatesLocksAndCallsNothing) {
  Pump pump(32);
  std::vector<std::int16_t> x = samples(1024), y(1024);
  const auto run = offhook::test::run_realtime([&] {
    std::uint64_t blocks = 0;
    for (; blocks < 100'000; ++blocks) {
      const std::size_t n = 1 + blocks % 64;
      pump.type().process(pump.self(), x.data(), y.data(), n);
      if (blocks % 1000 == 0) pump.type().report_gap(pump.self(), n);
    }
    return blocks;
  });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_EQ(run.value, 100'000u);
}

}  // namespace
}  // namespace offhook::audio
