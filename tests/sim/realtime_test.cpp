// SPDX-License-Identifier: MIT
//
// The whole real-time path of a modem, driver and V.22bis and V.42 and card, and of what automode falls to, under the
// guard of tests/realtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "driver/core/line_end.h"
#include "driver/user_modem/automode.h"
#include "driver/user_modem/modulations.h"
#include "dsp/link/lapm.h"
#include "dsp/pump/pump_type.h"
#include "hostsim/host/card.h"
#include "offhook/driver.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/unit/driver/manual_context.h"

namespace offhook {
namespace {

constexpr std::uint64_t kBlocks = 100'000;
constexpr std::uint32_t kBlockSamples = 18;  // the shortest blocks of the vendor's card: 225 s of line

/// Sends bits of a counter-like pattern, and counts received ones.
struct Bits {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  oh_bit_port port() {
    return {[](void* self) { return static_cast<int>((static_cast<Bits*>(self)->sent++ * 0x9e3779b97f4a7c15u) >> 63); },
            [](void* self, int) { ++static_cast<Bits*>(self)->received; }, this};
  }
};

struct Pump {
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
  const oh_pump_type* type;
  oh_pump handle{};
  Pump(oh_pump_role role, oh_bit_port port, const oh_pump_type* of_type = oh_v22bis_type(),
       std::uint32_t modulations = 0)
      : type(of_type) {
    oh_pump_config config{};
    config.format = kLinear8000;
    config.role = role;
    config.tx_level_dbm0 = -12;
    config.port = port;
    config.modulations = modulations;
    memory.reset(std::aligned_alloc(64, (type->size(&config) + 63) / 64 * 64));
    handle = oh_pump_at(type, memory.get());
    EXPECT_EQ(type->init(handle.self, &config), 0);
  }
  oh_pump_status status() const {
    oh_pump_status s;
    type->status(handle.self, &s);
    return s;
  }
};

/// The far modem at the other end of an ideal line with a delay of 512 samples in each direction.
struct FarModem : LineEnd {
  Pump& pump;
  std::int16_t sent[OH_MODEM_RING_SAMPLES] = {};
  std::size_t at = 0;
  explicit FarModem(Pump& far) : pump(far) {}
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i, at = (at + 1) % OH_MODEM_RING_SAMPLES) {
      captured[i] = sent[at];
      pump.handle.process(pump.handle.self, &played[i], &sent[at], 1);
    }
  }
};

/// The near modem under its driver on a simulated card, with the far modem in the line.
struct Call {
  Pump near_pump;
  Pump far_pump;
  FarModem line{far_pump};
  hostsim::SimulatedCard card{{.block = kBlockSamples}, line.handle()};
  test::ManualContext context;
  oh_driver driver{};
  std::vector<std::uint64_t> staging;
  std::uint64_t turn = 0;

  Call(oh_bit_port near_bits, oh_bit_port far_bits)
      : Call(Pump(OH_PUMP_CALL, near_bits), Pump(OH_PUMP_ANSWER, far_bits)) {}
  Call(Pump near_end, Pump far_end) : near_pump(std::move(near_end)), far_pump(std::move(far_end)) {
    oh_driver_config config{};
    config.card = card.card();
    staging.resize(oh_driver_staging_size(&config.card) / sizeof staging[0]);
    config.staging = staging.data();
    config.pump = near_pump.handle;
    config.context = context.context();
    config.policy = OH_SERVICE_DRAIN_ALL;
    config.transmit_lead_samples = 2 * kBlockSamples;
    config.block_plan[0] = kBlockSamples;
    config.block_plan_length = 1;
    EXPECT_EQ(oh_driver_init(&driver, &config), 0);
    card.on_interrupt([this](hostsim::Ns) { oh_driver_isr(&driver); });
    card.start(0);
  }

  /// @param each work of the layer above after each interrupt
  template <typename Each>
  void run(Each each, std::uint64_t blocks = kBlocks) {
    for (; driver.counters.blocks_served < blocks; ++turn) {
      card.advance_to(card.next_interrupt());
      if (turn % 20'000 < 19'900) oh_driver_service(&driver);  // occasionally late by 0.2 s, which requires concealment
      each();
    }
  }

  /// V.22bis waits during gaps without a training.
  void train_again_now_and_then() const {
    if (turn % 20'000 == 5'000) oh_v22bis_retrain(near_pump.handle.self);
  }

  void expect_went_through_everything() const {
    EXPECT_GT(driver.counters.samples_filled_in, 0u);
    EXPECT_GT(driver.counters.samples_late, 0u);
    EXPECT_GT(near_pump.status().retrains, 0u);
    EXPECT_EQ(near_pump.status().samples, driver.counters.samples_served + driver.counters.samples_filled_in);
  }
};

TEST(ModemRealtime, V22bisUnderTheDriverAllocatesLocksAndCallsNothingOver100000Blocks) {
  Bits near_bits;
  Bits far_bits;
  Call call(near_bits.port(), far_bits.port());
  const auto run = [&] {
    call.run([&] { call.train_again_now_and_then(); });
    return near_bits.received;
  };
  const test::RealtimeRun guarded = test::run_realtime(run);
  if (!guarded.skipped.empty()) GTEST_SKIP() << guarded.skipped;
  EXPECT_EQ(guarded.violation, "");
  EXPECT_GT(guarded.value, 100'000u) << "bits received: the modem was not in data mode for most of the time";
  EXPECT_EQ(run(), guarded.value);  // the same run again here, to check that it took every path
  call.expect_went_through_everything();
}

// Every path of automode: V.8 to each modulation, ANS and USB1, ANS and AA.
TEST(ModemRealtime, AutomodeUnderTheDriverAllocatesLocksAndCallsNothingWhateverItFallsTo) {
  const struct {
    const char* name;
    const oh_pump_type* call;
    std::uint32_t call_set;
    const oh_pump_type* answer;
    std::uint32_t answer_set;
    std::uint32_t rate;
  } ways[] = {{"V.34", oh_automode_v22bis_type(), 0, oh_automode_v22bis_type(), 0, 28'800},
              {"V.32bis", oh_automode_v22bis_type(), 0, oh_automode_v22bis_type(), OH_MODULATION_V32BIS, 14'400},
              {"V.22bis", oh_automode_v22bis_type(), 0, oh_automode_v22bis_type(), OH_MODULATION_V22BIS, 2400},
              {"ANS and USB1", oh_automode_v22bis_type(), 0, oh_v22bis_type(), 0, 2400},
              {"USB1 after ANSam", oh_v22bis_type(), 0, oh_automode_v22bis_type(), 0, 2400},
              {"V.21", oh_automode_v22bis_type(), 0, oh_automode_v22bis_type(), OH_MODULATION_V21, 300},
              {"ANS and the mark of V.23", oh_automode_v22bis_type(), 0, kV23.type(), 0, 1200},
              {"Bell 103", oh_automode_v22bis_type(), 0, kBell103.type(), 0, 300}};
  constexpr std::uint64_t kConnected = 12'000;  // blocks: 27 s of line
  for (const auto& way : ways) {
    SCOPED_TRACE(way.name);
    Bits near_bits;
    Bits far_bits;
    Call call(Pump(OH_PUMP_CALL, near_bits.port(), way.call, way.call_set),
              Pump(OH_PUMP_ANSWER, far_bits.port(), way.answer, way.answer_set));
    const auto run = [&] {
      call.run([] {}, kConnected);
      return near_bits.received;
    };
    const test::RealtimeRun guarded = test::run_realtime(run);
    if (!guarded.skipped.empty()) GTEST_SKIP() << guarded.skipped;
    EXPECT_EQ(guarded.violation, "");
    EXPECT_GT(guarded.value, way.rate * 5) << "bits received";
    EXPECT_EQ(run(), guarded.value);
    EXPECT_GE(call.near_pump.status().rx_bit_rate, way.rate);
  }
}

struct Lapm {
  std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
  oh_lapm* link = nullptr;
  explicit Lapm(oh_pump_role role, std::uint32_t protocols = OH_PROTOCOL_V42) {
    oh_lapm_config config;
    oh_lapm_default_config(&config, role, 2400);
    config.link.compression = OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED;
    config.link.protocols = protocols;
    memory.reset(std::aligned_alloc(64, (oh_lapm_size(&config) + 63) / 64 * 64));
    link = oh_lapm_init(memory.get(), &config);
    EXPECT_NE(link, nullptr);
  }
  oh_bit_port port() const {
    oh_bit_port p;
    oh_lapm_port(link, &p);
    return p;
  }
  struct oh_lapm_status status() const {
    struct oh_lapm_status s;
    ::oh_lapm_get_status(link, &s);
    return s;
  }
};

void expect_no_call_in_100000_blocks(Lapm& near_link, Lapm& far_link) {
  Call call(near_link.port(), far_link.port());
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  std::uint64_t wrong = 0;
  const auto byte = [](std::uint64_t i) { return static_cast<std::uint8_t>((i * 0x9e3779b97f4a7c15u) >> 56); };
  const auto run = [&] {
    call.run([&] {
      call.train_again_now_and_then();
      for (const auto& [pump, lapm] : {std::pair{&call.near_pump, &near_link}, {&call.far_pump, &far_link}}) {
        if (pump->status().state == OH_PUMP_DATA) oh_lapm_advance(lapm->link, kBlockSamples);
      }
      std::uint8_t buffer[64];
      for (std::size_t i = 0; i < sizeof buffer; ++i) buffer[i] = byte(written + i);
      written += oh_lapm_write(near_link.link, buffer, sizeof buffer);
      const std::size_t n = oh_lapm_read(far_link.link, buffer, sizeof buffer);
      for (std::size_t i = 0; i < n; ++i) wrong += buffer[i] != byte(read + i);
      read += n;
    });
    return read;
  };
  const test::RealtimeRun guarded = test::run_realtime(run);
  if (!guarded.skipped.empty()) GTEST_SKIP() << guarded.skipped;
  EXPECT_EQ(guarded.violation, "");
  EXPECT_GT(guarded.value, 20'000u) << "bytes delivered";
  EXPECT_EQ(run(), guarded.value);
  EXPECT_EQ(wrong, 0u);
  call.expect_went_through_everything();
  EXPECT_GT(near_link.status().retransmitted, 0u);
}

TEST(ModemRealtime, V42OverV22bisAllocatesLocksAndCallsNothingOver100000Blocks) {
  Lapm near_link(OH_PUMP_CALL);
  Lapm far_link(OH_PUMP_ANSWER);
  expect_no_call_in_100000_blocks(near_link, far_link);
  EXPECT_EQ(near_link.status().compression, OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED);
}

TEST(ModemRealtime, MnpOverV22bisAllocatesLocksAndCallsNothingOver100000Blocks) {
  Lapm near_link(OH_PUMP_CALL, OH_PROTOCOL_MNP);
  Lapm far_link(OH_PUMP_ANSWER, OH_PROTOCOL_MNP);
  expect_no_call_in_100000_blocks(near_link, far_link);
  EXPECT_EQ(near_link.status().mnp_class, 5);
}

}  // namespace
}  // namespace offhook
