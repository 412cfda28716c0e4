// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "driver/fax/modems.h"
#include "driver/fax/terminal.h"
#include "driver/fax/tiff.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/unit/driver/fax/fax_line.h"
#include "tests/unit/driver/fax/fax_pages.h"

namespace offhook::fax {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

oh_pump_config config_of(oh_pump_role role) {
  oh_pump_config c{};
  c.format = kLinear8000;
  c.role = role;
  c.tx_level_dbm0 = -12;
  return c;
}

/// A pump with its memory.
struct Machine {
  explicit Machine(oh_pump_role role) {
    const oh_pump_config c = config_of(role);
    self.reset(std::aligned_alloc(64, pump_type()->size(&c)));
    EXPECT_EQ(pump_type()->init(self.get(), &c), 0);
  }
  ~Machine() { pump_type()->release(self.get()); }
  std::unique_ptr<void, Free> self;
};

struct Call {
  FaxLine line{};
  std::uint32_t max_bit_rate = 14'400;
  bool error_correction = true;
  std::uint32_t pages = 2, lines = 200;
  FaxService service{};
};

struct Outcome {
  Progress sender, receiver;
  std::uint32_t equal = 0;
  Counters sent, received;
  double seconds = 0;
  std::vector<std::string> words;
};

Outcome run(const Call& call) {
  const Folder folder;
  const std::string sent = folder / "sent.tif", received = folder / "received.tif";
  write_test_pages(sent, call.pages, call.lines, 1);
  Machine a(OH_PUMP_CALL), b(OH_PUMP_ANSWER);
  Terminal caller(a.self.get(), {.calls = true,
                                 .send = sent,
                                 .receive = {},
                                 .ident = "+49 30 1",
                                 .error_correction = call.error_correction,
                                 .max_bit_rate = call.max_bit_rate});
  Terminal answerer(
      b.self.get(),
      {.calls = false, .send = {}, .receive = received, .ident = "+1 2", .error_correction = call.error_correction});
  LinePair line(call.line, oh_pump_at(pump_type(), a.self.get()), oh_pump_at(pump_type(), b.self.get()));
  Outcome out;
  serve_until_over(line, caller, answerer, call.service);
  out.sender = caller.progress();
  out.receiver = answerer.progress();
  out.sent = counters_of(a.self.get());
  out.received = counters_of(b.self.get());
  out.seconds = line.seconds();
  out.equal = whole_pages(sent, received);
  return out;
}

void expect_all(const Outcome& o, std::uint32_t pages) {
  expect_whole(o, pages);
  EXPECT_EQ(o.sent.starved_bits, 0u);
  EXPECT_EQ(o.sent.lost_reports + o.received.lost_reports, 0u);
}

TEST(Fax, PagesAreEqualWithErrorCorrectionAtEveryRate) {
  for (const std::uint32_t rate : {14'400u, 9600u, 4800u}) {
    const Outcome o = run({.max_bit_rate = rate});
    expect_all(o, 2);
    EXPECT_EQ(o.receiver.bit_rate, rate);
    EXPECT_TRUE(o.receiver.error_correction);
    EXPECT_EQ(o.receiver.far_ident, "+49 30 1");
    EXPECT_EQ(o.sender.trainings, 1u);
  }
}

TEST(Fax, PagesAreEqualWithoutErrorCorrectionOnACleanLine) {
  for (const std::uint32_t rate : {14'400u, 9600u, 4800u}) {
    const Outcome o = run({.max_bit_rate = rate, .error_correction = false});
    expect_all(o, 2);
    EXPECT_FALSE(o.receiver.error_correction);
    EXPECT_EQ(o.receiver.bad_lines, 0u);
  }
}

// spandsp's V.17 short training succeeds only if the receiver detects a level 18 dB below the signal.
TEST(Fax, PagesAreEqualAtEveryLevelOfTheLine) {
  for (const double loss_db : {6.0, 18.0, 30.0}) {
    SCOPED_TRACE(loss_db);
    expect_all(run({.line = {.loss_db = loss_db, .noise_dbm0 = -90}}), 2);
  }
}

// The signal is received at -32 dBm0. Hum 6 and 12 dB above it lost every page, or the call, without the high-pass.
TEST(Fax, PagesAreEqualNextToMainsHum) {
  for (const double hz : {50.0, 60.0})
    for (const std::uint32_t rate : {14'400u, 9600u, 4800u}) {
      SCOPED_TRACE(testing::Message() << hz << " Hz, " << rate << " bit/s");
      expect_all(run({.line = {.loss_db = 20, .hum_dbm0 = rate == 14'400 ? -20.0 : -26.0, .hum_hz = hz},
                      .max_bit_rate = rate}),
                 2);
    }
}

// If T.30 checks its rings every 200 ms, it sends flags between frames, and no page is damaged.
TEST(Fax, LateT30CostsTimeAndNoPage) {
  const Outcome prompt = run({}), late = run({.service = {.polls_every = 16}});
  expect_all(late, 2);
  EXPECT_GT(late.seconds, prompt.seconds);
}

TEST(Fax, ErrorCorrectionRepairsLostBlocks) {
  const Outcome o = run({.lines = 600, .service = {.loses_every = 8000 * 7}});
  expect_all(o, 2);
  EXPECT_GT(o.receiver.repeated_frames + o.sender.repeated_frames, 0u);
}

// Both levels are those at the receiver: 18 dB of SNR. T.30 need not transfer the pages, but an incomplete page is
// never reported as complete.
TEST(Fax, NoiseLowersTheRateAndALostPageIsReported) {
  const Outcome o = run({.line = {.loss_db = 20, .noise_dbm0 = -50}, .service = {.limit_s = 400}});
  EXPECT_GT(o.sender.failed_trainings, 0u);
  EXPECT_LT(o.sender.bit_rate, 14'400u);
  EXPECT_TRUE(o.sender.over);
  EXPECT_EQ(o.sender.complete, o.equal == 2);
  EXPECT_EQ(o.sender.complete, o.sender.failure.empty());
}

TEST(Fax, ASilentFarEndIsAnErrorWithItsReason) {
  const Folder folder;
  write_test_pages(folder / "sent.tif", 1, 100, 1);
  Machine a(OH_PUMP_CALL);
  Terminal caller(a.self.get(), {.calls = true, .send = folder / "sent.tif", .receive = {}});
  std::int16_t rx[80] = {}, tx[80];
  for (int k = 0; k < 100 * 120 && !caller.progress().over; ++k) {
    pump_type()->process(a.self.get(), rx, tx, 80);
    caller.poll();
  }
  EXPECT_TRUE(caller.progress().over);
  EXPECT_FALSE(caller.progress().complete);
  EXPECT_NE(caller.progress().failure, "");
}

TEST(Fax, AnEndedCallHasNoPagesAndAReason) {
  Machine a(OH_PUMP_ANSWER);
  Terminal answerer(a.self.get(), {.calls = false, .send = {}, .receive = "/nonexistent/x.tif"});
  answerer.poll();
  answerer.end_call();
  EXPECT_TRUE(answerer.progress().over);
  EXPECT_FALSE(answerer.progress().complete);
}

TEST(Fax, PumpRefusesWhatItCannotDo) {
  oh_pump_config c = config_of(OH_PUMP_CALL);
  c.format = kMuLaw8000;
  EXPECT_EQ(pump_type()->size(&c), 0u);
  c = config_of(OH_PUMP_CALL);
  c.tx_level_dbm0 = 0;
  EXPECT_EQ(pump_type()->size(&c), 0u);
  Machine a(OH_PUMP_CALL);
  EXPECT_THROW(Terminal(a.self.get(), {.send = {}, .receive = {}, .max_bit_rate = 2400}), std::invalid_argument);
}

void order(Machine& m, Kind kind, Signal signal, std::uint8_t turn, int rate, bool frames) {
  Message* slot = rings_of(m.self.get()).orders->free_slot();
  slot->kind = kind;
  slot->signal = signal;
  slot->turn = turn;
  slot->value = rate;
  slot->frames = frames;
  slot->short_training = false;
  slot->at_once = slot->ones_first = turn % 2 != 0;  // as in class 1
  rings_of(m.self.get()).orders->push();
}

/// Every modulation in turn, in both directions between two pumps, with data, losses and a full ring of reports.
std::uint64_t every_modulation(Machine& a, Machine& b) {
  struct Line {
    Signal signal;
    int rate;
  };
  constexpr Line kLines[] = {{Signal::kCed, 0},       {Signal::kV21, 300},     {Signal::kV17, 14400},
                             {Signal::kV17, 7200},    {Signal::kV29, 9600},    {Signal::kV29, 7200},
                             {Signal::kV27ter, 4800}, {Signal::kV27ter, 2400}, {Signal::kPause, 100},
                             {Signal::kCng, 0},       {Signal::kNone, 0}};
  std::int16_t tx[100], rx[100] = {}, back[100];
  std::uint64_t blocks = 0;
  std::uint8_t turn = 0;
  for (int round = 0; round < 50; ++round) {
    for (const Line& line : kLines) {
      const bool frames = line.signal == Signal::kV21 || round % 2 == 0;
      ++turn;
      order(a, Kind::kSend, line.signal, turn, line.rate, frames);
      order(b, Kind::kReceive, line.signal, turn, line.rate, frames);
      for (int k = 0; k < 200; ++k, ++blocks) {
        if (Message* slot = rings_of(a.self.get()).data->free_slot(); slot != nullptr && k < 150) {
          slot->kind = frames ? Kind::kFrame : Kind::kBits;
          slot->turn = turn;
          slot->length = 100;
          slot->value = 800;
          rings_of(a.self.get()).data->push();
        }
        pump_type()->process(a.self.get(), rx, tx, 100);
        if (k == 160) {
          pump_type()->report_gap(b.self.get(), 100);
        } else {
          pump_type()->process(b.self.get(), tx, back, 100);
        }
        if (round % 3 != 0) {
          while (rings_of(b.self.get()).reports->front() != nullptr) rings_of(b.self.get()).reports->pop();
          while (rings_of(a.self.get()).reports->front() != nullptr) rings_of(a.self.get()).reports->pop();
        }
      }
    }
  }
  return blocks;
}

TEST(FaxRealtime, EveryModulationAllocatesLocksAndCallsNothing) {
  Machine a(OH_PUMP_CALL), b(OH_PUMP_ANSWER);
  const test::RealtimeRun run = test::run_realtime([&] { return every_modulation(a, b); });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_GE(run.value, 100'000u);
}

TEST(FaxRealtime, TheSameRunTrainsEveryReceiver) {
  Machine a(OH_PUMP_CALL), b(OH_PUMP_ANSWER);
  every_modulation(a, b);
  EXPECT_GE(counters_of(b.self.get()).trained, 50u * 6);
  EXPECT_GT(counters_of(b.self.get()).lost_reports, 0u);
}

TEST(FaxTiff, ChecksPages) {
  const Folder folder;
  write_test_pages(folder / "a.tif", 3, 60, 1);
  write_test_pages(folder / "b.tif", 3, 60, 2);
  EXPECT_EQ(check_pages(folder / "a.tif"), 3u);
  EXPECT_EQ(whole_pages(folder / "a.tif", folder / "a.tif"), 3u);
  EXPECT_EQ(whole_pages(folder / "a.tif", folder / "b.tif"), 0u);
  EXPECT_EQ(whole_pages(folder / "a.tif", folder / "none.tif"), 0u);
  EXPECT_THROW(check_pages(folder / "none.tif"), std::runtime_error);
}

}  // namespace
}  // namespace offhook::fax
