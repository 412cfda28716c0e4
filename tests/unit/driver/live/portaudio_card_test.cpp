// SPDX-License-Identifier: MIT
//
// PortAudio over ALSA over the device of the tests, tests/live/alsa_loop.c.
#include "driver/live/portaudio_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "driver/live/alsa_card.h"
#include "tests/unit/driver/core/loop_modem.h"
#include "tests/unit/driver/live/loop_device.h"

namespace offhook {
namespace {

using ::testing::HasSubstr;

class PortAudioCardTest : public testing::Test {
 protected:
  PortAudioCardTest() { use_loop_devices(); }
  /// Waits until the card is gone, at most eight seconds of samples. @return the reason; "plays on" if it is not
  static std::string failure(const std::string& device) {
    try {
      PortAudioCard card(device);
      card.start();
      while (oh_card_position(&card.state()) < 8 * OH_MODEM_RATE_HZ) {
        if (card.wait() == LiveCard::Wait::kGone) return card.failure();
      }
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "plays on";
  }
};

TEST_F(PortAudioCardTest, PassesSamplesAtThePaceOfTheDevice) {
  PortAudioCard card("loop0");
  EXPECT_GT(card.queued_samples(), 0u) << "of the device, both ways";
  card.start();
  const std::int64_t begin = monotonic_ns();
  while (oh_card_position(&card.state()) < 8000) ASSERT_EQ(card.wait(), LiveCard::Wait::kInterrupt) << card.failure();
  const double seconds = static_cast<double>(monotonic_ns() - begin) * 1e-9;
  EXPECT_NEAR(static_cast<double>(oh_card_position(&card.state())) / 8000, seconds, 0.25);
  EXPECT_GT(oh_card_counts(&card.state()).interrupts, 40u);  // of 80 blocks; a callback may bring several
  card.stop();
  EXPECT_EQ(card.wait(), LiveCard::Wait::kStopped);
}

// The list has "Number N". The device of that number fails like the device of that name.
TEST_F(PortAudioCardTest, ADeviceIsKnownByItsNumberToo) {
  std::string number;
  int devices = 0;
  for (const CardDevice& device : kPortAudioCards.describe()) {
    const std::string& text = device.description;
    ASSERT_THAT(text, ::testing::StartsWith("Number " + std::to_string(devices) + ","));
    if (device.address == "portaudio:cd") number = std::to_string(devices);
    ++devices;
  }
  ASSERT_NE(number, "");
  EXPECT_THAT(failure(number),
              HasSubstr("portaudio:" + number + ": cannot do one channel of 16 bits both ways at 8000 Hz"));
  EXPECT_THAT(failure(std::to_string(devices)), HasSubstr("no such device"));
  EXPECT_THAT(failure("-1"), HasSubstr("no such device"));
  EXPECT_THAT(failure(number + "x"), HasSubstr("no such device"));
}

TEST_F(PortAudioCardTest, ADeviceWithAMultipleOfTheRatesCarriesTheBand) {
  test::LoopModem<PortAudioCard, test::TonePump> near("fast0", {.rates = kModemRates});
  test::LoopModem<AlsaCard, test::TonePump> far("fast1", {.rates = kModemRates});
  near.pump.ratio = far.pump.ratio = 2;
  far.pump.hz = 2500;
  EXPECT_EQ(near.card.card().streams.rx.rate_hz, 16'000u);
  std::jthread other([&] { far.run(20'000); });
  near.run(16'000);
  other.join();
  EXPECT_NEAR(near.pump.amplitude(2500), 8000, 100);
  EXPECT_LT(near.pump.amplitude(1000), 10);
  EXPECT_NEAR(far.pump.amplitude(1000), 8000, 100);
}

// After a loss a period of the device ends within one of the card's blocks: each is passed in two pieces.
TEST_F(PortAudioCardTest, HearsTheFarEndInOrderAfterALossThatItCounts) {
  test::LoopModem<PortAudioCard> near("xrun");
  test::LoopModem<AlsaCard> far("loop1");
  std::jthread other([&] { far.run(20'000); });
  near.run(16'000);
  other.join();
  EXPECT_GE(near.card.xruns(), 1u);
  EXPECT_GT(near.pump.filled_in, 0u);
  EXPECT_EQ(near.pump.clock, near.card.state().rx_read) << "what is lost passes in the pump's count";
  EXPECT_GT(near.pump.longest_run(4'000), 300u) << "three blocks and more";
}

TEST_F(PortAudioCardTest, SaysThatTheDeviceVanished) {
  EXPECT_THAT(failure("vanish"), HasSubstr("portaudio:vanish: the device is gone"));
}
TEST_F(PortAudioCardTest, RefusesARateThatIsNoMultiple) {
  EXPECT_THAT(failure("cd"), HasSubstr("portaudio:cd: cannot do one channel of 16 bits both ways at 8000 Hz or 2, 3"));
}
TEST_F(PortAudioCardTest, RefusesAnUnknownDevice) {
  EXPECT_THAT(failure("Nobody"), HasSubstr("no such device"));
  EXPECT_THAT(failure("4711"), HasSubstr("no such device"));
}

}  // namespace
}  // namespace offhook
