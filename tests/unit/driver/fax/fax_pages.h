// SPDX-License-Identifier: MIT
//
// The files of a test's pages, and what every call of whole pages has in common.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace offhook::fax {

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / "offhook-fax-XXXXXX") {
    std::string name = path_.string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// @param o  with `sender` and `receiver` (Progress), and `equal`: pages that arrived pixel by pixel
template <class Outcome>
void expect_whole(const Outcome& o, std::uint32_t pages) {
  EXPECT_TRUE(o.sender.complete) << o.sender.failure;
  EXPECT_TRUE(o.receiver.complete) << o.receiver.failure;
  EXPECT_EQ(o.sender.pages_sent, pages);
  EXPECT_EQ(o.receiver.pages_received, pages);
  EXPECT_EQ(o.equal, pages);
}

}  // namespace offhook::fax
