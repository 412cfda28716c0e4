// SPDX-License-Identifier: MIT
#include "src/measure/ip_samples.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace offhook::measure {

namespace {
constexpr std::size_t kPages = 32;  // a power of two

/// In the kernel's format for the sample type below.
struct SampleRecord {
  perf_event_header header;
  std::uint64_t ip;
  std::uint32_t pid, tid;
  std::uint64_t time;
  std::uint32_t cpu, reserved;
};
static_assert(sizeof(SampleRecord) == 40);
}  // namespace

/// The ring of one CPU.
struct IpSampler::Ring {
  /// @throws std::runtime_error
  Ring(int hz, int cpu);
  Ring(Ring&& other) noexcept : fd(std::exchange(other.fd, -1)), memory(std::exchange(other.memory, MAP_FAILED)) {}
  Ring& operator=(Ring&&) = delete;
  ~Ring() {
    if (memory != MAP_FAILED) munmap(memory, octets());
    if (fd >= 0) close(fd);
  }
  static std::size_t octets() { return (kPages + 1) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  int fd = -1;
  void* memory = MAP_FAILED;
};

IpSampler::Ring::Ring(int hz, int cpu) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = static_cast<std::uint64_t>(1'000'000'000 / hz);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.write_backward = 1;  // overwrite the oldest
  const auto opened = static_cast<int>(syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
  if (opened < 0) {
    throw std::runtime_error(
        fmt::format("samples of the instruction pointer: {}; be root, or set kernel.perf_event_paranoid to -1 (sysctl)",
                    std::generic_category().message(errno)));
  }
  void* mapped = mmap(nullptr, octets(), PROT_READ, MAP_SHARED, opened, 0);
  if (mapped == MAP_FAILED) {
    close(opened);
    throw std::runtime_error("samples of the instruction pointer: no memory for their ring (ulimit -l)");
  }
  fd = opened;
  memory = mapped;
}

IpSampler::IpSampler(int hz) {
  const auto cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (int cpu = 0; cpu < cpus; ++cpu) rings_.emplace_back(hz, cpu);
}
IpSampler::~IpSampler() = default;

void IpSampler::off() {
  for (const Ring& ring : rings_) ioctl(ring.fd, PERF_EVENT_IOC_DISABLE, 0);
}

std::vector<IpSample> IpSampler::read() const {
  std::vector<IpSample> all;
  for (const Ring& ring : rings_) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t size = kPages * page;
    const auto* control = static_cast<const perf_event_mmap_page*>(ring.memory);
    const auto* data = static_cast<const unsigned char*>(ring.memory) + page;
    const std::uint64_t head = control->data_head;
    __sync_synchronize();
    // The kernel writes it backwards: the newest record is at the head, older ones follow, at most the ring's size.
    for (std::uint64_t at = head; at - head + sizeof(perf_event_header) <= size;) {
      unsigned char bytes[sizeof(SampleRecord)];
      for (std::size_t k = 0; k < sizeof bytes; ++k) bytes[k] = data[(at + k) & (size - 1)];
      SampleRecord record;
      std::memcpy(&record, bytes, sizeof record);
      if (record.header.size == 0 || at - head + record.header.size > size) break;
      if (record.header.type == PERF_RECORD_SAMPLE && record.header.size == sizeof record) {
        const bool kernel = (record.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        all.push_back({static_cast<std::int64_t>(record.time), record.ip, static_cast<int>(record.cpu),
                       static_cast<int>(record.tid), kernel});
      }
      at += record.header.size;
    }
  }
  std::sort(all.begin(), all.end(), [](const IpSample& a, const IpSample& b) { return a.time < b.time; });
  return all;
}

KernelSymbols::KernelSymbols() {
  std::ifstream in("/proc/kallsyms");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string address, type, name, module;
    words >> address >> type >> name >> module;
    if (type != "t" && type != "T") continue;
    const std::uint64_t at = std::strtoull(address.c_str(), nullptr, 16);
    if (!module.empty()) name.append(" ").append(module);
    if (at != 0) symbols_.emplace_back(at, name);
  }
  std::sort(symbols_.begin(), symbols_.end());
}

std::string KernelSymbols::name(std::uint64_t address) const {
  const auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                      [](std::uint64_t a, const auto& symbol) { return a < symbol.first; });
  return after == symbols_.begin() ? fmt::format("{:#x}", address) : std::prev(after)->second;
}

}  // namespace offhook::measure
