// SPDX-License-Identifier: MIT
#include "src/program/command/figures.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "driver/base/left_behind.h"
#include "driver/base/terminal.h"

namespace offhook::command {
namespace {

namespace fs = std::filesystem;

constexpr std::array kBrowsers = {"chromium", "chromium-browser", "google-chrome", "chrome"};
constexpr const char* kNoBrowser =
    "needs Chromium or Chrome, which draws the figures; expected chromium in PATH. Buttons below each figure of the "
    "page "
    "save it too";
constexpr std::chrono::seconds kPatience{180};
constexpr std::size_t kMostBytes = std::size_t{1} << 29;  ///< limit of the browser's output

/// @return the path of a program in PATH, or nothing
std::string in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string file = folders.substr(at, end - at) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    at = end + 1;
  }
  return {};
}

/// @return the browser that draws the figures, or nothing
std::string browser() {
  for (const char* name : kBrowsers)
    if (std::string found = in_path(name); !found.empty()) return found;
  return {};
}

/// Reads a child's output until it ends. @throws std::runtime_error if it takes too long
std::string read_all(int descriptor, pid_t child) {
  std::string out;
  std::array<char, 1 << 16> buffer{};
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    pollfd waiting{descriptor, POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR && !interrupted()) continue;
    const ssize_t n = ready > 0 ? read(descriptor, buffer.data(), buffer.size()) : -1;
    if (n == 0) return out;
    if (n < 0 || out.size() > kMostBytes) {
      kill(child, SIGKILL);
      throw std::runtime_error("--figures: the browser did not finish drawing the page");
    }
    out.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

/// Starts the browser without a window. @return the document after its scripts have run
std::string document_of(const fs::path& page) {
  const TemporaryFolder profile("browser");
  std::vector<std::string> words = {browser(),
                                    "--headless",
                                    "--disable-gpu",
                                    "--hide-scrollbars",
                                    "--no-first-run",
                                    "--window-size=1280,900",
                                    "--virtual-time-budget=60000",
                                    "--user-data-dir=" + profile.path().string(),
                                    "--dump-dom"};
  if (geteuid() == 0) words.emplace_back("--no-sandbox");  // otherwise Chromium refuses root; the page loads nothing
  words.push_back("file://" + fs::absolute(page).string() + "#figures");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  std::string out, problem;
  if (error == 0) {
    try {
      out = read_all(ends[0], child);
    } catch (const std::runtime_error& e) {
      problem = e.what();
    }
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  close(ends[0]);
  if (error != 0) throw std::system_error(error, std::generic_category(), arguments[0]);
  if (!problem.empty()) throw std::runtime_error(problem);
  return out;
}

/// @throws std::runtime_error for invalid base64
std::string from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (c == '=') break;
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) throw std::runtime_error("--figures: the browser printed no base64");
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xff);
  }
  return out;
}

/// A name from the page: letters, digits, dots and dashes, with a permitted ending.
bool is_file_name(std::string_view name) {
  const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string_view::npos;
  return plain && !name.empty() && name.front() != '.' &&
         (name.ends_with(".svg") || name.ends_with(".png") || name.ends_with(".csv"));
}

}  // namespace

void add_figures(App& app, std::string& folder) {
  app.add_option("--figures", folder,
                 "Write each figure of the page into this folder as SVG and PNG, and its data as CSV (needs Chromium)")
      ->type_name("DIR")
      ->check(Check([](const std::string&) { return browser().empty() ? kNoBrowser : ""; }));
}

void write_figures(const fs::path& page, const std::string& folder, Privacy privacy) {
  if (folder.empty()) return;
  const OutputFolder output(folder);
  const std::string document = document_of(page);
  constexpr std::string_view kBegin = "<pre id=\"figures\">", kEnd = "\nend</pre>";
  const std::size_t begin = document.find(kBegin), end = document.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos)
    throw std::runtime_error(fmt::format("{}: the browser did not draw the figures", page.string()));
  std::string_view lines(document);
  lines = lines.substr(begin + kBegin.size(), end - begin - kBegin.size());
  std::size_t written = 0;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const std::size_t blank = line.find(' ');
    const std::string_view name = line.substr(0, blank);
    if (blank == std::string_view::npos || !is_file_name(name)) continue;
    output.write(name, from_base64(line.substr(blank + 1)), privacy);
    written += name.ends_with(".svg");
  }
  say(stderr, "offhook: {} figure{} in {}\n", written, written == 1 ? "" : "s", folder);
}

void write_page(const std::string& page, const std::string& file, const std::string& folder, Privacy privacy) {
  if (file.empty() && folder.empty()) return;
  fs::path place = file;
  if (file.empty()) {
    OutputFolder(folder).write("page.html", page, privacy);
    place = fs::path(folder) / "page.html";
  } else {
    write_file(place, page, privacy);
  }
  write_figures(place, folder, privacy);
}

}  // namespace offhook::command
