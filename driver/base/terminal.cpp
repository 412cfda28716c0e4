// SPDX-License-Identifier: MIT
#include "driver/base/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <system_error>

#include "driver/base/colour.h"
#include "driver/base/fit.h"

namespace offhook {
namespace {

std::atomic<int> g_signal{0};
std::atomic<std::int64_t> g_signal_ms{0};
// timeout(1) and a shell that ends a job send the same signal to the process and to its group.
constexpr std::int64_t kSameSignalMs = 300;

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
constexpr std::array kRestored = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};

int g_output_error = 0;  // errno of the first write to standard output that failed

constexpr auto kBarEvery = std::chrono::milliseconds(100);
constexpr auto kLineEvery = std::chrono::seconds(10);

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t ms = now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
    if (g_signal == 0) {
      g_signal_ms = ms;
      g_signal = signal;
    } else if (signal != SIGPIPE && ms - g_signal_ms > kSameSignalMs) {
      std::signal(signal, SIG_DFL);
      raise(signal);
    }
  };
  for (const int signal : kSignals) {
    struct sigaction before {};
    const bool ignored = sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
    if (signal != SIGHUP || !ignored) sigaction(signal, &action, nullptr);
  }
}

void catch_file_size_limit() {
  struct sigaction action {};
  action.sa_handler = [](int) {};  // not SIG_IGN, because programs that are started would inherit it
  action.sa_flags = SA_RESTART;
  sigaction(SIGXFSZ, &action, nullptr);
}

SignalHandlers::SignalHandlers() {
  static_assert(kRestored.size() == std::tuple_size_v<decltype(before_)>);
  for (std::size_t i = 0; i < kRestored.size(); ++i) sigaction(kRestored[i], nullptr, &before_[i]);
}

SignalHandlers::~SignalHandlers() {
  for (std::size_t i = 0; i < kRestored.size(); ++i) sigaction(kRestored[i], &before_[i], nullptr);
  g_signal = 0;
  g_output_error = 0;
}

bool interrupted() {
  return g_signal.load(std::memory_order_relaxed) != 0;
}

int interrupt_status() {
  return 128 + g_signal.load();
}

void hold_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // open() takes the lowest free descriptor, which is this one. It is opened in the wrong direction, so each use
    // fails as with a closed descriptor.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void put_text(std::FILE* to, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), to) == text.size() || to == stderr) return;
  const int error = errno;
  if (to == stdout && g_output_error == 0) g_output_error = error;
  throw std::system_error(error, std::generic_category(), to == stdout ? "standard output" : "output");
}

void flush_output() {
  if (std::fflush(stdout) != 0 && g_output_error == 0) g_output_error = errno;
}

void expect_output_complete() {
  flush_output();
  if (g_output_error == 0 && std::ferror(stdout) != 0) g_output_error = EIO;
  if (g_output_error != 0) throw std::system_error(g_output_error, std::generic_category(), "standard output");
}

Lines::Lines(std::string_view all) {
  while (!all.empty()) {
    const std::size_t end = std::min(all.find_first_of("\n\t"), all.size());
    text += printable(all.substr(0, end));
    if (end < all.size()) text += all[end];
    all.remove_prefix(std::min(end + 1, all.size()));
  }
}

Lines Lines::as_they_are(std::string text) {
  Lines lines;
  lines.text = std::move(text);
  return lines;
}

Progress::Progress(const std::string& label, Style style)
    : label_(printable(label)),
      quiet_(style == Style::kQuiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      next_(terminal_ ? begin_ : begin_ + kLineEvery) {}

Progress::~Progress() {
  if (drawn_) put_text(stderr, "\r\033[K");
}

bool Progress::due() const {
  return !quiet_ && Clock::now() >= next_;
}

void Progress::update(double share, const std::string& detail) {
  if (!due()) return;
  const auto now = Clock::now();
  next_ = now + (terminal_ ? std::chrono::duration_cast<Clock::duration>(kBarEvery) : kLineEvery);
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  share = std::clamp(share, 0.0, 1.0);
  std::string words = printable(detail);
  if (share > 0 && elapsed > 0.5)
    words += fmt::format("{}{} left", words.empty() ? "" : ", ", duration_text(elapsed * (1 - share) / share));
  if (!terminal_) {
    put_text(stderr, fmt::format("{}: {:.0f} %{}{}\n", label_, 100 * share, words.empty() ? "" : ", ", words));
    return;
  }
  constexpr std::size_t kWidth = 24;
  const auto filled = static_cast<std::size_t>(share * kWidth);
  const std::string line =
      fmt::format("{} [{:=<{}}{:{}}] {:3.0f} %  {}", label_, "", filled, "", kWidth - filled, 100 * share, words);
  // A line that the terminal breaks would not be cleared: one column stays free.
  const std::size_t columns = columns_of(stderr);
  put_text(stderr, fmt::format("\r{}\033[K", cut(line, columns > 1 ? columns - 1 : 0)));
  drawn_ = true;
}

void Table::column(const std::string& title, Align align) {
  aligns_.push_back(titles_.empty() ? Align::kLeft : align);
  titles_.push_back(printable(title));
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(titles_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

Lines Table::lines() const {
  return Lines::as_they_are(text(has_colours(stdout)));
}

std::string Table::text(bool colours) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < titles_.size(); ++c) {
    widths.push_back(characters(titles_[c]));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], characters(row[c]));
  }
  std::string out;
  const auto line = [&](const std::vector<std::size_t>& group, const std::vector<std::string>& cells) {
    std::size_t blanks = 0;  // padding before the next cell; no cell pads the end of a line
    for (const std::size_t c : group) {
      const std::size_t pad = widths[c] - characters(cells[c]);
      if (c != 0) blanks += 2;
      if (aligns_[c] == Align::kRight) blanks += pad;
      if (!cells[c].empty()) {
        const Tone tone = &cells == &titles_ ? Tone::kHead : tone_of(cells[c]);
        out.append(blanks, ' ') += colours ? Coloured(stdout, tone, cells[c]).text : cells[c];
        blanks = 0;
      }
      if (aligns_[c] == Align::kLeft) blanks += pad;
    }
    out += "\n";
  };
  for (const auto& group : column_groups(widths, columns_of(stdout))) {
    if (!out.empty()) out += "\n";
    line(group, titles_);
    std::size_t total = 0;
    for (const std::size_t c : group) total += widths[c] + 2;
    out += std::string(total - 2, '-') + "\n";
    for (const auto& row : rows_) line(group, row);
  }
  return out;
}

std::string duration_text(double seconds) {
  if (seconds > 0 && seconds < 0.1) return fmt::format("{:.2g} s", seconds);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto s = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

}  // namespace offhook
