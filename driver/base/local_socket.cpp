// SPDX-License-Identifier: MIT
#include "driver/base/local_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "driver/base/file.h"
#include "driver/base/output.h"

namespace offhook {

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An empty path, or one that begins with a zero byte, would be an address outside of the file system.
  if (path.empty() || path.find('\0') != std::string::npos) fail_at(path, "is not a valid socket path");
  if (path.size() >= sizeof address.sun_path) {
    fail_at(path, "too long for a socket's path; expected at most " + std::to_string(sizeof address.sun_path - 1) +
                      " characters");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int stream_socket(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) fail_at(path, errno);
  return fd;
}

}  // namespace

int connect_local(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const int fd = stream_socket(path);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  close(fd);
  return -error;
}

void remove_stale_socket(const std::string& path) {
  struct stat there {};
  if (lstat(path.c_str(), &there) != 0) {
    if (errno == ENOENT) return;
    fail_at(path, errno);
  }
  if (!S_ISSOCK(there.st_mode))
    fail_at(path, "is " + kind_of_file(there.st_mode) + "; expected a socket, or an unused name");
  const int fd = connect_local(path);
  if (fd >= 0) close(fd);
  if (fd >= 0 || fd == -EAGAIN) fail_at(path, "another program listens at this path");
  if (fd != -ECONNREFUSED && fd != -ENOENT) fail_at(path, -fd);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) fail_at(path, errno);
}

std::optional<LocalListener> LocalListener::where_nothing_is(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const int fd = stream_socket(path);
  // Linux gives the path the socket's own mode, less the umask: others can connect at no moment.
  if (fchmod(fd, 0600) == 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    LocalListener listener(fd, path);
    if (listen(fd, 1) != 0) fail_at(path, errno);
    return listener;
  }
  const int error = errno;
  close(fd);
  if (error != EADDRINUSE) fail_at(path, error);
  return std::nullopt;
}

LocalListener LocalListener::at(const std::string& path) {
  remove_stale_socket(path);
  if (auto listener = where_nothing_is(path)) return std::move(*listener);
  fail_at(path, "another program has just taken it");
}

LocalListener::LocalListener(int fd, std::string path) : fd_(fd), path_(std::move(path)) {
  struct stat made {};
  if (lstat(path_.c_str(), &made) == 0) {
    device_ = made.st_dev;
    inode_ = made.st_ino;
    made_ = MadeEntry(path_);
  }
}

LocalListener::LocalListener(LocalListener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      device_(other.device_),
      inode_(other.inode_),
      made_(std::move(other.made_)) {}

LocalListener::~LocalListener() {
  if (fd_ < 0) return;
  struct stat there {};
  if (lstat(path_.c_str(), &there) == 0 && S_ISSOCK(there.st_mode) && there.st_dev == device_ &&
      there.st_ino == inode_) {
    unlink(path_.c_str());
  }
  close(fd_);
}

}  // namespace offhook
