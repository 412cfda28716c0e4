// SPDX-License-Identifier: MIT
//
// What people see while they wait, and tables afterwards. Progress goes to standard error, results to standard output.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace offhook {

/// From the first call on, SIGINT and SIGTERM set a flag instead of ending the program; a second one, 0.3 s later or
/// more, ends it.
void catch_interrupts();
bool interrupted();
/// @return 128 + the signal
int interrupt_status();

/// A bar on a terminal, an occasional line elsewhere, nothing when quiet. Not for several threads at once.
class Progress {
 public:
  enum class Style { kAuto, kQuiet };
  Progress(std::string label, Style style = Style::kAuto);
  ~Progress();  ///< clears the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param share 0 to 1.  @param detail such as "31.2 of 37.9 s, 1,203 x real time"
  void update(double share, const std::string& detail);
  /// When update() would print nothing, so that the detail need not be made.
  bool due() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  bool quiet_, terminal_;
  bool drawn_ = false;
  Clock::time_point begin_, next_;
};

/// Columns as wide as their widest cell; numbers (all but the first column) to the right unless told.
class Table {
 public:
  enum class Align { kLeft, kRight };
  void column(std::string title, Align align = Align::kRight);
  void row(std::vector<std::string> cells);
  std::string str() const;

 private:
  std::vector<std::string> titles_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "1 h 02 min", "3 min 20 s", "4.2 s"
std::string duration_text(double seconds);

}  // namespace offhook
