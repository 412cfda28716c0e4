// SPDX-License-Identifier: MIT
#include "src/measure/loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "src/measure/workloads.h"

using namespace offhook::measure;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

/// Waits for another process, without an assumption about its speed.
template <class Condition>
bool comes_true(Condition condition) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (condition()) return true;
    usleep(10'000);
  }
  return false;
}

bool alive(pid_t pid) {
  if (kill(pid, 0) != 0) return false;
  std::ifstream in(fs::path("/proc") / std::to_string(pid) / "stat");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.rfind(") Z ") == std::string::npos;  // a zombie counts as an end
}

/// A shell that starts another process outside its own group, as daemons do, and continues.
const std::vector<std::string> kDaemon = {"sh", "-c", "setsid sleep 1000 & echo $! > \"$0\"; exec sleep 1000"};

}  // namespace

TEST(LoadProcess, RepeatsItsRoundsAndRemembersHowLongTheyTook) {
  LoadProcess load([](Supervisor&) -> Round { return [] { usleep(1000); }; });
  ASSERT_TRUE(comes_true([&] { return load.rounds() >= 3; }));
  load.stop();
  EXPECT_EQ(load.seconds().size(), std::min<std::size_t>(load.rounds(), LoadProcess::kRemembered));
  for (const double s : load.seconds()) EXPECT_GE(s, 0.001);
  EXPECT_EQ(load.failure(), "");
}

TEST(LoadProcess, StoppingEndsWhatEverItStartedAndRemovesItsFolder) {
  const fs::path note = fs::temp_directory_path() / ("offhook-loads-test-" + std::to_string(getpid()));
  std::string folder;
  pid_t daemon = 0;
  {
    LoadProcess load([&](Supervisor& supervisor) -> Round {
      std::vector<std::string> command = kDaemon;
      command.push_back(note);
      return [&supervisor, command, note] {
        std::ofstream(note.string() + ".folder") << supervisor.folder().string();
        supervisor.run(command);
      };
    });
    ASSERT_TRUE(comes_true([&] { return bool(std::ifstream(note) >> daemon); }));
    std::ifstream(note.string() + ".folder") >> folder;
    EXPECT_TRUE(alive(daemon));
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(alive(daemon));
  EXPECT_FALSE(fs::exists(folder));
  fs::remove(note);
  fs::remove(note.string() + ".folder");
}

TEST(LoadProcess, EndsWithTheProgramThatIsKilled) {
  const fs::path note = fs::temp_directory_path() / ("offhook-loads-kill-" + std::to_string(getpid()));
  const pid_t program = fork();
  if (program == 0) {
    std::vector<std::string> command = kDaemon;
    command.push_back(note);
    LoadProcess load([&](Supervisor& supervisor) -> Round { return [&, command] { supervisor.run(command); }; });
    pause();
    _exit(0);
  }
  pid_t daemon = 0;
  ASSERT_TRUE(comes_true([&] { return bool(std::ifstream(note) >> daemon); }));
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  EXPECT_TRUE(comes_true([&] { return !alive(daemon); }));
  fs::remove(note);
}

TEST(LoadProcess, SaysWhyAProgramFailed) {
  EXPECT_THROW(
      {
        try {
          LoadProcess load([](Supervisor&) -> Round { throw std::runtime_error("no display"); });
        } catch (const std::runtime_error& e) {
          EXPECT_STREQ(e.what(), "no display");
          throw;
        }
      },
      std::runtime_error);
  LoadProcess load([](Supervisor& s) -> Round {
    return [&s] { s.run({"sh", "-c", "sleep 0.2; echo first; echo out of paper >&2; exit 3"}); };
  });
  ASSERT_TRUE(comes_true([&] { return !load.failure().empty(); }));
  EXPECT_EQ(load.failure(), "sh ended with status 3; its last line: out of paper");
}

TEST(Loads, TheNearestNameIsNamed) {
  try {
    load_kind("ghostscrip");
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("the nearest is \"ghostscript\""));
  }
}

TEST(Loads, OneThatCannotRunNamesThePackage) {
  const LoadKind kind{"x", "", {{"sh", "dash"}, {"no-such-program", "some-package"}}, nullptr};
  EXPECT_EQ(kind.missing(), "no no-such-program in PATH: install the Debian package some-package");
}

TEST(Loads, EveryOneThatCanRunHereDoesItsWork) {
  for (const LoadKind& kind : load_kinds()) {
    SCOPED_TRACE(kind.name);
    if (kind.make == nullptr) continue;
    if (!kind.missing().empty()) {
      std::cout << "skipped " << kind.name << ": " << kind.missing() << "\n";
      continue;
    }
    const bool application = kind.name == "tk" || kind.name == "ghostscript" || kind.name == "web";
    LoadProcess load(kind.make);
    EXPECT_TRUE(comes_true([&] { return !application || load.rounds() > 0 || !load.failure().empty(); }));
    EXPECT_EQ(load.failure(), "");
  }
}

TEST(Loads, ARoundOfTheWebLeavesNothingOpen) {
  const LoadProcess web([](Supervisor& supervisor) -> Round {
    const auto open_files = [] {
      return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    const Round round = make_web(supervisor);
    return [=, before = open_files()] {
      round();
      if (const auto after = open_files(); after != before)
        throw std::runtime_error(std::to_string(after - before) + " descriptors more are open");
    };
  });
  EXPECT_TRUE(comes_true([&] { return web.rounds() >= 1 || !web.failure().empty(); }));
  EXPECT_EQ(web.failure(), "");
}

TEST(Workloads, InputsAreOfTheSizesPublished) {
  const RequestList list = web_requests();
  EXPECT_EQ(list.requests.size(), 1024u);
  EXPECT_NEAR(double(list.total_bytes()), 9.7e6, 0.02e6);
  const std::string document = postscript_document(13);
  EXPECT_NEAR(double(document.size()), 372e3, 20e3);
  EXPECT_EQ(document, postscript_document(13));
}
