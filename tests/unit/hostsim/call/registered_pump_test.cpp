// SPDX-License-Identifier: MIT
//
// Pumps that a program or a plug-in adds: what registration refuses, streams of one and of two rates, both ends, and
// the effect of lost samples on the data.
#include "hostsim/call/registered_pump.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "hostsim/call/call.h"
#include "hostsim/call/pump_call.h"
#include "offhook/plugin.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/unit/hostsim/call/device_run.h"

namespace offhook {
namespace {

using namespace hostsim;
using test::run_device;

constexpr int kMark = 0x4000;  // of a sample that carries an octet

/// An octet in the first sample of every period.
class Octets {
 public:
  explicit Octets(const oh_pump_config& config)
      : port_(config.port),
        rx_ratio_(config.format.rx.rate_hz / slower(config.format)),
        tx_ratio_(config.format.tx.rate_hz / slower(config.format)) {}
  void process(const void* rx, void* tx, std::size_t n) {
    const auto* in = static_cast<const std::int16_t*>(rx);
    auto* out = static_cast<std::int16_t*>(tx);
    std::memset(tx, 0, n * tx_ratio_ * sizeof *out);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t octet = static_cast<std::uint8_t>(in[i * rx_ratio_] & 0xff);
      if ((in[i * rx_ratio_] & kMark) != 0) oh_port_put(&port_, &octet, 8);
      std::uint8_t next = 0;
      oh_port_get(&port_, &next, 8);
      out[i * tx_ratio_] = static_cast<std::int16_t>(kMark | next);
    }
    samples_ += n;
  }
  void report_gap(std::size_t n) { lost_ += n; }
  void status(oh_pump_status& s) const {
    s.state = OH_PUMP_DATA;
    s.samples = samples_ + lost_;
    s.filled_in = lost_;
    s.tx_bit_rate = s.rx_bit_rate = 64'000;
  }
  std::optional<oh_metric> metric(std::uint32_t index) const {
    if (index > 1) return std::nullopt;
    return index == 0 ? oh_metric{"periods processed", "", double(samples_)}
                      : oh_metric{"ratio", "dB", double(rx_ratio_)};
  }

 private:
  static std::uint32_t slower(const oh_pump_format& f) { return std::min(f.rx.rate_hz, f.tx.rate_hz); }
  oh_bit_port port_;
  std::uint32_t rx_ratio_, tx_ratio_;
  std::uint64_t samples_ = 0, lost_ = 0;
};

constexpr oh_pump_format kOneRate[] = {{{48'000, OH_LINEAR16}, {48'000, OH_LINEAR16}}};
constexpr oh_pump_format kTwoRates[] = {{{1'104'000, OH_LINEAR16}, {276'000, OH_LINEAR16}}};

const std::string& one_rate() {
  static const std::string name = [] {
    register_pump(pump_type<Octets>("one-rate", kOneRate));
    register_pump(pump_type<Octets>("two-rates", kTwoRates));
    register_pump(pump_type<Octets>("alone", kOneRate, 1u << OH_PUMP_CALL));
    return "one-rate";
  }();
  return name;
}

Scenario with_pump(const std::string& name) {
  (void)one_rate();
  Scenario s;
  s.context.kind = OH_CONTEXT_INTERRUPT;
  s.pump = PumpKind::kDevice;
  s.device.pump = name;
  const bool two = name == "two-rates";
  s.device.rate_hz = two ? 1'104'000 : 48'000;
  s.device.block_plan = {two ? 4416u : 480u};
  s.device.buffers = 3;
  s.device.cost_ns = 1'000'000;
  s.device_s = 1;
  return s;
}

/// The reason why a registration is refused.
std::string refused(const oh_pump_type& type, int expected) {
  const char* reason = nullptr;
  EXPECT_EQ(oh_register_pump(&type, &reason), expected);
  return reason != nullptr ? reason : "";
}

TEST(RegisteredPump, RefusalsNameTheFaultInOneLine) {
  (void)one_rate();
  const oh_pump_type good = pump_type<Octets>("refused", kOneRate);
  oh_pump_type type = good;
  type.name = "one-rate";
  EXPECT_EQ(refused(type, -EEXIST), "the name \"one-rate\" of a pump is taken");
  type = good;
  type.report_gap = nullptr;
  EXPECT_EQ(refused(type, -EINVAL), "the pump \"refused\" has no function report_gap");
  type = good;
  type.struct_size = 16;
  EXPECT_NE(refused(type, -EINVAL).find("built with another version of offhook/pump.h"), std::string::npos);
  type.struct_size = sizeof type + 8;
  EXPECT_NE(refused(type, -EINVAL).find("built with another version"), std::string::npos);
  type = good;
  type.name = "two words";
  EXPECT_NE(refused(type, -EINVAL).find("expected a name"), std::string::npos);
  type = good;
  type.roles = 1u << OH_PUMP_ANSWER;
  EXPECT_NE(refused(type, -EINVAL).find("expected 1 (the calling end alone) or 3"), std::string::npos);
  constexpr oh_pump_format kNoRatio[] = {{{48'000, OH_LINEAR16}, {44'100, OH_LINEAR16}}};
  type = good;
  type.formats = kNoRatio;
  EXPECT_NE(refused(type, -EINVAL).find("rates in a whole ratio"), std::string::npos);
  type = good;
  type.format_count = 0;
  EXPECT_NE(refused(type, -EINVAL).find("has 0 formats"), std::string::npos);
  EXPECT_EQ(oh_register_pump(nullptr, nullptr), -EINVAL);
  EXPECT_THROW((void)registered_pump("refused"), std::invalid_argument);
}

TEST(RegisteredPump, ATypeOfAnOlderPumpHasNoMetrics) {
  oh_pump_type type = pump_type<Octets>("older", kOneRate);
  type.struct_size = offsetof(oh_pump_type, hold);
  register_pump(type);
  oh_metric metric{};
  EXPECT_EQ(oh_pump_metric(&registered_pump("older"), nullptr, 0, &metric), -EINVAL);
}

TEST(RegisteredPump, CarriesThePatternInBothDirectionsWithoutALateBlock) {
  for (const std::string name : {"one-rate", "two-rates"}) {
    const CallResult r = run_device(with_pump(name));
    EXPECT_TRUE(r.completed) << r.transfer.failure;
    ASSERT_NE(r.pump, nullptr);
    EXPECT_TRUE(r.pump->intact()) << name;
    const double periods = name == "two-rates" ? 276'000 : 48'000;
    EXPECT_GT(static_cast<double>(r.pump->received.bits), 8 * 0.9 * periods) << name;
    EXPECT_GT(static_cast<double>(r.pump->sent.bits), 8 * 0.9 * periods) << name;
    EXPECT_EQ(r.pump->wrong(), 0u);
    ASSERT_EQ(r.pump->metrics.size(), 2u);
    EXPECT_EQ(r.pump->metrics[0].name, "periods processed");
    EXPECT_NEAR(r.pump->metrics[0].value, periods, 0.1 * periods);
    EXPECT_EQ(r.pump->metrics[1].value, name == "two-rates" ? 4 : 1);
  }
}

TEST(RegisteredPump, TheAnsweringEndHasTheMirroredRates) {
  Scenario s = with_pump("two-rates");
  const auto calling = make_pump_connection(s, nullptr);
  EXPECT_EQ(calling->streams().rx.rate_hz, 1'104'000u);
  EXPECT_EQ(calling->streams().tx.rate_hz, 276'000u);
  EXPECT_EQ(calling->streams().rx.ring_samples, 4 * calling->streams().tx.ring_samples);
  s.role = OH_PUMP_ANSWER;
  const auto answering = make_pump_connection(s, nullptr);
  EXPECT_EQ(answering->streams().rx.rate_hz, 276'000u);
  EXPECT_EQ(answering->streams().tx.rate_hz, 1'104'000u);
  EXPECT_TRUE(run_device(s).completed);
  EXPECT_EQ(pump_in_periods(s).rate_hz, 276'000u);
  EXPECT_EQ(pump_in_periods(s).longest_block(), 1104u);
}

TEST(RegisteredPump, LostSamplesBreakTheDataAndFailTheRun) {
  Scenario s = with_pump("one-rate");
  s.device.buffers = 2;
  s.device.cost_ns = 15'000'000;  // of a block of 10 ms
  const CallResult r = run_device(s);
  EXPECT_FALSE(r.completed);
  EXPECT_EQ(r.transfer.failure, "the device was late; samples were lost");
  ASSERT_NE(r.pump, nullptr);
  EXPECT_GT(r.pump->wrong(), 0u);
}

TEST(RegisteredPump, WithoutAFarEndItReceivesSilence) {
  const CallResult r = run_device(with_pump("alone"));
  EXPECT_TRUE(r.completed) << r.transfer.failure;
  EXPECT_EQ(r.pump->received.bits, 0u);
  EXPECT_EQ(r.pump->sent.bits, 0u);
}

TEST(RegisteredPump, ItsServiceAllocatesLocksAndCallsNothing) {
  const auto connection = make_pump_connection(with_pump("two-rates"), nullptr);
  const oh_pump near = connection->near_pump();
  const oh_line_end line = connection->line();
  std::vector<std::int16_t> received(4 * 64), sent(64);
  const auto run = test::run_realtime([&] {
    std::uint64_t blocks = 0;
    for (; blocks < 100'000; ++blocks) {
      const std::size_t n = 1 + blocks % 64;
      line.exchange(line.self, sent.data(), received.data(), n);
      near.process(near.self, received.data(), sent.data(), n);
      if (blocks % 1000 == 0) near.report_gap(near.self, n);
    }
    return blocks;
  });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_EQ(run.value, 100'000u);
}

/// @return the reason why a scenario is refused
std::string problem(const Scenario& s) {
  try {
    (void)pump_in_periods(s);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(RegisteredPump, AScenarioThatDoesNotFitIsRefused) {
  Scenario s = with_pump("one-rate");
  s.device.rate_hz = 44'100;
  EXPECT_EQ(problem(s), "a card of 44100 samples/s; expected 48000 for the pump \"one-rate\"");
  s = with_pump("two-rates");
  s.device.block_plan = {4417};
  EXPECT_NE(problem(s).find("expected a multiple of 4, the ratio of the rates"), std::string::npos);
  s = with_pump("alone");
  s.role = OH_PUMP_ANSWER;
  EXPECT_NE(problem(s).find("expected pump.role = \"call\""), std::string::npos);
  s = with_pump("one-rate");
  s.line_kind = LineKind::kSubscriberLoop;
  EXPECT_NE(problem(s).find("does not fit a subscriber loop"), std::string::npos);
  s.line_kind = LineKind::kAir;
  EXPECT_NE(problem(s).find("cannot be on the air"), std::string::npos);
  s = with_pump("one-rate");
  s.device.pump = "none";
  EXPECT_NE(problem(s).find("no pump is named \"none\"; expected one of: audio-32"), std::string::npos);
  s = with_pump("two-rates");
  s.line_kind = LineKind::kSubscriberLoop;
  EXPECT_EQ(problem(s), "");
}

}  // namespace
}  // namespace offhook
