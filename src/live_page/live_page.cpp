// SPDX-License-Identifier: MIT
#include "src/live_page/live_page.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "driver/base/printable.h"
#include "driver/session/snapshot.h"
#include "src/live_page/server.h"
#include "src/page/page.h"

namespace offhook::live_page {

using modem::Snapshot;

/// In memory that both processes share; the page's process only reads it.
struct LivePage::Shared {
  Snapshot<PageView> page;
  std::size_t lines = 0;
  Snapshot<LineView>* line(std::size_t k) { return reinterpret_cast<Snapshot<LineView>*>(this + 1) + k; }
  static std::size_t octets(std::size_t lines) { return sizeof(Shared) + lines * sizeof(Snapshot<LineView>); }
};

namespace {

constexpr auto kLook = std::chrono::milliseconds(250);
constexpr int kBacklog = 16, kNice = 10;
constexpr rlim_t kDescriptors = 64, kDataBytes = 256u << 20;
constexpr std::size_t kStack = 1u << 20;
constexpr unsigned kNobody = 65534;

[[noreturn]] void refuse(const PageAddress& page, int fd) {
  const int error = errno;
  if (fd >= 0) close(fd);
  throw std::runtime_error(fmt::format("--page {}: {}", page.address.text(), std::generic_category().message(error)));
}

int listen_on(const PageAddress& page) {
  const int fd = socket(page.address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) refuse(page, fd);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, page.address.get(), page.address.length) != 0 || listen(fd, kBacklog) != 0) refuse(page, fd);
  return fd;
}

void limit(int resource, rlim_t most) {
  const rlimit limits{most, most};
  setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

/// Closes descriptors, limits resources and drops rights that the page's process does not need.
void give_up_rights(int listener, int end) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);  // it ends with its command
  const sched_param normal{};
  sched_setscheduler(0, SCHED_OTHER, &normal);  // the policy of a command that runs under chrt
  setpriority(PRIO_PROCESS, 0, kNice);
  const int low = std::min(listener, end), high = std::max(listener, end);
  if (low > 3) close_range(3, static_cast<unsigned>(low - 1), 0);
  if (high > low + 1) close_range(static_cast<unsigned>(low + 1), static_cast<unsigned>(high - 1), 0);
  close_range(static_cast<unsigned>(high + 1), ~0u, 0);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; nothing >= 0 && fd < 3; ++fd) dup2(nothing, fd);
  limit(RLIMIT_NOFILE, kDescriptors);
  limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  limit(RLIMIT_DATA, kDataBytes);
#endif
  pthread_attr_t stacks;
  pthread_attr_init(&stacks);
  pthread_attr_setstacksize(&stacks, kStack);
  pthread_setattr_default_np(&stacks);
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
                         setresuid(kNobody, kNobody, kNobody) != 0)) {
    // in a container without that right: unchanged
  }
  if (chdir("/") != 0) _exit(1);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_NAME, "offhook-page");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string html(std::string_view title, const std::string& url) {
  nlohmann::json data = page_head("live", title, "", "Waiting for the first values.");
  data["settings"] = {{"address", url}};
  return page_around(title, std::move(data), Served::kLive);
}

}  // namespace

PageAddress parse_page_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool port_only = colon == std::string_view::npos;
  const std::string_view port = port_only ? text : text.substr(colon + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535) {
    throw std::runtime_error(
        fmt::format("--page {}: expected [ADDRESS:]PORT with a port from 1 to 65535, such as 8080 or 192.0.2.7:8080",
                    printable(text)));
  }
  PageAddress page;
  if (!port_only) page.host = text.substr(0, colon);
  try {
    page.address = internet_address(fmt::format("{}:{}", page.host, number));
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("--page: {}", e.what()));
  }
  return page;
}

LivePage::LivePage(const PageAddress& page, std::string_view title, std::size_t lines) {
  if (!Server::is_available())
    throw std::runtime_error("--page: this build has no HTTP library; build it with cpp-httplib (libcpp-httplib-dev)");
  const int listener = listen_on(page);
  url_ = fmt::format("http://{}/", page.address.text());
  octets_ = Shared::octets(lines);
  void* memory = mmap(nullptr, octets_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2] = {-1, -1};
  if (memory == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) refuse(page, listener);
  shared_ = new (memory) Shared;
  shared_->lines = lines;
  for (std::size_t k = 0; k < lines; ++k) new (shared_->line(k)) Snapshot<LineView>;
  const std::string text = html(title, url_);
  pid_ = fork();
  if (pid_ < 0) refuse(page, listener);
  if (pid_ > 0) {
    close(listener);
    close(ends[0]);
    end_ = ends[1];
    return;
  }
  give_up_rights(listener, ends[0]);
  mprotect(memory, octets_, PROT_READ);
  try {
    Board board(lines);
    std::thread looks([&board, shared = shared_, lines] {
      std::vector<LineView> views(lines);
      for (;; std::this_thread::sleep_for(kLook)) {
        for (std::size_t k = 0; k < lines; ++k) views[k] = shared->line(k)->load();
        board.update(views, shared->page.load(), unix_ms());
      }
    });
    looks.detach();
    Server server(board, text, page.host);
    server.run(listener, ends[0]);
    _exit(0);  // while threads are still serving
  } catch (const std::exception&) {
    _exit(1);
  }
}

LivePage::~LivePage() {
  if (end_ >= 0) close(end_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  munmap(shared_, octets_);
}

void LivePage::store(std::size_t line, const LineView& view) {
  shared_->line(line)->store(view);
}
void LivePage::store(const PageView& view) {
  shared_->page.store(view);
}

std::string LivePage::take_failure() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_) return "";
  pid_ = 0;
  return WIFSIGNALED(status) ? fmt::format("the live page ended by signal {}", WTERMSIG(status))
                             : fmt::format("the live page ended with status {}", WEXITSTATUS(status));
}

}  // namespace offhook::live_page
