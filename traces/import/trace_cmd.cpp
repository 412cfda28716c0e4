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
#include <map>
#include <optional>
#include <system_error>

#define _TRACE_FS_H  // tracefs.h, which trace-cmd.h wants and nobody here, is no C++ (version 1.6)
#include <trace-cmd.h>

#include "traces/import/load_builder.h"
#include "traces/import/softirq_names.h"
#include "traces/load/load_file.h"

namespace offhook::traces {

using hostsim::HostLoad;
using hostsim::Ns;
using Kind = HostLoad::Kind;

namespace {

/// One event format: what to do with its records, and where their fields are.
struct Format {
  enum class Type {
    kNone,
    kSwitch,
    kIrqEntry,
    kIrqExit,
    kSoftirqEntry,
    kSoftirqExit,
    kTimerEntry,
    kTimerExit,
    kVectorEntry,
    kVectorExit
  };
  Type type = Type::kNone;
  tep_format_field* fields[6] = {};
  std::string name;  // kVector*
};

Format format_of(tep_event* event) {
  using Type = Format::Type;
  static const std::map<std::string_view, std::pair<Type, std::vector<const char*>>> kKnown = {
      {"sched_switch", {Type::kSwitch, {"prev_comm", "prev_pid", "prev_prio", "next_comm", "next_pid", "next_prio"}}},
      {"irq_handler_entry", {Type::kIrqEntry, {"irq", "name"}}},
      {"irq_handler_exit", {Type::kIrqExit, {"irq"}}},
      {"softirq_entry", {Type::kSoftirqEntry, {"vec"}}},
      {"softirq_exit", {Type::kSoftirqExit, {"vec"}}},
      {"hrtimer_expire_entry", {Type::kTimerEntry, {}}},
      {"hrtimer_expire_exit", {Type::kTimerExit, {}}},
  };
  Format format;
  const std::string_view system = event->system, name = event->name;
  if (system == "irq_vectors") {
    if (name.ends_with("_entry")) format = {Type::kVectorEntry, {}, std::string(name.substr(0, name.size() - 6))};
    if (name.ends_with("_exit")) format = {Type::kVectorExit, {}, std::string(name.substr(0, name.size() - 5))};
    return format;
  }
  const auto known = kKnown.find(name);
  if (known == kKnown.end() || (system != "sched" && system != "irq" && system != "timer")) return format;
  format.type = known->second.first;
  std::size_t k = 0;
  for (const char* field : known->second.second) {
    format.fields[k] = tep_find_field(event, field);
    if (format.fields[k++] == nullptr) throw TraceError(fmt::format("event {} has no field {}", name, field));
  }
  return format;
}

struct Import {
  LoadBuilder builder;
  std::map<std::pair<tep_handle*, int>, Format> formats;
  std::map<int, std::string> irqs;
  std::string error;

  static int number(tep_format_field* field, const tep_record* record) {
    unsigned long long value = 0;
    if (field->offset < 0 || field->size < 0 || field->offset + field->size > record->size ||
        tep_read_number_field(field, record->data, &value) != 0) {
      throw TraceError(
          fmt::format("file offset {}: a record of {} bytes has no {}", record->offset, record->size, field->name));
    }
    if (field->size == 4) return static_cast<int>(static_cast<std::int32_t>(value));
    return static_cast<int>(value);
  }
  static std::string_view text(tep_format_field* field, const tep_record* record) {
    const char* data = static_cast<const char*>(record->data);
    int offset = field->offset, size = field->size;
    if ((field->flags & TEP_FIELD_IS_DYNAMIC) != 0) {  // a word: length and offset of the text
      const auto where = static_cast<std::uint32_t>(number(field, record));
      offset = static_cast<int>(where & 0xffff);
      size = static_cast<int>(where >> 16);
      if ((field->flags & TEP_FIELD_IS_RELATIVE) != 0) offset += field->offset + field->size;
    }
    if (offset < 0 || size < 0 || offset + size > record->size) {
      throw TraceError(
          fmt::format("file offset {}: a record of {} bytes has no {}", record->offset, record->size, field->name));
    }
    return {data + offset, strnlen(data + offset, static_cast<std::size_t>(size))};
  }

  void take(tracecmd_input* handle, tep_record* record) {
    tep_handle* tep = tracecmd_get_tep(handle);
    const int id = tep_data_type(tep, record);
    auto found = formats.find({tep, id});
    if (found == formats.end()) {
      tep_event* event = tep_find_event(tep, id);
      found = formats.emplace(std::pair{tep, id}, event == nullptr ? Format{} : format_of(event)).first;
    }
    const Format& f = found->second;
    const auto time = static_cast<Ns>(record->ts);
    const int cpu = record->cpu;
    if (record->missed_events != 0)
      builder.lost(time, cpu, record->missed_events > 0 ? static_cast<std::uint64_t>(record->missed_events) : 1);
    using Type = Format::Type;
    switch (f.type) {
      case Type::kNone:
        break;
      case Type::kSwitch:
        builder.switched(time, cpu,
                         {text(f.fields[0], record), number(f.fields[1], record), number(f.fields[2], record)},
                         {text(f.fields[3], record), number(f.fields[4], record), number(f.fields[5], record)});
        break;
      case Type::kIrqEntry: {
        std::string& name = irqs[number(f.fields[0], record)];
        name = text(f.fields[1], record);
        builder.enter(time, cpu, Kind::kInterrupt, name);
        break;
      }
      case Type::kIrqExit:
        builder.leave(time, cpu, Kind::kInterrupt, irqs[number(f.fields[0], record)]);
        break;
      case Type::kSoftirqEntry:
        builder.enter(time, cpu, Kind::kSoftirq, softirq_name(static_cast<unsigned>(number(f.fields[0], record))));
        break;
      case Type::kSoftirqExit:
        builder.leave(time, cpu, Kind::kSoftirq, softirq_name(static_cast<unsigned>(number(f.fields[0], record))));
        break;
      case Type::kTimerEntry:
        builder.enter_timer(time, cpu);
        break;
      case Type::kTimerExit:
        builder.leave_timer(time, cpu);
        break;
      case Type::kVectorEntry:
        builder.enter(time, cpu, Kind::kInterrupt, f.name);
        break;
      case Type::kVectorExit:
        builder.leave(time, cpu, Kind::kInterrupt, f.name);
        break;
    }
  }
};

int take_record(tracecmd_input* handle, tep_record* record, int, void* self) {
  Import& import = *static_cast<Import*>(self);
  try {
    import.take(handle, record);
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
  Import import{LoadBuilder(without), {}, {}, {}};
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
