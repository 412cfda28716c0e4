// SPDX-License-Identifier: MIT
//
// The audio pump on FFTW: samples within one step of those of the pump on our own transform, and nothing forbidden in
// real time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "dsp/audio/pump.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/unit/dsp/audio/audio_signal.h"

namespace offhook::audio {
namespace {

class Pump {
 public:
  explicit Pump(const oh_pump_type& type) : type_(type) {
    oh_pump_config c{};
    c.struct_size = sizeof c;
    c.format = {{48'000, OH_LINEAR16}, {48'000, OH_LINEAR16}};
    c.role = OH_PUMP_CALL;
    memory_.reset(std::aligned_alloc(64, type.size(&c)));
    EXPECT_EQ(type.init(memory_.get(), &c), 0);
  }
  ~Pump() { type_.release(memory_.get()); }
  std::vector<std::int16_t> process(const std::vector<std::int16_t>& x) {
    std::vector<std::int16_t> y(x.size());
    type_.process(memory_.get(), x.data(), y.data(), x.size());
    return y;
  }
  std::string forbidden(const std::vector<std::int16_t>& x) {
    std::vector<std::int16_t> y(x.size());
    const auto run = offhook::test::run_realtime([&] {
      type_.process(memory_.get(), x.data(), y.data(), x.size());
      return std::uint64_t{1};
    });
    return run.skipped.empty() && run.violation.empty() && run.value != 1 ? "not run" : run.violation;
  }

 private:
  const oh_pump_type& type_;
  std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
};

TEST(AudioPump, OnFftwDiffersByRoundingAlone) {
  std::vector<std::int16_t> x;
  for (const float v : test::noise(48'000, 3, 4000)) x.push_back(static_cast<std::int16_t>(v));
  for (std::uint32_t partition = 32; partition <= 1024; partition *= 2) {
    Pump pump(*oh_audio_fftw_type(partition));
    const auto own = Pump(*oh_audio_type(partition)).process(x), fftw = pump.process(x);
    EXPECT_EQ(pump.forbidden(x), "") << partition;
    int furthest = 0;
    for (std::size_t k = 0; k < x.size(); ++k) furthest = std::max(furthest, std::abs(own[k] - fftw[k]));
    EXPECT_LE(furthest, 1) << partition;
  }
}

}  // namespace
}  // namespace offhook::audio
