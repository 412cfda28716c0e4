// SPDX-License-Identifier: MIT
#include "driver/fax/class1.h"

#include <gtest/gtest.h>
#include <spandsp.h>

#include <cmath>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace offhook::fax {
namespace {

constexpr std::size_t kBlock = 80;  // 10 ms
const std::string kEnd = "\x10\x03";
const std::string kLast = "\xFF\x13", kMore = "\xFF\x03";  // address and control

std::string checked(std::string frame) {
  std::vector<std::uint8_t> octets(frame.begin(), frame.end());
  octets.resize(frame.size() + 2);
  crc_itu16_append(octets.data(), static_cast<int>(frame.size()));
  return {octets.begin(), octets.end()};
}

std::string stuffed(const std::string& octets) {
  std::string out;
  for (const char c : octets) out.append(c == '\x10' ? 2 : 1, c);
  return out;
}

/// One end: a pump, the operations, and the output for its program: octets, and results in angle brackets.
struct End {
  explicit End(oh_pump_role role) : pump(make_pump(role)), class1(pump.get()) {}
  void serve() {
    constexpr const char* kNames[] = {"<CONNECT>", "<OK>", "<ERROR>", "<NO CARRIER>", "<+FCERROR>", "<+FRH:3>"};
    class1.poll();
    for (;;) {
      const std::string now(class1.octets());
      heard += now;
      class1.drop(now.size());
      const auto outcome = class1.take_outcome();
      if (!outcome) return;
      heard += kNames[static_cast<std::size_t>(*outcome)];
    }
  }
  std::string take() {
    serve();
    return std::exchange(heard, "");
  }
  /// Like a program that waits for room.
  void put(const std::string& octets) { class1.put(octets); }

  OwnPump pump;
  Class1 class1;
  std::string heard;
  std::deque<std::int16_t> line = std::deque<std::int16_t>(120);  // 15 ms
};

struct Pair {
  void run(double seconds) {
    for (double t = 0; t < seconds - 0.005; t += 0.01) {
      step(a, b);
      step(b, a);
      a.serve();
      b.serve();
    }
  }
  void step(End& from, End& to) {
    std::int16_t rx[kBlock], tx[kBlock];
    for (std::int16_t& x : rx) {
      x = static_cast<std::int16_t>(from.line.front() + noise * static_cast<int>(random() % 3 - 1));
      from.line.pop_front();
    }
    pump_type()->process(from.pump.get(), rx, tx, kBlock);
    to.line.insert(to.line.end(), tx, tx + kBlock);
  }
  End a{OH_PUMP_CALL}, b{OH_PUMP_ANSWER};
  std::minstd_rand random{1};
  int noise = 0;
};

std::string bits_of(const std::string& octets) {
  std::string bits;
  for (const char c : octets)
    for (int k = 0; k < 8; ++k) bits += static_cast<char>('0' + (static_cast<unsigned char>(c) >> k & 1));
  return bits;
}

std::string unstuffed(const std::string& octets) {
  std::string out;
  for (std::size_t i = 0; i < octets.size(); ++i) {
    if (octets[i] == '\x10') ++i;
    out += octets[i];
  }
  return out;
}

/// The octets between <CONNECT> and DLE ETX.
std::string page_in(const std::string& heard) {
  const std::string head = "<CONNECT>", tail = kEnd + "<NO CARRIER>";
  if (!heard.starts_with(head) || !heard.ends_with(tail)) return "no page: " + heard.substr(0, 40);
  return unstuffed(heard.substr(head.size(), heard.size() - head.size() - tail.size()));
}

TEST(Class1, ACallConnectsWithFlagsAndFramesPassWithTheirCheck) {
  Pair p;
  p.a.class1.call();
  p.b.class1.answer();
  p.run(2);
  EXPECT_EQ(p.a.take() + p.b.take(), "") << "the answer tone";
  p.run(4);
  EXPECT_EQ(p.b.take(), "<CONNECT>");
  EXPECT_EQ(p.a.take(), "<CONNECT>") << "flags are heard";
  const std::string first = kMore + "\x40ID\x10\x03\x10", last = kLast + "\x80x";
  p.b.put(stuffed(first) + kEnd);
  EXPECT_EQ(p.b.take(), "<CONNECT>") << "not the last";
  p.b.put(stuffed(last) + kEnd);
  p.b.put("ignored up to the result");
  EXPECT_EQ(p.b.take(), "");
  p.run(1.5);
  EXPECT_EQ(p.b.take(), "<OK>");
  EXPECT_EQ(p.a.take(), stuffed(checked(first)) + kEnd + "<OK>");
  EXPECT_FALSE(p.a.class1.busy());
  p.a.class1.receive_frames(5);
  p.run(0.1);
  EXPECT_EQ(p.a.take(), "<CONNECT>" + stuffed(checked(last)) + kEnd + "<OK>") << "it has come meanwhile";
}

TEST(Class1, OkAfterTheLastFrameWaitsForTheEndOfItsCarrier) {
  Pair p;
  p.b.class1.receive_frames(5);
  p.a.class1.send_frames();
  p.a.put(kLast + "\x42" + kEnd);
  p.run(3);
  EXPECT_EQ(p.b.take(), "<CONNECT>" + checked(kLast + "\x42") + kEnd + "<OK>");
  // The page that follows immediately does not count as a wrong carrier.
  p.a.take();
  p.b.class1.receive_page(96, 5);
  p.a.class1.send_page(96);
  p.a.put(std::string(100, 'x') + kEnd);
  p.run(2);
  EXPECT_TRUE(p.b.take().starts_with("<CONNECT>"));
}

TEST(Class1, PagesPassByEveryModulationInEveryOctet) {
  std::string page;
  for (int k = 0; k < 3 * 256; ++k) page += static_cast<char>(k * 7);
  Pair p;
  for (const PageModulation& m : page_modulations()) {
    SCOPED_TRACE(m.code);
    EXPECT_TRUE(p.b.class1.receive_page(m.code, 5));
    EXPECT_TRUE(p.a.class1.send_page(m.code));
    p.a.put(stuffed(page) + kEnd);
    p.run(6);
    EXPECT_EQ(p.a.take(), "<CONNECT><OK>");
    EXPECT_NE(bits_of(page_in(p.b.take())).find(bits_of(page)), std::string::npos);
  }
  EXPECT_FALSE(p.a.class1.send_page(3)) << "V.21 without frames";
  EXPECT_FALSE(p.b.class1.receive_page(147, 5));
}

TEST(Class1, OnesComeBeforeThePageAndZerosWhereTheProgramIsLate) {
  Pair p;
  p.b.class1.receive_page(96, 5);
  p.a.class1.send_page(96);
  p.run(1.5);
  p.a.put("UUUU");
  p.run(1);
  p.a.put("3333" + kEnd);
  p.run(2);
  const std::string bits = bits_of(page_in(p.b.take()));
  const std::size_t first = bits.find(bits_of("UUUU")), second = bits.rfind(bits_of("3333"));
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(second, std::string::npos);
  EXPECT_GT(first, 1000u);
  EXPECT_EQ(bits.substr(0, first).find("10"), std::string::npos) << "no zero after a one";
  EXPECT_GT(second - first, 4000u) << "most of a second";
  EXPECT_EQ(bits.substr(first + 32, second - first - 32).find('1'), std::string::npos);
}

TEST(Class1, DlePairsOfTheProgram) {
  Pair p;
  p.b.class1.receive_frames(5);
  p.a.class1.send_frames();
  p.a.put(kLast + "a\x10\x10" + "b\x10\x1A" + "c\x10xd" + kEnd);
  p.run(3);
  EXPECT_EQ(p.b.take(), "<CONNECT>" + stuffed(checked(kLast + "a\x10" + "b\x10\x10" + "cd")) + kEnd + "<OK>");
}

TEST(Class1, ABadCheckIsAnError) {
  Pair p;
  p.b.class1.receive_frames(5);
  p.a.class1.send_frames();
  p.a.put(kLast + std::string(40, 'Q') + kEnd);
  p.run(1.6);
  p.noise = 9000;
  p.run(0.2);
  p.noise = 0;
  p.run(2);
  const std::string heard = p.b.take();
  EXPECT_TRUE(heard.starts_with("<CONNECT>")) << heard;
  EXPECT_NE(heard.find(kEnd + "<ERROR>"), std::string::npos) << heard;
}

TEST(Class1, FramesInThePlaceOfAPageAreAnotherCarrierAndAreKept) {
  Pair p;
  p.b.class1.receive_page(145, 5);
  p.a.class1.send_frames();
  p.a.put(kLast + "\x42" + kEnd);
  p.run(0.9);
  EXPECT_EQ(p.b.take(), "<+FCERROR>");
  EXPECT_FALSE(p.b.class1.busy());
  p.b.class1.receive_frames(5);
  p.run(2);
  EXPECT_EQ(p.b.take(), "<CONNECT>" + checked(kLast + "\x42") + kEnd + "<OK>");
}

TEST(Class1, AdaptiveReceptionContinuesWithFrames) {
  Pair p;
  p.b.class1.receive_page(145, 5, true);
  p.a.class1.send_frames();
  p.a.put(kLast + "\x42" + kEnd);
  p.run(3);
  EXPECT_EQ(p.b.take(), "<+FRH:3><CONNECT>" + checked(kLast + "\x42") + kEnd + "<OK>");
  EXPECT_FALSE(p.b.class1.busy());
  // For one command only.
  p.b.class1.receive_page(145, 5);
  p.a.class1.send_frames();
  p.a.put(kLast + "\x42" + kEnd);
  p.run(3);
  EXPECT_EQ(p.b.take(), "<+FCERROR>");
}

TEST(Class1, WithoutACarrierReceptionEndsAfterItsTime) {
  Pair p;
  p.a.class1.receive_page(96, 2);
  p.b.class1.receive_frames(2);
  p.run(1.9);
  EXPECT_EQ(p.a.take() + p.b.take(), "");
  p.run(0.2);
  EXPECT_EQ(p.a.take() + p.b.take(), "<NO CARRIER><NO CARRIER>");
}

TEST(Class1, ACharacterEndsReception) {
  Pair p;
  p.a.class1.receive_page(96, 60);
  p.b.class1.receive_frames(60);
  p.run(0.5);
  p.a.put("\x18");
  p.b.put("x");
  EXPECT_EQ(p.a.take() + p.b.take(), "<OK><OK>");
  p.b.class1.receive_page(72, 5);
  p.a.class1.send_page(72);
  p.a.put(std::string(500, 'x'));
  p.run(1);
  p.b.put("x");
  const std::string heard = p.b.take();
  EXPECT_TRUE(heard.starts_with("<CONNECT>") && heard.ends_with(kEnd + "<OK>")) << heard.size();
  p.run(1);
  EXPECT_EQ(p.b.take(), "");
}

TEST(Class1, ACarrierThatEndsWithoutAFrameIsNoCarrier) {
  Pair p;
  p.b.class1.receive_frames(10);
  p.a.class1.send_frames();
  p.run(1);
  p.a.put(kEnd);  // no frame, so the signal ends
  p.run(1);
  EXPECT_EQ(p.a.take(), "<CONNECT><OK>");
  EXPECT_EQ(p.b.take(), "<CONNECT>" + kEnd + "<NO CARRIER>");
}

TEST(Class1, AProgramThatFallsSilentIsAnErrorAndTheCarrierEnds) {
  for (const bool page : {false, true}) {
    Pair p;
    if (page) {
      p.a.class1.send_page(96);
    } else {
      p.a.class1.send_frames();
    }
    p.a.put(page ? "half a page" : kMore + "half a frame");
    p.run(4.5);
    EXPECT_EQ(p.a.take(), "<CONNECT>");
    p.run(1.5);
    EXPECT_EQ(p.a.take(), "<ERROR>");
    EXPECT_FALSE(p.a.class1.busy());
    p.b.class1.await_silence(200);
    p.run(0.4);
    EXPECT_EQ(p.b.take(), "<OK>");
  }
}

TEST(Class1, AnOverlongFrameIsAnError) {
  Pair p;
  p.a.class1.send_frames();
  p.a.put(kLast + std::string(1000, 'x') + kEnd);
  p.run(2);
  EXPECT_EQ(p.a.take(), "<CONNECT><ERROR>");
}

TEST(Class1, SilenceIsSentAndAwaitedToTheMillisecond) {
  Pair p;
  p.a.class1.send_silence(300);
  p.run(0.29);
  EXPECT_EQ(p.a.take(), "");
  p.run(0.03);
  EXPECT_EQ(p.a.take(), "<OK>");
  p.a.class1.send_page(96);
  p.b.class1.await_silence(100);
  p.run(1);
  EXPECT_EQ(p.b.take(), "") << "the line is not silent";
  p.a.put("x" + kEnd);
  p.run(0.5);
  EXPECT_EQ(p.b.take(), "<OK>");
}

TEST(Class1, AProgramWithoutPatienceFindsNoRoomAndLosesNothing) {
  Pair p;
  std::string page;
  for (int k = 0; k < 4000; ++k) page += static_cast<char>(0x21 + k % 89);
  p.b.class1.receive_page(48, 5);
  p.a.class1.send_page(48);
  std::size_t at = 0;
  for (int k = 0; k < 900 && at < page.size(); ++k) {
    const std::size_t n = std::min(p.a.class1.room(), page.size() - at);
    if (n > 0) p.a.put(page.substr(at, n));
    at += n;
    if (k == 100) {
      EXPECT_EQ(n, 0u) << "the queue is full";
    }
    p.run(0.01);
  }
  ASSERT_EQ(at, page.size());
  p.a.put(kEnd);
  p.run(4);
  EXPECT_NE(bits_of(page_in(p.b.take())).find(bits_of(page)), std::string::npos);
  EXPECT_EQ(counters_of(p.a.pump.get()).starved_bits, 0u);
}

}  // namespace
}  // namespace offhook::fax
