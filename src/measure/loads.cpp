// SPDX-License-Identifier: MIT
#include "src/measure/loads.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "driver/base/nearest.h"
#include "driver/base/output.h"
#include "src/measure/workloads.h"
#include "traces/scenario/key.h"

namespace offhook::measure {

namespace {

/// One process that computes continuously on every CPU that this process may use.
Round make_spin(Supervisor& supervisor) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) throw std::runtime_error("spin: no CPUs available");
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("spin: cannot start a process");
    if (pid > 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    for (volatile unsigned long n = 0;;) n = n + 1;
  }
  return [&supervisor] {
    while (!supervisor.stopping()) usleep(20'000);
  };
}

/// Until it is stopped, because stress-ng does not end by itself here.
Round stress_ng(Supervisor& supervisor, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"stress-ng", "--quiet", "--temp-path", supervisor.folder(), "--timeout", "0"});
  return [&supervisor, arguments] { supervisor.run(arguments); };
}
Round make_stress_cpu(Supervisor& s) {
  return stress_ng(s, {"--cpu", "0"});  // 0: one on every CPU
}
Round make_stress_vm(Supervisor& s) {
  return stress_ng(s, {"--vm", "0", "--vm-bytes", "64M"});
}
Round make_stress_io(Supervisor& s) {
  return stress_ng(s, {"--io", "0", "--hdd", "1", "--hdd-bytes", "64M"});
}
Round make_stress_network(Supervisor& s) {
  return stress_ng(s, {"--sock", "1", "--udp", "1"});
}

/// Standard headers and templates: one or two seconds of a C++ compiler's time.
constexpr std::string_view kSource = R"(#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <regex>
#include <string>
#include <vector>
template <int N> struct Table {
  std::map<std::string, std::vector<int>> rows;
  int sum() const {
    int all = N;
    for (const auto& [name, row] : rows) all += std::accumulate(row.begin(), row.end(), int(name.size()));
    return all + Table<N - 1>{}.sum();
  }
};
template <> struct Table<0> { int sum() const { return 0; } };
int main(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  std::sort(words.begin(), words.end(), std::greater<>{});
  const std::regex pattern("([a-z]+)[0-9]*");
  std::cout << std::count_if(words.begin(), words.end(), [&](const auto& w) { return std::regex_match(w, pattern); })
            << Table<60>{}.sum() << "\n";
}
)";

Round make_compile(Supervisor& supervisor) {
  write_file(supervisor.folder() / "source.cpp", kSource);
  const long jobs = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  return [&supervisor, jobs] {
    std::vector<pid_t> running;
    for (long j = 0; j < jobs; ++j) {
      running.push_back(supervisor.start({"c++", "-std=c++17", "-O2", "-c", supervisor.folder() / "source.cpp", "-o",
                                          supervisor.folder() / fmt::format("object{}.o", j)}));
    }
    for (const pid_t job : running) supervisor.wait(job, "c++");
  };
}

const std::vector<LoadKind>& kinds() {
  static const std::vector<LoadKind> all = {
      {"none", "no added load", {}, nullptr},
      {"spin", "a computing process on every CPU", {}, make_spin},
      {"cpu", "stress-ng: arithmetic on every CPU", {{"stress-ng", "stress-ng"}}, make_stress_cpu},
      {"vm",
       "stress-ng: 64 MiB mapped, written and checked on every CPU",
       {{"stress-ng", "stress-ng"}},
       make_stress_vm},
      {"io", "stress-ng: sync on every CPU and one that writes files", {{"stress-ng", "stress-ng"}}, make_stress_io},
      {"network", "stress-ng: TCP and UDP over the loopback", {{"stress-ng", "stress-ng"}}, make_stress_network},
      {"tk", "Tk's widgets built, invoked and redrawn under Xvfb", {{"wish", "tk"}, {"Xvfb", "xvfb"}}, make_tk, true},
      {"ghostscript", "13 pages of PostScript rendered", {{"gs", "ghostscript"}}, make_ghostscript, true},
      {"web", "a server on the loopback answers 1024 requests, 32 at a time", {{"python3", "python3"}}, make_web, true},
      {"compile", "a C++ compiler on every CPU", {{"c++", "g++"}}, make_compile},
  };
  return all;
}

}  // namespace

std::string LoadKind::missing() const {
  for (const auto& [program, package] : needs) {
    if (program_in_path(std::string(program)).empty())
      return fmt::format("no {} in PATH: install the Debian package {}", program, package);
  }
  return "";
}

std::span<const LoadKind> load_kinds() {
  return kinds();
}

const LoadKind& load_kind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const LoadKind& kind : kinds()) {
    if (kind.name == name) {
      if (const std::string why = kind.missing(); !why.empty())
        throw std::runtime_error(fmt::format("load {}: {}", name, why));
      return kind;
    }
    names.push_back(kind.name);
  }
  throw std::runtime_error(
      fmt::format("\"{}\" is not a load{}; all of them: --load help", name, the_nearest(name, names)));
}

}  // namespace offhook::measure
