// SPDX-License-Identifier: MIT
//
// The network's cards on the loopback interface, with an independent far end: sockets of the test.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "driver/network/audiosocket_card.h"
#include "driver/network/rtp_card.h"
#include "tests/unit/temporary_folder.h"

namespace offhook {
namespace {

using Octets = std::vector<std::uint8_t>;

/// The driver's work for a card, by hand.
class Driver {
 public:
  explicit Driver(LiveCard& card) : card_(card) {
    card.card().ops->set_block(card.card().self, 80);
    card.start();
  }
  /// One block: reads the captured samples, queues the next n octets. @return false if the card is gone
  bool block(Octets* heard, const std::function<std::uint8_t()>& next) {
    if (card_.wait() != LiveCard::Wait::kInterrupt) return false;
    const oh_card& card = card_.card();
    const std::uint64_t end = card.ops->acknowledge(card.self);
    const oh_ring rx = oh_ring_of(&card.streams, &card.streams.rx, card.rx_ring);
    const oh_ring tx = oh_ring_of(&card.streams, &card.streams.tx, card.tx_ring);
    for (; read_ < end; ++read_) {
      const SampleRun run = card_.run_at(read_, 1);
      lost += run.lost;
      for (std::uint32_t k = 0; k < rx.period_octets; ++k)
        if (!run.lost) heard->push_back(rx.octets[read_ % rx.periods * rx.period_octets + k]);
      for (std::uint32_t k = 0; k < tx.period_octets; ++k)
        tx.octets[(read_ + kLead) % tx.periods * tx.period_octets + k] = next();
    }
    card.ops->rx_read(card.self, read_);
    card.ops->tx_written(card.self, read_ + kLead);
    return true;
  }
  std::uint64_t lost = 0;

 private:
  static constexpr std::uint64_t kLead = 160;
  LiveCard& card_;
  std::uint64_t read_ = 0;
};

int udp_socket(InternetAddress* address) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const InternetAddress any = internet_address("127.0.0.1:0");
  EXPECT_EQ(bind(fd, any.get(), any.length), 0);
  *address = address_of_socket(fd);
  return fd;
}

std::uint8_t counting(std::uint8_t* n) {
  return (*n)++;
}

std::int64_t figure_of(const LiveCard& card, std::string_view key) {
  for (const CardFigure& figure : card.figures())
    if (figure.key == key) return std::get<std::int64_t>(figure.value);
  ADD_FAILURE() << "no figure " << key;
  return 0;
}

TEST(RtpCard, EveryOctetOfEitherLawArrivesAsItWasSent) {
  for (const oh_encoding law : {OH_MULAW, OH_ALAW}) {
    RtpConfig a_config, b_config;
    a_config.local = b_config.local = internet_address("127.0.0.1:0");
    RtpCard a(a_config), b(b_config);
    InternetAddress of_a = a_config.local, of_b = of_a;
    of_a.set_port(a.local_port());
    of_b.set_port(b.local_port());
    a.set_media(RtpMedia{of_b, law, 160});
    b.set_media(RtpMedia{of_a, law, 80});
    Driver at_a(a), at_b(b);
    Octets heard_a, heard_b;
    std::uint8_t n = 0, m = 0;
    for (int k = 0; k < 60; ++k) {
      ASSERT_TRUE(at_a.block(&heard_a, [&n] { return counting(&n); }));
      ASSERT_TRUE(at_b.block(&heard_b, [&m] { return counting(&m); }));
    }
    for (const Octets& heard : {heard_a, heard_b}) {
      // The ring's first lead, then 0, 1, 2 ...; the streams start at different samples: find one, then count.
      ASSERT_GT(heard.size(), 2000u);
      const std::size_t from = heard.size() - 1500;
      for (std::size_t i = from + 1; i < heard.size(); ++i)
        ASSERT_EQ(heard[i], static_cast<std::uint8_t>(heard[i - 1] + 1)) << i;
    }
    EXPECT_EQ(a.encoding(), law);
  }
}

TEST(RtpCard, WhatItSendsIsG711InPacketsOfThePtime) {
  InternetAddress far;
  const int fd = udp_socket(&far);
  RtpCard card({.local = internet_address("127.0.0.1:0"), .media = RtpMedia{far, OH_ALAW, 240}});
  Driver driver(card);
  Octets heard;
  for (int k = 0; k < 20; ++k) ASSERT_TRUE(driver.block(&heard, [] { return std::uint8_t{0xd5}; }));
  std::array<std::uint8_t, 512> octets;
  std::uint32_t timestamp = 0;
  std::uint16_t sequence = 0;
  for (int k = 0; k < 5; ++k) {
    const ssize_t n = recv(fd, octets.data(), octets.size(), MSG_DONTWAIT);
    ASSERT_EQ(n, 252) << "12 octets of header, 30 ms";
    const auto packet = parse_rtp({octets.data(), static_cast<std::size_t>(n)});
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->payload_type, kPcmaType);
    EXPECT_EQ(packet->marker, k == 0);
    if (k > 0) {
      EXPECT_EQ(packet->timestamp, timestamp + 240);
      EXPECT_EQ(packet->sequence, static_cast<std::uint16_t>(sequence + 1));
    }
    timestamp = packet->timestamp;
    sequence = packet->sequence;
  }
  close(fd);
}

TEST(RtpCard, ALostPacketIsLostByPositionAndAnotherCodecEndsTheCard) {
  InternetAddress far;
  const int fd = udp_socket(&far);
  RtpCard card({.local = internet_address("127.0.0.1:0"), .media = RtpMedia{far, OH_MULAW, 160}});
  InternetAddress near = internet_address("127.0.0.1:0");
  near.set_port(card.local_port());
  const auto send_packet = [&](std::uint8_t type, std::uint16_t n) {
    Octets octets(kRtpHeaderOctets + 160, 0x42);
    write_rtp_header({.payload_type = type, .sequence = n, .timestamp = n * 160u, .ssrc = 7, .payload = {}},
                     octets.data());
    sendto(fd, octets.data(), octets.size(), 0, near.get(), near.length);
  };
  Driver driver(card);
  Octets heard;
  for (std::uint16_t n = 0; n < 20; ++n) {
    if (n != 10) send_packet(kPcmuType, n);
    for (int k = 0; k < 2; ++k) ASSERT_TRUE(driver.block(&heard, [] { return std::uint8_t{0}; }));
  }
  EXPECT_EQ(driver.lost, 160u);
  for (std::uint16_t n = 20; n < 20 + RtpCard::kForeignPackets; ++n) send_packet(18, n);
  bool alive = true;
  for (int k = 0; k < 50 && alive; ++k) alive = driver.block(&heard, [] { return std::uint8_t{0}; });
  EXPECT_FALSE(alive);
  EXPECT_EQ(
      card.failure(),
      "the far end sends RTP payload type 18; expected 0, G.711 mu-law: a path with another codec does not carry a "
      "modem");
  close(fd);
}

TEST(RtpCard, EncryptedStreamsArriveWholeAndNothingElseIsHeard) {
  if (!has_srtp()) GTEST_SKIP() << "this build has no libsrtp2";
  RtpConfig config;
  config.local = internet_address("127.0.0.1:0");
  RtpCard a(config), b(config);
  InternetAddress of_a = config.local, of_b = of_a;
  of_a.set_port(a.local_port());
  of_b.set_port(b.local_port());
  const SrtpKeys keys{new_srtp_key(SrtpSuite::kTagOf80Bits), new_srtp_key(SrtpSuite::kTagOf80Bits)};
  a.set_media(RtpMedia{of_b, OH_MULAW, 160, keys});
  b.set_media(RtpMedia{of_a, OH_MULAW, 160, SrtpKeys{keys.receive, keys.send}});
  Driver at_a(a), at_b(b);
  Octets heard_a, heard_b;
  std::uint8_t n = 0, m = 0;
  const auto run = [&](int blocks) {
    for (int k = 0; k < blocks; ++k) {
      ASSERT_TRUE(at_a.block(&heard_a, [&n] { return counting(&n); }));
      ASSERT_TRUE(at_b.block(&heard_b, [&m] { return counting(&m); }));
    }
  };
  run(60);
  ASSERT_GT(heard_b.size(), 2000u);
  for (std::size_t i = heard_b.size() - 1500; i < heard_b.size(); ++i)
    ASSERT_EQ(heard_b[i], static_cast<std::uint8_t>(heard_b[i - 1] + 1));
  // With another key nothing is received, and each packet is counted.
  a.set_media(RtpMedia{of_b, OH_MULAW, 160, SrtpKeys{new_srtp_key(SrtpSuite::kTagOf80Bits), keys.receive}});
  run(10);
  const std::size_t heard_before = heard_b.size();
  run(50);
  EXPECT_GT(figure_of(b, "packets_not_authentic"), 10);
  EXPECT_EQ(heard_b.size(), heard_before) << "samples that never came are not heard";
}

TEST(RtpCard, APlaceNamesBothAddressesAndItsOptions) {
  const RtpConfig config = parse_rtp_place(":4000,127.0.0.1:4002,law=pcma,ptime=30,buffer=60");
  EXPECT_EQ(config.local.text(), "127.0.0.1:4000") << "the loopback interface unless another is named";
  EXPECT_EQ(config.media->remote.text(), "127.0.0.1:4002");
  EXPECT_EQ(config.media->law, OH_ALAW);
  EXPECT_EQ(config.media->packet_samples, 240u);
  EXPECT_EQ(config.buffer_samples, 480u);
  EXPECT_EQ(test::complaint([] { parse_rtp_place("1:2"); }),
            "rtp:1:2: expected rtp:LOCAL,REMOTE, such as rtp::4000,192.0.2.1:4000");
  EXPECT_THAT(test::complaint([] { parse_rtp_place(":1,:2,ptime=15"); }), testing::HasSubstr("ptime=10, 20 or 30"));
  EXPECT_THAT(test::complaint([] { parse_rtp_place(":1,:2,buffer=9999"); }),
              testing::HasSubstr("expected a number from 1 to 500"));
  EXPECT_THAT(test::complaint([] { parse_rtp_place("::1:2,:3"); }), testing::HasSubstr("in brackets"));
}

/// The messages that the reader of AudioSocket finds.
struct Found final : AudioSocketReader::Sink {
  void audio(std::int16_t sample) override { samples.push_back(sample); }
  void uuid(std::span<const std::uint8_t, kUuidOctets> uuid) override { name = uuid_text(uuid); }
  void hang_up() override { ++ends; }
  std::vector<std::int16_t> samples;
  std::string name;
  int ends = 0;
};

TEST(AudioSocket, MessagesAreReadInPiecesOfAnySize) {
  Octets stream = {0x01, 0, 16};
  for (std::uint8_t k = 0; k < 16; ++k) stream.push_back(k);
  const Octets rest = {0x10, 0, 4, 0x01, 0x02, 0xff, 0xff, 0x03, 0, 1,    '5', 0x77,
                       0,    2, 9, 9,    0x10, 0,    2,    3,    0, 0x00, 0,   0};
  stream.insert(stream.end(), rest.begin(), rest.end());
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    AudioSocketReader reader;
    Found found;
    for (std::size_t at = 0; at < stream.size(); at += piece)
      reader.put(std::span(stream).subspan(at, std::min(piece, stream.size() - at)), found);
    EXPECT_EQ(found.name, "00010203-0405-0607-0809-0a0b0c0d0e0f");
    EXPECT_THAT(found.samples, testing::ElementsAre(0x201, -1, 3));
    EXPECT_EQ(found.ends, 1);
    EXPECT_EQ(reader.ignored(), 1u);
  }
}

TEST(AudioSocketCard, AServerRingsTakesTheCallAndHearsTheHangUp) {
  AudioSocketConfig config;
  config.address = internet_address(":0");
  config.listens = true;
  AudioSocketCard card(config);
  InternetAddress near = internet_address(":0");
  near.set_port(card.port());
  Driver driver(card);
  Octets heard;
  const auto run = [&](int blocks) {
    for (int k = 0; k < blocks; ++k) ASSERT_TRUE(driver.block(&heard, [] { return std::uint8_t{0x11}; }));
  };
  run(2);
  EXPECT_EQ(oh_card_ringing(&card.state()), 0);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(connect(fd, near.get(), near.length), 0);
  Octets hello = {0x01, 0, 16};
  hello.resize(19, 0xab);
  ASSERT_EQ(send(fd, hello.data(), hello.size(), 0), 19);
  run(5);
  EXPECT_EQ(oh_card_ringing(&card.state()), 1);
  EXPECT_EQ(card.caller().name, "abababab-abab-abab-abab-abababababab");
  oh_card_set_off_hook(&card.state(), 1);
  Octets frame = {0x10, 1, 0x40};
  frame.resize(323, 0x22);
  for (int k = 0; k < 10; ++k) {
    ASSERT_EQ(send(fd, frame.data(), frame.size(), 0), 323);
    run(2);
  }
  EXPECT_EQ(oh_card_ringing(&card.state()), 0);
  EXPECT_NE(std::find(heard.begin(), heard.end(), 0x22), heard.end());
  EXPECT_EQ(card.line_failure(), "");
  Octets got(4096);
  const ssize_t n = recv(fd, got.data(), got.size(), MSG_DONTWAIT);
  ASSERT_GE(n, 323);
  EXPECT_THAT(Octets(got.begin(), got.begin() + 3), testing::ElementsAre(0x10, 1, 0x40));
  EXPECT_EQ(got[322], 0x11);
  const Octets bye = {0, 0, 0};
  send(fd, bye.data(), bye.size(), 0);
  run(5);
  EXPECT_EQ(card.line_failure(), "the far end hung up");
  oh_card_set_off_hook(&card.state(), 0);
  run(5);
  EXPECT_EQ(card.line_failure(), "");
  close(fd);
}

TEST(AudioSocketCard, AClientConnectsOffHookAndSaysHangUpOnHook) {
  InternetAddress server = internet_address(":0");
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listener, server.get(), server.length), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  server = address_of_socket(listener);
  AudioSocketConfig config = parse_audiosocket_place(server.text() + ",uuid=00010203-0405-0607-0809-0a0b0c0d0e0f");
  AudioSocketCard card(config);
  Driver driver(card);
  Octets heard;
  const auto run = [&](int blocks) {
    for (int k = 0; k < blocks; ++k) ASSERT_TRUE(driver.block(&heard, [] { return std::uint8_t{0x11}; }));
  };
  oh_card_set_off_hook(&card.state(), 1);
  run(5);
  const int fd = accept(listener, nullptr, nullptr);
  ASSERT_GE(fd, 0);
  Octets got(19);
  ASSERT_EQ(recv(fd, got.data(), 19, MSG_WAITALL), 19);
  EXPECT_EQ(got[0], 1);
  EXPECT_EQ(got[18], 15);
  oh_card_set_off_hook(&card.state(), 0);
  run(5);
  got.resize(1 << 16);
  ssize_t n = 0;
  for (ssize_t more; (more = recv(fd, got.data() + n, got.size() - static_cast<std::size_t>(n), 0)) > 0;) n += more;
  ASSERT_GE(n, 3);
  EXPECT_THAT(Octets(got.begin() + n - 3, got.begin() + n), testing::ElementsAre(0, 0, 0));
  close(fd);
  close(listener);
  oh_card_set_off_hook(&card.state(), 1);
  run(5);
  EXPECT_EQ(card.line_failure(), "the AudioSocket server does not answer");
}

/// Every octet of a law is sent as its linear value and returns unchanged.
TEST(AudioSocketCard, WithALawItsSamplesAreTheOctetsBehindTheLinearOnes) {
  for (const char* law : {"pcmu", "pcma"}) {
    InternetAddress server = internet_address(":0");
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(listener, server.get(), server.length), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    server = address_of_socket(listener);
    AudioSocketCard card(parse_audiosocket_place(server.text() + ",law=" + law));
    EXPECT_EQ(card.encoding(), std::string_view(law) == "pcma" ? OH_ALAW : OH_MULAW);
    Driver driver(card);
    Octets heard;
    std::uint8_t next = 0;
    const auto run = [&](int blocks) {
      for (int k = 0; k < blocks; ++k) ASSERT_TRUE(driver.block(&heard, [&next] { return counting(&next); }));
    };
    oh_card_set_off_hook(&card.state(), 1);
    run(5);
    const int fd = accept(listener, nullptr, nullptr);
    ASSERT_GE(fd, 0);
    Octets got(19);
    ASSERT_EQ(recv(fd, got.data(), 19, MSG_WAITALL), 19);
    for (int k = 0; k < 20; ++k) {  // an echo: each frame returns
      run(2);
      Octets frame(323);
      if (recv(fd, frame.data(), frame.size(), MSG_WAITALL | MSG_PEEK | MSG_DONTWAIT) < 323) continue;
      recv(fd, frame.data(), frame.size(), MSG_WAITALL);
      ASSERT_EQ(send(fd, frame.data(), frame.size(), 0), 323);
    }
    ASSERT_GT(heard.size(), 1500u);
    const std::size_t from = heard.size() - 1000;
    for (std::size_t i = from + 1; i < heard.size(); ++i) {
      const auto expected = static_cast<std::uint8_t>(heard[i - 1] + 1);
      // mu-law has two zeros, one linear value.
      if (std::string_view(law) == "pcmu" && (expected == 0x7f || heard[i - 1] == 0xff)) continue;
      ASSERT_EQ(heard[i], expected) << law << " " << i;
    }
    EXPECT_EQ(figure_of(card, "samples_not_of_law"), 0);
    close(fd);
    close(listener);
  }
}

TEST(AudioSocketCard, APlaceThatIsNoneIsRefused) {
  EXPECT_THAT(test::complaint([] { parse_audiosocket_place(":1,hear"); }), testing::HasSubstr(",listen"));
  EXPECT_THAT(test::complaint([] { parse_audiosocket_place(":1,uuid=12"); }),
              testing::HasSubstr("32 hexadecimal digits"));
  EXPECT_THAT(test::complaint([] { parse_audiosocket_place(":x"); }), testing::HasSubstr("it has no port"));
}

}  // namespace
}  // namespace offhook
