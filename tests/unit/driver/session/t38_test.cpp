// SPDX-License-Identifier: MIT
//
// Faxes between two T.38 terminals over UDPTL, through a network that loses datagrams. Time is simulated.
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "driver/base/udptl.h"
#include "driver/fax/tiff.h"
#include "driver/session/t38_terminal.h"

namespace offhook::fax {
namespace {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "offhook-t38-XXXXXX") {
    std::string name = path_.string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

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

/// One direction of the network.
struct Path {
  UdptlWriter writer;
  UdptlReader reader;
  struct Datagram {
    std::uint64_t at_ms;
    std::vector<std::uint8_t> octets;
  };
  std::deque<Datagram> queue;
  std::size_t sent = 0;
};

Outcome run(const Call& call) {
  const Folder folder;
  const std::string sent = folder / "sent.tif", received = folder / "received.tif";
  write_test_pages(sent, call.pages, call.lines, 1);
  std::uint64_t now_ms = 0;
  Path there{UdptlWriter(call.copies, 1400), {}, {}}, back = there;
  const auto send_on = [&](Path& path) {
    return [&](std::span<const std::uint8_t> packet, int times) {
      const std::vector<std::uint8_t> datagram = path.writer.next(packet);
      for (int k = 0; k < times; ++k)
        if (!call.loses(path.sent++)) path.queue.push_back({now_ms + call.delay_ms, datagram});
    };
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
  const auto deliver = [&](Path& path, T38Terminal& to) {
    for (; !path.queue.empty() && path.queue.front().at_ms <= now_ms; path.queue.pop_front()) {
      const auto news = path.reader.take(path.queue.front().octets);
      if (!news) continue;
      out.lost += news->lost;
      out.recovered += news->packets.size() - 1;
      for (std::size_t k = 0; k < news->packets.size(); ++k)
        out.ignored += !to.receive(static_cast<std::uint16_t>(news->first + k), news->packets[k]);
    }
  };
  constexpr std::uint64_t kStepMs = 5, kLimitMs = 400'000;
  for (; now_ms < kLimitMs && !(caller.progress().over && answerer.progress().over); now_ms += kStepMs) {
    deliver(there, answerer);
    deliver(back, caller);
    caller.advance(kStepMs * T38Terminal::kClockHz / 1000);
    answerer.advance(kStepMs * T38Terminal::kClockHz / 1000);
  }
  out.sender = caller.progress();
  out.receiver = answerer.progress();
  out.equal = whole_pages(sent, received);
  out.seconds = static_cast<double>(now_ms) / 1000;
  return out;
}

void expect_all(const Outcome& o, std::uint32_t pages) {
  EXPECT_TRUE(o.sender.complete) << o.sender.failure;
  EXPECT_TRUE(o.receiver.complete) << o.receiver.failure;
  EXPECT_EQ(o.sender.pages_sent, pages);
  EXPECT_EQ(o.receiver.pages_received, pages);
  EXPECT_EQ(o.equal, pages);
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

// Without copies the same losses reach T.30: its error correction repeats frames.
TEST(T38, ErrorCorrectionRepairsWhatCopiesDoNot) {
  const Outcome o = run({.copies = 0, .loses = [](std::size_t n) { return n % 50 == 49; }});
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
