// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "driver/base/left_behind.h"

namespace offhook {

/// A symbolic link that keeps a name for something whose own name changes: a pseudo-terminal's.
///
/// Ours is a link to a pseudo-terminal, made by this user, that no running process keeps; such a one was left behind by
/// a process that was killed, and is replaced. Anything else at the path is an error. At its end the link is removed if
/// it still has the target that it was given.
class OwnLink {
 public:
  /// Takes the name; makes nothing yet. @throws std::runtime_error: another kind of file is there, or it is in use
  explicit OwnLink(std::string path);
  OwnLink(const OwnLink&) = delete;
  OwnLink& operator=(const OwnLink&) = delete;
  ~OwnLink();

  /// In one step: a reader sees the old target or the new one. @throws std::runtime_error
  void point_to(const std::string& target);
  const std::string& path() const { return path_; }

 private:
  void expect_ours() const;
  void keep();
  std::string path_, target_;
  MadeEntry made_;
  int kept_ = -1;  // a socket by whose name others see that a process keeps the link
};

}  // namespace offhook
