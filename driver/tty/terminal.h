// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driver/base/own_link.h"

namespace offhook::modem {

/// The lines from the DCE to the DTE (ITU-T V.24), if the terminal has lines.
struct Lines {
  bool carrier = false;  ///< circuit 109, DCD
  bool ring = false;     ///< circuit 125, RI
  bool operator==(const Lines&) const = default;
};

/// The DTE's side: a descriptor whose other end is a serial port for programs.
class Terminal {
 public:
  Terminal() = default;
  virtual ~Terminal() = default;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int fd() const { return fd_; }
  const std::string& device() const { return device_; }
  /// @return bytes read; 0 when none wait; -1 while no program has the terminal open
  int read(char* bytes, int n);
  void write(std::string_view text);  ///< text without room is kept for the next time
  bool congested() const { return !pending_.empty(); }
  void flush() { write({}); }
  virtual std::uint32_t rate() const = 0;  ///< bit/s that the program has set
  virtual void set_lines(const Lines& lines) = 0;
  /// Reports that the connection is gone. A terminal without lines then acts as a serial port whose carrier drops.
  /// @throws std::runtime_error if no new terminal is available
  virtual void carrier_lost() = 0;

 protected:
  int fd_ = -1;
  std::string device_, pending_;
};

/// A pseudo-terminal, with a link under a name that stays the same.
class PseudoTerminal final : public Terminal {
 public:
  /// @param link   created, or replaced if it was left behind (driver/base/own_link.h); empty: none
  /// @param group  its members may use the terminal, as with serial ports (mode 0660); empty: the system's default
  ///               makes it
  /// @throws std::runtime_error  also if there is no such group, or this process does not belong to it
  explicit PseudoTerminal(const std::string& link, const std::string& group = "");
  ~PseudoTerminal() override;

  std::uint32_t rate() const override;
  void set_lines(const Lines&) override {}  // it has none
  /// Acts as a serial port whose carrier drops. A program that has cleared CLOCAL,
  /// as pppd does by default, gets SIGHUP or the end of the file; one that leaves
  /// CLOCAL set, which is the default, gets nothing. Only closing a pseudo-terminal
  /// hangs it up, so the link then leads to a new one with the same group and mode.
  /// @throws std::runtime_error if no new one is available
  void carrier_lost() override;

 private:
  void open_pair();
  void admit_group();
  std::string group_;
  std::optional<OwnLink> link_;
};

}  // namespace offhook::modem
