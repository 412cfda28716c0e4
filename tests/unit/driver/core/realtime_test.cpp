// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "dsp/pump/pump_type.h"
#include "tests/realtime/realtime_guard.h"
#include "tests/unit/driver/fake_card.h"

namespace offhook {
namespace {

using test::EchoPump;
using test::FakeCard;
using test::RealtimeRun;
using test::run_realtime;

constexpr std::uint64_t kBlocks = 100'000;

/// isr and service over kBlocks blocks, every path through the driver: late and early, losses, changes of plan, an
/// overflowing log. The pump does `misdeed` at one block in the middle.
struct Rig {
  FakeCard card;
  EchoPump pump;
  std::vector<oh_event> slots = std::vector<oh_event>(1 << 10);
  oh_event_log log{};
  test::ManualContext context;
  oh_driver driver{};
  void (*misdeed)() = nullptr;
  std::uint64_t processed = 0;

  Rig() {
    card.keep = pump.keep = false;
    EXPECT_EQ(oh_event_log_init(&log, slots.data(), slots.size(), 0), 0);
    oh_driver_config c{};
    c.card = card.card();
    c.staging = card.staging_memory();
    c.pump = pump_of(*this);
    c.context = context.context();
    c.now_ns = [](void* clock) { return static_cast<FakeCard*>(clock)->position; };
    c.clock = &card;
    c.log = &log;
    c.policy = OH_SERVICE_DRAIN_ALL;
    c.transmit_lead_samples = 204;
    c.block_plan[0] = 105;
    c.block_plan_length = 1;
    EXPECT_EQ(oh_driver_init(&driver, &c), 0);
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    if (++processed == kBlocks / 2 && misdeed != nullptr) misdeed();
    pump.process(rx, tx, n);
  }
  void report_gap(std::size_t n) { pump.report_gap(n); }

  std::uint64_t run() {
    const std::uint32_t plans[2][3] = {{105, 105, 90}, {18, 18, 18}};
    for (std::uint64_t i = 0; driver.counters.blocks_served < kBlocks; ++i) {
      card.advance(card.to_boundary());
      oh_driver_isr(&driver);
      if (i % 7 == 0) card.advance(card.to_boundary() - 1);  // late
      if (i % 1000 == 0) oh_driver_set_block_plan(&driver, plans[i / 1000 % 2], 3);
      if (i % 50 < 8 && i % 3000 < 500) continue;  // far too late, so samples are lost
      oh_driver_service(&driver);
      oh_event out[64];
      if (i % 2000 < 1000) oh_event_log_read(&log, out, 64);
    }
    return driver.counters.blocks_served;
  }
};

RealtimeRun run_with(void (*misdeed)()) {
  auto rig = std::make_unique<Rig>();
  rig->misdeed = misdeed;
  return run_realtime([&] { return rig->run(); });
}

TEST(DriverRealtime, AHundredThousandBlocksAllocateLockAndCallNothing) {
  auto rig = std::make_unique<Rig>();
  const RealtimeRun run = run_realtime([&] { return rig->run(); });
  if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
  EXPECT_EQ(run.violation, "");
  EXPECT_GE(run.value, kBlocks);
  // The same run again here, to check that it took every path.
  rig->run();
  EXPECT_EQ(rig->pump.wrong, 0u);
  EXPECT_GT(rig->driver.counters.samples_late, 0u);
  EXPECT_GT(rig->driver.counters.samples_filled_in, 0u);
  EXPECT_GT(oh_event_log_lost(&rig->log), 0u);
}

void* volatile kept;
std::mutex mutex;

TEST(DriverRealtime, ThePumpThatMisbehavesOnceIsCaught) {
  const struct {
    const char* violation;
    void (*misdeed)();
  } cases[] = {
      {"malloc", [] { kept = std::malloc(16); }},
      {"malloc", [] { kept = new char[16]; }},
      {"aligned_alloc", [] { kept = new (std::align_val_t{64}) char[64]; }},
      {"calloc", [] { kept = std::calloc(4, 4); }},
      {"realloc", [] { kept = std::realloc(kept, 4); }},
      {"free", [] { std::free(kept); }},
      {"pthread_mutex_lock", [] { mutex.lock(); }},
      {"pthread_mutex_trylock", [] { kept = mutex.try_lock() ? &mutex : nullptr; }},
      {"system call 39", [] { kept = reinterpret_cast<void*>(::syscall(SYS_getpid)); }},
      {"system call 1", [] { kept = reinterpret_cast<void*>(::write(2, "", 0)); }},
      {"signal 4", [] { __builtin_trap(); }},
  };
  for (const auto& c : cases) {
    const RealtimeRun run = run_with(c.misdeed);
    if (!run.skipped.empty()) GTEST_SKIP() << run.skipped;
    EXPECT_EQ(run.violation, c.violation);
  }
}

}  // namespace
}  // namespace offhook
