// SPDX-License-Identifier: MIT
//
// The modems of a bank (bank.h): each with its own thread, a call and V.42; or only the pumps, which one thread
// advances in one call.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/live/timer_card.h"
#include "driver/session/live_driver.h"
#include "src/measure/bank.h"

namespace offhook::measure {

/// A card whose samples are moved by another thread.
class WiredCard final : public LocalCard {
 public:
  static constexpr std::uint32_t kRateHz = OH_MODEM_RATE_HZ;
  static constexpr std::uint32_t kBurst = kRateHz / 1000;

  WiredCard() : LocalCard(oh_modem_streams(kRateHz)) { sem_init(&interrupt_, 0, 0); }
  ~WiredCard() override { sem_destroy(&interrupt_); }
  void start() override {}
  Wait wait() override {
    while (sem_wait(&interrupt_) != 0) {
    }
    return stopped_.load() ? Wait::kStopped : Wait::kInterrupt;
  }
  void stop() override {
    stopped_.store(true);
    sem_post(&interrupt_);
  }

  // The hardware's thread.
  void power_up() { oh_card_engine_start(&engine_, 0); }
  /// The next burst. @param[out] played [kBurst]  @param captured [kBurst]  @return whether the card interrupts
  bool run(std::int16_t* played, const std::int16_t* captured) {
    return oh_card_engine_copy(&engine_, played, captured, kBurst, 0) > 0;
  }
  /// Delivers the card's interrupt to its waiting thread.
  void interrupt() { sem_post(&interrupt_); }

 private:
  sem_t interrupt_;
  std::atomic<bool> stopped_{false};
};

class BankModems {
 public:
  virtual ~BankModems() = default;
  std::size_t size() const { return cards_.size(); }
  WiredCard& card(std::size_t k) { return *cards_[k]; }

  /// Runs in the hardware's thread.  Real-time: yes.
  virtual void interrupt(std::size_t k) = 0;
  virtual void interrupts_ended() {}  ///< samples of one burst
  virtual oh_driver_counters counters(std::size_t k) const = 0;
  std::uint64_t blocks_late() const;

  // The owner's.
  virtual void begin_calls() {}
  virtual int connected() const = 0;
  virtual void work() {}  ///< now and then
  virtual std::vector<std::string> shortcomings() const = 0;
  /// After the end of the hardware: the counts of drivers, cards and contexts, and the received data.
  void add_up(BankResult& result);

 protected:
  explicit BankModems(int count);
  virtual void stop() {}
  virtual void add_data(BankResult& result) = 0;
  std::vector<std::unique_ptr<WiredCard>> cards_;
};

/// Creates and starts them with silent lines. @throws std::runtime_error for missing privileges
std::unique_ptr<BankModems> make_bank_modems(const BankConfig& config);

}  // namespace offhook::measure
