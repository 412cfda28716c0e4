// SPDX-License-Identifier: MIT
//
// On a device without hardware: tests/live/alsa_loop.c, which can fail in every way that a device can.
#include "driver/live/alsa_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "driver/live/timer_card.h"
#include "driver/session/devices.h"
#include "tests/unit/driver/core/loop_modem.h"
#include "tests/unit/driver/live/loop_device.h"

namespace offhook {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeldUp = "held up more than a hundred times: the device's pace could not be watched here";

class AlsaCardTest : public testing::Test {
 protected:
  AlsaCardTest() { use_loop_devices(); }

  static std::string refusal(const std::string& device, std::uint32_t period = 100) {
    try {
      AlsaCard card(device, {.period_samples = period});
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }
  /// Waits until the card is gone, at most for 8 seconds of samples, plus one second each time that this machine was
  /// too late and the card restarted its clock check.
  static std::string failure(const std::string& device) {
    AlsaCard card(device);
    card.start();
    while (oh_card_position(&card.state()) < (8 + std::min<std::uint64_t>(card.xruns(), 60)) * OH_MODEM_RATE_HZ) {
      if (card.wait() == LiveCard::Wait::kGone) return card.failure();
    }
    return card.xruns() > 100 ? kHeldUp : "";
  }
};

using Modem = test::LoopModem<AlsaCard>;

TEST_F(AlsaCardTest, CarriesWhatTheFarEndPlaysInOrder) {
  Modem a("loop0"), b("loop1");
  std::jthread other([&] { b.run(12'000); });
  a.run(12'000);
  other.join();
  // In one sequence of consecutive samples, unless this machine delayed a thread for longer than the device buffers.
  for (const Modem* m : {&a, &b}) {
    const std::size_t longest = m->pump.longest_run(0);
    if (a.card.xruns() + b.card.xruns() == 0) {
      EXPECT_GT(longest, 8000u);
    }
    EXPECT_GT(longest, 1000u);
  }
}

TEST_F(AlsaCardTest, FillsInWhatPassedWhileTheDeviceWasStartedAnew) {
  Modem m("xrun");
  SamplePacer pacer(OH_MODEM_RATE_HZ, 0);
  pacer.start();
  m.run(16'000);
  EXPECT_GE(m.card.xruns(), 1u);
  EXPECT_GT(m.pump.filled_in, 0u);
  EXPECT_EQ(m.pump.clock, oh_card_position(&m.card.state()));            // the pump's count misses none
  EXPECT_NEAR(static_cast<double>(pacer.samples_now()), 16'000, 2'000);  // and the count agrees with the clock
  // Samples that the device lost, and samples that were not read.
  EXPECT_GE(m.pump.filled_in, oh_card_counts(&m.card.state()).overrun_samples);
  EXPECT_LE(m.pump.filled_in, oh_card_counts(&m.card.state()).overrun_samples + 3 * m.card.period());
}

TEST_F(AlsaCardTest, ADeviceWhosePlaybackStoppedAloneIsStartedAnew) {
  Modem m("drift");
  m.run(16'000);
  EXPECT_GE(m.card.xruns(), 1u);
  EXPECT_EQ(m.pump.clock, oh_card_position(&m.card.state()));
}

TEST_F(AlsaCardTest, SaysThatTheDeviceVanished) {
  EXPECT_THAT(failure("vanish"), HasSubstr("alsa:vanish: the device is gone: No such device"));
}
TEST_F(AlsaCardTest, SaysThatTheDeviceStoppedGivingSamples) {
  EXPECT_THAT(failure("stall"), HasSubstr("no samples for a second"));
}
TEST_F(AlsaCardTest, SaysThatTheRateChanged) {
  const std::string why = failure("rate");
  if (why == kHeldUp) GTEST_SKIP() << why;
  EXPECT_THAT(why, HasSubstr("samples per second instead of 8000: its rate changed"));
}
TEST_F(AlsaCardTest, RefusesADeviceWithoutAClock) {
  EXPECT_THAT(failure("null"), HasSubstr("do not arrive at a constant rate"));
}
TEST_F(AlsaCardTest, RefusesARateThatIsNoMultiple) {
  EXPECT_EQ(refusal("cd"), "alsa:cd: cannot capture 8000 Hz or 2, 3, 4, 6 or 12 times as many, only 44100 to 44100 Hz");
}

// 1000 Hz one way and 2500 Hz the other: each end hears the other's at its level, at the rates of a V.90 card.
TEST_F(AlsaCardTest, ADeviceWithAMultipleOfTheRatesCarriesTheBand) {
  for (const std::string device : {"fast", "pcm"}) {
    using ToneModem = test::LoopModem<AlsaCard, test::TonePump>;
    ToneModem a(device + "0", {.rates = kModemRates}), b(device + "1", {.rates = kModemRates});
    a.pump.ratio = b.pump.ratio = 2;
    b.pump.hz = 2500;
    for (const ToneModem* m : {&a, &b}) {
      EXPECT_EQ(m->card.card().streams.rx.rate_hz, 16'000u);
      EXPECT_EQ(m->card.card().streams.tx.rate_hz, 8000u);
    }
    std::jthread other([&] { b.run(16'000); });
    a.run(16'000);
    other.join();
    EXPECT_EQ(a.pump.clock, oh_card_position(&a.card.state()));
    EXPECT_NEAR(a.pump.amplitude(2500), 8000, 100) << device;
    EXPECT_LT(a.pump.amplitude(1000), 10) << device;
    EXPECT_NEAR(b.pump.amplitude(1000), 8000, 100) << device;
    EXPECT_LT(b.pump.amplitude(7000), 10) << "an image of 1000 Hz, " << device;
  }
}

TEST_F(AlsaCardTest, WithoutMoreTheModemReceives8000Samples) {
  AlsaCard card("loop0", {.rates = kModemRates});
  EXPECT_EQ(card.card().streams.rx.rate_hz, 8000u);
  EXPECT_EQ(card.card().streams.tx.rate_hz, 8000u);
}
TEST_F(AlsaCardTest, RefusesAnUnknownDevice) {
  EXPECT_THAT(refusal("hw:CARD=Nobody"), HasSubstr("alsa:hw:CARD=Nobody: cannot be opened for capture"));
}
TEST_F(AlsaCardTest, RefusesAPeriodThatTheRingsCannotHold) {
  EXPECT_THAT(refusal("loop0", 300), HasSubstr("cannot capture in periods of 300 frames"));
}

TEST_F(AlsaCardTest, StopsFromAnotherThread) {
  AlsaCard card("loop0");
  card.start();
  std::thread stopper([&] { card.stop(); });
  while (card.wait() == LiveCard::Wait::kInterrupt) {
  }
  stopper.join();
  EXPECT_EQ(card.wait(), LiveCard::Wait::kStopped);
}

TEST_F(AlsaCardTest, DevicesAreListedWithWhatTheyCanDo) {
  bool loop = false, fast = false, cd = false;
  for (const CardDevice& d : card_devices()) {
    if (d.address == "alsa:loop0")
      loop = d.usable && d.capability == "captures 8000 Hz, plays 8000 Hz, one channel, 16 bits";
    if (d.address == "alsa:fast0")
      fast = d.usable &&
             d.capability == "captures 48000 Hz, plays 48000 Hz, one channel, 16 bits; V.90's analogue modem too";
    if (d.address == "alsa:cd") cd = !d.usable && d.capability.find("44100") != std::string::npos;
  }
  EXPECT_TRUE(loop);
  EXPECT_TRUE(fast);
  EXPECT_TRUE(cd);
}

}  // namespace
}  // namespace offhook
