// SPDX-License-Identifier: MIT
//
// UNIX stream sockets at paths of the file system. An existing file at a path belongs to another program, unless it is
// a socket without a listener.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "driver/base/left_behind.h"

namespace offhook {

/// Connects to the listener at the path; does not wait if the listener's queue is full.
/// @return the socket, or a negative errno: -ENOENT no such path, -ECONNREFUSED no listener at the path,
/// -EAGAIN the queue is full  @throws std::runtime_error for a path that is too long for a socket
int connect_local(const std::string& path);

/// Remove a socket that has no listener. Does nothing if the path does not exist.
/// @throws std::runtime_error with the kind of file, if the path is anything else
void remove_stale_socket(const std::string& path);

/// A socket that listens at a path, only for its owner: mode 0600 with any umask. The destructor removes the path if it
/// still is this socket's.
class LocalListener {
 public:
  /// Replaces a stale socket. @throws std::runtime_error: the path is too long, or taken, with the kind of file
  static LocalListener at(const std::string& path);
  /// @return nothing if the path exists  @throws std::runtime_error
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
