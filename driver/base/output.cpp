// SPDX-License-Identifier: MIT
#include "driver/base/output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "driver/base/file.h"

namespace offhook {

namespace fs = std::filesystem;

namespace {

mode_t mode_of(Privacy privacy) {
  return privacy == Privacy::kPrivate ? 0600 : 0666;
}

/// A descriptor of this process, in the three ways that a shell's user can name one.
std::optional<int> own_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* end = path.data() + path.size();
    const auto [at, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc{} && at == end && number >= 0) return number;
  }
  return std::nullopt;
}

std::string one_component(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    throw std::runtime_error("\"" + std::string(name) + "\": expected the name of a file, without a folder");
  }
  return std::string(name);
}

/// The file at a name of an output folder. @return its mode; 0: none  @throws for a file that a run must not replace
struct stat entry_of(int folder, const std::string& entry, const std::string& name) {
  struct stat there {};
  if (fstatat(folder, entry.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) fail_at(name, errno);
    return {};
  }
  if (!S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode)) {
    fail_at(name, "is " + kind_of_file(there.st_mode) + "; expected a file or an unused name in an output folder");
  }
  return there;
}

/// The permissions of an existing file of this user that will be replaced.
void keep_mode(int fd, const struct stat& before, const std::string& name) {
  if (S_ISREG(before.st_mode) && before.st_uid == geteuid() && fchmod(fd, before.st_mode & 0777) != 0)
    fail_at(name, errno);
}

/// In a folder of all users, such as /tmp, another user's entry may be a trap for a program that writes there. The
/// kernel's fs.protected_symlinks, _fifos and _regular protect against this if they are enabled.
void expect_no_trap(const fs::path& path, const struct stat& there, const std::string& name) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  struct stat around {};
  if (stat(folder.c_str(), &around) != 0 || (around.st_mode & S_ISVTX) == 0 || (around.st_mode & S_IWOTH) == 0) return;
  if (there.st_uid == geteuid() || there.st_uid == around.st_uid) return;
  fail_at(name, "is " + kind_of_file(there.st_mode) + " that another user made in a shared folder");
}

/// Opening a FIFO without a reader could block without end. Writing to one with a reader waits for it.
int open_at_once(const fs::path& path, Privacy privacy, const std::string& name) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, mode_of(privacy));
  if (fd >= 0) {
    if (fcntl(fd, F_SETFL, 0) == 0) return fd;
    const int error = errno;
    close(fd);
    fail_at(name, error);
  }
  const int error = errno;
  struct stat there {};
  if (error == ENXIO && stat(path.c_str(), &there) == 0 && S_ISFIFO(there.st_mode))
    fail_at(name, "is a FIFO without a reader; expected a reader first, or a file");
  fail_at(name, error);
}

int duplicate(int fd) {
  return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

}  // namespace

std::string kind_of_file(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a FIFO";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    case S_IFSOCK:
      return "a socket";
    case S_IFLNK:
      return "a symbolic link";
    default:
      return "a file";
  }
}

OutputFile::OutputFile(int folder_fd, std::string entry, std::string name)
    : folder_fd_(duplicate(folder_fd)), entry_(std::move(entry)), name_(std::move(name)) {
  if (folder_fd_ < 0) fail_at(name_, errno);
}

OutputFile::OutputFile(const fs::path& path, Privacy privacy, Appears appears) : name_(path.string()) {
  if (const auto number = own_descriptor(name_)) {
    fd_ = duplicate(*number);
    if (fd_ < 0) fail_at(name_, errno);
    return;
  }
  struct stat there {};
  const bool is_there = lstat(path.c_str(), &there) == 0;
  if (!is_there && errno != ENOENT) fail_at(name_, errno);
  if (is_there && S_ISDIR(there.st_mode)) fail_at(name_, "is a folder; expected a file");
  if (is_there) expect_no_trap(path, there, name_);
  if (appears == Appears::kAtOnce || (is_there && !S_ISREG(there.st_mode))) {
    fd_ = open_at_once(path, privacy, name_);
    return;
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  folder_fd_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_fd_ < 0) fail_at(name_, errno);
  entry_ = path.filename();
  make_beside(mode_of(privacy));
  keep_mode(fd_, there, name_);
}

OutputFile OutputFile::standard_output() {
  std::fflush(stdout);
  return {"/dev/stdout", Privacy::kShared, Appears::kAtOnce};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      folder_fd_(std::exchange(other.folder_fd_, -1)),
      entry_(std::move(other.entry_)),
      temporary_(std::exchange(other.temporary_, "")),
      nameless_(other.nameless_),
      name_(std::move(other.name_)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) unlinkat(folder_fd_, temporary_.c_str(), 0);
  if (folder_fd_ >= 0) ::close(folder_fd_);
}

void OutputFile::fail(int error) const {
  fail_at(name_, error);
}

std::string OutputFile::some_name() const {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) fail(errno);
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), ".offhook-%016llx", static_cast<unsigned long long>(number));
  return name.data();
}

/// Without a name until close(), so that a kill leaves nothing. If the file system has no such files: a temporary name,
/// with the umask's permissions, which mkstemp() does not use.
void OutputFile::make_beside(mode_t mode) {
  fd_ = openat(folder_fd_, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (fd_ >= 0 && access(("/proc/self/fd/" + std::to_string(fd_)).c_str(), F_OK) == 0) {
    nameless_ = true;
    return;
  }
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  for (int tries = 0; fd_ < 0; ++tries) {
    const std::string name = some_name();
    fd_ = openat(folder_fd_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd_ >= 0) {
      temporary_ = name;
    } else if (errno != EEXIST || tries > 100) {
      fail(errno);
    }
  }
}

/// Gives the file a temporary name next to its own; the later rename replaces an existing file in one step.
void OutputFile::give_name() {
  const std::string self = "/proc/self/fd/" + std::to_string(fd_);
  for (int tries = 0; temporary_.empty(); ++tries) {
    const std::string name = some_name();
    if (linkat(AT_FDCWD, self.c_str(), folder_fd_, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
    } else if (errno != EEXIST || tries > 100) {
      fail(errno);
    }
  }
  nameless_ = false;
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(n < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void OutputFile::close() {
  if ((nameless_ || !temporary_.empty()) && fsync(fd_) != 0) fail(errno);
  if (nameless_) give_name();
  if (::close(std::exchange(fd_, -1)) != 0) fail(errno);
  if (temporary_.empty()) return;
  if (renameat(folder_fd_, temporary_.c_str(), folder_fd_, entry_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

OutputStream::OutputStream(OutputFile file) : std::ostream(nullptr), file_(std::move(file)), buffer_(1 << 16) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  rdbuf(this);
  exceptions(badbit);  // so that exceptions of OutputFile reach the caller
}

void OutputStream::put_out() {
  const std::string_view bytes(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  file_.write(bytes);
}

std::streambuf::int_type OutputStream::overflow(std::streambuf::int_type c) {
  using Traits = std::char_traits<char>;
  put_out();
  if (!Traits::eq_int_type(c, Traits::eof())) sputc(Traits::to_char_type(c));
  return Traits::not_eof(c);
}

int OutputStream::sync() {
  put_out();
  return 0;
}

void OutputStream::close() {
  put_out();
  file_.close();
}

OutputFolder::OutputFolder(const fs::path& path, Use use) : path_(path) {
  struct stat there {};
  if (stat(path.c_str(), &there) == 0 && !S_ISDIR(there.st_mode))
    fail_at(path.string(), "is " + kind_of_file(there.st_mode) + "; expected a folder");
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail_at(path.string(), error.value());
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail_at(path.string(), errno);
  fd_ = std::shared_ptr<const int>(new int(fd), [](const int* p) {
    close(*p);
    delete p;
  });
  if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0) fail_at(path.string(), errno);
  lock_ = fd_;
  // A lock on the folder itself: it leaves nothing behind, and ends with the process. Some network file systems have
  // none.
  if (use != Use::kOneFile && flock(fd, (use == Use::kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) {
    fail_at(path.string(), "another run writes to this folder; give another folder, or wait for its end");
  }
}

OutputFolder OutputFolder::sub(std::string_view name) const {
  const std::string entry = one_component(name);
  OutputFolder folder;
  folder.path_ = path_ / entry;
  folder.lock_ = lock_;
  if (mkdirat(*fd_, entry.c_str(), 0777) != 0 && errno != EEXIST) fail_at(folder.path_.string(), errno);
  const int fd = openat(*fd_, entry.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    struct stat there {};
    if (fstatat(*fd_, entry.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(there.st_mode))
      fail_at(folder.path_.string(), "is " + kind_of_file(there.st_mode) + "; expected a folder");
    fail_at(folder.path_.string(), error);
  }
  folder.fd_ = std::shared_ptr<const int>(new int(fd), [](const int* p) {
    close(*p);
    delete p;
  });
  return folder;
}

OutputFile OutputFolder::create(std::string_view name, Privacy privacy, Appears appears) const {
  OutputFile file(*fd_, one_component(name), (path_ / name).string());
  const struct stat before = entry_of(*fd_, file.entry_, file.name_);
  if (appears == Appears::kWhole) {
    file.make_beside(mode_of(privacy));
  } else {
    remove(name);  // never write into it: the file may have a second name, or be open elsewhere
    file.fd_ =
        openat(*fd_, file.entry_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_of(privacy));
    if (file.fd_ < 0) file.fail(errno);
  }
  keep_mode(file.fd_, before, file.name_);
  return file;
}

OutputFile OutputFolder::append(std::string_view name, Privacy privacy) const {
  OutputFile file(*fd_, one_component(name), (path_ / name).string());
  if (S_ISLNK(entry_of(*fd_, file.entry_, file.name_).st_mode))
    fail_at(file.name_, "is a symbolic link; expected a file to continue, or an unused name");
  file.fd_ = openat(*fd_, file.entry_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                    mode_of(privacy));
  if (file.fd_ < 0) file.fail(errno);
  struct stat there {};
  if (fstat(file.fd_, &there) != 0) file.fail(errno);
  if (there.st_nlink > 1)
    fail_at(file.name_, "has a second name (hard link), which would change too; move it away, or copy it");
  return file;
}

void OutputFolder::write(std::string_view name, std::string_view bytes, Privacy privacy) const {
  OutputFile file = create(name, privacy, Appears::kWhole);
  file.write(bytes);
  file.close();
}

void OutputFolder::remove(std::string_view name) const {
  const std::string entry = one_component(name);
  entry_of(*fd_, entry, (path_ / entry).string());
  if (unlinkat(*fd_, entry.c_str(), 0) != 0 && errno != ENOENT) fail_at((path_ / entry).string(), errno);
}

void write_file(const fs::path& path, std::string_view bytes, Privacy privacy) {
  OutputFile file(path, privacy, Appears::kWhole);
  file.write(bytes);
  file.close();
}

void expect_writable(const fs::path& file) {
  struct stat there {};
  const bool is_there = lstat(file.c_str(), &there) == 0;
  if (is_there && S_ISDIR(there.st_mode)) fail_at(file.string(), "is a folder; expected a file");
  const bool straight = own_descriptor(file.string()) || (is_there && !S_ISREG(there.st_mode));
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const fs::path& written = straight ? file : folder;
  if (access(written.c_str(), straight ? W_OK : W_OK | X_OK) != 0 && !(straight && errno == ENOENT))
    fail_at(file.string(), errno);
}

}  // namespace offhook
