// SPDX-License-Identifier: MIT
#include "src/measure/kernel_trace.h"

#include <event-parse.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>

extern "C" {  // not declared in its header
#include <kbuffer.h>
}

namespace offhook::measure {

namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr std::string_view kInstance = "offhook-";  // "offhook-PID-START-N", START of the process in ticks since boot

/// @return ticks since the machine was started; 0: there is no such process
std::uint64_t start_of(std::uint64_t pid) {
  // Field 22 of /proc/PID/stat. The second field, in parentheses, may contain anything.
  const std::string stat = contents(fmt::format("/proc/{}/stat", pid));
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string field;
  for (int k = 3; k <= 22; ++k) fields >> field;
  return fields ? std::strtoull(field.c_str(), nullptr, 10) : 0;
}

/// An instance of an ended Offhook process, recognised by its name.
bool is_left_behind(std::string_view name) {
  if (!name.starts_with(kInstance)) return false;
  std::vector<std::uint64_t> numbers;
  for (std::string_view rest = name.substr(kInstance.size()); !rest.empty();) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{}) return false;
    numbers.push_back(number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.empty() && !rest.starts_with('-')) return false;
    rest.remove_prefix(rest.empty() ? 0 : 1);
  }
  if (numbers.size() == 2) return start_of(numbers[0]) == 0;  // names in earlier versions
  return numbers.size() == 3 && start_of(numbers[0]) != numbers[1];
}

std::optional<fs::path> writable_tracefs() {
  for (const char* place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    if (access((fs::path(place) / "instances").c_str(), W_OK) == 0) return place;
  }
  return std::nullopt;
}

fs::path tracefs() {
  if (const auto place = writable_tracefs()) return *place;
  if (geteuid() != 0) {
    throw std::runtime_error(
        "the kernel's trace needs root: run with sudo, or omit it (measure latency without --stages)");
  }
  throw std::runtime_error(
      "no tracefs at /sys/kernel/tracing: mount -t tracefs nodev /sys/kernel/tracing (the kernel needs CONFIG_FTRACE)");
}

[[noreturn]] void fail(const fs::path& what) {
  throw std::runtime_error(fmt::format("{}: {}", what.string(), std::generic_category().message(errno)));
}

void put(const fs::path& file, const std::string& text) {
  const int fd = open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0) fail(file);
  const ssize_t n = write(fd, text.data(), text.size());
  const int error = errno;
  close(fd);
  errno = error;
  if (n != static_cast<ssize_t>(text.size())) fail(file);
}

}  // namespace

struct KernelTrace::Impl {
  fs::path folder;
  tep_handle* tep = tep_alloc();
  kbuffer* pages = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
  traces::RecordReader reader;
  std::vector<int> raw;      // [CPU] trace_pipe_raw
  std::vector<int> numbers;  // [CPU]
  std::vector<char> page;
  int switch_fd = -1;
  std::uint64_t lost = 0;

  ~Impl() {
    for (const int fd : raw) close(fd);
    if (switch_fd >= 0) {
      (void)!write(switch_fd, "0", 1);
      close(switch_fd);
    }
    if (!folder.empty()) rmdir(folder.c_str());
    kbuffer_free(pages);
    tep_free(tep);
  }
};

KernelTrace::KernelTrace(const std::vector<Wanted>& wanted, int kilobytes) : impl_(std::make_unique<Impl>()) {
  static std::atomic<int> count{0};
  const fs::path root = tracefs();
  const fs::path folder =
      root / "instances" /
      fmt::format("{}{}-{}-{}", kInstance, getpid(), start_of(static_cast<std::uint64_t>(getpid())), count++);
  if (mkdir(folder.c_str(), 0750) != 0) fail(folder);
  impl_->folder = folder;
  put(folder / "tracing_on", "0");
  put(folder / "trace_clock", "mono");
  put(folder / "buffer_size_kb", std::to_string(kilobytes));
  const std::string header = contents(root / "events/header_page");
  tep_parse_header_page(impl_->tep, const_cast<char*>(header.data()), header.size(), sizeof(long));
  for (const Wanted& w : wanted) {
    const fs::path event = folder / "events" / w.event;
    if (!fs::exists(event)) {
      if (w.optional) continue;
      throw std::runtime_error(fmt::format("this kernel has no tracepoint {}", w.event));
    }
    const std::string format = contents(event / "format");
    const std::string system = w.event.substr(0, w.event.find('/'));
    if (tep_parse_event(impl_->tep, format.data(), format.size(), system.c_str()) != 0)
      throw std::runtime_error(fmt::format("{}: libtraceevent cannot read this format", (event / "format").string()));
    if (!w.filter.empty()) put(event / "filter", w.filter);
    put(event / "enable", "1");
  }
  for (const auto& entry : fs::directory_iterator(folder / "per_cpu")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("cpu")) continue;
    const int fd = open((entry.path() / "trace_pipe_raw").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) fail(entry.path());
    impl_->raw.push_back(fd);
    impl_->numbers.push_back(std::stoi(name.substr(3)));
  }
  const std::string sub = contents(folder / "buffer_subbuf_size_kb");
  impl_->page.resize(sub.empty() ? static_cast<std::size_t>(getpagesize()) : std::stoul(sub) * 1024);
  impl_->switch_fd = open((folder / "tracing_on").c_str(), O_WRONLY | O_CLOEXEC);
  if (impl_->switch_fd < 0) fail(folder / "tracing_on");
}

KernelTrace::~KernelTrace() = default;

void KernelTrace::on() {
  (void)!pwrite(impl_->switch_fd, "1", 1, 0);
}
void KernelTrace::off() {
  (void)!pwrite(impl_->switch_fd, "0", 1, 0);
}
std::uint64_t KernelTrace::lost() const {
  return impl_->lost;
}

void KernelTrace::read(std::vector<traces::KernelEvent>& into) {
  const auto first = static_cast<std::ptrdiff_t>(into.size());
  for (std::size_t cpu = 0; cpu < impl_->raw.size(); ++cpu) {
    // At most as many pages as a ring may have, so that a machine that traces faster than this reads cannot block it.
    for (int left = 1 << 14; left > 0; --left) {
      const ssize_t n = ::read(impl_->raw[cpu], impl_->page.data(), impl_->page.size());
      if (n <= 0) break;
      if (kbuffer_load_subbuffer(impl_->pages, impl_->page.data()) != 0) break;
      if (const int missed = kbuffer_missed_events(impl_->pages); missed != 0)
        impl_->lost += missed > 0 ? static_cast<std::uint64_t>(missed) : 1;
      unsigned long long time = 0;
      for (void* data = kbuffer_read_event(impl_->pages, &time); data != nullptr;
           data = kbuffer_next_event(impl_->pages, &time)) {
        tep_record record{};
        record.ts = time;
        record.cpu = impl_->numbers[cpu];
        record.data = data;
        record.size = kbuffer_event_size(impl_->pages);
        traces::KernelEvent event = impl_->reader.read(impl_->tep, record);
        if (event.type != traces::KernelEvent::Type::kOther) into.push_back(std::move(event));
      }
    }
  }
  std::stable_sort(into.begin() + first, into.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
}

void remove_stale_instances(const fs::path& root) {
  std::error_code error;
  for (fs::directory_iterator entry(root / "instances", error), end; !error && entry != end; entry.increment(error)) {
    if (is_left_behind(entry->path().filename().string())) rmdir(entry->path().c_str());
  }
}

void remove_stale_instances() {
  if (const auto place = writable_tracefs()) remove_stale_instances(*place);
}

std::vector<KernelTrace::Wanted> all_scheduling_events() {
  std::vector<KernelTrace::Wanted> all = {
      {"sched/sched_switch", ""},   {"sched/sched_waking", ""},         {"irq/irq_handler_entry", ""},
      {"irq/irq_handler_exit", ""}, {"irq/softirq_raise", ""},          {"irq/softirq_entry", ""},
      {"irq/softirq_exit", ""},     {"timer/hrtimer_expire_entry", ""}, {"timer/hrtimer_expire_exit", ""}};
  for (const char* vector : {"local_timer", "reschedule", "call_function", "call_function_single", "irq_work"}) {
    for (const char* end : {"entry", "exit"}) all.push_back({fmt::format("irq_vectors/{}_{}", vector, end), "", true});
  }
  return all;
}

}  // namespace offhook::measure
