// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "driver/base/left_behind.h"
#include "src/measure/host_bench.h"

namespace offhook::measure {

namespace fs = std::filesystem;

namespace {

/// Files in a separate folder, which is removed at the end.
class Files {
 public:
  Files(const fs::path& folder, int count, int folders, std::size_t bytes) : folder_("host", folder) {
    const std::string contents(bytes, 'x');
    for (int d = 0; d < folders; ++d) fs::create_directory(root() / std::to_string(d));
    for (int k = 0; k < count; ++k) {
      files_.push_back(root() / std::to_string(k % folders) / std::to_string(k));
      if (bytes == 0) continue;
      const int fd = open(files_.back().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      if (fd < 0 || write(fd, contents.data(), bytes) != static_cast<ssize_t>(bytes)) fail(files_.back());
      close(fd);
    }
  }
  const std::vector<std::string>& names() const { return files_; }
  const fs::path& root() const { return folder_.path(); }

  void read_all() const {
    char bytes[8192];
    for (const std::string& file : files_) {
      const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) fail(file);
      while (read(fd, bytes, sizeof bytes) == sizeof bytes) {
      }
      close(fd);
    }
  }
  void drop_from_cache() const {
    for (const std::string& file : files_) {
      const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
      if (fd < 0) fail(file);
      fdatasync(fd);
      posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
      close(fd);
    }
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> files_;
};

long blocks_read() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_inblock;
}

}  // namespace

void files(Bench& bench) {
  const fs::path& folder = bench.config().folder;
  {
    const Files cached(folder, 128, 1, 4096);
    bench.row("buffer-cache read", "128 files of 4 kB just written: open, read, close; time per file", "us", 1e3,
              {.work = [&] { cached.read_all(); }, .operations = 128});
  }
  {
    constexpr int kFiles = 1024;  // of the paper's 8192
    const Files small(folder, kFiles, 32, 8192);
    long blocks = 0, runs = 0;
    bench.row("small-file disk read",
              fmt::format("{} files of 8 kB in 32 folders, dropped from the cache; time per file", kFiles), "us", 1e3,
              {.work =
                   [&] {
                     const long before = blocks_read();
                     small.read_all();
                     blocks += blocks_read() - before;
                     ++runs;
                   },
               .operations = kFiles,
               .before = [&] { small.drop_from_cache(); },
               .at_most = 5});
    if (!bench.stopped()) {
      const double each = runs > 0 ? static_cast<double>(blocks) / static_cast<double>(runs) / kFiles : 0;
      bench.last().remark = each < 1 ? "no data came from a disk: this file system keeps them in memory"
                                     : fmt::format("{:.1f} blocks of 512 bytes came from the disk for each", each);
    }
  }
  const Files empty(folder, 128, 1, 0);
  const auto create = [&](bool synchronous) {
    const int root = open((empty.root() / "0").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const std::string& file : empty.names()) {
      const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      if (fd < 0) fail(file);
      if (synchronous) {
        fsync(fd);
        fsync(root);
      }
      close(fd);
    }
    close(root);
  };
  const auto remove = [&] {
    for (const std::string& file : empty.names()) unlink(file.c_str());
  };
  bench.row("file create (metadata)", "128 empty files; time per file", "us", 1e3,
            {.work = [&] { create(false); }, .operations = 128, .after = remove});
  bench.row("file create, synchronous",
            "as above, with file and folder on the disk (fsync) before the next, as FFS did", "us", 1e3,
            {.work = [&] { create(true); }, .operations = 128, .after = remove, .at_most = 5});
}

}  // namespace offhook::measure
