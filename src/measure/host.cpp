// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "driver/base/thread.h"
#include "src/measure/host_bench.h"
#include "src/measure/loads.h"

namespace offhook::measure {

namespace fs = std::filesystem;

namespace {

void null_and_syscalls(Bench& bench) {
  bench.row("null (clock)", "two successive reads of the clock; subtracted from all following rows", "ns", 1,
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
  bench.row("syscall (dup)", "dup of standard error, as in the paper", "ns", 1,
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

/// Next to the program in the build tree, or in its installed place.
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
    const std::string name = fmt::format("exec {}", linking), what = "start of a trivial program, until it has ended";
    const fs::path program = trivial_program(linking);
    if (program.empty()) {
      bench.skip(name, what, fmt::format("the program trivial-{} is missing next to this program", linking));
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

/// TCP over the loopback interface, with the receiver in a thread.
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
    std::thread reader = start_thread([receiver] {
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
    bench.row(name, "256 kB over TCP on the loopback, until the receiver acknowledges it", "MB/s", 0,
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
              buffer > 0 ? "receive buffer of 24 kB, as in the paper" : "");
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
      while (load.rounds() < wanted && load.failure().empty() && bench.keep_going(name)) usleep(20'000);
      row.values = load.seconds();
      if (!row.values.empty()) row.values.erase(row.values.begin());  // the first round reads its files from the disk
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
  const auto type = static_cast<unsigned long>(s.f_type);
  for (const auto& [magic, name] : {std::pair{0xef53ul, "ext2/3/4"},
                                    {0x01021994ul, "tmpfs"},
                                    {0x58465342ul, "xfs"},
                                    {0x9123683eul, "btrfs"},
                                    {0x794c7630ul, "overlayfs"}}) {
    if (type == magic) return name;
  }
  return fmt::format("file system {:#x}", type);
}

}  // namespace

double HostRow::quantile(double share) const {
  if (values.empty()) return 0;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5);
  return sorted[std::min(at, sorted.size() - 1)];
}

HostResult measure_host(const HostConfig& config, const std::function<bool(double, const std::string&)>& progress) {
  HostResult result;
  result.file_system = file_system_of(config.folder);
  Bench bench(config, result, progress);
  workloads(bench);  // first, because loads are forked, and there may be no threads yet
  null_and_syscalls(bench);
  exec(bench);
  memory(bench);
  files(bench);
  bitblt(bench);
  network(bench);
  return result;
}

}  // namespace offhook::measure
