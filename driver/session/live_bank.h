// SPDX-License-Identifier: MIT
//
// Many live cards with pumps of one type, served by one context: the blocks that all of them owe at one time advance in
// one call (oh_pump_type.advance). For cards that interrupt together, as the channels of one board do. A card whose
// block ends at another time than the others' is served separately.
//
//   the cards' interrupts  interrupt(), from one thread, and request() after the last of those that came together
//   context                the owed blocks of all drivers, and the pumps in it
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driver/session/live_driver.h"

namespace offhook {

class LiveBank {
 public:
  struct Channel {
    LiveCard* card;
    void* pump;  ///< memory that the type's init has filled
  };
  /// Starts the context, and the cards. @param type, channels  cards and pumps outlive the bank
  /// @throws std::runtime_error as LiveDriver
  LiveBank(const oh_pump_type& type, const std::vector<Channel>& channels, const LiveDriverConfig& config);
  ~LiveBank() { stop(); }
  LiveBank(const LiveBank&) = delete;
  LiveBank& operator=(const LiveBank&) = delete;

  /// A card's interrupt. Real-time: yes, O(1).
  void interrupt(std::size_t channel) { oh_driver_isr(&lines_[channel]->driver); }
  /// Serve the blocks owed by all interrupts so far. Real-time: yes.
  void request() { context_.request(); }
  /// Ends the running service; then only the owner uses the pumps. @pre there are no more interrupts
  void stop() { context_.stop(); }

  std::size_t size() const { return lines_.size(); }
  oh_driver_counters counters(std::size_t channel) const { return counters_of(lines_[channel]->driver); }
  /// Pumps in data mode, as counted by the first service after the previous call; 0 at first. A service counts its
  /// pumps only on request.
  std::size_t in_data_mode() const {
    asked_.store(true, std::memory_order_relaxed);
    return in_data_mode_.load(std::memory_order_relaxed);
  }
  const LiveContext& context() const { return context_; }

 private:
  struct Line {
    void* pump = nullptr;
    const oh_pump_type* type = nullptr;
    oh_driver driver{};
    std::vector<std::uint64_t> staging;  // the driver's
    // The work that the driver requests from its pump.
    const void* rx = nullptr;
    void* tx = nullptr;
    std::size_t n = 0;
    bool more = false;  // the call of the service routine has not ended
  };
  static constexpr std::size_t kTogether = 64;  // the output of these waits until all are done
  static void defer(void* self, const void* rx, void* tx, std::size_t n);
  static void report_gap(void* self, std::size_t n);
  static oh_context requests_later();
  std::uint32_t serve();
  std::uint32_t serve(std::span<std::unique_ptr<Line>> part);
  void advance();
  void count_data_mode();

  const oh_pump_type& type_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::atomic<std::size_t> in_data_mode_{0};
  mutable std::atomic<bool> asked_{true};
  // Runs in the context, as long as there are lines.
  std::vector<Line*> begun_;
  std::vector<void*> self_, tx_;
  std::vector<const void*> rx_;
  LiveContext context_;
};

}  // namespace offhook
