// SPDX-License-Identifier: MIT
// MNP's headers and start-stop frames, against vectors that tests/checklist/mnp_vectors.py prints.
#include "dsp/link/mnp_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsp/link/hdlc.h"
#include "dsp/link/octet_frames.h"
#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::v42 {
namespace {

constexpr const char* kVectors[] = {
#include "mnp_vectors.inc"
};

using Octets = std::vector<uint8_t>;

Octets request(uint8_t framing, uint8_t k, uint16_t n401, uint8_t optimization) {
  LinkRequest r;
  r.framing = framing, r.k = k, r.n401 = n401, r.optimization = optimization;
  Octets out(kMaxMnpHeader);
  out.resize(write_link_request(r, out.data()));
  return out;
}

Octets frame(MnpType type, uint8_t first, uint8_t second, bool fixed, const Octets& info = {}) {
  Octets out(kMaxMnpHeader);
  out.resize(write_header(type, first, second, fixed, out.data()));
  out.insert(out.end(), info.begin(), info.end());
  return out;
}

std::vector<int> bits_of(const Octets& body) {
  OctetFrameSender sender;
  Octets buffer = body;
  sender.init(buffer.data());
  sender.load(body.size());
  std::vector<int> bits;
  while (!sender.ready()) bits.push_back(sender.next());
  return bits;
}

std::string start_stop(const Octets& body) {
  const std::vector<int> bits = bits_of(body);
  std::string text;
  for (size_t at = 0; at < bits.size(); at += 10) {
    unsigned octet = 0;
    for (size_t k = 0; k < 8; ++k) octet |= unsigned(bits[at + 1 + k]) << k;
    EXPECT_TRUE(bits[at] == 0 && bits[at + 9] == 1);
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x ", octet);
    text += digits;
  }
  text.pop_back();
  return text;
}

std::string flags(const Octets& body) {
  HdlcSender sender;
  Octets buffer = body;
  buffer.resize(body.size() + kMaxFcs);
  sender.init(buffer.data());
  std::string bits;
  while (!sender.ready()) bits += char('0' + sender.next());
  sender.load(body.size(), false);
  while (sender.flags() < 2) bits += char('0' + sender.next());
  return bits;
}

TEST(MnpFrames, AreThoseOfTheVectors) {
  const std::vector<std::string> ours = {
      start_stop(request(2, 8, 64, 0)),
      start_stop(request(3, 8, 64, 0)),
      start_stop(request(3, 15, 64, 3)),
      start_stop(request(2, 16, 256, 2)),
      start_stop(frame(kLinkAcknowledgement, 0, 8, false)),
      start_stop(frame(kLinkAcknowledgement, 0, 8, true)),
      start_stop(frame(kLinkTransfer, 1, 0, false, {0x41, 0x10, 0x03, 0x10, 0x10, 0xFF})),
      start_stop(frame(kLinkTransfer, 0x10, 0, true, {0x10})),
      start_stop(frame(kLinkDisconnect, kUser, 0, false)),
      start_stop(frame(kLinkAttention, 1, 2, false)),
      start_stop(frame(kLinkAttentionAnswer, 1, 0, false)),
      flags(frame(kLinkTransfer, 1, 0, false, {0x41, 0xFF, 0x7E, 0xFF})),
      flags(frame(kLinkTransfer, 255, 0, true, {0xFF, 0xFF, 0xFF, 0xFF})),
      flags(frame(kLinkAcknowledgement, 17, 3, true)),
  };
  ASSERT_EQ(ours.size(), std::size(kVectors));
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i], kVectors[i]) << i;
}

/// @return the frames in these bits; an empty one for each damaged frame
std::vector<Octets> received(const std::vector<int>& bits, size_t capacity = 300) {
  OctetFrameReceiver receiver;
  Octets buffer(capacity);
  receiver.init(buffer.data(), capacity);
  std::vector<Octets> frames;
  for (const int bit : bits) {
    const auto result = receiver.put(bit);
    if (result == OctetFrameReceiver::kFrame) frames.emplace_back(receiver.data(), receiver.data() + receiver.size());
    if (result == OctetFrameReceiver::kBadFrame) frames.emplace_back();
  }
  return frames;
}

TEST(OctetFrames, ArriveWithEveryOctetAndLength) {
  for (size_t n : {1, 2, 16, 255, 256, 300}) {
    const Octets body = test::random_bytes(n, n);
    EXPECT_EQ(received(bits_of(body)), (std::vector<Octets>{body})) << n;
  }
  const Octets escapes(40, 0x10);
  EXPECT_EQ(received(bits_of(escapes)), (std::vector<Octets>{escapes}));
}

TEST(OctetFrames, ArriveWithoutSynAndWithIdleLineBetweenCharacters) {
  const Octets body = frame(kLinkTransfer, 9, 0, true, {1, 2, 3});
  const std::vector<int> bits = bits_of(body);
  std::vector<int> idle(bits.begin() + 10, bits.end());  // without the SYN
  for (size_t at = 0; at < idle.size(); at += 13) idle.insert(idle.begin() + long(at), 3, 1);
  EXPECT_EQ(received(idle), (std::vector<Octets>{body}));
}

TEST(OctetFrames, ReportOneDamagedBitAndFindTheNextFrame) {
  const Octets body = test::random_bytes(20, 5);
  const std::vector<int> good = bits_of(body);
  for (size_t at = 31; at < good.size(); ++at) {  // the body and what follows it
    std::vector<int> bits = good;
    bits[at] ^= 1;
    bits.insert(bits.end(), 12, 1);
    bits.insert(bits.end(), good.begin(), good.end());
    const std::vector<Octets> frames = received(bits);
    ASSERT_FALSE(frames.empty()) << at;
    EXPECT_EQ(frames.back(), body) << at;
    for (size_t k = 0; k + 1 < frames.size(); ++k)
      EXPECT_TRUE(frames[k].empty() || frames[k] == body) << "a damaged frame was delivered; bit " << at;
  }
}

TEST(OctetFrames, DropOneThatIsTooLong) {
  EXPECT_EQ(received(bits_of(Octets(31, 7)), 30), (std::vector<Octets>{{}}));
  EXPECT_EQ(received(bits_of(Octets(30, 7)), 30).back().size(), 30u);
}

TEST(MnpFrames, AreReadAsTheyWereWritten) {
  for (const bool fixed : {false, true}) {
    const Octets octets = frame(kLinkAcknowledgement, 200, 7, fixed);
    MnpHeader h;
    ASSERT_TRUE(read_header(octets.data(), octets.size(), &h));
    EXPECT_TRUE(h.type == kLinkAcknowledgement && h.first == 200 && h.second == 7 && h.n == 0);
    const Octets transfer = frame(kLinkTransfer, 3, 0, fixed, {8, 9});
    ASSERT_TRUE(read_header(transfer.data(), transfer.size(), &h));
    EXPECT_TRUE(h.type == kLinkTransfer && h.first == 3 && h.n == 2 && h.info[0] == 8 && h.info[1] == 9);
  }
  const Octets octets = request(3, 12, 300, 3);
  MnpHeader h;
  LinkRequest r;
  ASSERT_TRUE(read_header(octets.data(), octets.size(), &h) && read_link_request(h, &r));
  EXPECT_TRUE(r.level == 2 && r.framing == 3 && r.k == 12 && r.n401 == 300 && r.optimization == 3);
}

// From a program that sends it to another maker's computer: parameter 14 offers V.42bis.
TEST(OctetFrames, OneOfAnotherProgramArrives) {
  const Octets line = {0x16, 0x10, 0x02, 0x1D, 0x01, 0x02, 0x01, 0x06, 0x01, 0x00, 0x00, 0x00, 0x00,
                       0xFF, 0x02, 0x01, 0x02, 0x03, 0x01, 0x08, 0x04, 0x02, 0x40, 0x00, 0x08, 0x01,
                       0x03, 0x0E, 0x04, 0x03, 0x04, 0x00, 0xFA, 0x10, 0x03, 0x8A, 0x2E};
  v14::Sender characters;
  std::vector<int> bits;
  for (const uint8_t c : line) {
    characters.put(c);
    while (!characters.ready()) bits.push_back(characters.next());
  }
  const std::vector<Octets> frames = received(bits);
  ASSERT_EQ(frames.size(), 1u);
  MnpHeader h;
  LinkRequest r;
  ASSERT_TRUE(read_header(frames[0].data(), frames[0].size(), &h) && read_link_request(h, &r));
  EXPECT_TRUE(r.level == 2 && r.framing == 2 && r.k == 8 && r.n401 == 64 && r.optimization == 3);
}

// A.7.1.5.2: a modem of 1991 sends another constant. A.7.1.5.6: unknown parameters are ignored.
TEST(MnpFrames, ALinkRequestHasOtherConstantsAndUnknownParameters) {
  const Octets octets = {28, 1, 2, 1, 6, 7, 1, 247, 0, 0, 1, 2, 1, 2, 3, 1, 8, 14, 4, 3, 0, 0, 6, 4, 2, 64, 0, 9, 0};
  MnpHeader h;
  LinkRequest r;
  ASSERT_TRUE(read_header(octets.data(), octets.size(), &h));
  ASSERT_TRUE(read_link_request(h, &r));
  EXPECT_TRUE(r.framing == 2 && r.k == 8 && r.n401 == 64 && r.optimization == 0);
}

TEST(MnpFrames, RefuseWhatIsCutOffOrUnknown) {
  MnpHeader h;
  LinkRequest r;
  for (const Octets& wrong : std::vector<Octets>{{},
                                                 {0},
                                                 {0, 4},
                                                 {5, 4, 1, 1},             // shorter than its length
                                                 {255, 0, 4, 4, 1, 1, 1},  // extended length
                                                 {4, 3, 1, 1, 1},          // type 3 does not exist
                                                 {4, 8, 1, 1, 1},
                                                 {4, 2, 2, 1, 1},  // no reason
                                                 {4, 2, 1, 2, 1},
                                                 {4, 5, 1, 1, 1}})
    EXPECT_FALSE(read_header(wrong.data(), wrong.size(), &h));
  for (const Octets& wrong : std::vector<Octets>{{1, 1}, {3, 1, 2, 3}, {5, 1, 2, 3, 2, 1}}) {
    ASSERT_TRUE(read_header(wrong.data(), wrong.size(), &h));
    EXPECT_FALSE(read_link_request(h, &r));
  }
}

TEST(MnpFrames, CommonParametersAreTheLowerOnes) {
  LinkRequest a, b;
  a.framing = 3, a.k = 8, a.n401 = 256, a.optimization = 3;
  b.framing = 2, b.k = 15, b.n401 = 64, b.optimization = 2;
  for (const LinkRequest& c : {common(a, b), common(b, a)})
    EXPECT_TRUE(c.framing == 2 && c.k == 8 && c.n401 == 64 && c.optimization == 2);
}

}  // namespace
}  // namespace offhook::v42
