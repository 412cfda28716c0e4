// SPDX-License-Identifier: MIT
//
// A line that becomes worse and then good again: the rate falls, and rises by renegotiation once the line has been
// quiet for the time that the line monitors state (V.34: 4 s the first time, V.32bis: 5 s, twice as long each further
// time).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "dsp/v32/pump.h"
#include "dsp/v34/session/pump.h"
#include "hostsim/channel/line.h"

namespace offhook {
namespace {

struct End {
  End(const oh_pump_type* pump, oh_pump_role role) : type(pump) {
    oh_pump_config config{};
    config.struct_size = sizeof config;
    config.format = type->formats[0];
    config.role = role;
    config.tx_level_dbm0 = -12;
    config.port.get_bit = [](void*) { return 1; };
    config.port.put_bit = [](void*, int) {};
    memory.resize(type->size(&config) / sizeof(std::max_align_t) + 1);
    EXPECT_EQ(type->init(memory.data(), &config), 0);
  }
  oh_pump_status status() const {
    oh_pump_status s{};
    s.struct_size = sizeof s;
    type->status(memory.data(), &s);
    return s;
  }
  const oh_pump_type* type;
  std::vector<std::max_align_t> memory;
};

class Pair : hostsim::FarEnd {
 public:
  explicit Pair(const oh_pump_type* type) : near(type, OH_PUMP_CALL), far(type, OH_PUMP_ANSWER), line_({}, 1, *this) {}

  void run(double seconds) {
    for (double t = 0; t < seconds; t += kBlock / 8000.) step();
  }
  bool data() const { return near.status().state == OH_PUMP_DATA && far.status().state == OH_PUMP_DATA; }
  std::uint32_t least_rate() const { return std::min(near.status().rx_bit_rate, far.status().rx_bit_rate); }
  std::uint32_t retrains() const { return near.status().retrains + far.status().retrains; }
  /// Runs until both ends receive at least this rate. @return seconds; negative: never
  double seconds_until(std::uint32_t rate, double most_s) {
    for (double t = 0; t < most_s; t += 0.1) {
      if (data() && least_rate() >= rate) return t;
      run(0.1);
    }
    return -1;
  }

  double noise_rms = 0;  // in addition to the line's, in both directions
  End near, far;

 private:
  static constexpr std::size_t kBlock = hostsim::Line::kFarBlock;
  void step() {
    std::int16_t sent[kBlock];
    near.type->process(near.memory.data(), heard_, sent, kBlock);
    line_.exchange(sent, heard_, kBlock);
    add_noise(heard_, kBlock);
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    std::vector<std::int16_t> noisy(rx, rx + n);
    add_noise(noisy.data(), n);
    far.type->process(far.memory.data(), noisy.data(), tx, n);
  }
  void add_noise(std::int16_t* x, std::size_t n) {
    for (std::size_t i = 0; noise_rms > 0 && i < n; ++i)
      x[i] = static_cast<std::int16_t>(std::clamp(x[i] + noise_rms * normal_(random_), -32768., 32767.));
  }

  std::mt19937 random_{1};
  std::normal_distribution<double> normal_{0, 1};
  std::int16_t heard_[kBlock]{};
  hostsim::Line line_;
};

struct Case {
  const oh_pump_type* type;
  double noise_rms;  // time during which the line is bad
  double most_s;     // limit for the return to the previous rate
};

TEST(Climb, TheRateRisesAgainByRenegotiationWhenTheLineIsQuiet) {
  for (const Case& c : {Case{oh_v34_type(), 60, 40}, Case{oh_v34_type(), 120, 60}, Case{oh_v32bis_type(), 150, 40}}) {
    SCOPED_TRACE(testing::Message() << c.type->name << " " << c.noise_rms);
    Pair pair(c.type);
    ASSERT_GE(pair.seconds_until(1, 30), 0);
    pair.run(10);
    const std::uint32_t before = pair.least_rate();
    pair.noise_rms = c.noise_rms;
    pair.run(40);
    const std::uint32_t worse = pair.data() ? pair.least_rate() : 0, retrains = pair.retrains();
    EXPECT_LT(worse, before);
    pair.noise_rms = 0;
    const double seconds = pair.seconds_until(before, 240);
    RecordProperty(c.type->name, std::to_string(seconds));
    EXPECT_GE(seconds, 3) << "good data for a while first";
    EXPECT_LE(seconds, c.most_s);
    EXPECT_EQ(pair.retrains(), retrains) << "by renegotiation";
    pair.run(10);
    EXPECT_GE(pair.least_rate(), before) << "and it stays";
  }
}

// Every return of the noise lengthens the wait before the next attempt: at most one renegotiation upwards each time the
// line becomes worse. The first wait is not compared: it ends when three minima of the noise show a better line.
TEST(Climb, ALineThatComesAndGoesIsNotFollowedAtOnceForEver) {
  Pair pair(oh_v34_type());
  ASSERT_GE(pair.seconds_until(1, 30), 0);
  pair.run(5);
  const std::uint32_t before = pair.least_rate();
  std::vector<double> waits;
  for (int k = 0; k < 4; ++k) {
    pair.noise_rms = 90;
    pair.run(15);
    ASSERT_TRUE(pair.data());
    EXPECT_LT(pair.least_rate(), before);
    pair.noise_rms = 0;
    waits.push_back(pair.seconds_until(before, 240));
    ASSERT_GE(waits.back(), 0) << k;
  }
  EXPECT_LT(waits[0], 40);
  EXPECT_GT(waits[2], waits[1]);
  EXPECT_GT(waits[3], waits[2]);
}

}  // namespace
}  // namespace offhook
