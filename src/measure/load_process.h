// SPDX-License-Identifier: MIT
//
// A load during a measurement: a separate process group that repeats its work until it is stopped.
//
//   this program --- supervisor --- its programs (a server, a compiler ...) and what these start
//
// The first to end stops the rest: stop() and the end of this program, also by kill -9, reach the supervisor,
// which is the reaper of all its descendants, ends them by number, and removes its folder. Nothing is left behind.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace offhook::measure {

/// The functions for a load's work, called in the supervisor. Every call returns immediately when the load must stop.
class Supervisor {
 public:
  explicit Supervisor(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Scratch, removed afterwards.
  const std::filesystem::path& folder() const { return folder_; }
  bool stopping() const;
  /// Starts a program from PATH. Its outputs go to folder()/log, or standard output to `output` if that is not -1.
  /// @throws std::runtime_error
  pid_t start(const std::vector<std::string>& command, int output = -1) const;
  /// Waits for its end. @param name  of the program, for the message  @throws std::runtime_error with the end of the
  /// log if it fails
  void wait(pid_t program, const std::string& name) const;
  void run(const std::vector<std::string>& command) const { wait(start(command), command[0]); }

 private:
  std::filesystem::path folder_;
};

/// One round of work, which is repeated continuously. Its set-up is complete before it is returned.
using Round = std::function<void()>;
using MakeRound = std::function<Round(Supervisor&)>;

class LoadProcess {
 public:
  /// Forks, so call it before this program has threads. Returns when the work is set up.
  /// @throws std::runtime_error with the reason if the set-up failed
  explicit LoadProcess(const MakeRound& make);
  ~LoadProcess();
  LoadProcess(const LoadProcess&) = delete;
  LoadProcess& operator=(const LoadProcess&) = delete;

  std::uint64_t rounds() const;         ///< done so far
  std::vector<double> seconds() const;  ///< of each round; only the first kRemembered
  std::string failure() const;          ///< why it ended by itself; empty while it runs
  pid_t group() const { return pid_; }
  void stop();

  static constexpr std::size_t kRemembered = 256;

 private:
  struct Shared;
  [[noreturn]] void supervise(const MakeRound& make, int parent);

  Shared* shared_;
  pid_t pid_ = -1;
};

/// The program's path in PATH; empty if not found.
std::string program_in_path(const std::string& name);

}  // namespace offhook::measure
