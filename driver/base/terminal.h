// SPDX-License-Identifier: MIT
//
// Progress and tables for people. Progress goes to standard error, results to standard output.
#pragma once

#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "driver/base/printable.h"

namespace offhook {

/// From the first call on, SIGINT, SIGTERM, SIGHUP and SIGPIPE set a flag instead of ending the program, so that
/// recordings are completed and links and sockets are removed. A second SIGINT, SIGTERM or SIGHUP, 0.3 s later or more,
/// ends it. A SIGHUP that is ignored, for example by nohup, stays ignored.
void catch_interrupts();
/// While it lives, catch_interrupts() may be called; at its end the signals have their previous effect again, and
/// signals that arrived meanwhile are dropped.
class SignalHandlers {
 public:
  SignalHandlers();
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

 private:
  std::array<struct sigaction, 5> before_{};
};
bool interrupted();
/// @return 128 + the signal
int interrupt_status();
/// From now on, writing a file beyond a limit (ulimit -f) fails with EFBIG, and the message names the file. SIGXFSZ no
/// longer ends the program. SignalHandlers restores the previous handler. Child programs are not affected.
void catch_file_size_limit();

/// A text of several lines in the program's own layout: line ends and tabs stay, everything else is made printable.
struct Lines {
  explicit Lines(std::string_view text);
  /// Prints a text that is already printable and may have colours (Table).
  static Lines as_they_are(std::string text);
  std::string text;

 private:
  Lines() = default;
};

inline std::string for_terminal(std::string_view text) {
  return printable(text);
}
inline std::string for_terminal(const Lines& lines) {
  return lines.text;
}
template <typename T>
requires(!std::is_convertible_v<const T&, std::string_view>) const T& for_terminal(const T& value) {
  return value;
}

/// If the caller closed a standard stream, occupy its descriptor; the stream stays unusable. Otherwise the next opened
/// file would get that descriptor, and messages would be written into that file.
void hold_standard_descriptors();

/// A complete text, unchanged. @throws std::system_error when the stream cannot be written, except standard error,
/// because there is no other place to report that
void put_text(std::FILE* to, const std::string& text);

/// Flush standard output. A failure is kept for expect_output_complete(), so that the remaining work is completed
/// first.
void flush_output();
/// The last step of every command. @throws std::system_error if any write to standard output failed, also earlier ones
void expect_output_complete();

/// All output of the program uses this function: text in arguments, such as a name out of a file, is made
/// printable (driver/base/printable.h). @throws as put_text()
template <typename... T>
void say(std::FILE* to, fmt::format_string<decltype(for_terminal(std::declval<const T&>()))...> format,
         const T&... arguments) {
  put_text(to, fmt::format(format, for_terminal(arguments)...));
}
template <typename... T>
void say(fmt::format_string<decltype(for_terminal(std::declval<const T&>()))...> format, const T&... arguments) {
  put_text(stdout, fmt::format(format, for_terminal(arguments)...));
}

/// A bar on a terminal, an occasional line elsewhere, nothing when quiet. Not for several threads at once.
class Progress {
 public:
  enum class Style { kAuto, kQuiet };
  Progress(const std::string& label, Style style = Style::kAuto);
  ~Progress();  ///< clears the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param share 0 to 1.  @param detail such as "31.2 of 37.9 s, 1,203 x real time"
  void update(double share, const std::string& detail);
  /// Whether update() would print nothing; the caller then does not need to compose the detail.
  bool due() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  bool quiet_, terminal_;
  bool drawn_ = false;
  Clock::time_point begin_, next_;
};

/// A table whose columns are as wide as their widest cell. All columns but the first have numbers and are aligned to
/// the right by default. If standard output has colours, titles are bold, and "sufficient", "marginal" and
/// "insufficient" have their colours.
class Table {
 public:
  enum class Align { kLeft, kRight };
  void column(const std::string& title, Align align = Align::kRight);
  void row(std::vector<std::string> cells);
  std::string str() const { return text(false); }
  Lines lines() const;

 private:
  std::string text(bool colours) const;

  std::vector<std::string> titles_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "1 h 02 min", "3 min 20 s", "4.2 s"
std::string duration_text(double seconds);

}  // namespace offhook
