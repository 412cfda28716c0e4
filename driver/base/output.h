// SPDX-License-Identifier: MIT
//
// Output files and folders. Every writer of the program uses these classes, so there is one policy.
//
// A path that the user named has the usual meaning. A link is followed, except one that another user made in a folder
// that all users can write. A device, a FIFO or /dev/stdout is written directly. A regular file is replaced as a whole
// when all bytes are on the disk: a reader, also after a crash, sees either the old bytes or the new ones.
//
// In an output folder the program chooses the names, so another user with access could place a trap at one of them. So
// a link is replaced and never followed. A sub-folder that is a link is refused, as is anything else that is not a
// regular file. A folder belongs to one run at a time.
//
// Permissions follow the umask. Files with contents or times of calls are readable only by their owner (Privacy). An
// existing file of this user keeps its permissions: use chmod to share a recording.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace offhook {

enum class Privacy {
  kShared,   ///< 0666 less the umask: figures, pages
  kPrivate,  ///< 0600 less the umask: event logs, payloads, recordings of lines and kernels
};
/// When the bytes appear under the file's name.
enum class Appears {
  kAtOnce,  ///< as they are written, so that a kill preserves the earlier ones
  kWhole,   ///< all at once, at close()
};

/// The kind of a file, for messages: "a folder", "a FIFO", "a device", "a socket", "a symbolic link", "a file".
std::string kind_of_file(mode_t mode);

/// A file that is being written. Errors are std::runtime_error with file and cause.
class OutputFile {
 public:
  /// At a path that the user named.
  OutputFile(const std::filesystem::path& path, Privacy privacy, Appears appears);
  /// Flushes earlier output of stdio.
  static OutputFile standard_output();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Without close(), a file that is replaced as a whole does not appear.
  ~OutputFile();

  void write(std::string_view bytes);
  /// Writes all bytes to the disk, and makes the file appear under its name. Call it once.
  void close();
  int fd() const { return fd_; }  ///< for libraries that write themselves
  const std::string& name() const { return name_; }

 private:
  friend class OutputFolder;
  OutputFile(int folder_fd, std::string entry, std::string name);
  void make_beside(mode_t mode);
  void give_name();
  std::string some_name() const;
  [[noreturn]] void fail(int error) const;

  int fd_ = -1;
  int folder_fd_ = -1;     // folder of the entries below; -1: the file already has its final name
  std::string entry_;      // its name in that folder
  std::string temporary_;  // until close(), or empty while
  bool nameless_ = false;  // the file has no name
  std::string name_;       // for messages
};

/// The file as a stream. Failed writes throw OutputFile's exceptions.
class OutputStream : private std::streambuf, public std::ostream {
 public:
  explicit OutputStream(OutputFile file);
  /// @throws std::runtime_error
  void close();

 private:
  std::streambuf::int_type overflow(std::streambuf::int_type c) override;
  int sync() override;
  void put_out();

  OutputFile file_;
  std::vector<char> buffer_;
};

/// The output folder of a run. It is created if it does not exist.
class OutputFolder {
 public:
  enum class Use {
    kAlone,   ///< refused while another process uses the folder
    kShared,  ///< shared with others of this kind: the shards of a sweep
    kOneFile  ///< shared with other processes: a page that is written again
  };
  /// @throws std::runtime_error: the folder cannot be created or written, or is in use
  explicit OutputFolder(const std::filesystem::path& path, Use use = Use::kAlone);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  /// A folder in it, under the same lock. @throws std::runtime_error, also for a link of that name
  OutputFolder sub(std::string_view name) const;
  /// @param name  one component, or std::runtime_error
  OutputFile create(std::string_view name, Privacy privacy, Appears appears) const;
  /// A whole file at once.
  void write(std::string_view name, std::string_view bytes, Privacy privacy = Privacy::kShared) const;
  /// Removes a file or a link, if it exists. @throws std::runtime_error for anything else, as create() does
  void remove(std::string_view name) const;
  /// Open for appending; created if it does not exist. A link, or a file with a second name elsewhere, is refused:
  /// replacing it would lose its contents.
  OutputFile append(std::string_view name, Privacy privacy) const;

 private:
  OutputFolder() = default;
  std::filesystem::path path_;
  std::shared_ptr<const int> fd_, lock_;
};

/// A whole file at once, at a path that the user named. @throws std::runtime_error
void write_file(const std::filesystem::path& file, std::string_view bytes, Privacy privacy = Privacy::kShared);

/// Before long work: checks that a file of this name can be written at its place. Changes nothing.
/// @throws std::runtime_error
void expect_writable(const std::filesystem::path& file);

}  // namespace offhook
