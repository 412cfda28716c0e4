// SPDX-License-Identifier: MIT
//
// Any bytes as a load file, as the text of perf sched and as the tables of a trace-cmd file: a TraceError, or a load
// that its file gives back. (The events of a .dat are read by libtracecmd in a process of its own: not from here.)
#include <cstdint>
#include <cstdlib>
#include <string>

#include "traces/import/load_file.h"
#include "traces/import/perf_sched.h"
#include "traces/import/trace_cmd.h"

using namespace offhook;

namespace {

template <typename Read>
void attempt(Read read) {
  try {
    const hostsim::HostLoad load = read();
    if (!(traces::read_load(traces::write_load(load), "again") == load)) std::abort();
  } catch (const traces::TraceError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  attempt([&] { return traces::read_load(bytes, "fuzz"); });
  // Past the checksum, which mutations alone never match.
  attempt([&] {
    hostsim::HostLoad none;
    const std::string empty = traces::write_load(none);
    return traces::read_load(empty.substr(0, 8) + bytes, "fuzz");
  });
  bool readable = true;
  hostsim::HostLoad load;
  try {
    load = traces::import_perf_sched(bytes, "fuzz");
  } catch (const traces::TraceError&) {
    readable = false;
  }
  // A load from text always has a file.
  if (readable && !(traces::read_load(traces::write_load(load), "again") == load)) std::abort();
  try {
    traces::check_trace_cmd(std::string(traces::kTraceCmdMagic) + bytes, "fuzz");
  } catch (const traces::TraceError&) {
  }
  return 0;
}
