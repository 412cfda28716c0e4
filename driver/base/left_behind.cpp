// SPDX-License-Identifier: MIT
#include "driver/base/left_behind.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace offhook {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFolderPrefix = "offhook-";  // of each temporary folder of this program

fs::path records_folder() {
  if (geteuid() == 0) return "/run/offhook";
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return fs::path(runtime) / "offhook";
  return "/tmp/offhook-" + std::to_string(geteuid());
}

/// @return a descriptor of the folder, which no other user can write; -1: there is none
int open_records(const fs::path& folder, bool make) {
  if (make) mkdir(folder.c_str(), 0700);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat there {};
  if (fstat(fd, &there) == 0 && there.st_uid == geteuid() && (there.st_mode & 077) == 0) return fd;
  close(fd);
  return -1;
}

/// Kind, device and inode, such as "140000 fd01 1a2b "; empty: nothing is there, or it is another user's.
std::string identity_of(const fs::path& path) {
  struct stat there {};
  if (lstat(path.c_str(), &there) != 0 || there.st_uid != geteuid()) return "";
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%o %llx %llx ", there.st_mode & S_IFMT,
                static_cast<unsigned long long>(there.st_dev), static_cast<unsigned long long>(there.st_ino));
  return text.data();
}

bool is_locked_here(int fd) {
  struct stat there {};
  return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &there) == 0 && there.st_nlink > 0;
}

void remove_entry(std::string_view record) {
  const std::size_t slash = record.find('/');
  if (slash == std::string_view::npos) return;
  const fs::path path(record.substr(slash));
  if (identity_of(path) != record.substr(0, slash)) return;
  struct stat there {};
  if (lstat(path.c_str(), &there) != 0) return;
  std::error_code ignored;
  if (S_ISSOCK(there.st_mode) || S_ISLNK(there.st_mode)) unlink(path.c_str());
  if (S_ISDIR(there.st_mode) && path.filename().string().starts_with(kFolderPrefix)) fs::remove_all(path, ignored);
}

/// @param fd of a record whose process has ended
std::string text_of(int fd) {
  std::string text;
  std::array<char, 4096> some{};
  for (ssize_t n; (n = read(fd, some.data(), some.size())) > 0 && text.size() < 65536;)
    text.append(some.data(), static_cast<std::size_t>(n));
  return text;
}

}  // namespace

MadeEntry::MadeEntry(const fs::path& path) {
  static std::atomic<int> count{0};
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const std::string identity = identity_of(absolute);
  const fs::path folder = records_folder();
  const int folder_fd = open_records(folder, true);
  if (folder_fd < 0) return;
  const std::string text = identity + absolute.string();
  for (int tries = 0; fd_ < 0 && tries < 100 && !identity.empty() && !error; ++tries) {
    // If the name is taken, a process in another PID namespace uses it.
    record_ = folder / (std::to_string(getpid()) + "-" + std::to_string(count++));
    fd_ = openat(folder_fd, record_.filename().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  }
  close(folder_fd);
  if (fd_ >= 0 && (!is_locked_here(fd_) || write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())))
    forget();
}

MadeEntry::MadeEntry(MadeEntry&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), record_(std::move(other.record_)) {}

MadeEntry& MadeEntry::operator=(MadeEntry&& other) noexcept {
  forget();
  fd_ = std::exchange(other.fd_, -1);
  record_ = std::move(other.record_);
  return *this;
}

MadeEntry::~MadeEntry() {
  forget();
}

void MadeEntry::forget() {
  if (fd_ < 0) return;
  unlink(record_.c_str());
  close(std::exchange(fd_, -1));
}

TemporaryFolder::TemporaryFolder(const char* what, const fs::path& parent) {
  std::string name = (parent / (std::string(kFolderPrefix) + what + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
  made_ = MadeEntry(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void remove_left_behind() {
  const fs::path folder = records_folder();
  const int folder_fd = open_records(folder, false);
  if (folder_fd < 0) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    const int fd = openat(folder_fd, name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (is_locked_here(fd)) {
      remove_entry(text_of(fd));
      unlinkat(folder_fd, name.c_str(), 0);
    }
    close(fd);
  }
  close(folder_fd);
}

}  // namespace offhook
