// SPDX-License-Identifier: MIT
//
// Faxes through T.38 gateways: a machine with modem signals on a line, a gateway, a network that loses datagrams, and a
// machine on T.38, or another gateway and machine. Time is simulated.
#include "driver/fax/t38_gateway.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "driver/fax/modems.h"
#include "driver/fax/terminal.h"
#include "driver/fax/tiff.h"
#include "dsp/blocks/level.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/unit/driver/fax/fax_pages.h"
#include "tests/unit/driver/fax/packet_path.h"

namespace offhook::fax {
namespace {

constexpr std::size_t kBlock = 80;  // samples: 10 ms
constexpr std::size_t kLineDelay = 40;
using Block = std::array<std::int16_t, kBlock>;

struct Call {
  bool line_sends = true;  ///< the machine on the line calls and sends, or the machine on T.38
  bool error_correction = true;
  std::uint32_t max_bit_rate = 14'400;
  std::size_t copies = 3;
  PacketPath::Loses loses = [](std::size_t) { return false; };
  std::uint32_t delay_ms = 40;
  std::uint32_t pages = 2, lines = 200;
  double limit_s = 200;
  double loss_db = 0;  ///< of the line, in each direction
  GatewayConfig gateway{};
  double hum_dbm0 = -100;  ///< at both ends of the line, 50 Hz
};

/// A machine with modem signals and the gateway on its line.
class LineSide {
 public:
  LineSide(const TerminalConfig& config, const Call& call, T38Gateway::Send send)
      : gain_(static_cast<float>(std::pow(10, -call.loss_db / 20))),
        hum_(dbm0_to_peak(call.hum_dbm0)),
        pump_(make_pump(config.calls ? OH_PUMP_CALL : OH_PUMP_ANSWER)),
        terminal_(pump_.get(), config),
        gateway_(call.gateway, std::move(send), [this](bool from_network, std::span<const std::uint8_t>) {
          ++(from_network ? frames_in_ : frames_out_);
        }) {}

  void step() {
    Block heard_there, heard_here, said{};
    for (std::size_t i = 0; i < kBlock; ++i) {
      const double hum = hum_ * std::sin(2 * std::numbers::pi * 50 * static_cast<double>(samples_++) / 8000);
      heard_there[i] = static_cast<std::int16_t>(to_gateway_[i] + hum);
      heard_here[i] = static_cast<std::int16_t>(to_machine_[i] + hum);
    }
    pump_type()->process(pump_.get(), heard_here.data(), said.data(), kBlock);
    push(to_gateway_, said, gain_);
    const oh_pump pump = gateway_.pump();
    pump.process(pump.self, heard_there.data(), said.data(), kBlock);
    push(to_machine_, said, gain_);
    gateway_.poll();
    terminal_.poll();
  }
  T38Gateway& gateway() { return gateway_; }
  const Progress& progress() const { return terminal_.progress(); }
  std::size_t frames_in() const { return frames_in_; }
  std::size_t frames_out() const { return frames_out_; }

 private:
  static void push(std::deque<std::int16_t>& line, const Block& said, float gain) {
    line.erase(line.begin(), line.begin() + kBlock);
    for (const std::int16_t x : said) line.push_back(static_cast<std::int16_t>(gain * x));
  }
  float gain_;
  double hum_;
  std::size_t samples_ = 0;
  OwnPump pump_;
  Terminal terminal_;
  T38Gateway gateway_;
  std::size_t frames_in_ = 0, frames_out_ = 0;
  std::deque<std::int16_t> to_gateway_ = std::deque<std::int16_t>(kBlock + kLineDelay), to_machine_ = to_gateway_;
};

struct Outcome {
  Progress sender, receiver;
  GatewayCounters gateway;
  std::uint32_t equal = 0;
  std::size_t lost = 0, recovered = 0, ignored = 0, frames_in = 0, frames_out = 0;
  bool disconnected = false;
  double seconds = 0;
};

TerminalConfig terminal(const Call& call, bool sends, const Folder& folder) {
  TerminalConfig c;
  c.calls = sends;
  (sends ? c.send : c.receive) = folder / (sends ? "sent.tif" : "received.tif");
  c.ident = sends ? "+49 30 1" : "+1 2";
  c.error_correction = call.error_correction;
  c.max_bit_rate = call.max_bit_rate;
  return c;
}

Outcome run(const Call& call) {
  const Folder folder;
  write_test_pages(folder / "sent.tif", call.pages, call.lines, 1);
  std::uint64_t now_ms = 0;
  PacketPath there(call.copies, call.delay_ms, call.loses), back(call.copies, call.delay_ms, call.loses);
  LineSide line(terminal(call, call.line_sends, folder), call,
                [&](std::span<const std::uint8_t> packet, int times) { there.send(now_ms, packet, times); });
  T38Terminal far(terminal(call, !call.line_sends, folder),
                  [&](std::span<const std::uint8_t> packet, int times) { back.send(now_ms, packet, times); });
  constexpr std::uint64_t kStepMs = kBlock / 8;
  const auto limit_ms = static_cast<std::uint64_t>(call.limit_s * 1000);
  for (; now_ms < limit_ms && !(line.progress().over && far.progress().over); now_ms += kStepMs) {
    back.deliver(now_ms, line.gateway());
    there.deliver(now_ms, far);
    line.step();
    far.advance(kStepMs * T38Terminal::kClockHz / 1000);
  }
  Outcome out;
  out.sender = (call.line_sends ? line.progress() : far.progress());
  out.receiver = (call.line_sends ? far.progress() : line.progress());
  out.gateway = line.gateway().counters();
  out.lost = there.lost + back.lost;
  out.recovered = there.recovered + back.recovered;
  out.ignored = there.ignored + back.ignored;
  out.frames_in = line.frames_in();
  out.frames_out = line.frames_out();
  out.disconnected = line.gateway().is_disconnected();
  out.equal = whole_pages(folder / "sent.tif", folder / "received.tif");
  out.seconds = static_cast<double>(now_ms) / 1000;
  return out;
}

void expect_all(const Outcome& o, std::uint32_t pages) {
  expect_whole(o, pages);
  EXPECT_EQ(o.ignored, 0u);
  EXPECT_EQ(o.gateway.lost_packets, 0u);
  EXPECT_EQ(o.gateway.pages, pages);
  EXPECT_TRUE(o.disconnected);
}

TEST(T38Gateway, PagesAreEqualAtEveryRateInBothDirections) {
  for (const bool line_sends : {true, false})
    for (const bool correction : {true, false})
      for (const std::uint32_t rate : {14'400u, 9600u, 4800u}) {
        SCOPED_TRACE(testing::Message() << (line_sends ? "from the line, " : "to the line, ") << rate
                                        << (correction ? " with" : " without"));
        const Outcome o = run({.line_sends = line_sends, .error_correction = correction, .max_bit_rate = rate});
        expect_all(o, 2);
        EXPECT_EQ(o.receiver.bit_rate, rate);
        EXPECT_EQ(o.gateway.bit_rate, rate);
        EXPECT_EQ(o.gateway.error_correction, correction);
        EXPECT_EQ(o.receiver.far_ident, "+49 30 1");
        EXPECT_GE(o.frames_in, 4u);
        EXPECT_GE(o.frames_out, 4u);
      }
}

// The threshold of V.17's carrier follows the level of the machine's frames. At 25 dB, V.17 does not train.
TEST(T38Gateway, PagesAreEqualAtEveryLevelOfTheLine) {
  for (const bool line_sends : {true, false})
    for (const double loss_db : {6.0, 12.0, 18.0}) {
      SCOPED_TRACE(testing::Message() << loss_db << (line_sends ? " from the line" : " to the line"));
      expect_all(run({.line_sends = line_sends, .loss_db = loss_db}), 2);
    }
}

// The gateway changes DIS, whichever machine answers.
TEST(T38Gateway, LimitsRateAndErrorCorrectionOfBothMachines) {
  for (const bool line_sends : {true, false}) {
    SCOPED_TRACE(line_sends);
    const Outcome o = run({.line_sends = line_sends, .gateway = {.error_correction = false, .max_bit_rate = 9600}});
    expect_all(o, 2);
    EXPECT_EQ(o.receiver.bit_rate, 9600u);
    EXPECT_FALSE(o.receiver.error_correction);
  }
}

TEST(T38Gateway, PagesAreEqualNextToMainsHum) {
  for (const bool line_sends : {true, false}) {
    SCOPED_TRACE(line_sends);
    expect_all(run({.line_sends = line_sends, .loss_db = 18, .hum_dbm0 = -20}), 2);
  }
}

// Data signals have the level of the configuration. spandsp's CED and CNG are 3 dB louder.
TEST(T38Gateway, SendsAtItsLevel) {
  T38Gateway gateway({}, [](auto, int) {}, {});
  constexpr std::uint8_t kV21Preamble = 0x06;  // an indicator
  EXPECT_TRUE(gateway.receive(0, std::vector<std::uint8_t>{kV21Preamble}));
  const oh_pump pump = gateway.pump();
  double power = 0;
  Block silence{}, said;
  for (int k = 0; k < 100; ++k) {
    pump.process(pump.self, silence.data(), said.data(), kBlock);
    for (const std::int16_t x : said) power += k < 50 ? 0 : x * x;
  }
  EXPECT_NEAR(mean_square_to_dbm0(power / (50 * kBlock)), kTxLevelDbm0, 0.5);
}

TEST(T38Gateway, CopiesMakeUpForSingleLossesAndForThreeInARow) {
  for (const bool line_sends : {true, false})
    for (const std::size_t run_of : {1u, 3u}) {
      SCOPED_TRACE(testing::Message() << run_of << (line_sends ? " from the line" : " to the line"));
      const Outcome o =
          run({.line_sends = line_sends, .loses = [run_of](std::size_t n) { return n % 10 >= 10 - run_of; }});
      expect_all(o, 2);
      EXPECT_EQ(o.lost, 0u);
      EXPECT_GT(o.recovered, 50u);
    }
}

TEST(T38Gateway, RandomLossesOfATenthOfAllDatagrams) {
  for (const bool line_sends : {true, false}) {
    SCOPED_TRACE(line_sends);
    std::mt19937 random(1);
    expect_all(run({.line_sends = line_sends, .loses = [&random](std::size_t) { return random() % 10 == 0; }}), 2);
  }
}

TEST(T38Gateway, ALongDelay) {
  for (const bool line_sends : {true, false}) expect_all(run({.line_sends = line_sends, .delay_ms = 300}), 2);
}

TEST(T38Gateway, PagesPassTwoGatewaysBetweenTwoLines) {
  const Call call{};
  const Folder folder;
  write_test_pages(folder / "sent.tif", call.pages, call.lines, 1);
  std::uint64_t now_ms = 0;
  PacketPath there(3, 40, [](std::size_t n) { return n % 10 == 9; }), back = there;
  LineSide a(terminal(call, true, folder), call,
             [&](std::span<const std::uint8_t> packet, int times) { there.send(now_ms, packet, times); });
  LineSide b(terminal(call, false, folder), call,
             [&](std::span<const std::uint8_t> packet, int times) { back.send(now_ms, packet, times); });
  for (; now_ms < 200'000 && !(a.progress().over && b.progress().over); now_ms += kBlock / 8) {
    back.deliver(now_ms, a.gateway());
    there.deliver(now_ms, b.gateway());
    a.step();
    b.step();
  }
  EXPECT_TRUE(a.progress().complete) << a.progress().failure;
  EXPECT_TRUE(b.progress().complete) << b.progress().failure;
  EXPECT_EQ(whole_pages(folder / "sent.tif", folder / "received.tif"), 2u);
  EXPECT_EQ(a.gateway().counters().pages, 2u);
}

TEST(T38Gateway, OctetsThatAreNoPacketAreIgnored) {
  T38Gateway gateway({}, [](auto, int) {}, {});
  const std::vector<std::uint8_t> cut = {0xC0, 0x01, 0x80, 0x00, 0x40, 1};
  EXPECT_FALSE(gateway.receive(0, cut));
  EXPECT_FALSE(gateway.receive(1, {}));
  EXPECT_EQ(gateway.counters().packets_to_line, 0u);
}

TEST(T38Gateway, AFullRingIsCounted) {
  T38Gateway gateway({}, [](auto, int) {}, {});
  const std::vector<std::uint8_t> no_signal = {0};
  for (int k = 0; k < 70; ++k) EXPECT_TRUE(gateway.receive(static_cast<std::uint16_t>(k), no_signal));
  EXPECT_EQ(gateway.counters().lost_packets, 6u);
}

TEST(T38Gateway, RefusesWhatItCannotDo) {
  EXPECT_THROW(T38Gateway({.max_bit_rate = 2400}, [](auto, int) {}, {}), std::invalid_argument);
  oh_pump_config c{};
  c.struct_size = sizeof c;
  c.format = kMuLaw8000;
  c.tx_level_dbm0 = -12;
  EXPECT_EQ(gateway_type()->size(&c), 0u);
  c.format = kLinear8000;
  EXPECT_GT(gateway_type()->size(&c), 0u);
  c.tx_level_dbm0 = 0;
  EXPECT_EQ(gateway_type()->size(&c), 0u);
}

/// What a gateway heard in a whole call, for another one without T.30.
struct Heard {
  std::vector<Block> line;
  std::vector<std::pair<std::size_t, std::vector<std::uint8_t>>> packets;  // with the block before which they came
};

/// Samples of a machine that sends, and packets of one that answers.
Heard whole_call(bool error_correction) {
  const Folder folder;
  Call call;
  call.error_correction = error_correction;
  write_test_pages(folder / "sent.tif", 1, 600, 1);
  OwnPump pump = make_pump(OH_PUMP_CALL);
  Terminal caller(pump.get(), terminal(call, true, folder));
  Heard heard;
  std::deque<std::vector<std::uint8_t>> to_far;
  T38Gateway gateway(
      {}, [&](std::span<const std::uint8_t> packet, int) { to_far.emplace_back(packet.begin(), packet.end()); }, {});
  std::uint16_t there = 0, back = 0;
  T38Terminal far(terminal(call, false, folder), [&](std::span<const std::uint8_t> packet, int) {
    heard.packets.emplace_back(heard.line.size(), std::vector<std::uint8_t>(packet.begin(), packet.end()));
    gateway.receive(back++, packet);
  });
  Block to_line{}, to_machine{};
  while (heard.line.size() < 20'000 && !caller.progress().over) {
    pump_type()->process(pump.get(), to_machine.data(), to_line.data(), kBlock);
    heard.line.push_back(to_line);
    const oh_pump p = gateway.pump();
    p.process(p.self, to_line.data(), to_machine.data(), kBlock);
    gateway.poll();
    caller.poll();
    for (; !to_far.empty(); to_far.pop_front()) far.receive(there++, to_far.front());
    far.advance(kBlock);
  }
  return heard;
}

/// The call again and again, with gaps and with a full ring of packets for the network.
/// @return blocks; 0: the gateway took fewer packets than one call has
std::uint64_t replay(T38Gateway& gateway, const Heard& heard, std::uint64_t blocks, std::uint16_t& number) {
  std::uint64_t done = 0;
  Block said;
  const oh_pump pump = gateway.pump();
  for (std::uint64_t round = 0; done < blocks; ++round) {
    std::size_t next = 0;
    for (std::size_t k = 0; k < heard.line.size(); ++k, ++done) {
      for (; next < heard.packets.size() && heard.packets[next].first <= k; ++next)
        gateway.receive(number++, heard.packets[next].second);
      if (k % 700 == 600) {
        pump.report_gap(pump.self, kBlock);
      } else {
        pump.process(pump.self, heard.line[k].data(), said.data(), kBlock);
      }
    }
  }
  return gateway.counters().packets_to_line < heard.packets.size() ? 0 : done;
}

TEST(T38GatewayRealtime, WholeCallsAllocateLockAndCallNothing) {
  for (const bool correction : {true, false}) {
    const Heard heard = whole_call(correction);
    ASSERT_GT(heard.line.size(), 2000u);
    T38Gateway gateway({}, [](auto, int) {}, {});
    std::uint16_t number = 0;
    const test::RealtimeRun run = test::run_realtime([&] { return replay(gateway, heard, 60'000, number); });
    if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
    EXPECT_EQ(run.violation, "");
    EXPECT_GE(run.value, 60'000u);
  }
}

}  // namespace
}  // namespace offhook::fax
