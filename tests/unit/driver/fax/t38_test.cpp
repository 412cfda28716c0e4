// SPDX-License-Identifier: MIT
//
// Faxes between two T.38 terminals over UDPTL, through a network that loses datagrams. Time is simulated.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "driver/fax/t38_terminal.h"
#include "driver/fax/tiff.h"
#include "tests/unit/driver/fax/fax_pages.h"
#include "tests/unit/driver/fax/packet_path.h"

namespace offhook::fax {
namespace {

struct Call {
  bool error_correction = true;
  std::uint32_t max_bit_rate = 14'400;
  std::size_t copies = 3;
  std::function<bool(std::size_t datagram)> loses = [](std::size_t) { return false; };
  std::uint32_t delay_ms = 40;
  std::uint32_t pages = 2, lines = 200;
};

struct Outcome {
  Progress sender, receiver;
  std::uint32_t equal = 0;
  std::size_t lost = 0, recovered = 0, ignored = 0;
  double seconds = 0;
};

Outcome run(const Call& call) {
  const Folder folder;
  const std::string sent = folder / "sent.tif", received = folder / "received.tif";
  write_test_pages(sent, call.pages, call.lines, 1);
  std::uint64_t now_ms = 0;
  PacketPath there(call.copies, call.delay_ms, call.loses), back(call.copies, call.delay_ms, call.loses);
  const auto send_on = [&now_ms](PacketPath& path) {
    return [&path, &now_ms](std::span<const std::uint8_t> packet, int times) { path.send(now_ms, packet, times); };
  };
  T38Terminal caller({.calls = true,
                      .send = sent,
                      .receive = {},
                      .ident = "+49 30 1",
                      .error_correction = call.error_correction,
                      .max_bit_rate = call.max_bit_rate},
                     send_on(there));
  T38Terminal answerer({.calls = false,
                        .send = {},
                        .receive = received,
                        .ident = "+1 2",
                        .error_correction = call.error_correction,
                        .max_bit_rate = call.max_bit_rate},
                       send_on(back));
  Outcome out;
  constexpr std::uint64_t kStepMs = 5, kLimitMs = 400'000;
  for (; now_ms < kLimitMs && !(caller.progress().over && answerer.progress().over); now_ms += kStepMs) {
    there.deliver(now_ms, answerer);
    back.deliver(now_ms, caller);
    caller.advance(kStepMs * T38Terminal::kClockHz / 1000);
    answerer.advance(kStepMs * T38Terminal::kClockHz / 1000);
  }
  out.sender = caller.progress();
  out.receiver = answerer.progress();
  out.lost = there.lost + back.lost;
  out.recovered = there.recovered + back.recovered;
  out.ignored = there.ignored + back.ignored;
  out.equal = whole_pages(sent, received);
  out.seconds = static_cast<double>(now_ms) / 1000;
  return out;
}

void expect_all(const Outcome& o, std::uint32_t pages) {
  expect_whole(o, pages);
  EXPECT_EQ(o.ignored, 0u);
}

TEST(T38, PagesAreEqualAtEveryRateWithErrorCorrectionAndWithout) {
  for (const bool correction : {true, false})
    for (const std::uint32_t rate : {14'400u, 9600u, 4800u}) {
      SCOPED_TRACE(testing::Message() << rate << (correction ? " with" : " without"));
      const Outcome o = run({.error_correction = correction, .max_bit_rate = rate});
      expect_all(o, 2);
      EXPECT_EQ(o.receiver.bit_rate, rate);
      EXPECT_EQ(o.receiver.error_correction, correction);
      EXPECT_EQ(o.receiver.far_ident, "+49 30 1");
      EXPECT_EQ(o.lost + o.recovered, 0u);
    }
}

// Three copies: one of four datagrams may be sufficient.
TEST(T38, CopiesMakeUpForSingleLossesAndForThreeInARow) {
  for (const bool correction : {true, false})
    for (const std::size_t run_of : {1u, 3u}) {
      SCOPED_TRACE(testing::Message() << run_of << (correction ? " with" : " without"));
      const Outcome o =
          run({.error_correction = correction, .loses = [run_of](std::size_t n) { return n % 10 >= 10 - run_of; }});
      expect_all(o, 2);
      EXPECT_EQ(o.lost, 0u);
      EXPECT_GT(o.recovered, 50u);
      EXPECT_EQ(o.receiver.bad_lines, 0u);
    }
}

// Without copies, losses within a page reach T.30: its error correction repeats frames.
TEST(T38, ErrorCorrectionRepairsWhatCopiesDoNot) {
  const Outcome o = run({.copies = 0, .loses = [](std::size_t n) { return n > 150 && n < 350 && n % 50 == 49; }});
  EXPECT_GT(o.lost, 0u);
  EXPECT_EQ(o.equal, 2u);
  EXPECT_GT(o.sender.frames_again, 0u);
}

TEST(T38, RandomLossesOfATenthOfAllDatagrams) {
  std::mt19937 random(1);
  const Outcome o = run({.loses = [&random](std::size_t) { return random() % 10 == 0; }});
  expect_all(o, 2);
}

TEST(T38, ALongDelay) {
  expect_all(run({.delay_ms = 400}), 2);
}

TEST(T38, TheEndOfTheLineIsAFailure) {
  T38Terminal terminal({.calls = true, .send = {}, .receive = {}}, [](auto, int) {});
  terminal.advance(T38Terminal::kClockHz);
  EXPECT_FALSE(terminal.progress().over);
  terminal.end_call();
  EXPECT_TRUE(terminal.progress().over);
  EXPECT_FALSE(terminal.progress().complete);
}

TEST(T38, OctetsThatAreNoPacketAreIgnored) {
  T38Terminal terminal({.calls = false, .send = {}, .receive = {}}, [](auto, int) {});
  const std::vector<std::uint8_t> cut = {0xC0, 0x01, 0x80, 0x00, 0x40, 1};
  EXPECT_FALSE(terminal.receive(0, cut));
  EXPECT_FALSE(terminal.receive(1, {}));
}

}  // namespace
}  // namespace offhook::fax
