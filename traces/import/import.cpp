// SPDX-License-Identifier: MIT
#include "traces/import/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/base/file.h"
#include "traces/import/load_file.h"
#include "traces/import/perf_sched.h"
#include "traces/import/trace_cmd.h"

namespace offhook::traces {

std::string trace_bytes(const std::string& file) {
  try {
    return read_file(file, kMostTraceBytes);
  } catch (const std::runtime_error& e) {
    throw TraceError(e.what());
  }
}

std::string as_text(const hostsim::HostLoad::Source& source) {
  using Kind = hostsim::HostLoad::Kind;
  if (source.kind == Kind::kInterrupt) return "interrupt";
  if (source.kind == Kind::kSoftirq) return "softirq";
  const int p = source.priority;
  if (p == hostsim::kLinuxPriorities - 1) return "deadline thread";
  return p > 39 ? fmt::format("thread at FIFO/RR {}", p - 40) : "normal thread";
}

KernelTraceText import_kernel_trace(const std::string& file) {
  KernelTraceText trace{trace_bytes(file), ""};
  if (trace.text.starts_with(kTraceCmdMagic.substr(0, 3))) trace.text = trace_cmd_as_text(file);
  if (const std::size_t zero = trace.text.find('\0'); zero != std::string::npos) {
    throw TraceError(
        fmt::format("{}: byte {}: expected a trace-cmd .dat or the text of perf sched script", file, zero));
  }
  if (trace.text.starts_with(kClockLine)) {
    const std::size_t end = std::min(trace.text.find('\n'), trace.text.size());
    trace.clock = trace.text.substr(kClockLine.size(), end - kClockLine.size());
  }
  return trace;
}

namespace {

hostsim::HostLoad import_bytes(const std::string& file, const std::vector<std::string>& without) {
  std::string bytes = trace_bytes(file);
  const std::string_view all = bytes;
  if (all.starts_with(kLoadMagic)) {
    if (bytes.size() > kMostLoadBytes)
      throw TraceError(
          fmt::format("{}: has {} bytes; expected at most {} of a load", file, bytes.size(), kMostLoadBytes));
    return read_load(all, file);
  }
  // A text does not begin with the first byte of either magic.
  if (all.starts_with(kTraceCmdMagic.substr(0, 3))) {
    std::string().swap(bytes);
    return import_trace_cmd(file, without);
  }
  if (all.find('\0') != std::string_view::npos) {
    throw TraceError(
        fmt::format("{}: byte {}: expected a trace-cmd .dat, an offhook load, or the text of perf sched script (run "
                    "perf sched script to convert a perf.data)",
                    file, all.find('\0')));
  }
  return import_perf_sched(all, file, without);
}

}  // namespace

hostsim::HostLoad import_host_load(const std::string& file, const std::vector<std::string>& without) {
  return with_memory_for(file, [&] { return import_bytes(file, without); });
}

std::string recorded_kernel(const std::string& file) {
  const std::string bytes = trace_bytes(file);
  const std::string_view all = bytes;
  const auto line_from = [all](std::size_t at) {
    std::size_t end = at;
    while (end < all.size() && end < at + 300 && all[end] >= ' ' && all[end] <= '~') end++;
    return all.substr(at, end - at);
  };
  if (all.starts_with(kTraceCmdMagic.substr(0, 3))) {
    // uname -a without the options of its first word: "Linux NODE 6.12.57 #1 SMP ... x86_64".
    for (std::size_t at = 0; (at = all.find("Linux ", at)) != std::string_view::npos; at++) {
      const std::string_view line = line_from(at);
      const std::size_t node = line.find(' ', 6);
      if (node == std::string_view::npos || node + 3 >= line.size()) continue;
      const std::string_view release = line.substr(node + 1);
      if (release[0] >= '2' && release[0] <= '9' && release.find(" #") != std::string_view::npos)
        return fmt::format("Linux {}", release);
    }
    return "";
  }
  constexpr std::string_view kOsRelease = "# os release : ";
  const std::size_t at = all.substr(0, std::min<std::size_t>(all.size(), 1 << 16)).find(kOsRelease);
  return at == std::string_view::npos ? "" : fmt::format("Linux {}", line_from(at + kOsRelease.size()));
}

}  // namespace offhook::traces
