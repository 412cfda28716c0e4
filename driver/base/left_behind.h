// SPDX-License-Identifier: MIT
//
// Cleanup of names that a process makes in the file system: sockets, links to terminals, temporary folders.
// A process removes them itself, also after most signals, but not after SIGKILL or a crash of the machine. So
// each is noted in a folder of the user's own, in a record that the process keeps locked. An unlocked record
// has no process any more, and the next start of any command removes the names in it.
//
// The folder is /run/offhook of root, else offhook in $XDG_RUNTIME_DIR, else /tmp/offhook-UID, with mode 0700. If the
// folder cannot be made, nothing is noted, and everything else works as usual.
#pragma once

#include <filesystem>
#include <string>

namespace offhook {

/// A note that an entry is this process's, while it lives. The creator of the entry removes it.
class MadeEntry {
 public:
  MadeEntry() = default;
  /// @param path  a socket, a symbolic link or a folder that is there
  explicit MadeEntry(const std::filesystem::path& path);
  MadeEntry(MadeEntry&& other) noexcept;
  MadeEntry& operator=(MadeEntry&& other) noexcept;
  ~MadeEntry();

 private:
  void forget();
  int fd_ = -1;  // of the record, locked
  std::filesystem::path record_;
};

/// Remove the entries that ended processes have noted and not removed. An entry that was replaced since, or that is of
/// another kind now, stays. Errors are ignored: a later call may succeed.
void remove_left_behind();

}  // namespace offhook
