// SPDX-License-Identifier: MIT
//
// One modem of `offhook modem`: a telephone line, a terminal with AT commands, a folder to record in. The line is a
// live card with the driver in this process, or a modem of the kernel driver.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/output.h"
#include "driver/context/context_spec.h"
#include "driver/session/line_memory.h"
#include "driver/tty/dce.h"
#include "src/lab/analysis/figures.h"
#include "src/program/command/failed_calls.h"
#include "src/program/command/line_watch.h"
#include "src/program/command/modem_summary.h"
#include "traces/log/writer.h"

namespace offhook::command {

struct ChannelConfig {
  std::string address;         ///< address of a card, or "kernel:N"
  std::string tty, tty_group;  ///< see modem::PseudoTerminal
  std::filesystem::path out;   ///< empty: no recording
  ContextSpec context;
  bool best_effort = false;
  std::optional<int> cpu;
  int interrupt_priority = 80;
  double device_delay_ms = 0;                        ///< in devices after the card, both directions together
  std::shared_ptr<FailedCalls> failed_calls{};       ///< receives the lines of calls that end badly; null: none
  std::shared_ptr<modem::QuickProfiles> profiles{};  ///< null: each channel has its own
  bool watched = false;                              ///< view() is used
};

class Channel {
 public:
  explicit Channel(const ChannelConfig& config);
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  std::string name() const { return config_.tty.empty() ? terminal_->device() : config_.tty; }
  int fd() const { return terminal_->fd(); }
  const std::string& address() const { return config_.address; }
  bool gone() const { return dce_ == nullptr; }
  /// Modulations that its card does not support, and why; empty: none.
  const std::string& not_offered() const { return offer_.missing; }
  virtual std::vector<std::string> shortcomings() const { return {}; }
  /// Why it ended by itself; empty while it runs.
  virtual std::string card_failure() const = 0;
  virtual void drain() = 0;

  void work(std::int64_t now);
  /// @return changes of its state; empty: none
  virtual std::string news();
  /// The content for the live page, after drain(). Only if there is a page.
  const live_page::LineView& view(std::int64_t now);
  /// Ends card and session, and writes the recordings. Call it once.
  void end();
  ModemSummary result;

 protected:
  /// The log in the folder. @param driver  id of the driver's events
  std::unique_ptr<traces::LogWriter> make_log(std::uint16_t driver);
  void begin(modem::CallLine& line, std::unique_ptr<modem::Terminal> terminal, modem::Offer offer);
  virtual ModemSummary summary() = 0;
  virtual void close() = 0;  ///< the line is on hook, so the log is complete
  /// Driver, card and link for the live page.
  virtual void watch_driver(std::int64_t now) = 0;
  /// The line of the last call, which is ended first if necessary. Only with failed_calls.
  virtual modem::LineMemory::Samples last_line() = 0;

  ChannelConfig config_;
  LineWatch watch_;

 private:
  void keep_line(const std::string& reason);

  std::string state_;
  unsigned failed_before_ = 0;
  std::optional<OutputFolder> folder_;
  modem::CallLine* line_ = nullptr;
  std::unique_ptr<modem::Terminal> terminal_;
  modem::Offer offer_;
  std::unique_ptr<modem::Dce> dce_;
};

/// @throws std::runtime_error, std::invalid_argument if there is no such card, or the context is of another host
std::unique_ptr<Channel> open_channel(const ChannelConfig& config);
/// A modem of the kernel driver. @param number  of /dev/offhookN and /dev/ttySMN
std::unique_ptr<Channel> open_kernel_channel(const ChannelConfig& config, int number);
/// @return N of "kernel:N"; none for another address. @throws std::invalid_argument
std::optional<int> kernel_number(const std::string& address);

}  // namespace offhook::command
