// SPDX-License-Identifier: MIT
//
// The card of a DAHDI channel on a model of the kernel's buffers and events, with a clock of its own: no hardware, no
// real time. The model follows dahdi-base.c of DAHDI 2.11: chunks of 8 samples, a queue of blocks per direction, events
// that every read and write reports first.
#include "driver/network/dahdi_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/temporary_folder.h"

#if __has_include(<dahdi/user.h>)
#include <dahdi/user.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <vector>

namespace offhook {
namespace {

using testing::HasSubstr;

/// The octet of the line at a position: neighbours and repetitions differ.
std::uint8_t octet_at(std::uint64_t position) {
  return static_cast<std::uint8_t>(position * 7 + position / 251);
}

/// The kernel's work for one channel.
struct Channel {
  int signalling = DAHDI_SIG_CLEAR, law = DAHDI_LAW_MULAW, linecompat = DAHDI_CONFIG_B8ZS;
  bool keeps_law = false, linear = false, audio = false, other_off_hook = false, gone = false;
  std::size_t longest_read = 1 << 16;
  int hook_error = 0;
  std::vector<int> hooks;
  dahdi_bufferinfo buffers{};
  dahdi_gains gains{};
  int echo_canceller = 1, buffer_events = 0;

  std::uint64_t position = 0, dropped = 0;  // of the line; of its samples, those without a buffer
  std::deque<std::vector<std::uint8_t>> received, queued;
  std::vector<std::uint8_t> filling, sent;  // `sent` has one entry per position
  std::vector<bool> silent;                 // and whether it is silence from the kernel
  std::deque<int> events;
  std::int64_t asleep_ns = 0;  // time to wait for the next sample: none, but a device can stop
  bool stopped = false;
  bool overran = false, ran_out = true;

  void event(int what) { events.push_back(what); }
  /// The line moves by n samples, in chunks.
  void pass(std::uint64_t n) {
    for (; n >= 8; n -= 8) {
      receive_chunk();
      send_chunk();
      position += 8;
    }
  }
  void receive_chunk() {
    const bool room = static_cast<int>(received.size()) < buffers.numbufs;
    if (!room && !overran && buffer_events) event(DAHDI_EVENT_READ_OVERRUN);
    overran = !room;
    if (!room) {
      dropped += 8;
      return;
    }
    for (std::uint64_t k = 0; k < 8; ++k) filling.push_back(octet_at(position + k));
    if (static_cast<int>(filling.size()) < buffers.bufsize) return;
    received.push_back(filling);
    filling.clear();
  }
  void send_chunk() {
    for (int k = 0; k < 8; ++k) {
      while (!queued.empty() && queued.front().empty()) queued.pop_front();
      if (queued.empty()) {
        if (!ran_out && buffer_events) event(DAHDI_EVENT_WRITE_UNDERRUN);
        ran_out = true;
        sent.push_back(0xff);
        silent.push_back(true);
        continue;
      }
      ran_out = false;
      sent.push_back(queued.front().front());
      silent.push_back(false);
      queued.front().erase(queued.front().begin());
    }
  }
};

class Device final : public DahdiDevice {
 public:
  explicit Device(Channel& channel) : c_(channel) {}
  long read(void* octets, std::size_t n) override {
    if (c_.gone) return -ENODEV;
    if (!c_.events.empty()) return -ELAST;
    if (c_.received.empty()) return -EAGAIN;
    auto& block = c_.received.front();
    const std::size_t width = c_.linear ? 2 : 1, k = std::min({n / width, block.size(), c_.longest_read});
    for (std::size_t i = 0; i < k; ++i) {
      const std::int16_t x = static_cast<std::int16_t>(block[i] * 16);
      std::memcpy(static_cast<std::uint8_t*>(octets) + i * width, c_.linear ? static_cast<const void*>(&x) : &block[i],
                  width);
    }
    block.erase(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(k));
    if (block.empty()) c_.received.pop_front();
    return static_cast<long>(k * width);
  }
  long write(const void* octets, std::size_t n) override {
    if (c_.gone) return -ENODEV;
    if (!c_.events.empty()) return -ELAST;
    if (static_cast<int>(c_.queued.size()) >= c_.buffers.numbufs) return -EAGAIN;
    const auto* p = static_cast<const std::uint8_t*>(octets);
    const std::size_t width = c_.linear ? 2 : 1, k = std::min<std::size_t>(n / width, DahdiCard::kBlock);
    std::vector<std::uint8_t> block;
    for (std::size_t i = 0; i < k; ++i) block.push_back(p[i * width]);
    c_.queued.push_back(block);
    return static_cast<long>(k * width);
  }
  int control(unsigned long request, void* argument) override {
    if (c_.gone) return -ENODEV;
    const int value = *static_cast<int*>(argument);
    switch (request) {
      case DAHDI_GET_PARAMS: {
        auto& params = *static_cast<dahdi_params*>(argument);
        params.sigtype = c_.signalling;
        params.curlaw = c_.law;
        params.rxisoffhook = c_.other_off_hook;
        return 0;
      }
      case DAHDI_SPANSTAT:
        static_cast<dahdi_spaninfo*>(argument)->linecompat = c_.linecompat;
        return 0;
      case DAHDI_GETEVENT:
        *static_cast<int*>(argument) = c_.events.empty() ? DAHDI_EVENT_NONE : c_.events.front();
        if (!c_.events.empty()) c_.events.pop_front();
        return 0;
      case DAHDI_SETGAINS:
        if (!c_.audio && c_.signalling == DAHDI_SIG_CLEAR) return -EINVAL;
        c_.gains = *static_cast<dahdi_gains*>(argument);
        return 0;
      case DAHDI_SET_BUFINFO:
        c_.buffers = *static_cast<dahdi_bufferinfo*>(argument);
        return 0;
      case DAHDI_SPECIFY:
        return value == 7 ? 0 : value == 8 ? -EBUSY : -ENXIO;
      case DAHDI_AUDIOMODE:
        c_.audio = value != 0;
        return c_.signalling == DAHDI_SIG_CLEAR ? 0 : -EINVAL;
      case DAHDI_SETLAW:
        if (!c_.keeps_law) c_.law = value;
        return 0;
      case DAHDI_SETLINEAR:
        c_.linear = value != 0;
        return c_.audio || c_.signalling != DAHDI_SIG_CLEAR ? 0 : -EINVAL;
      case DAHDI_ECHOCANCEL:
        c_.echo_canceller = value;
        return 0;
      case DAHDI_BUFFER_EVENTS:
        c_.buffer_events = value;
        return 0;
      case DAHDI_HOOK:
        if (c_.signalling == DAHDI_SIG_CLEAR) return -EINVAL;
        c_.hooks.push_back(value);
        return c_.hook_error;
      case DAHDI_FLUSH:
        if ((value & DAHDI_FLUSH_READ) != 0) c_.received.clear(), c_.filling.clear();
        if ((value & DAHDI_FLUSH_WRITE) != 0) c_.queued.clear();
        return 0;
      default:
        return -ENOTTY;
    }
  }
  int wait(int milliseconds) override {
    if (c_.gone) return -ENODEV;
    if (c_.stopped) {
      c_.asleep_ns += milliseconds * 1'000'000;
      return 0;
    }
    while (c_.received.empty() && c_.events.empty()) c_.pass(8);
    return 0;
  }
  std::int64_t now_ns() override { return static_cast<std::int64_t>(c_.position) * 125'000 + c_.asleep_ns; }

 private:
  Channel& c_;
};

DahdiCard open_channel(Channel& channel, std::string_view place = "7") {
  return DahdiCard(std::make_unique<Device>(channel), parse_dahdi_place(place));
}

/// The driver's work: reads each block, and plays octet_at(p) at position p, from 160 samples ahead.
class Driver {
 public:
  static constexpr std::uint64_t kLead = 160;
  explicit Driver(LiveCard& card)
      : card_(card), tx_(oh_ring_of(&card.card().streams, &card.card().streams.tx, card.card().tx_ring)) {
    for (std::uint64_t p = 0; p < kLead; ++p) play(p);
    card.start();
  }
  LiveCard::Wait block() {
    const LiveCard::Wait why = card_.wait();
    if (why != LiveCard::Wait::kInterrupt) return why;
    const oh_card& card = card_.card();
    const oh_ring rx = oh_ring_of(&card.streams, &card.streams.rx, card.rx_ring);
    for (const std::uint64_t end = card.ops->acknowledge(card.self); read < end; ++read) {
      const bool lost = card_.run_at(read, 1).lost;
      heard.push_back(lost ? -1 : rx.octets[read % rx.periods * rx.period_octets]);
      play(read + kLead);
    }
    card.ops->rx_read(card.self, read);
    card.ops->tx_written(card.self, read + kLead);
    return why;
  }
  void run(int blocks) {
    for (int k = 0; k < blocks; ++k) ASSERT_EQ(block(), LiveCard::Wait::kInterrupt);
  }
  std::uint64_t read = 0;
  std::vector<int> heard;  // by position; -1: lost

 private:
  void play(std::uint64_t p) {
    for (std::uint32_t k = 0; k < tx_.period_octets; ++k)
      tx_.octets[p % tx_.periods * tx_.period_octets + k] = octet_at(p);
  }
  LiveCard& card_;
  oh_ring tx_;
};

constexpr std::uint64_t kDelay = DahdiCard::kQueuedBlocks * DahdiCard::kBlock;

/// Each sample sent after `from` equals the one kDelay before it, unless the kernel inserted silence.
void expect_sent_in_place(const Channel& channel, std::uint64_t from = kDelay) {
  for (std::uint64_t p = from; p < channel.sent.size(); ++p)
    if (!channel.silent[p]) {
      ASSERT_EQ(channel.sent[p], octet_at(p - kDelay)) << p;
    }
}

std::int64_t figure_of(const LiveCard& card, std::string_view key) {
  for (const CardFigure& figure : card.figures())
    if (figure.key == key) return std::get<std::int64_t>(figure.value);
  ADD_FAILURE() << "no figure " << key;
  return 0;
}

TEST(DahdiCard, ATimeSlotHasEveryOctetAtItsPositionInBothDirections) {
  Channel channel;
  DahdiCard card = open_channel(channel);
  EXPECT_EQ(card.encoding(), OH_MULAW);
  EXPECT_EQ(card.period(), 64u);
  EXPECT_EQ(card.queued_samples(), 128u);
  EXPECT_FALSE(card.can_ring());
  EXPECT_TRUE(channel.audio);
  EXPECT_FALSE(channel.linear);
  EXPECT_EQ(channel.echo_canceller, 0);
  for (int k = 0; k < 256; ++k) EXPECT_EQ(channel.gains.rxgain[k], k) << "0 dB";
  EXPECT_EQ(channel.buffers.bufsize, 64);
  Driver driver(card);
  driver.run(500);
  for (std::uint64_t p = 0; p < driver.read; ++p) ASSERT_EQ(driver.heard[p], octet_at(p)) << p;
  expect_sent_in_place(channel);
  EXPECT_EQ(std::count(channel.silent.begin(), channel.silent.end(), true), 0);
  EXPECT_EQ(figure_of(card, "samples_received"), 32000);
}

TEST(DahdiCard, ShortReadsMoveNoSample) {
  Channel channel;
  channel.longest_read = 23;
  DahdiCard card = open_channel(channel);
  Driver driver(card);
  driver.run(100);
  for (std::uint64_t p = 0; p < driver.read; ++p) ASSERT_EQ(driver.heard[p], octet_at(p)) << p;
  expect_sent_in_place(channel);
}

TEST(DahdiCard, AnAnaloguePortHasLinearSamples) {
  Channel channel;
  channel.signalling = DAHDI_SIG_FXSKS;
  channel.linecompat = 0;
  DahdiCard card = open_channel(channel);
  EXPECT_EQ(card.encoding(), OH_LINEAR16);
  EXPECT_TRUE(channel.linear);
  Driver driver(card);
  driver.run(20);
  for (std::uint64_t p = 0; p < driver.read; ++p)
    ASSERT_EQ(driver.heard[p], static_cast<std::uint8_t>(octet_at(p) * 16)) << p;
  expect_sent_in_place(channel);
}

TEST(DahdiCard, ALateThreadLosesNoReceivedSampleAndSendsOnInItsPlace) {
  Channel channel;
  DahdiCard card = open_channel(channel);
  Driver driver(card);
  driver.run(20);
  channel.pass(1200);  // 150 ms: the queue of 16 ms runs out
  driver.run(100);
  for (std::uint64_t p = 0; p < driver.read; ++p) ASSERT_EQ(driver.heard[p], octet_at(p)) << p;
  expect_sent_in_place(channel);
  EXPECT_EQ(figure_of(card, "underruns"), 1);
  EXPECT_EQ(figure_of(card, "overruns"), 0);
  EXPECT_GT(figure_of(card, "samples_unsent"), 1000);
  EXPECT_EQ(std::count(channel.silent.end() - 4000, channel.silent.end(), true), 0) << "the queue is full again";
}

TEST(DahdiCard, DroppedSamplesAreAGapOfTheirNumberAtTheirPosition) {
  for (const std::uint64_t stall : {2760u, 4000u, 7777u}) {
    Channel channel;
    DahdiCard card = open_channel(channel);
    Driver driver(card);
    driver.run(20);
    channel.pass(stall);
    driver.run(150);
    ASSERT_GT(channel.dropped, 0u);
    const auto lost = static_cast<std::uint64_t>(std::count(driver.heard.begin(), driver.heard.end(), -1));
    EXPECT_EQ(lost, channel.dropped) << stall;
    for (std::uint64_t p = 0; p < driver.read; ++p)
      if (driver.heard[p] >= 0) {
        ASSERT_EQ(driver.heard[p], octet_at(p)) << stall << ", position " << p;
      }
    expect_sent_in_place(channel);
    EXPECT_EQ(figure_of(card, "samples_lost"), static_cast<std::int64_t>(channel.dropped));
    EXPECT_EQ(figure_of(card, "overruns"), 1);
  }
}

TEST(DahdiCard, SamplesBeforeTheStartAreNoLoss) {
  Channel channel;
  DahdiCard card = open_channel(channel);
  channel.pass(8000);  // a modem needs some time to begin
  const std::uint64_t before = channel.position;
  channel.sent.clear(), channel.silent.clear();
  Driver driver(card);
  driver.run(400);
  for (std::uint64_t p = 0; p < driver.read; ++p) ASSERT_EQ(driver.heard[p], octet_at(before + p)) << p;
  EXPECT_EQ(figure_of(card, "overruns"), 0);
  expect_sent_in_place(channel);
}

TEST(DahdiCard, AnExchangeRingsAndItsDisconnectionEndsTheCall) {
  Channel channel;
  channel.signalling = DAHDI_SIG_FXSKS;
  DahdiCard card = open_channel(channel);
  Driver driver(card);
  driver.run(2);
  EXPECT_EQ(oh_card_ringing(&card.state()), 0);
  channel.event(DAHDI_EVENT_RINGBEGIN);
  driver.run(2);
  EXPECT_EQ(oh_card_ringing(&card.state()), 1);
  channel.event(DAHDI_EVENT_RINGOFFHOOK);
  driver.run(2);
  EXPECT_EQ(oh_card_ringing(&card.state()), 0) << "the ring is over";
  channel.event(DAHDI_EVENT_RINGBEGIN);
  driver.run(2);
  oh_card_set_off_hook(&card.state(), 1);
  driver.run(2);
  EXPECT_THAT(channel.hooks, testing::ElementsAre(DAHDI_OFFHOOK));
  EXPECT_EQ(oh_card_ringing(&card.state()), 0);
  EXPECT_EQ(card.line_failure(), "");
  channel.event(DAHDI_EVENT_POLARITY);
  channel.event(DAHDI_EVENT_ONHOOK);
  driver.run(2);
  EXPECT_EQ(card.line_failure(), "the far end hung up");
  oh_card_set_off_hook(&card.state(), 0);
  driver.run(2);
  EXPECT_THAT(channel.hooks, testing::ElementsAre(DAHDI_OFFHOOK, DAHDI_ONHOOK));
  EXPECT_EQ(card.line_failure(), "");
  for (std::uint64_t p = 0; p < driver.read; ++p) ASSERT_EQ(driver.heard[p], octet_at(p)) << "events lose no sample";
}

TEST(DahdiCard, ATrunkRingsWhileTheFarEndHasSeizedIt) {
  Channel channel;
  channel.signalling = DAHDI_SIG_EM;
  channel.other_off_hook = true;
  DahdiCard card = open_channel(channel);
  EXPECT_TRUE(card.can_ring());
  Driver driver(card);
  driver.run(1);
  EXPECT_EQ(oh_card_ringing(&card.state()), 1) << "seized before we came";
  driver.run(250);
  EXPECT_EQ(oh_card_ringing(&card.state()), 0) << "2 s of 6";
  driver.run(520);
  EXPECT_EQ(oh_card_ringing(&card.state()), 1);
  oh_card_set_off_hook(&card.state(), 1);
  driver.run(2);
  oh_card_set_off_hook(&card.state(), 0);
  driver.run(2);
  EXPECT_THAT(channel.hooks, testing::ElementsAre(DAHDI_OFFHOOK, DAHDI_ONHOOK));
  EXPECT_EQ(oh_card_ringing(&card.state()), 0) << "the far end of the call that we ended is no caller";
  channel.event(DAHDI_EVENT_ONHOOK);
  channel.event(DAHDI_EVENT_RINGOFFHOOK);
  driver.run(2);
  EXPECT_EQ(oh_card_ringing(&card.state()), 1);
  channel.event(DAHDI_EVENT_ONHOOK);
  driver.run(2);
  EXPECT_EQ(oh_card_ringing(&card.state()), 0);
  EXPECT_EQ(card.line_failure(), "");
}

TEST(DahdiCard, ATelephoneIsRungUntilItAnswers) {
  Channel channel;
  channel.signalling = DAHDI_SIG_FXOKS;
  channel.hook_error = -EINPROGRESS;
  DahdiCard card = open_channel(channel);
  Driver driver(card);
  oh_card_set_off_hook(&card.state(), 1);
  driver.run(3);
  EXPECT_THAT(channel.hooks, testing::ElementsAre(DAHDI_RING));
  channel.event(DAHDI_EVENT_RINGOFFHOOK);
  driver.run(2);
  EXPECT_THAT(channel.hooks, testing::ElementsAre(DAHDI_RING, DAHDI_OFFHOOK));
  EXPECT_EQ(card.line_failure(), "");
}

TEST(DahdiCard, ARefusedHookAndAnAlarmEndTheCallAndABusyOneIsTriedAgain) {
  Channel channel;
  channel.signalling = DAHDI_SIG_EM;
  channel.hook_error = -EBUSY;
  DahdiCard card = open_channel(channel);
  Driver driver(card);
  oh_card_set_off_hook(&card.state(), 1);
  driver.run(3);
  EXPECT_GT(channel.hooks.size(), 2u);
  EXPECT_EQ(card.line_failure(), "");
  channel.hook_error = -EIO;
  driver.run(3);
  EXPECT_EQ(card.line_failure(), "the DAHDI channel does not go off hook");
  channel.hook_error = 0;
  oh_card_set_off_hook(&card.state(), 0);
  driver.run(2);
  oh_card_set_off_hook(&card.state(), 1);
  driver.run(2);
  EXPECT_EQ(card.line_failure(), "");
  channel.event(DAHDI_EVENT_ALARM);
  driver.run(2);
  EXPECT_EQ(card.line_failure(), "the DAHDI span is in alarm");
}

TEST(DahdiCard, ADeviceThatVanishesOrStopsEndsTheCard) {
  for (int how = 0; how < 3; ++how) {
    Channel channel;
    DahdiCard card = open_channel(channel);
    Driver driver(card);
    driver.run(10);
    if (how == 0) channel.gone = true;
    if (how == 1) channel.event(DAHDI_EVENT_REMOVED);
    if (how == 2) channel.stopped = true;
    LiveCard::Wait why = LiveCard::Wait::kInterrupt;
    for (int k = 0; k < 5 && why == LiveCard::Wait::kInterrupt; ++k) why = driver.block();
    EXPECT_EQ(why, LiveCard::Wait::kGone) << how;
    EXPECT_THAT(card.failure(), HasSubstr("dahdi:7: the device is gone: ")) << how;
  }
}

TEST(DahdiCard, AStoppedCardReturns) {
  Channel channel;
  DahdiCard card = open_channel(channel);
  Driver driver(card);
  card.stop();
  EXPECT_EQ(driver.block(), LiveCard::Wait::kStopped);
}

TEST(DahdiCard, AnotherLawFramesOrAChannelInUseAreRefusedWithTheReason) {
  const auto complaint = [](Channel channel, std::string_view place) {
    return test::complaint([&] { open_channel(channel, place); });
  };
  Channel a_law;
  a_law.law = DAHDI_LAW_ALAW;
  EXPECT_EQ(open_channel(a_law).encoding(), OH_ALAW) << "the channel's own";
  Channel given;
  EXPECT_EQ(open_channel(given, "7,law=pcma").encoding(), OH_ALAW);
  EXPECT_EQ(given.law, DAHDI_LAW_ALAW);
  a_law.keeps_law = true;
  EXPECT_EQ(complaint(a_law, "7,law=pcmu"), "dahdi:7: the span's law is A-law: give law=pcma or none");
  Channel frames;
  frames.signalling = DAHDI_SIG_HDLCFCS;
  EXPECT_THAT(complaint(frames, "7"), HasSubstr("dahdi:7: carries HDLC frames"));
  EXPECT_EQ(complaint({}, "8"), "dahdi:8: cannot be opened: another program uses the channel");
  EXPECT_THAT(complaint({}, "9"), HasSubstr("is not configured"));
}

}  // namespace
}  // namespace offhook

#endif

namespace offhook {
namespace {

TEST(DahdiPlace, NamesAChannelByNumberSpanOrDevice) {
  EXPECT_EQ(parse_dahdi_place("12").device, "/dev/dahdi/channel");
  EXPECT_EQ(parse_dahdi_place("12").channel, 12);
  EXPECT_EQ(parse_dahdi_place("2/15,law=pcma").device, "/dev/dahdi/chan/002/015");
  EXPECT_EQ(parse_dahdi_place("2/15,law=pcma").law, OH_ALAW);
  EXPECT_EQ(parse_dahdi_place("/dev/dahdi/3").device, "/dev/dahdi/3");
  EXPECT_EQ(parse_dahdi_place("/dev/dahdi/3").name, "dahdi:/dev/dahdi/3");
  for (const char* wrong : {"", "x", "1/", "0", "-1", "1x", "1,2", "99999999999", "1/2/3"}) {
    EXPECT_THAT(test::complaint([wrong] { parse_dahdi_place(wrong); }),
                testing::HasSubstr("expected the number of a channel, SPAN/CHANNEL or a device"))
        << wrong;
  }
  EXPECT_EQ(test::complaint([] { parse_dahdi_place("1,law=g722"); }),
            "dahdi: \"law=g722\" is not an option; expected law=pcmu or pcma");
  EXPECT_THAT(test::complaint([] { open_dahdi_device("/nobody/has/this"); }),
              testing::HasSubstr("is the kernel module dahdi loaded?"));
}

}  // namespace
}  // namespace offhook
