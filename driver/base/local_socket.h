// SPDX-License-Identifier: MIT
//
// UNIX stream sockets at paths of the file system. What is at a path already is somebody's, until it is known to be a
// socket that nobody listens on.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "driver/base/left_behind.h"

namespace offhook {

/// To whoever listens at the path; does not wait for room in the listener's queue.
/// @return the socket, or a negative errno: -ENOENT nothing is there, -ECONNREFUSED nobody listens on what is there,
/// -EAGAIN the queue is full  @throws std::runtime_error for a path that is too long for a socket
int connect_local(const std::string& path);

/// Remove a socket that nobody listens on; nothing to do when nothing is there.
/// @throws std::runtime_error that says what is there, when it is anything else
void remove_stale_socket(const std::string& path);

/// A socket that listens at a path, for its owner alone: mode 0600 whatever the umask. At its end the path is removed
/// when it still is this socket's.
class LocalListener {
 public:
  /// In the place of a stale socket. @throws std::runtime_error: the path is too long or taken; by what, is said
  static LocalListener at(const std::string& path);
  /// @return nothing when something is at the path  @throws std::runtime_error
  static std::optional<LocalListener> where_nothing_is(const std::string& path);
  LocalListener(LocalListener&& other) noexcept;
  LocalListener& operator=(LocalListener&&) = delete;
  ~LocalListener();
  int fd() const { return fd_; }

 private:
  LocalListener(int fd, std::string path);
  int fd_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  MadeEntry made_;
};

}  // namespace offhook
