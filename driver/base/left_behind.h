// SPDX-License-Identifier: MIT
//
// Cleanup of names that a process makes in the file system: sockets, links to terminals, temporary folders.
// A process removes them itself, also after most signals, but not after SIGKILL or a crash of the machine. So it
// records each name in a folder of the user, in a file that it keeps locked. If a record is not locked, its process has
// ended; the next start of any command removes the names in it.
//
// The folder is /run/offhook of root, else offhook in $XDG_RUNTIME_DIR, else /tmp/offhook-UID, with mode 0700. If the
// folder cannot be made, nothing is recorded, and everything else works.
#pragma once

#include <filesystem>
#include <string>

namespace offhook {

/// Records that an entry belongs to this process, until the object is destroyed. The creator of the entry removes the
/// entry.
class MadeEntry {
 public:
  MadeEntry() = default;
  /// @param path  an existing socket, symbolic link or folder
  explicit MadeEntry(const std::filesystem::path& path);
  MadeEntry(MadeEntry&& other) noexcept;
  MadeEntry& operator=(MadeEntry&& other) noexcept;
  ~MadeEntry();

 private:
  void forget();
  int fd_ = -1;  // of the record, locked
  std::filesystem::path record_;
};

/// A new folder that only this user can read. It is removed with its contents at the end, or after a killed process by
/// remove_left_behind().
class TemporaryFolder {
 public:
  /// @param what  part of its name: "fax" for offhook-fax-XXXXXX  @throws std::system_error with the path
  explicit TemporaryFolder(const char* what,
                           const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  MadeEntry made_;
};

/// Remove the entries that ended processes have recorded but not removed. An entry stays if it was replaced since, or
/// has changed its kind. Errors are ignored: a later call may succeed.
void remove_left_behind();

}  // namespace offhook
