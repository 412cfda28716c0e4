// SPDX-License-Identifier: MIT
//
// A policy of one's own, as a researcher would write it: stride scheduling (Waldspurger 1995). Each thread has tickets;
// it pays for the time it runs in inverse proportion to them, and who has paid least runs next.
#include <gtest/gtest.h>

#include <algorithm>

#include "hostsim/cpu/cpu.h"
#include "tests/unit/hostsim/cpu/recorder.h"

namespace offhook::hostsim {
namespace {

class Stride final : public ThreadPolicy {
 public:
  /// @param virtual_time shared by the group: the payment of the last one that ran
  Stride(std::int64_t tickets, Ns quantum, std::int64_t& virtual_time)
      : tickets_(tickets), quantum_(quantum), left_(quantum), virtual_time_(virtual_time) {}

  void begin_job(Ns, const CurrentJob&, bool woken) override {
    if (woken) paid_ = std::max(paid_, virtual_time_);  // a thread that slept has saved nothing
    standing_ = paid_;
  }
  void charge(Ns ran) override {
    paid_ += ran * kScale / tickets_;
    left_ -= ran;
    virtual_time_ = paid_;
  }
  Change update(Ns) override {
    if (left_ > 0) return {};
    left_ = quantum_;
    standing_ = paid_;  // it competes again only after each quantum
    return {.requeue = true};
  }
  Standing standing(Ns) const override { return {Band::kPriority, standing_}; }
  Ns allowance() const override { return left_; }

 private:
  static constexpr std::int64_t kScale = 1000;
  std::int64_t tickets_;
  Ns quantum_, left_;
  std::int64_t& virtual_time_;
  std::int64_t paid_ = 0;
  Ns standing_ = 0;  // never below 0: fixed priorities have keys of at most 0, and come first
};

TEST(OwnPolicy, StrideSharesTheCpuByTicketsBesideInterruptsAndAFixedPriority) {
  Engine engine;
  Cpu cpu(engine);
  std::int64_t virtual_time = 0;
  Segments forever_a({kNever}), forever_b({kNever}), forever_c({kNever}), clock_job({100}), audio_job({500});
  const auto stride = [&](std::int64_t tickets) {
    return OwnPolicy([&virtual_time, tickets] { return std::make_unique<Stride>(tickets, 1000, virtual_time); });
  };
  const EntityId a = cpu.add_thread("a", stride(1), forever_a);
  const EntityId b = cpu.add_thread("b", stride(2), forever_b);
  const EntityId c = cpu.add_thread("c", stride(5), forever_c);
  const EntityId clock = cpu.add_interrupt({"clock", 1, kNoEntity}, clock_job);
  const EntityId audio = cpu.add_thread("audio", FixedPriority{20, 0}, audio_job);
  Periodic clocks(engine, cpu, clock, 0, 1000), audios(engine, cpu, audio, 300, 2500);
  Once start([&](Ns) {
    for (const EntityId id : {a, b, c}) cpu.release(id);
  });
  engine.at(0, start);
  engine.run_until(10'000'000);
  const auto left = static_cast<double>(10'000'000 - cpu.cpu_time(clock) - cpu.cpu_time(audio));
  EXPECT_EQ(cpu.cpu_time(clock), 1'000'000);
  EXPECT_EQ(cpu.cpu_time(audio), 2'000'000);
  // Each is within a few quanta of its share.
  EXPECT_NEAR(static_cast<double>(cpu.cpu_time(a)), left / 8, 3000);
  EXPECT_NEAR(static_cast<double>(cpu.cpu_time(b)), left * 2 / 8, 3000);
  EXPECT_NEAR(static_cast<double>(cpu.cpu_time(c)), left * 5 / 8, 3000);
}

}  // namespace
}  // namespace offhook::hostsim
