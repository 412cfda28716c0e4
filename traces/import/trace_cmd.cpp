// SPDX-License-Identifier: MIT
#include "traces/import/trace_cmd.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <new>
#include <system_error>

// trace-cmd.h includes tracefs.h, which is not valid C++ (version 1.6); this file does not need it.
#define _TRACE_FS_H  // NOLINT(bugprone-reserved-identifier)
#include <trace-cmd.h>

#include "traces/import/import.h"
#include "traces/import/kernel_event.h"
#include "traces/import/load_file.h"
#include "traces/import/perf_sched.h"

// libtracecmd 1.3 has it but does not declare it; null if it is absent.
extern "C" const char* tracecmd_get_trace_clock(tracecmd_input* handle) __attribute__((weak));

namespace offhook::traces {

using hostsim::HostLoad;
using hostsim::Ns;

namespace {

/// The child's function for each event.
struct Taker {
  std::function<void(const KernelEvent&)> event;
  std::function<void(Ns time, int cpu, std::uint64_t events)> lost;
};

struct Import {
  const Taker& taker;
  RecordReader reader;
  std::string error;
};

int take_record(tracecmd_input* handle, tep_record* record, int, void* self) {
  Import& import = *static_cast<Import*>(self);
  try {
    if (record->missed_events != 0) {  // negative: their number is unknown
      import.taker.lost(static_cast<Ns>(record->ts), record->cpu,
                        record->missed_events > 0 ? static_cast<std::uint64_t>(record->missed_events) : 1);
    }
    import.taker.event(import.reader.read(tracecmd_get_tep(handle), *record));
    return 0;
  } catch (const std::exception& e) {  // not through C frames of the library
    import.error = e.what();
    return -1;
  }
}

/// In the child. @return the name of the trace's clock; empty: unknown
std::string read_with_library(const std::string& file, const Taker& taker) {
  tracecmd_set_loglevel(TEP_LOG_NONE);
  tracecmd_input* top = tracecmd_open(file.c_str(), TRACECMD_FL_LOAD_NO_PLUGINS);
  if (top == nullptr) throw TraceError("libtracecmd cannot open it");
  std::vector<tracecmd_input*> handles{top};
  for (int k = 0; k < tracecmd_buffer_instances(top); ++k) {
    if (tracecmd_input* instance = tracecmd_buffer_instance_handle(top, k); instance != nullptr)
      handles.push_back(instance);
  }
  Import import{taker, {}, {}};
  tracecmd_iterate_events_multi(handles.data(), static_cast<int>(handles.size()), take_record, &import);
  if (!import.error.empty()) throw TraceError(import.error);
  const char* clock = tracecmd_get_trace_clock != nullptr
                          ? tracecmd_get_trace_clock(handles.back()) /* an instance has its own */
                          : nullptr;
  return clock != nullptr ? clock : "";
}

constexpr std::string_view kNoEvents =
    "no scheduling events in it; expected sched_switch, irq_handler_*, softirq_* or hrtimer_expire_*";

/// In the child. @return the bytes of a load file
std::string read_load_of(const std::string& file, const std::vector<std::string>& without) {
  LoadBuilder builder(without);
  read_with_library(file, {[&](const KernelEvent& event) { add_to(builder, event); },
                           [&](Ns time, int cpu, std::uint64_t events) { builder.lost(time, cpu, events); }});
  if (builder.events() == 0) throw TraceError(std::string(kNoEvents));
  return write_load(builder.finish(file));
}

/// In the child. @return the text of PerfSchedWriter, after a line with the name of the clock
std::string read_text_of(const std::string& file) {
  PerfSchedWriter writer;
  std::string text;
  const std::string clock = read_with_library(
      file, {[&](const KernelEvent& event) { text += writer.line(event); }, [](Ns, int, std::uint64_t) {}});
  if (text.empty()) throw TraceError(std::string(kNoEvents));
  return fmt::format("{}{}\n{}", kClockLine, clock, text);
}

using ReadInChild = std::function<std::string()>;

/// Seconds of CPU time: damaged pages can make the library loop. A whole MiB takes it less than a second.
rlim_t longest_read(std::uint64_t bytes) {
  return 30 + 2 * (bytes >> 20);
}

[[noreturn]] void run_child(int out, std::uint64_t bytes, const ReadInChild& read_in_child) {
  const rlimit no_core{0, 0}, time{longest_read(bytes), longest_read(bytes) + 1};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &time);
  std::string answer;
  try {
    answer = read_in_child();
  } catch (const std::bad_alloc&) {
    answer = "Enot enough memory to read it";
  } catch (const std::exception& e) {
    answer = std::string("E") + e.what();
  }
  for (std::size_t at = 0; at < answer.size();) {
    const ssize_t n = write(out, answer.data() + at, answer.size() - at);
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  _exit(0);
}

std::string library_in_a_child(const std::string& file, std::uint64_t bytes, const ReadInChild& read_in_child) {
  int pipe_ends[2];
  std::fflush(nullptr);
  if (pipe(pipe_ends) != 0) throw TraceError(fmt::format("{}: {}", file, std::generic_category().message(errno)));
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    run_child(pipe_ends[1], bytes, read_in_child);
  }
  const int error = errno;
  close(pipe_ends[1]);
  std::string answer;
  char some[65536];
  for (ssize_t n = 0; child > 0 && ((n = read(pipe_ends[0], some, sizeof some)) > 0 || (n < 0 && errno == EINTR));)
    if (n > 0) answer.append(some, static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  if (child < 0)
    throw TraceError(
        fmt::format("{}: cannot start a process to read it: {}", file, std::generic_category().message(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    throw TraceError(fmt::format("{}: libtracecmd read it for {} s without reaching its end: its events are damaged",
                                 file, longest_read(bytes)));
  }
  if (WIFSIGNALED(status)) {
    throw TraceError(fmt::format("{}: libtracecmd ended by signal {} ({}) while reading it: its events are damaged",
                                 file, WTERMSIG(status), strsignal(WTERMSIG(status))));
  }
  if (answer.starts_with('E')) throw TraceError(fmt::format("{}: {}", file, answer.substr(1)));
  return answer;
}

/// @return its bytes
std::uint64_t check(const std::string& file) {
  const std::string bytes = trace_bytes(file);
  check_trace_cmd(bytes, file);
  return bytes.size();
}

}  // namespace

HostLoad import_trace_cmd(const std::string& file, const std::vector<std::string>& without) {
  const std::uint64_t bytes = check(file);
  return read_load(library_in_a_child(file, bytes, [&] { return read_load_of(file, without); }), file);
}

std::string trace_cmd_as_text(const std::string& file) {
  const std::uint64_t bytes = check(file);
  return library_in_a_child(file, bytes, [&] { return read_text_of(file); });
}

}  // namespace offhook::traces
