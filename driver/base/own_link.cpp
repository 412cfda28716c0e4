// SPDX-License-Identifier: MIT
#include "driver/base/own_link.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "driver/base/file.h"
#include "driver/base/output.h"

namespace offhook {

namespace {

constexpr std::string_view kTerminals = "/dev/pts/";

std::string target_of(const std::string& path) {
  std::array<char, 4096> target{};
  const ssize_t n = readlink(path.c_str(), target.data(), target.size());
  return n < 0 ? "" : std::string(target.data(), static_cast<std::size_t>(n));
}

}  // namespace

OwnLink::OwnLink(std::string path) : path_(std::move(path)) {
  expect_ours();
  keep();
}

OwnLink::~OwnLink() {
  if (!target_.empty() && target_of(path_) == target_) unlink(path_.c_str());
  if (kept_ >= 0) close(kept_);
}

void OwnLink::expect_ours() const {
  struct stat there {};
  if (lstat(path_.c_str(), &there) != 0) {
    if (errno == ENOENT) return;
    fail_at(path_, errno);
  }
  constexpr const char* kExpected = "; expected no such file, or an old link to a terminal";
  if (!S_ISLNK(there.st_mode)) fail_at(path_, "is " + kind_of_file(there.st_mode) + kExpected);
  const std::string target = target_of(path_);
  if (!target.starts_with(kTerminals)) fail_at(path_, "is a link to " + target + kExpected);
  if (there.st_uid != geteuid()) fail_at(path_, "is another user's link" + std::string(kExpected));
}

/// The name belongs to an abstract socket, which ends with its process in every case. It contains the folder's inode,
/// so that two spellings of one path give one name.
void OwnLink::keep() {
  const std::filesystem::path path(path_);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  struct stat there {};
  if (stat(folder.c_str(), &there) != 0) fail_at(path_, errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int n =
      std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "offhook %x %llx %llx %zx", geteuid(),
                    static_cast<unsigned long long>(there.st_dev), static_cast<unsigned long long>(there.st_ino),
                    std::hash<std::string>{}(path.filename().string()));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  kept_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (kept_ < 0) fail_at(path_, errno);
  if (bind(kept_, name, size) == 0 && listen(kept_, SOMAXCONN) == 0) return;
  const int error = errno;
  close(std::exchange(kept_, -1));
  if (error != EADDRINUSE) fail_at(path_, error);
  // Any user may take such a name, but only this user or root can block this process.
  const int asked = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ucred keeper{};
  socklen_t keeper_size = sizeof keeper;
  const bool connected = asked >= 0 && (connect(asked, name, size) == 0 || errno == EAGAIN);
  const bool known =
      connected && getsockopt(asked, SOL_SOCKET, SO_PEERCRED, &keeper, &keeper_size) == 0 && keeper.pid != 0;
  if (asked >= 0) close(asked);
  if (connected && (!known || keeper.uid == geteuid() || keeper.uid == 0))
    fail_at(path_, "a running modem uses it; expected another name");
}

void OwnLink::point_to(const std::string& target) {
  expect_ours();
  const std::string beside = path_ + ".new";
  if (target_of(beside).starts_with(kTerminals)) unlink(beside.c_str());  // left behind between the next two lines
  if (symlink(target.c_str(), beside.c_str()) != 0) fail_at(path_, errno);
  if (rename(beside.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(beside.c_str());
    fail_at(path_, error);
  }
  target_ = target;
  made_ = MadeEntry(path_);
}

}  // namespace offhook
