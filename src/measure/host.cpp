// SPDX-License-Identifier: MIT
#include "src/measure/host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "hostsim/random/random.h"
#include "src/measure/counters.h"
#include "src/measure/loads.h"
#include "src/measure/real_time.h"

namespace offhook::measure {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

/// Work that the compiler must not leave out.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

/// What one repetition is made of; only `work` is measured.
struct Body {
  std::function<void()> work;
  double operations = 1;  ///< in one repetition
  std::function<void()> before = [] {}, after = [] {};
  int at_most = 1 << 20;  ///< repetitions, where each takes long
};

class Bench {
 public:
  Bench(const HostConfig& config, HostResult& result, const std::function<bool(double, const std::string&)>& progress)
      : config_(config), result_(result), progress_(progress), counters_(counters_here()) {
    result_.counters = counters_.statement;
  }

  /// @return there is time for it: the row is to be measured
  bool next(const std::string& name) {
    stopped_ = stopped_ || !progress_(static_cast<double>(done_++) / kRows, name);
    return !stopped_;
  }

  bool keep_going(const std::string& name) {
    stopped_ = stopped_ || !progress_(done_ / kRows, name);
    return !stopped_;
  }

  /// @param scale  of ns in one unit; 0: the unit is MB/s and an operation a byte
  void row(const std::string& name, const std::string& what, const std::string& unit, double scale, const Body& body,
           const std::string& remark = "") {
    if (!next(name)) return;
    HostRow row{
        .name = name, .what = what, .unit = unit, .values = {}, .counters = {}, .skipped = {}, .remark = remark};
    const double counted = scale > 0 ? body.operations : 1;  // of a transfer, not of a byte
    const int repetitions = std::min(config_.repetitions, body.at_most);
    try {
      const std::uint64_t interrupts = interrupts_so_far();
      for (int k = -1; k < repetitions; ++k) {  // the first warms up
        body.before();
        const std::int64_t begin = now_ns();
        body.work();
        const double ns = std::max(0.0, static_cast<double>(now_ns() - begin) - null_ns_) / body.operations;
        body.after();
        if (k >= 0) row.values.push_back(scale > 0 ? ns / scale : 1e3 / std::max(ns, 1e-6));
      }
      row.counters.emplace_back("interrupts of the machine",
                                static_cast<double>(interrupts_so_far() - interrupts) / ((repetitions + 1) * counted));
      for (const CounterKind* kind : counters_.kinds) {
        Counter counter(*kind);
        const int series = std::max(1, repetitions / 5);
        double sum = 0;
        for (int k = 0; k < series; ++k) {
          body.before();
          counter.start();
          body.work();
          sum += counter.stop();
          body.after();
        }
        row.counters.emplace_back(kind->name, sum / (series * counted));
      }
    } catch (const std::exception& e) {
      row.values.clear();
      row.skipped = e.what();
    }
    result_.rows.push_back(std::move(row));
  }
  void skip(const std::string& name, const std::string& what, const std::string& why) {
    if (!next(name)) return;
    result_.rows.push_back({name, what, "", {}, {}, why, ""});
  }
  void take(HostRow row) { result_.rows.push_back(std::move(row)); }
  HostRow& last() { return result_.rows.back(); }
  bool stopped() const { return stopped_; }
  void correct_by(double null_ns) { null_ns_ = null_ns; }
  const HostConfig& config() const { return config_; }
  HostResult& result() { return result_; }

 private:
  static constexpr double kRows = 20;
  const HostConfig& config_;
  HostResult& result_;
  const std::function<bool(double, const std::string&)>& progress_;
  CountersHere counters_;
  double null_ns_ = 0;
  int done_ = 0;
  bool stopped_ = false;
};

void null_and_syscalls(Bench& bench) {
  bench.row("null (clock)", "the clock read twice, nothing between; taken off all that follows", "ns", 1,
            {.work = [] {}});
  if (!bench.stopped()) bench.correct_by(bench.last().median());
  try {
    Counter counter(*std::find_if(counter_kinds().begin(), counter_kinds().end(),
                                  [](const CounterKind& k) { return k.name == "page faults"; }));
    bench.row("null (counter access)", "a perf_event counter set to 0 and started, stopped and read: 4 system calls",
              "ns", 1, {.work = [&] {
                counter.start();
                keep(counter.stop());
              }});
  } catch (const std::exception& e) {
    bench.skip("null (counter access)", "perf_event", e.what());
  }
  constexpr int kCalls = 1000;
  bench.row("syscall", "getppid: into the kernel and back", "ns", 1,
            {.work =
                 [] {
                   for (int k = 0; k < kCalls; ++k) syscall(SYS_getppid);
                 },
             .operations = kCalls});
  std::array<int, 200> copies{};
  bench.row("syscall (dup)", "dup of standard error, as the paper's", "ns", 1,
            {.work =
                 [&] {
                   for (int& copy : copies) copy = dup(STDERR_FILENO);
                 },
             .operations = double(copies.size()),
             .after =
                 [&] {
                   for (const int copy : copies) close(copy);
                 }});
}

/// Beside the program, where it was built, or where it is installed.
fs::path trivial_program(const char* linking) {
  std::error_code none;
  const fs::path here = fs::read_symlink("/proc/self/exe", none).parent_path();
  const std::string name = fmt::format("trivial-{}", linking);
  for (const fs::path& place : {here, here.parent_path() / "libexec/offhook"}) {
    if (access((place / name).c_str(), X_OK) == 0) return place / name;
  }
  return {};
}

void exec(Bench& bench) {
  for (const char* linking : {"static", "dynamic"}) {
    const std::string name = fmt::format("exec {}", linking), what = "a trivial program started and waited for";
    const fs::path program = trivial_program(linking);
    if (program.empty()) {
      bench.skip(name, what, fmt::format("there is no trivial-{} beside this program", linking));
      continue;
    }
    bench.row(name, what, "us", 1e3,
              {.work =
                   [&] {
                     char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
                     pid_t pid = 0;
                     int status = 0;
                     if ((errno = posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ)) != 0)
                       fail(program);
                     while (waitpid(pid, &status, 0) < 0) {
                       if (errno != EINTR) fail("waitpid");
                     }
                     if (status != 0) throw std::runtime_error("the trivial program failed");
                   }},
              fmt::format("{} bytes", fs::file_size(program)));
  }
}

void memory(Bench& bench) {
  constexpr std::size_t kLoads = 1 << 16;
  std::vector<std::uint64_t> array;
  for (const std::size_t stride :
       {std::size_t{16}, std::size_t{128}, std::size_t{1024}, std::size_t{4096}, std::size_t{0}}) {
    if (!bench.next(stride == 0 ? "memory, random order" : fmt::format("memory, stride {}", stride))) return;
    MemoryCurve curve{.stride = stride, .bytes = {}, .median_ns = {}, .low_ns = {}, .high_ns = {}};
    for (std::size_t bytes = 512; bytes <= bench.config().memory_limit; bytes *= 2) {
      if (bytes < 2 * std::max<std::size_t>(stride, 128)) continue;
      void** p = pointer_ring(array, bytes, stride);
      std::vector<double> ns;
      for (int k = -1; k < 7; ++k) {
        const std::int64_t begin = now_ns();
        for (std::size_t n = 0; n < kLoads / 8; ++n) {
          p = static_cast<void**>(*p), p = static_cast<void**>(*p), p = static_cast<void**>(*p),
          p = static_cast<void**>(*p);
          p = static_cast<void**>(*p), p = static_cast<void**>(*p), p = static_cast<void**>(*p),
          p = static_cast<void**>(*p);
        }
        keep(p);
        if (k >= 0) ns.push_back(static_cast<double>(now_ns() - begin) / kLoads);
      }
      std::sort(ns.begin(), ns.end());
      curve.bytes.push_back(bytes);
      curve.median_ns.push_back(ns[ns.size() / 2]);
      curve.low_ns.push_back(ns.front());
      curve.high_ns.push_back(ns.back());
    }
    bench.result().memory.push_back(std::move(curve));
  }
}

/// Files in a folder of their own, removed at the end.
class Files {
 public:
  Files(const fs::path& folder, int count, int folders, std::size_t bytes) {
    std::string name = (folder / "offhook-host-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail(name);
    root_ = name;
    const std::string contents(bytes, 'x');
    for (int d = 0; d < folders; ++d) fs::create_directory(root_ / std::to_string(d));
    for (int k = 0; k < count; ++k) {
      files_.push_back(root_ / std::to_string(k % folders) / std::to_string(k));
      if (bytes == 0) continue;
      const int fd = open(files_.back().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      if (fd < 0 || write(fd, contents.data(), bytes) != static_cast<ssize_t>(bytes)) fail(files_.back());
      close(fd);
    }
  }
  ~Files() {
    std::error_code none;
    fs::remove_all(root_, none);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  const std::vector<std::string>& names() const { return files_; }
  const fs::path& root() const { return root_; }

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
  fs::path root_;
  std::vector<std::string> files_;
};

long blocks_read() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_inblock;
}

void files(Bench& bench) {
  const fs::path& folder = bench.config().folder;
  {
    const Files cached(folder, 128, 1, 4096);
    bench.row("buffer-cache read", "128 files of 4 kB just written: open, read, close; of one file", "us", 1e3,
              {.work = [&] { cached.read_all(); }, .operations = 128});
  }
  {
    constexpr int kFiles = 1024;  // of the paper's 8192
    const Files small(folder, kFiles, 32, 8192);
    long blocks = 0, runs = 0;
    bench.row("small-file disk read",
              fmt::format("{} files of 8 kB in 32 folders, dropped from the cache; of one file", kFiles), "us", 1e3,
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
      bench.last().remark = each < 1 ? "nothing came from a disk: this file system keeps them in memory"
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
  bench.row("file create (metadata)", "128 files of no length; of one", "us", 1e3,
            {.work = [&] { create(false); }, .operations = 128, .after = remove});
  bench.row("file create, synchronous", "the same, file and folder on the disk (fsync) before the next, as FFS did",
            "us", 1e3, {.work = [&] { create(true); }, .operations = 128, .after = remove, .at_most = 5});
}

void bitblt(Bench& bench) {
  constexpr std::size_t kWidth = 570, kHeight = 760, kRowBytes = (kWidth + 7) / 8, kRounds = 76;
  std::vector<std::uint8_t> picture(2 * kHeight * kRowBytes);
  const hostsim::Random random(1995, 2);
  for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<std::uint8_t>(random.word(i));
  std::vector<std::uint8_t> bits(kHeight * kRowBytes);
  bench.row("bitblt, 1 bit", "570 x 760 of 570 x 1520 pixels, a row further each time, to memory; of one copy", "us",
            1e3,
            {.work =
                 [&] {
                   for (std::size_t k = 0; k < kRounds; ++k) {
                     std::memcpy(bits.data(), picture.data() + k * kRowBytes, bits.size());
                     keep(bits);
                   }
                 },
             .operations = kRounds});
  std::vector<std::uint32_t> pixels(kHeight * kWidth);
  bench.row("bitblt, 1 bit to 32", "the same, every bit made a pixel of 32 bits", "us", 1e3,
            {.work =
                 [&] {
                   for (std::size_t k = 0; k < kRounds; ++k) {
                     for (std::size_t y = 0; y < kHeight; ++y) {
                       const std::uint8_t* from = picture.data() + (k + y) * kRowBytes;
                       std::uint32_t* to = pixels.data() + y * kWidth;
                       for (std::size_t x = 0; x < kWidth; ++x)
                         to[x] = (from[x / 8] >> (7 - x % 8) & 1) != 0 ? 0x00ffffffu : 0u;
                     }
                     keep(pixels);
                   }
                 },
             .operations = kRounds,
             .at_most = 20});
}

/// TCP over the loopback, the receiver in a thread.
void network(Bench& bench) {
  constexpr std::size_t kBytes = 256 * 1024;
  for (const int buffer : {24 * 1024, 0}) {
    const std::string name = buffer > 0 ? "network throughput" : "network throughput, default buffer";
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
              client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (buffer > 0) setsockopt(server, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    if (bind(server, plain, length) != 0 || listen(server, 1) != 0 || getsockname(server, plain, &length) != 0 ||
        connect(client, plain, length) != 0) {
      bench.skip(name, "TCP over the loopback", std::generic_category().message(errno));
      close(server);
      close(client);
      continue;
    }
    const int receiver = accept4(server, nullptr, nullptr, SOCK_CLOEXEC);
    std::thread reader([receiver] {
      std::vector<char> bytes(kBytes);
      for (std::size_t got = 0;;) {
        const ssize_t n = read(receiver, bytes.data(), bytes.size());
        if (n <= 0) return;
        got += static_cast<std::size_t>(n);
        if (got == kBytes) {
          got = 0;
          if (write(receiver, "", 1) != 1) return;
        }
      }
    });
    std::vector<char> bytes(kBytes, 'x');
    bench.row(name, "256 kB over TCP on the loopback, until the receiver says that it has them", "MB/s", 0,
              {.work =
                   [&] {
                     char done = 0;
                     for (std::size_t sent = 0; sent < kBytes;) {
                       const ssize_t n = write(client, bytes.data() + sent, kBytes - sent);
                       if (n <= 0) fail("loopback");
                       sent += static_cast<std::size_t>(n);
                     }
                     if (read(client, &done, 1) != 1) fail("loopback");
                   },
               .operations = kBytes},
              buffer > 0 ? "receive buffer of 24 kB, as the paper's" : "");
    shutdown(client, SHUT_RDWR);
    reader.join();
    close(client);
    close(receiver);
    close(server);
  }
}

void workloads(Bench& bench) {
  if (bench.config().workload_repetitions <= 0) return;
  for (const LoadKind& kind : load_kinds()) {
    if (!kind.application) continue;
    const std::string name(kind.name);
    if (const std::string why = kind.missing(); !why.empty()) {
      bench.skip(name, std::string(kind.what), why);
      continue;
    }
    if (!bench.next(name)) return;
    HostRow row{.name = name,
                .what = std::string(kind.what),
                .unit = "s",
                .values = {},
                .counters = {},
                .skipped = {},
                .remark = {}};
    try {
      LoadProcess load(kind.make);
      const auto wanted = static_cast<std::uint64_t>(bench.config().workload_repetitions) + 1;
      bool go_on = true;
      while (load.rounds() < wanted && load.failure().empty() && (go_on = bench.keep_going(name))) usleep(20'000);
      row.values = load.seconds();
      if (!row.values.empty()) row.values.erase(row.values.begin());  // the first reads its files from the disk
      if (row.values.size() >= wanted) row.values.resize(wanted - 1);
      row.skipped = !load.failure().empty() ? load.failure() : row.values.empty() ? "interrupted" : "";
    } catch (const std::exception& e) {
      row.skipped = e.what();
    }
    bench.take(std::move(row));
  }
}

std::string file_system_of(const fs::path& folder) {
  struct statfs s {};
  if (statfs(folder.c_str(), &s) != 0) fail(folder);
  switch (static_cast<unsigned long>(s.f_type)) {
    case 0xef53:
      return "ext2/3/4";
    case 0x01021994:
      return "tmpfs";
    case 0x58465342:
      return "xfs";
    case 0x9123683e:
      return "btrfs";
    case 0x794c7630:
      return "overlayfs";
    default:
      return fmt::format("file system {:#x}", static_cast<unsigned long>(s.f_type));
  }
}

}  // namespace

double HostRow::quantile(double share) const {
  if (values.empty()) return 0;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
  return sorted[std::min(at, sorted.size() - 1)];
}

void** pointer_ring(std::vector<std::uint64_t>& array, std::size_t bytes, std::size_t stride) {
  static_assert(sizeof(void*) <= sizeof(std::uint64_t));
  array.assign(bytes / sizeof(std::uint64_t), 0);
  const std::size_t step = stride == 0 ? 128 : stride, cells = bytes / step;
  std::vector<std::size_t> order(cells);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (stride == 0) {
    const hostsim::Random random(1995, 3);
    for (std::size_t i = cells; i > 1; --i) std::swap(order[i - 1], order[random.word(i) % i]);
  }
  char* const base = reinterpret_cast<char*>(array.data());
  for (std::size_t i = 0; i < cells; ++i) {
    void* next = base + order[(i + 1) % cells] * step;
    std::memcpy(base + order[i] * step, &next, sizeof next);
  }
  return reinterpret_cast<void**>(base + order[0] * step);
}

HostResult measure_host(const HostConfig& config, const std::function<bool(double, const std::string&)>& progress) {
  HostResult result;
  result.file_system = file_system_of(config.folder);
  Bench bench(config, result, progress);
  workloads(bench);  // first: loads are forked, and there may be no threads yet
  null_and_syscalls(bench);
  exec(bench);
  memory(bench);
  files(bench);
  bitblt(bench);
  network(bench);
  return result;
}

}  // namespace offhook::measure
