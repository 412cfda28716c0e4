// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "driver/base/left_behind.h"

namespace offhook {

/// A symbolic link that gives a pseudo-terminal a fixed name.
///
/// If the path already has a link to a pseudo-terminal that this user made and no running process keeps, a killed
/// process left it behind; it is replaced. Anything else at the path is an error. The destructor removes the link if it
/// still has its target.
class OwnLink {
 public:
  /// Reserves the name; does not create the link yet. @throws std::runtime_error: another kind of file is there, or it
  /// is in use
  explicit OwnLink(std::string path);
  OwnLink(const OwnLink&) = delete;
  OwnLink& operator=(const OwnLink&) = delete;
  ~OwnLink();

  /// Replaces the target in one step: a reader sees the old target or the new one. @throws std::runtime_error
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
