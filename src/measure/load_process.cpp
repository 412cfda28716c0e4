// SPDX-License-Identifier: MIT
#include "src/measure/load_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "driver/base/left_behind.h"
#include "src/measure/real_time.h"

namespace offhook::measure {

namespace fs = std::filesystem;

/// The memory that both processes share.
struct LoadProcess::Shared {
  enum State : int { kStarting, kRunning, kFailed };
  std::atomic<int> state{kStarting};
  std::atomic<std::uint64_t> rounds{0};
  double seconds[kRemembered]{};
  char failure[512]{};  ///< written before kFailed
};

namespace {

constexpr int kGraceMs = 1500;  // time from SIGTERM to SIGKILL

std::string error_text(int error) {
  return std::generic_category().message(error);
}

/// SIGTERM and SIGCHLD, which the supervisor has blocked and waits for.
sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  return set;
}

bool g_stopping = false;  // of the supervisor's process

/// Waits for one of the two signals, at most `ms`.
void wait_signal(int ms) {
  const sigset_t set = waited_for();
  const timespec time{ms / 1000, ms % 1000 * 1'000'000L};
  if (sigtimedwait(&set, nullptr, &time) == SIGTERM) g_stopping = true;
}

std::vector<pid_t> children_of_self() {
  std::vector<pid_t> all;
  std::error_code none;
  for (const auto& task : fs::directory_iterator("/proc/self/task", none)) {
    std::ifstream in(task.path() / "children");
    for (pid_t pid = 0; in >> pid;) all.push_back(pid);
  }
  return all;
}

/// Ends all descendants of this process. Children of a killed child become its own, so the loop terminates.
void end_descendants() {
  const std::int64_t begin = now_ns();
  for (std::int64_t told_ms = -1000;;) {
    const std::int64_t ms = (now_ns() - begin) / 1'000'000;
    if (ms > 4 * kGraceMs) return;  // blocked in the kernel; the signal is pending
    if (ms - told_ms >= 100) {
      told_ms = ms;
      for (const pid_t pid : children_of_self()) kill(pid, ms < kGraceMs ? SIGTERM : SIGKILL);
    }
    for (;;) {
      const pid_t ended = waitpid(-1, nullptr, WNOHANG);
      if (ended < 0) return;  // ECHILD: no child is left
      if (ended == 0) break;
    }
    wait_signal(10);
  }
}

std::string end_of(const fs::path& file) {
  std::ifstream in(file);
  std::string all{std::istreambuf_iterator<char>(in), {}};
  while (!all.empty() && all.back() == '\n') all.pop_back();
  const std::size_t line = all.rfind('\n');
  return line == std::string::npos ? all : all.substr(line + 1);
}

}  // namespace

bool Supervisor::stopping() const {
  wait_signal(0);
  return g_stopping;
}

pid_t Supervisor::start(const std::vector<std::string>& command, int output) const {
  const fs::path log = folder_ / "log";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, output >= 0 ? output : 2, 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error(fmt::format("{}: {}", command[0], error_text(error)));
  return pid;
}

void Supervisor::wait(pid_t program, const std::string& name) const {
  while (!stopping()) {
    int status = 0;
    const pid_t ended = waitpid(program, &status, WNOHANG);
    if (ended == program) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
      const std::string how = WIFSIGNALED(status) ? fmt::format("ended by signal {}", WTERMSIG(status))
                                                  : fmt::format("ended with status {}", WEXITSTATUS(status));
      throw std::runtime_error(fmt::format("{} {}; its last line: {}", name, how, end_of(folder_ / "log")));
    }
    if (ended < 0 && errno != EINTR) throw std::runtime_error(error_text(errno));
    wait_signal(1000);
  }
}

// The main function of the supervisor, a separate process.
void LoadProcess::supervise(const MakeRound& make, int parent) {
  setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  signal(SIGINT, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  const sched_param normal{0};
  sched_setscheduler(0, SCHED_OTHER, &normal);
  std::optional<TemporaryFolder> folder;
  try {
    folder.emplace("load");
    Supervisor supervisor(folder->path());
    const Round round = make(supervisor);
    shared_->state.store(Shared::kRunning);
    while (!supervisor.stopping()) {
      const std::int64_t begin = now_ns();
      round();
      if (g_stopping) break;
      const std::uint64_t done = shared_->rounds.load();
      if (done < kRemembered) shared_->seconds[done] = static_cast<double>(now_ns() - begin) * 1e-9;
      shared_->rounds.store(done + 1);
    }
  } catch (const std::exception& e) {
    std::snprintf(shared_->failure, sizeof shared_->failure, "%s", e.what());
    shared_->state.store(Shared::kFailed);
  }
  end_descendants();
  folder.reset();
  _exit(0);
}

LoadProcess::LoadProcess(const MakeRound& make) {
  void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::runtime_error("a load: " + error_text(errno));
  shared_ = new (page) Shared;
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const sigset_t waited = waited_for();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &waited, &before);  // no signal may arrive before the supervisor is ready for it
  pid_ = fork();
  if (pid_ == 0) supervise(make, parent);
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) throw std::runtime_error("a load: " + error_text(error));
  setpgid(pid_, pid_);
  while (shared_->state.load() == Shared::kStarting && waitpid(pid_, nullptr, WNOHANG) == 0) usleep(2000);
  if (shared_->state.load() == Shared::kRunning) return;
  const std::string why = failure();
  stop();
  munmap(shared_, sizeof(Shared));
  throw std::runtime_error(why);
}

LoadProcess::~LoadProcess() {
  stop();
  munmap(shared_, sizeof(Shared));
}

void LoadProcess::stop() {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  for (int ms = 0; waitpid(pid_, nullptr, WNOHANG) == 0; ms += 5) {
    if (ms > 6 * kGraceMs) kill(-pid_, SIGKILL);
    usleep(5000);
  }
  pid_ = -1;
}

std::uint64_t LoadProcess::rounds() const {
  return shared_->rounds.load();
}

std::vector<double> LoadProcess::seconds() const {
  return {shared_->seconds, shared_->seconds + std::min<std::uint64_t>(rounds(), kRemembered)};
}

std::string LoadProcess::failure() const {
  switch (shared_->state.load()) {
    case Shared::kRunning:
      return "";
    case Shared::kFailed:
      return shared_->failure;
    default:
      return "the load's process ended during its set-up";
  }
}

std::string program_in_path(const std::string& name) {
  const char* path = getenv("PATH");
  std::istringstream places(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string place; std::getline(places, place, ':');) {
    const fs::path file = fs::path(place.empty() ? "." : place) / name;
    if (access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file)) return file;
  }
  return "";
}

}  // namespace offhook::measure
