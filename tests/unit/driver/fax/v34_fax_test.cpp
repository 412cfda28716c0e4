// SPDX-License-Identifier: MIT
// T.30 over V.34 half duplex: real V.8, Phase 2 and training, and pages on the primary channel.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "driver/fax/modems.h"
#include "driver/fax/terminal.h"
#include "driver/fax/tiff.h"
#include "driver/fax/v34_modems.h"
#include "offhook/v34_half_duplex.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/unit/driver/fax/fax_line.h"
#include "tests/unit/driver/fax/fax_pages.h"

namespace offhook::fax {
namespace {

struct V34Call {
  FaxLine line{.loss_db = 10, .noise_dbm0 = -80};
  std::uint32_t max_bit_rate = 0;
  std::uint32_t pages = 2, lines = 400;
  bool error_correction = true;
  FaxService service{};
};

struct V34Outcome {
  Progress sender, receiver;
  std::uint32_t equal = 0;
  oh_v34_half_duplex_status source{}, recipient{};
  Counters sent, received;
  double seconds = 0;
};

V34Outcome run_v34(const V34Call& call) {
  const Folder folder;
  const std::string sent = folder / "sent.tif", received = folder / "received.tif";
  write_test_pages(sent, call.pages, call.lines, 1);
  V34Modems a({.role = OH_PUMP_CALL, .source = true, .max_bit_rate = call.max_bit_rate});
  V34Modems b({.role = OH_PUMP_ANSWER, .source = false, .max_bit_rate = call.max_bit_rate});
  V34Outcome out;
  LinePair line(call.line, a.pump(), b.pump());
  const auto config = [&](bool calls) {
    TerminalConfig c;
    c.calls = calls;
    c.error_correction = call.error_correction;
    (calls ? c.send : c.receive) = calls ? sent : received;
    return c;
  };
  Terminal caller(a.rings(), config(true)), answerer(b.rings(), config(false));
  serve_until_over(line, caller, answerer, call.service);
  out.sender = caller.progress();
  out.receiver = answerer.progress();
  out.source = a.line();
  out.recipient = b.line();
  out.sent = a.counters();
  out.received = b.counters();
  out.seconds = line.seconds();
  out.equal = whole_pages(sent, received);
  return out;
}

void expect_v34(const V34Outcome& o, std::uint32_t pages) {
  expect_whole(o, pages);
  EXPECT_EQ(o.sender.modulation, Signal::kV34);
  EXPECT_EQ(o.receiver.modulation, Signal::kV34);
  EXPECT_TRUE(o.receiver.error_correction);
  EXPECT_EQ(o.sent.lost_reports + o.received.lost_reports, 0u);
}

TEST(V34Fax, PagesAreEqualOnACleanLine) {
  const V34Outcome o = run_v34({});
  expect_v34(o, 2);
  EXPECT_GT(o.receiver.bit_rate, 14'400u);
  EXPECT_EQ(o.receiver.bit_rate, o.source.primary_bit_rate);
  EXPECT_EQ(o.receiver.frames_again + o.sender.frames_again, 0u);
  EXPECT_EQ(o.source.primary_retrains + o.source.control_retrains, 0u);
}

TEST(V34Fax, NoiseLowersTheRateAndNoPixelIsLost) {
  std::uint32_t last = 33'601;
  for (const double noise_dbm0 : {-60.0, -50.0, -42.0}) {
    SCOPED_TRACE(noise_dbm0);
    const V34Outcome o = run_v34({.line = {.loss_db = 10, .noise_dbm0 = noise_dbm0}});
    expect_v34(o, 2);
    EXPECT_LT(o.receiver.bit_rate, last);
    last = o.receiver.bit_rate;
  }
}

// The signal is received at -22 dBm0.
TEST(V34Fax, PagesAreEqualNextToMainsHum) {
  for (const double hz : {50.0, 60.0}) {
    SCOPED_TRACE(hz);
    const V34Outcome o = run_v34({.line = {.loss_db = 10, .noise_dbm0 = -80, .hum_dbm0 = -26, .hum_hz = hz}});
    expect_v34(o, 2);
    EXPECT_GT(o.receiver.bit_rate, 14'400u);
  }
}

TEST(V34Fax, TheRateLimitIsKept) {
  for (const std::uint32_t rate : {2400u, 14'400u}) {
    const V34Outcome o = run_v34({.max_bit_rate = rate, .pages = 1, .lines = 100});
    expect_v34(o, 1);
    EXPECT_EQ(o.receiver.bit_rate, rate);
  }
}

// T.30 checks its rings every 200 ms: the turns wait for it, and flags fill the pages.
TEST(V34Fax, LateT30CostsTimeAndNoPage) {
  const V34Outcome prompt = run_v34({}), late = run_v34({.service = {.polls_every = 16}});
  expect_v34(late, 2);
  EXPECT_GT(late.seconds, prompt.seconds);
  EXPECT_EQ(late.source.control_retrains + late.recipient.control_retrains, 0u);
}

TEST(V34Fax, ErrorCorrectionRepairsLostBlocks) {
  const V34Outcome o = run_v34({.lines = 1143, .service = {.loses_every = 8000 * 7}});
  expect_v34(o, 2);
  EXPECT_GT(o.receiver.repeated_frames + o.sender.repeated_frames, 0u);
}

// Within a page (8 s) and within the control channel (6.1 s); the second page is whole as well.
TEST(V34Fax, AnInterruptedLineCostsTimeAndNoPage) {
  for (const double at_s : {6.1, 8.0})
    for (const double lasts_s : {0.3, 2.0}) {
      SCOPED_TRACE(testing::Message() << lasts_s << " s at " << at_s);
      const V34Outcome o = run_v34({.service = {.cut_s = at_s, .cut_until_s = at_s + lasts_s}});
      expect_v34(o, 2);
    }
}

TEST(V34Fax, AnEndedLineEndsBothMachinesWithAReason) {
  for (const double at_s : {3.0, 6.1, 8.0}) {
    SCOPED_TRACE(at_s);
    const V34Outcome o = run_v34({.service = {.cut_s = at_s, .cut_until_s = 1000}});
    EXPECT_TRUE(o.sender.over);
    EXPECT_TRUE(o.receiver.over);
    EXPECT_FALSE(o.sender.complete);
    EXPECT_NE(o.sender.failure, "");
  }
}

TEST(V34Fax, WithoutErrorCorrectionTheCallEndsWithTheReason) {
  const V34Outcome o = run_v34({.error_correction = false});
  EXPECT_FALSE(o.sender.complete);
  EXPECT_EQ(o.equal, 0u);
  EXPECT_NE(o.sender.failure.find("requires error correction"), std::string::npos) << o.sender.failure;
}

/// One end has V.34, the other end has not.
V34Outcome run_mixed(bool caller_has_v34) {
  const Folder folder;
  const std::string sent = folder / "sent.tif", received = folder / "received.tif";
  write_test_pages(sent, 1, 200, 1);
  const oh_pump_role with = caller_has_v34 ? OH_PUMP_CALL : OH_PUMP_ANSWER;
  const oh_pump_role without = caller_has_v34 ? OH_PUMP_ANSWER : OH_PUMP_CALL;
  V34Modems v34({.role = with, .source = caller_has_v34});
  const OwnPump plain = make_pump(without);
  const oh_pump plain_pump = oh_pump_at(pump_type(), plain.get());
  const auto config = [&](bool calls) {
    TerminalConfig c;
    c.calls = calls;
    (calls ? c.send : c.receive) = calls ? sent : received;
    return c;
  };
  const Rings a = caller_has_v34 ? v34.rings() : rings_of(plain.get());
  const Rings b = caller_has_v34 ? rings_of(plain.get()) : v34.rings();
  Terminal caller(a, config(true)), answerer(b, config(false));
  LinePair line({.loss_db = 10, .noise_dbm0 = -80}, caller_has_v34 ? v34.pump() : plain_pump,
                caller_has_v34 ? plain_pump : v34.pump());
  while ((!caller.progress().over || !answerer.progress().over) && line.seconds() < 150) {
    line.step();
    caller.poll();
    answerer.poll();
  }
  V34Outcome out;
  out.sender = caller.progress();
  out.receiver = answerer.progress();
  out.equal = whole_pages(sent, received);
  out.seconds = line.seconds();
  return out;
}

TEST(V34Fax, AFarEndWithoutV34GetsAnOrdinaryFax) {
  for (const bool caller_has_v34 : {true, false}) {
    SCOPED_TRACE(caller_has_v34);
    const V34Outcome o = run_mixed(caller_has_v34);
    expect_whole(o, 1);
    EXPECT_EQ(o.receiver.modulation, Signal::kV17);
    EXPECT_EQ(o.receiver.bit_rate, 14'400u);
  }
}

// ---- Real-time

/// Two modems and a program that orders what T.30 would. Nothing of it allocates. Either end may call.
class Script {
 public:
  Script(V34Modems& source, V34Modems& recipient, bool source_calls)
      : source_calls_(source_calls), ends_{{source.pump(), source.rings()}, {recipient.pump(), recipient.rings()}} {}

  /// The start-up, then `rounds` of a frame in each direction, a page and lost samples. @return blocks; 0: it failed
  std::uint64_t run(int rounds) {
    const int caller = source_calls_ ? 0 : 1;
    order(caller, Kind::kSend, Signal::kCng);
    order(caller, Kind::kReceive, Signal::kV21);
    order(1 - caller, Kind::kSend, Signal::kCed);
    if (!until_sent(1 - caller, 20)) return 0;
    for (int round = 0; round < rounds; ++round) {
      if (!send(1, Signal::kV21, 2) || !send(0, Signal::kV21, 3)) return 0;
      order(1, Kind::kReceive, Signal::kV17);
      loses_ = round % 3 == 1;
      drains_ = round % 4 != 3;
      if (!send(0, Signal::kV17, 60)) return 0;
      drains_ = true;
    }
    order(1, Kind::kSend, Signal::kPause);
    if (!until_sent(1, 2)) return 0;
    return blocks_;
  }
  std::uint64_t good_frames() const { return good_; }
  std::uint64_t pages() const { return pages_; }

 private:
  static constexpr std::size_t kBlock = 20;
  struct End {
    oh_pump pump;
    Rings rings;
    std::uint8_t send_turn = 0, receive_turn = 0;
    bool sent = false;
    std::int16_t line[kBlock] = {};
  };

  void order(int end, Kind kind, Signal signal) {
    End& e = ends_[end];
    Message* m = e.rings.orders->free_slot();
    m->kind = kind;
    m->signal = signal;
    m->frames = true;
    m->value = 100;
    m->turn = kind == Kind::kSend ? ++e.send_turn : ++e.receive_turn;
    e.rings.orders->push();
    if (kind == Kind::kSend) e.sent = false;
  }
  bool send(int end, Signal signal, int frames) {
    order(end, Kind::kSend, signal);
    End& e = ends_[end];
    for (int k = 0; k <= frames;) {
      if (Message* m = e.rings.data->free_slot()) {
        m->kind = k < frames ? Kind::kFrame : Kind::kEndOfFrames;
        m->turn = e.send_turn;
        m->length = signal == Signal::kV21 ? 10 : 260;
        m->octets.fill(static_cast<std::uint8_t>(k));
        e.rings.data->push();
        ++k;
      }
      step();
      if (++blocks_ % 400'000 == 0) return false;
    }
    return until_sent(end, 20);
  }
  bool until_sent(int end, int seconds) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(seconds) * 8000 / kBlock; ++k, ++blocks_) {
      step();
      if (ends_[end].sent) return true;
    }
    return false;
  }
  void step() {
    std::int16_t tx[2][kBlock];
    for (int end : {0, 1}) {
      End& e = ends_[end];
      if (loses_ && end == 1 && blocks_ % 1500 == 0) {
        e.pump.report_gap(e.pump.self, kBlock);
        std::fill(std::begin(tx[end]), std::end(tx[end]), std::int16_t{0});
      } else {
        e.pump.process(e.pump.self, ends_[1 - end].line, tx[end], kBlock);
      }
      take_reports(end);
    }
    for (int end : {0, 1})
      for (std::size_t i = 0; i < kBlock; ++i) ends_[end].line[i] = static_cast<std::int16_t>(tx[end][i] / 3);
  }
  void take_reports(int end) {
    End& e = ends_[end];
    if (!drains_ && end == 1) return;
    while (const Message* m = e.rings.reports->front()) {
      e.sent |= m->kind == Kind::kSent && m->turn == e.send_turn;
      good_ += m->kind == Kind::kFrame && m->value == 1;
      pages_ += m->kind == Kind::kFrameStatus;
      e.rings.reports->pop();
    }
  }

  const bool source_calls_;
  End ends_[2];
  bool loses_ = false, drains_ = true;
  std::uint64_t blocks_ = 0, good_ = 0, pages_ = 0;
};

constexpr int kRounds = 60;

TEST(V34FaxRealtime, ACallWithPagesAllocatesLocksAndCallsNothing) {
  V34Modems source({.role = OH_PUMP_CALL, .source = true}), recipient({.role = OH_PUMP_ANSWER, .source = false});
  Script script(source, recipient, true);
  const test::RealtimeRun run = test::run_realtime([&] { return script.run(kRounds); });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_GE(run.value, 100'000u);
}

TEST(V34FaxRealtime, TheSameCallCarriesFramesAndPagesWhicheverEndCalls) {
  for (const bool source_calls : {true, false}) {
    V34Modems source({.role = source_calls ? OH_PUMP_CALL : OH_PUMP_ANSWER, .source = true});
    V34Modems recipient({.role = source_calls ? OH_PUMP_ANSWER : OH_PUMP_CALL, .source = false});
    Script script(source, recipient, source_calls);
    EXPECT_GE(script.run(kRounds), 100'000u);
    EXPECT_GT(script.good_frames(), kRounds * 40u);
    EXPECT_GT(script.pages(), kRounds * 1u);
    EXPECT_EQ(recipient.counters().trained, kRounds * 1u);
  }
}

/// An answerer to which nobody sends CM changes to the modems without V.34.
std::uint64_t fall_back(V34Modems& modems) {
  const oh_pump pump = modems.pump();
  Message* m = modems.rings().orders->free_slot();
  m->kind = Kind::kSend;
  m->signal = Signal::kCed;
  m->turn = 1;
  modems.rings().orders->push();
  std::int16_t rx[40] = {}, tx[40];
  for (int k = 0; k < 200 * 20; ++k) {
    pump.process(pump.self, rx, tx, 40);
    if (const Message* report = modems.rings().reports->front()) return report->kind == Kind::kSent ? 1 : 0;
  }
  return 0;
}

TEST(V34FaxRealtime, SoDoesTheChangeToOtherModems) {
  V34Modems modems({.role = OH_PUMP_ANSWER, .source = false});
  const test::RealtimeRun run = test::run_realtime([&] { return fall_back(modems); });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_EQ(run.value, 1u);
}

}  // namespace
}  // namespace offhook::fax
