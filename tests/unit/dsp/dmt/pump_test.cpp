// SPDX-License-Identifier: MIT
//
// Both pumps on two wires without loss: what they accept, what an observer sees, and how long they wait for nobody.
#include "dsp/dmt/pump.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "dsp/dmt/loading.h"
#include "dsp/dmt/tones.h"
#include "dsp/pump/pump_type.h"
#include "tests/realtime/realtime_guard.h"

namespace offhook::dmt {
namespace {

class End {
 public:
  End(const oh_pump_type* type, int format) : type_(type) {
    oh_pump_observer observer{};
    observer.user = this;
    observer.symbol = [](void* user, float re, float im) {
      auto& end = *static_cast<End*>(user);
      ++end.points;
      if (end.status().state != OH_PUMP_DATA) ++end.early_points;
      end.power += static_cast<double>(re * re + im * im);
    };
    oh_pump_config c{};
    c.format = type->formats[format];
    c.role = type == oh_dmt_central_type() ? OH_PUMP_ANSWER : OH_PUMP_CALL;
    c.port.user = this;
    c.port.get_bit = [](void* user) {
      auto& end = *static_cast<End*>(user);
      return static_cast<int>((end.bits_ = end.bits_ * 1103515245u + 12345u) >> 30 & 1);
    };
    c.port.put_bit = [](void*, int) {};
    c.observer = &observer;
    const std::size_t size = type->size(&c);
    EXPECT_GT(size, 0u);
    self_ = ::operator new (size, std::align_val_t{64});
    EXPECT_EQ(type->init(self_, &c), 0);
  }
  ~End() { ::operator delete (self_, std::align_val_t{64}); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  void process(const std::vector<std::int16_t>& rx, std::vector<std::int16_t>* tx, std::size_t periods) {
    type_->process(self_, rx.data(), tx->data(), periods);
  }
  oh_pump_status status() const {
    oh_pump_status s{};
    s.struct_size = sizeof s;
    type_->status(self_, &s);
    return s;
  }
  void* self() const { return self_; }

  long points = 0, early_points = 0;
  double power = 0;

 private:
  const oh_pump_type* type_;
  void* self_ = nullptr;
  std::uint32_t bits_ = 1;
};

constexpr std::size_t kBlock = 64;  // in periods of the slower direction
constexpr double kPeriodHz = kLiteUp.rate_hz();

/// @return seconds until the end is in `state`; -1 if not within `seconds`
double alone(End* end, oh_pump_state state, double seconds) {
  const std::vector<std::int16_t> silence(kBlock * 16);
  std::vector<std::int16_t> sent(kBlock * 16);
  for (double t = 0; t < seconds; t += kBlock / kPeriodHz) {
    if (end->status().state == state) return t;
    end->process(silence, &sent, kBlock);
  }
  return -1;
}

TEST(DmtPump, AnObserverSeesThePointsOfLoadedTonesInDataAlone) {
  End remote(oh_dmt_remote_type(), 0), central(oh_dmt_central_type(), 0);
  std::vector<std::int16_t> down(kBlock * 16), up(kBlock * 16), next_up = up;
  const auto step = [&] {
    remote.process(down, &next_up, kBlock);
    central.process(up, &down, kBlock);
    std::swap(up, next_up);
  };
  const auto in_data = [&] { return remote.status().state == OH_PUMP_DATA && central.status().state == OH_PUMP_DATA; };
  oh_dmt_instruments at_before{};
  oh_dmt_remote_instruments(remote.self(), &at_before);
  for (int k = 0; k < 3 * kPeriodHz / kBlock && !in_data(); ++k) step();
  ASSERT_TRUE(in_data());
  oh_dmt_instruments at_last{};
  const long points = remote.points;
  constexpr int kSteps = 17 * 20;  // of 64 periods: 320 symbols of 68
  for (int k = 0; k < kSteps; ++k) step();
  oh_dmt_remote_instruments(remote.self(), &at_last);
  const auto loaded = std::count_if(at_last.bits, at_last.bits + OH_DMT_TONES, [](int bits) { return bits > 0; });
  ASSERT_GT(loaded, 0);
  EXPECT_EQ(at_last.trainings, 1u);
  EXPECT_EQ(remote.points - points, 320 * loaded);
  EXPECT_EQ(remote.early_points, 0);
  EXPECT_EQ(central.early_points, 0);
  EXPECT_GT(central.points, 0);
  EXPECT_NEAR(remote.power / static_cast<double>(remote.points), 1, 0.5);  // nominal power, apart from the gains
  EXPECT_LT(std::abs(at_last.clock_ppm), 0.1f);
  for (int k = 0; k < OH_DMT_TONES; ++k) {
    EXPECT_EQ(at_before.snr_db[k], 0) << "before MEDLEY";
    if (at_last.bits[k] == 0) continue;
    const double needed = 10 * std::log10((std::exp2(at_last.bits[k]) - 1) * static_cast<double>(kGap));
    EXPECT_GT(at_last.snr_db[k] + at_last.gain_db[k], needed - 0.01) << "tone " << k;
    EXPECT_LE(std::abs(at_last.gain_db[k]), 2.5f);
    EXPECT_LE(at_last.bits[k], kLiteDown.most_bits);
  }
}

// Both ends, from the first tone to a lost block in data mode.
TEST(DmtPump, AllocatesAndLocksNothingInStartUpAndData) {
  for (const int format : {0, 1}) {
    End remote(oh_dmt_remote_type(), format), central(oh_dmt_central_type(), format);
    std::vector<std::int16_t> down(kBlock * 16), up(kBlock * 16), next_up = up;
    const auto run = test::run_realtime([&] {
      std::uint64_t in_data = 0;
      for (int k = 0; k < 3 * kPeriodHz / kBlock && in_data < 500; ++k) {
        remote.process(down, &next_up, kBlock);
        central.process(up, &down, kBlock);
        std::swap(up, next_up);
        in_data += remote.status().state == OH_PUMP_DATA && central.status().state == OH_PUMP_DATA;
      }
      oh_dmt_remote_type()->report_gap(remote.self(), kBlock);
      oh_dmt_central_type()->report_gap(central.self(), kBlock);
      return in_data;
    });
    if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
    EXPECT_EQ(run.violation, "");
    EXPECT_EQ(run.value, 500u) << "format " << format;
  }
}

TEST(DmtPump, EitherSideHasTheRatesOfGLiteAndOfFullRate) {
  for (const oh_pump_type* type : {oh_dmt_remote_type(), oh_dmt_central_type()}) {
    ASSERT_EQ(type->format_count, 2u);
    for (const int format : {0, 1}) {
      End end(type, format);
      EXPECT_EQ(end.status().state, OH_PUMP_CONNECTING);
    }
  }
  EXPECT_EQ(oh_dmt_remote_type()->formats[0].rx.rate_hz, 1'104'000u);
  EXPECT_EQ(oh_dmt_remote_type()->formats[1].rx.rate_hz, 2'208'000u);
  EXPECT_EQ(oh_dmt_remote_type()->formats[0].tx.rate_hz, 276'000u);
  EXPECT_EQ(oh_dmt_central_type()->formats[1].tx.rate_hz, 2'208'000u);
}

// Time is counted in symbols of data mode. Earlier symbols have no prefix, so they are shorter.
TEST(DmtPump, WhoAsksAndIsNotAnsweredGivesUp) {
  const double shorter = static_cast<double>(kLiteUp.points) / kLiteUp.symbol();
  End remote(oh_dmt_remote_type(), 0);
  EXPECT_NEAR(alone(&remote, OH_PUMP_FAILED, 25), 20 * shorter, 0.01);
  End central(oh_dmt_central_type(), 0);
  EXPECT_NEAR(alone(&central, OH_PUMP_FAILED, 70), 60 * shorter, 0.01);
}

}  // namespace
}  // namespace offhook::dmt
