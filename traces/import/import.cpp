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
  // A text begins with neither magic's first byte.
  if (all.starts_with(kTraceCmdMagic.substr(0, 3))) {
    std::string().swap(bytes);
    return import_trace_cmd(file, without);
  }
  if (all.find('\0') != std::string_view::npos) {
    throw TraceError(fmt::format(
        "{}: byte {}: expected a trace-cmd .dat, an offhook load, or the text of perf sched script (perf sched script "
        "makes it of a perf.data)",
        file, all.find('\0')));
  }
  return import_perf_sched(all, file, without);
}

}  // namespace

hostsim::HostLoad import_host_load(const std::string& file, const std::vector<std::string>& without) {
  return with_memory_for(file, [&] { return import_bytes(file, without); });
}

}  // namespace offhook::traces
