// SPDX-License-Identifier: MIT
#include "driver/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "driver/base/nearest.h"

namespace offhook {

namespace fs = std::filesystem;

namespace {

// "; the nearest is "v34.toml"", among the files of its folder.
std::string neighbour(const fs::path& file) {
  constexpr std::size_t kEnough = 10'000;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  // An equal extension does not make names similar.
  std::vector<std::string> stems, names;
  std::error_code none;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none)) {
    if (stems.size() + names.size() == kEnough) return "";
    const fs::path name = entry->path().filename();
    const bool same = name.extension() == file.extension();
    (same ? stems : names).push_back((same ? name.stem() : name).string());
  }
  const auto best = [](const std::string& name, std::vector<std::string>& among) {
    std::ranges::sort(among);
    return std::string(nearest(name, std::vector<std::string_view>(among.begin(), among.end())));
  };
  std::string found = best(file.stem().string(), stems);
  if (!found.empty()) found += file.extension().string();
  if (found.empty()) found = best(file.filename().string(), names);
  return found.empty() ? "" : fmt::format("; the nearest is \"{}\"", found);
}

[[noreturn]] void fail(const fs::path& file, int error) {
  throw std::runtime_error(fmt::format("{}: {}{}", file.string(), std::generic_category().message(error),
                                       error == ENOENT ? neighbour(file) : ""));
}

}  // namespace

void fail_at(const std::string& path, const std::string& why) {
  throw std::runtime_error(path + ": " + why);
}
void fail_at(const std::string& path, int error) {
  throw std::system_error(error, std::generic_category(), path);
}

int open_file(const fs::path& file) {
  if (file.empty()) throw std::runtime_error("empty file name; expected a path");
  const int fd = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) fail(file, errno);
  if (fcntl(fd, F_SETFL, 0) == 0) return fd;
  const int error = errno;
  close(fd);
  fail(file, error);
}

namespace {

std::string read_whole(const fs::path& file, std::uint64_t most) {
  const int fd = open_file(file);
  const auto close_fd = [](const int* p) { close(*p); };
  const std::unique_ptr<const int, decltype(close_fd)> closer(&fd, close_fd);
  struct stat there {};
  if (fstat(fd, &there) != 0) fail(file, errno);
  if (S_ISDIR(there.st_mode)) throw std::runtime_error(fmt::format("{}: is a folder; expected a file", file.string()));
  if (!S_ISREG(there.st_mode)) most = std::min(most, kMostTextBytes);
  const auto size = static_cast<std::uint64_t>(S_ISREG(there.st_mode) ? there.st_size : 0);
  if (size > most) {
    throw std::runtime_error(fmt::format("{}: has {} bytes; expected at most {}", file.string(), size, most));
  }
  // Reads once after the last bytes, to find the end. The size of files of /proc is 0.
  constexpr std::uint64_t kPiece = 1 << 16;
  std::string bytes;
  for (std::uint64_t done = 0;;) {
    bytes.resize(std::min(most, std::max(size, done) + kPiece) + 1);
    const ssize_t n = read(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(file, errno);
    done += static_cast<std::uint64_t>(n);
    if (done > most) throw std::runtime_error(fmt::format("{}: does not end within {} bytes", file.string(), most));
    if (n > 0) continue;
    if (done == 0 && S_ISFIFO(there.st_mode))
      throw std::runtime_error(fmt::format("{}: a FIFO that has no writer", file.string()));
    bytes.resize(done);
    return bytes;
  }
}

}  // namespace

std::string read_file(const fs::path& file, std::uint64_t most) {
  return with_memory_for(file, [&] { return read_whole(file, most); });
}

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string fnv1a_hex(std::string_view bytes) {
  return fmt::format("{:016x}", fnv1a(bytes));
}

}  // namespace offhook
