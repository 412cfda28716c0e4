// SPDX-License-Identifier: MIT
//
// The far end of live V.90 on a sound device: what the device captures goes through a subscriber's loop and a digital
// trunk to a digital modem, which answers and sends back every byte that it receives.
//
// Usage: sound_trunk DEVICE   an ALSA device of a multiple of 16,000 Hz. It ends with its input.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include "driver/live/alsa_card.h"
#include "driver/user_modem/modem.h"
#include "driver/user_modem/modulations.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v90/session/pump.h"
#include "hostsim/channel/digital_trunk.h"
#include "offhook/driver.h"
#include "tests/unit/driver/manual_context.h"

namespace {

using namespace offhook;

constexpr std::uint32_t kFastHz = 16'000;
constexpr int kRings = 500;  // level at which the caller is there
constexpr std::uint64_t kAnswersAfter = 8000;

/// The subscriber's end of the trunk, as a pump of 16,000 samples/s both ways.
class FarEnd : private hostsim::DigitalEnd {
 public:
  FarEnd() : modem_(config()), trunk_(without_echo(), 1, *this) {}
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      // What the near end plays ends below 4000 Hz: every other sample has all of it.
      if (called_ > 0 || std::abs(rx[i]) > kRings) ++called_;
      if (called_ == kAnswersAfter) modem_.start();
      trunk_.exchange(rx[i], tx + i);
    }
    std::uint8_t bytes[256];
    const std::size_t got = modem_.read(bytes, std::min(sizeof bytes, modem_.writable()));
    modem_.write(bytes, got);
  }
  void report_gap(std::size_t) {}  // the digital modem's clock is the device's
  oh_pump_status status() const { return modem_.pump_status(); }
  oh_pump pump() { return pump_of(*this); }

 private:
  /// The analogue modem's hybrid is its sound device's (`hybrid` of alsa_loop.c), where its echo has no delay.
  static hostsim::DigitalTrunkConfig without_echo() {
    hostsim::DigitalTrunkConfig c;
    c.near_echo_db = 60;
    return c;
  }
  static modem::Modem::Config config() {
    modem::Modem::Config c{};
    c.pump = oh_v90_type();
    c.role = OH_PUMP_ANSWER;
    c.format = kMuLaw8000;
    c.link.window = modulation_of(OH_MODULATION_V90).v42_window;
    return c;
  }
  std::uint8_t process(std::uint8_t rx) override {
    std::uint8_t tx = oh_silence(OH_MULAW);
    if (called_ >= kAnswersAfter) modem_.process(&rx, &tx, 1);
    return tx;
  }
  modem::Modem modem_;
  hostsim::DigitalTrunk trunk_;
  std::uint64_t called_ = 0;  // sample periods since the first sound
};

bool input_ended() {
  pollfd in{STDIN_FILENO, POLLIN, 0};
  char octet;
  return poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &octet, 1) <= 0;
}

void run(const char* device) {
  AlsaCard card(device, {.rates = {kFastHz, kFastHz}});
  FarEnd far;
  test::ManualContext context;
  oh_driver_config config{};
  config.card = card.card();
  std::vector<std::uint64_t> staging(oh_driver_staging_size(&config.card) / sizeof(std::uint64_t));
  config.staging = staging.data();
  config.pump = far.pump();
  config.context = context.context();
  config.transmit_lead_samples = 2 * card.period();
  config.block_plan[0] = card.period();
  config.block_plan_length = 1;
  config.policy = OH_SERVICE_DRAIN_ALL;
  oh_driver driver{};
  if (oh_driver_init(&driver, &config) != 0) throw std::runtime_error("oh_driver_init");
  card.start();
  while (!input_ended()) {
    if (card.wait() != LiveCard::Wait::kInterrupt) throw std::runtime_error(card.failure());
    oh_driver_isr(&driver);
    oh_driver_service(&driver);
  }
  const oh_pump_status status = far.status();
  std::printf("the far end: %u bit/s sent, %u received; the device was restarted %llu times\n", status.tx_bit_rate,
              status.rx_bit_rate, static_cast<unsigned long long>(card.xruns()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    run(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sound_trunk: %s\n", e.what());
    return 1;
  }
  return 0;
}
