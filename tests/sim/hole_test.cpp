// SPDX-License-Identifier: MIT
//
// What a hole in the transmitted signal does to real receivers: the measurement behind the link model's settling_ms and
// the pool's patience (traces/data/profiles/pentium2-450-vendor.toml). Two V.34 pumps at 28 800 bit/s, hybrids with
// echoes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "dsp/v34/session/pump.h"
#include "hostsim/channel/line.h"
#include "traces/scenario/profile.h"

namespace offhook {
namespace {

/// A pump that sends ones continuously, and the received bits that were not ones.
struct End {
  explicit End(oh_pump_role role) {
    oh_pump_config config{};
    config.struct_size = sizeof config;
    config.format = type->formats[0];
    config.role = role;
    config.max_bit_rate = 28'800;
    config.tx_level_dbm0 = -12;
    config.port.user = this;
    config.port.get_bit = [](void*) { return 1; };
    config.port.put_bit = [](void* self, int bit) {
      auto& end = *static_cast<End*>(self);
      if (bit == 0) end.wrong.push_back(end.received);
      end.received++;
    };
    memory.resize(type->size(&config) / sizeof(std::max_align_t) + 1);
    EXPECT_EQ(type->init(memory.data(), &config), 0);
  }
  oh_pump_status status() const {
    oh_pump_status s{};
    s.struct_size = sizeof s;
    type->status(memory.data(), &s);
    return s;
  }
  /// From the first wrong bit since `bit` to the last; negative: none.
  double wrong_ms(std::uint64_t bit) const {
    const auto first = std::lower_bound(wrong.begin(), wrong.end(), bit);
    if (first == wrong.end()) return -1;
    return 1e3 * static_cast<double>(wrong.back() - *first + 1) / status().rx_bit_rate;
  }

  const oh_pump_type* type = oh_v34_type();
  std::vector<std::max_align_t> memory;
  std::uint64_t received = 0;
  std::vector<std::uint64_t> wrong;
};

class Pair : hostsim::FarEnd {
 public:
  explicit Pair(const hostsim::LineConfig& config) : line_(config, 1, *this) {}
  /// One block of the line, in which silence replaces the last `hole` samples of the near end.
  void step(std::size_t hole = 0) {
    std::int16_t sent[kBlock];
    near.type->process(near.memory.data(), heard_, sent, kBlock);
    std::fill(sent + kBlock - std::min(hole, kBlock), sent + kBlock, std::int16_t{0});
    line_.exchange(sent, heard_, kBlock);
    now_ += kBlock;
  }
  bool data() const { return near.status().state == OH_PUMP_DATA && far.status().state == OH_PUMP_DATA; }
  void run(double seconds) {
    for (const auto end = now_ + static_cast<std::uint64_t>(8000 * seconds); now_ < end;) step();
  }
  /// @param samples  of silence in the near end's signal
  void make_hole(std::size_t samples) {
    for (; samples > 0; samples -= std::min(samples, kBlock)) step(samples);
  }

  End near{OH_PUMP_CALL}, far{OH_PUMP_ANSWER};

 private:
  static constexpr std::size_t kBlock = hostsim::Line::kFarBlock;
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    far.type->process(far.memory.data(), rx, tx, n);
  }

  std::uint64_t now_ = 0;
  std::int16_t heard_[kBlock]{};
  hostsim::Line line_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Both receivers: the far one lost the samples that were not sent, and the near one's canceller subtracts their echo.
TEST(V34Hole, BitsAreWrongAtBothEndsForTheHoleAndTheSettlingOfTheProfile) {
  const double settling = config::load_profile("pentium2-450-vendor").link.settling_ms;
  hostsim::LineConfig line;
  line.near_echo_db = 12;
  Pair pair(line);
  for (int s = 0; s < 30 && !pair.data(); ++s) pair.run(1);
  ASSERT_TRUE(pair.data());
  pair.run(3);
  for (const std::size_t samples : {3, 8, 16, 40, 64, 120}) {
    std::vector<double> at_far, at_near;
    for (int k = 0; k < 9; ++k) {
      const std::uint64_t far = pair.far.received, near = pair.near.received;
      pair.make_hole(samples);
      pair.run(0.5);
      at_far.push_back(pair.far.wrong_ms(far));
      at_near.push_back(pair.near.wrong_ms(near));
    }
    const double hole_ms = static_cast<double>(samples) / 8;
    EXPECT_NEAR(median(at_far), hole_ms + settling, 1.5) << samples;
    EXPECT_NEAR(median(at_near), hole_ms + settling, 3) << samples;
  }
  EXPECT_EQ(pair.near.status().retrains, 0u);
  EXPECT_EQ(pair.far.status().retrains, 0u);
  EXPECT_TRUE(pair.data());
}

}  // namespace
}  // namespace offhook
