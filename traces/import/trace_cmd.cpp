// SPDX-License-Identifier: MIT
#include "traces/import/trace_cmd.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#define _TRACE_FS_H  // tracefs.h, which trace-cmd.h wants and nobody here, is no C++ (version 1.6)
#include <trace-cmd.h>

#include "traces/import/kernel_event.h"
#include "traces/load/load_file.h"

namespace offhook::traces {

using hostsim::HostLoad;
using hostsim::Ns;

namespace {

struct Import {
  LoadBuilder builder;
  RecordReader reader;
  std::string error;
};

int take_record(tracecmd_input* handle, tep_record* record, int, void* self) {
  Import& import = *static_cast<Import*>(self);
  try {
    if (record->missed_events != 0) {  // negative: nobody counted them
      import.builder.lost(static_cast<Ns>(record->ts), record->cpu,
                          record->missed_events > 0 ? static_cast<std::uint64_t>(record->missed_events) : 1);
    }
    add_to(import.builder, import.reader.read(tracecmd_get_tep(handle), *record));
    return 0;
  } catch (const std::exception& e) {  // not through the library's C frames
    import.error = e.what();
    return -1;
  }
}

/// In the child. @return the bytes of a load file
std::string read_with_library(const std::string& file, const std::vector<std::string>& without) {
  tracecmd_set_loglevel(TEP_LOG_NONE);
  tracecmd_input* top = tracecmd_open(file.c_str(), TRACECMD_FL_LOAD_NO_PLUGINS);
  if (top == nullptr) throw TraceError("libtracecmd cannot open it");
  std::vector<tracecmd_input*> handles{top};
  for (int k = 0; k < tracecmd_buffer_instances(top); ++k) {
    if (tracecmd_input* instance = tracecmd_buffer_instance_handle(top, k); instance != nullptr)
      handles.push_back(instance);
  }
  Import import{LoadBuilder(without), {}, {}};
  tracecmd_iterate_events_multi(handles.data(), static_cast<int>(handles.size()), take_record, &import);
  if (!import.error.empty()) throw TraceError(import.error);
  if (import.builder.events() == 0)
    throw TraceError("no scheduling events in it; expected sched_switch, irq_handler_*, softirq_* or hrtimer_expire_*");
  return write_load(import.builder.finish(file));
}

[[noreturn]] void run_child(int out, const std::string& file, const std::vector<std::string>& without) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::string answer;
  try {
    answer = read_with_library(file, without);
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

std::string library_in_a_child(const std::string& file, const std::vector<std::string>& without) {
  int pipe_ends[2];
  std::fflush(nullptr);
  if (pipe(pipe_ends) != 0) throw TraceError(fmt::format("{}: {}", file, std::generic_category().message(errno)));
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    run_child(pipe_ends[1], file, without);
  }
  close(pipe_ends[1]);
  std::string answer;
  char some[65536];
  for (ssize_t n = 0; child > 0 && ((n = read(pipe_ends[0], some, sizeof some)) > 0 || (n < 0 && errno == EINTR));)
    if (n > 0) answer.append(some, static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  if (child < 0) throw TraceError(fmt::format("{}: cannot start a process to read it", file));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    throw TraceError(fmt::format("{}: libtracecmd ended by signal {} ({}) while reading it: its events are damaged",
                                 file, WTERMSIG(status), strsignal(WTERMSIG(status))));
  }
  if (answer.starts_with('E')) throw TraceError(fmt::format("{}: {}", file, answer.substr(1)));
  return answer;
}

}  // namespace

HostLoad import_trace_cmd(const std::string& file, const std::vector<std::string>& without) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw TraceError(fmt::format("{}: {}", file, std::generic_category().message(errno)));
  check_trace_cmd(std::string(std::istreambuf_iterator<char>(in), {}), file);
  return read_load(library_in_a_child(file, without), file);
}

}  // namespace offhook::traces
