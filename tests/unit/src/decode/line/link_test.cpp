// SPDX-License-Identifier: MIT
#include "src/decode/line/link.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "dsp/link/hdlc.h"
#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::decode {
namespace {

std::vector<std::uint8_t> text(int from) {
  std::string all;
  for (int k = from; all.size() < 6000; ++k) all += "line " + std::to_string(k) + " of what the other end is told\n";
  return {all.begin(), all.end()};
}

// The bits of both directions of a call of ours, by the link that carries both texts.
struct Heard {
  DataHeard data[2];
  std::vector<std::uint8_t> sent[2];
};

Heard call_with(const std::function<void(oh_lapm_config&)>& change) {
  Heard h;
  test::LapmPair pair({.bit_rate = 9600}, change);
  pair.filter = [&h](int from, int bit) {
    h.data[from].bits.push_back(static_cast<std::uint8_t>(bit));
    return bit;
  };
  for (int k : {0, 1}) {
    h.data[k].bit_rate = 9600;
    h.sent[k] = text(1000 * (k + 1));
    pair[k].to_send = h.sent[k];
  }
  EXPECT_TRUE(pair.run_until([&] { return pair[0].received == h.sent[1] && pair[1].received == h.sent[0]; }, 60));
  return h;
}

struct Read {
  Link call, answer;
};

Read read(const Heard& h) {
  Read r{read_link(h.data[0]), read_link(h.data[1])};
  uncompress({&r.call, 1}, {&r.answer, 1});
  return r;
}

TEST(DecodeLink, V44OfBothDirectionsComesByteForByte) {
  const Heard h = call_with([](oh_lapm_config& c) { c.link.v44 = 3; });
  const Read r = read(h);
  EXPECT_TRUE(r.call.v44 && r.answer.v44);
  EXPECT_FALSE(r.call.v42bis || r.answer.v42bis);
  EXPECT_EQ(r.call.payload, h.sent[0]);
  EXPECT_EQ(r.answer.payload, h.sent[1]);
  EXPECT_LT(h.data[0].bits.size(), 8 * h.sent[0].size()) << "it was not compressed";
}

TEST(DecodeLink, EachDirectionOfV44IsThatOfItsOwnParameters) {
  const Heard h = call_with([](oh_lapm_config& c) {
    const bool calls = c.role == OH_PUMP_CALL;
    c.link.v44 = 3;
    c.link.v44_tx = calls ? oh_v44_parameters{300, 1000, 40} : oh_v44_parameters{2048, 6144, 255};
    c.link.v44_rx = calls ? oh_v44_parameters{1024, 4000, 100} : oh_v44_parameters{2048, 6144, 255};
  });
  const Read r = read(h);
  EXPECT_TRUE(r.call.v44 && r.answer.v44);
  EXPECT_EQ(r.call.payload, h.sent[0]);
  EXPECT_EQ(r.answer.payload, h.sent[1]);
}

TEST(DecodeLink, ADirectionWithoutV44IsLeftAsItIs) {
  const Heard h = call_with([](oh_lapm_config& c) {
    c.link.compression = 0;
    c.link.v44 = c.role == OH_PUMP_CALL ? 1 : 2;  // of both, what the call modem transmits
  });
  const Read r = read(h);
  EXPECT_TRUE(r.call.v44);
  EXPECT_FALSE(r.answer.v44 || r.answer.v42bis);
  EXPECT_EQ(r.call.payload, h.sent[0]);
  EXPECT_EQ(r.answer.payload, h.sent[1]);
}

TEST(DecodeLink, V42bisIsReadWhereOneEndHasNoV44) {
  const Heard h = call_with([](oh_lapm_config& c) {
    c.link.compression = 3;
    c.link.v44 = c.role == OH_PUMP_CALL ? 3 : 0;
  });
  const Read r = read(h);
  EXPECT_TRUE(r.call.v42bis && r.answer.v42bis);
  EXPECT_FALSE(r.call.v44 || r.answer.v44);
  EXPECT_EQ(r.call.payload, h.sent[0]);
  EXPECT_EQ(r.answer.payload, h.sent[1]);
}

// The bits of an I frame of V.42 with the longer check sequence.
std::vector<std::uint8_t> frame_of(const std::vector<std::uint8_t>& information) {
  std::uint8_t buffer[64] = {0x03, 0x00, 0x00};
  std::copy(information.begin(), information.end(), buffer + 3);
  v42::HdlcSender sender;
  sender.init(buffer);
  std::vector<std::uint8_t> bits;
  const auto to_flag = [&] {
    do bits.push_back(static_cast<std::uint8_t>(sender.next()));
    while (!sender.ready());
  };
  to_flag();
  sender.load(3 + information.size(), true);
  to_flag();
  return bits;
}

bool shorter_sequence_is_right_too(const std::vector<std::uint8_t>& bits) {
  std::uint8_t buffer[64];
  v42::HdlcReceiver receiver;
  receiver.init(buffer, sizeof buffer);
  bool both = false;
  for (const std::uint8_t bit : bits) both |= receiver.put(bit) == v42::HdlcReceiver::kFrame && receiver.fcs16();
  return both;
}

TEST(DecodeLink, AFrameWhoseShorterCheckSequenceIsRightByChanceHasTheLongerOne) {
  for (std::uint32_t number = 0; number < 1'000'000; ++number) {
    const std::vector<std::uint8_t> information{static_cast<std::uint8_t>(number),
                                                static_cast<std::uint8_t>(number >> 8),
                                                static_cast<std::uint8_t>(number >> 16)};
    DataHeard heard;
    heard.bit_rate = 9600;
    const std::vector<std::uint8_t> bits = frame_of(information);
    if (!shorter_sequence_is_right_too(bits)) continue;
    heard.bits.assign(bits.begin(), bits.end());
    const Link link = read_link(heard);
    ASSERT_EQ(link.frames.size(), 1u);
    EXPECT_TRUE(link.frames[0].fcs32);
    EXPECT_EQ(link.payload, information) << "the sequence's first octets are no information";
    return;
  }
  FAIL() << "one in 65 536 was to be expected";
}

// A renegotiation, and another one before the frame is at its end.
TEST(DecodeLink, AFrameGoesOnOverThreeDataModes) {
  std::vector<std::uint8_t> information(40);
  for (std::size_t k = 0; k < information.size(); ++k) information[k] = static_cast<std::uint8_t>(37 * k);
  const std::vector<std::uint8_t> bits = frame_of(information);
  Link link;
  for (std::size_t part = 0; part < 3; ++part) {
    DataHeard heard;
    heard.bit_rate = 9600;
    const auto cut = [&](std::size_t k) { return bits.begin() + static_cast<long>(k * bits.size() / 3); };
    heard.bits.assign(cut(part), cut(part + 1));
    const Link before = std::exchange(link, Link());
    link = read_link(heard, part == 0 ? nullptr : &before);
    EXPECT_EQ(link.frames.size(), part == 2 ? 1u : 0u);
  }
  EXPECT_EQ(link.payload, information);
  EXPECT_EQ(link.bad_frames, 0);
}

}  // namespace
}  // namespace offhook::decode
