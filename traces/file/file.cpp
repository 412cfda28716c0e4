// SPDX-License-Identifier: MIT
#include "traces/file/file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace offhook {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, int error) {
  throw std::runtime_error(fmt::format("{}: {}", file.string(), std::generic_category().message(error)));
}

}  // namespace

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(folder, error.value());
  if (!fs::is_directory(folder)) fail(folder, ENOTDIR);
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail(folder, errno);
}

void write_file(const fs::path& file, std::string_view bytes) {
  std::string temporary = file.string() + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) fail(file, errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) error = errno;
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  if (error == 0 && (fchmod(fd, 0644) != 0 || fsync(fd) != 0)) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    fail(file, error);
  }
}

void expect_writable(const fs::path& file) {
  if (fs::is_directory(file)) fail(file, EISDIR);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail(file, errno);
}

std::string read_file(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) fail(file, EISDIR);
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(file, errno != 0 ? errno : ENOENT);
  return {std::istreambuf_iterator<char>(in), {}};
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
