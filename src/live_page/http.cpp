// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "src/live_page/server.h"

#ifdef OFFHOOK_HAS_HTTP
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "src/live_page/request.h"

namespace offhook::live_page {

namespace {

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point end) {
  return static_cast<int>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count()));
}

bool wait_for(int fd, short events, int timeout_ms) {
  pollfd wait{fd, events, 0};
  return poll(&wait, 1, timeout_ms) > 0 && (wait.revents & events) != 0;
}

class Socket final : public Connection {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() override { close(fd_); }
  std::size_t read(char* octets, std::size_t n, int timeout_ms) override {
    if (!wait_for(fd_, POLLIN, timeout_ms)) return 0;
    const ssize_t got = recv(fd_, octets, n, MSG_DONTWAIT);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  bool write(std::string_view octets, int timeout_ms) override {
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(timeout_ms);
    while (!octets.empty()) {
      if (!wait_for(fd_, POLLOUT, left_ms(end))) return false;
      const ssize_t n = send(fd_, octets.data(), octets.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) octets.remove_prefix(static_cast<std::size_t>(n));
      if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    }
    return true;
  }
  bool is_open() const override {
    pollfd look{fd_, POLLRDHUP, 0};
    return poll(&look, 1, 0) == 0;
  }

 private:
  int fd_;
};

/// For the library, a stream that contains the head of a request and then ends.
class Stream final : public httplib::Stream {
 public:
  Stream(Connection& connection, std::string head, const Limits& limits)
      : connection_(connection), head_(std::move(head)), limits_(limits) {}
  bool is_readable() const override { return at_ < head_.size(); }
  bool is_writable() const override { return !failed_ && connection_.is_open(); }
  ssize_t read(char* octets, std::size_t n) override {
    n = std::min(n, head_.size() - at_);
    head_.copy(octets, n, at_);
    at_ += n;
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* octets, std::size_t n) override {
    if (failed_ || !connection_.write({octets, n}, limits_.write_ms)) failed_ = true;
    return failed_ ? -1 : static_cast<ssize_t>(n);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return -1; }

 private:
  Connection& connection_;
  std::string head_;
  const Limits& limits_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

std::string refusal(std::string_view status, std::string_view why) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}\n",
      status, why.size() + 1, why);
}

/// Parses the whole parameter as the number of a line. @return nothing if it is not one
std::optional<std::size_t> line_number(const std::string& text, std::size_t lines) {
  if (text.empty()) return 0;
  std::size_t line = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line);
  if (error != std::errc() || end != text.data() + text.size() || line >= lines) return std::nullopt;
  return line;
}

}  // namespace

class Server::Http final : public httplib::Server {
 public:
  Http(const Board& board, std::string html, std::string host_name, const Limits& limits)
      : board_(board), html_(std::move(html)), host_name_(std::move(host_name)), limits_(limits) {
    svr_sock_ = 0;  // the library sends streams only from a server that listens; the descriptor has no other use
    set_default_headers({{"Cache-Control", "no-store"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"X-Frame-Options", "DENY"},
                         {"Referrer-Policy", "no-referrer"},
                         {"Cross-Origin-Resource-Policy", "same-origin"}});
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
    set_exception_handler([](const auto&, httplib::Response& response, const auto&) { response.status = 500; });
  }

  void serve(Connection& connection) {
    const std::optional<RequestHead> head = receive(connection);
    if (!head) return;
    Stream stream(connection, head->line + "\r\nHost: " + *head->host + "\r\n\r\n", limits_);
    bool closed = false;
    process_request(stream, true, closed, nullptr);
  }

  void run(int listener, int end) {
    for (;;) {
      pollfd waits[] = {{listener, POLLIN, 0}, {end, POLLIN, 0}};
      if (poll(waits, 2, -1) < 0 && errno != EINTR) return;
      if (waits[1].revents != 0) return;
      if ((waits[0].revents & POLLIN) == 0) continue;
      const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) {
        if (errno == EMFILE || errno == ENOMEM) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        continue;
      }
      constexpr int kBuffer = 1 << 16;  // size of the kernel's buffer for a client that does not read
      setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kBuffer, sizeof kBuffer);
      begin(fd);
    }
  }

 private:
  void begin(int fd) {
    auto socket = std::make_unique<Socket>(fd);
    if (connections_.fetch_add(1) >= limits_.connections) {
      connections_.fetch_sub(1);
      socket->write(refusal("503 Service Unavailable", "too many connections"), 0);
      return;
    }
    try {
      std::thread([this, s = std::move(socket)]() mutable {
        serve(*s);
        s.reset();
        connections_.fetch_sub(1);
      }).detach();
    } catch (const std::system_error&) {  // no thread
      connections_.fetch_sub(1);
    }
  }

  /// @return nothing if the request was refused or none arrived
  std::optional<RequestHead> receive(Connection& connection) const {
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(limits_.head_ms);
    std::string text;
    char piece[1024];
    std::size_t length = 0;
    while (length == 0) {
      const std::size_t n = connection.read(piece, sizeof piece, left_ms(end));
      if (n == 0) return std::nullopt;
      text.append(piece, n);
      length = head_octets(text);
      if (length == 0 ? text.size() > kMostHeadOctets : length > kMostHeadOctets) {
        connection.write(refusal("431 Request Header Fields Too Large", "expected a head of at most 8192 octets"), 0);
        return std::nullopt;
      }
    }
    std::optional<RequestHead> head = parse_head(std::string_view(text).substr(0, length));
    if (!head || !head->host) {
      connection.write(refusal("400 Bad Request", "expected GET of /, /status, /events or /metrics, with a host"), 0);
      return std::nullopt;
    }
    if (!host_is_ours(*head->host, host_name_)) {
      connection.write(refusal("421 Misdirected Request",
                               "expected an address, localhost, or the name of --page as the host of the URL"),
                       0);
      return std::nullopt;
    }
    return head;
  }

  void answer(const httplib::Request& request, httplib::Response& response) {
    const bool known =
        request.path == "/" || request.path == "/status" || request.path == "/events" || request.path == "/metrics";
    const std::optional<std::size_t> line = line_number(request.get_param_value("line"), board_.lines());
    response.status = 200;
    if (request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      refuse(response, 405, "expected GET: the page has no control");
    } else if (!known || !line) {
      refuse(response, 404, known ? "no such line" : "expected /, /status, /events or /metrics");
    } else if (request.path == "/") {
      response.set_header("Content-Security-Policy", "frame-ancestors 'none'");
      response.set_content(html_, "text/html; charset=utf-8");
    } else if (request.path == "/status") {
      response.set_content(board_.status(), "application/json");
    } else if (request.path == "/metrics") {
      response.set_content(board_.metrics(streams_.load()), "text/plain; version=0.0.4; charset=utf-8");
    } else if (request.method == "GET") {
      stream(*line, response);
    } else {
      response.set_content("", "text/event-stream");
    }
  }

  static void refuse(httplib::Response& response, int status, const char* why) {
    response.status = status;
    response.set_content(std::string(why) + "\n", "text/plain; charset=utf-8");
  }

  void stream(std::size_t line, httplib::Response& response) {
    if (streams_.fetch_add(1) >= limits_.streams) {
      streams_.fetch_sub(1);
      refuse(response, 503, "too many pages are open");
      return;
    }
    auto cursor = std::make_shared<Board::Cursor>();
    cursor->line = line;
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, cursor](std::size_t, httplib::DataSink& sink) {
          if (!sink.is_writable()) return false;
          const std::string text = cursor->look == 0 ? board_.begin(cursor.get()) : board_.next(cursor.get());
          return text.empty() || sink.write(text.data(), text.size());
        },
        [this](bool) { streams_.fetch_sub(1); });
  }

  const Board& board_;
  std::string html_, host_name_;
  Limits limits_;
  std::atomic<std::uint32_t> connections_{0}, streams_{0};
};

Server::Server(const Board& board, std::string html, std::string host_name, const Limits& limits)
    : http_(std::make_unique<Http>(board, std::move(html), std::move(host_name), limits)) {}
Server::~Server() = default;

bool Server::is_available() {
  return true;
}
void Server::serve(Connection& connection) {
  http_->serve(connection);
}
void Server::run(int listener, int end) {
  http_->run(listener, end);
}

}  // namespace offhook::live_page

#else

namespace offhook::live_page {

class Server::Http {};
Server::Server(const Board&, std::string, std::string, const Limits&) {}
Server::~Server() = default;
bool Server::is_available() {
  return false;
}
void Server::serve(Connection&) {}
void Server::run(int, int) {}

}  // namespace offhook::live_page

#endif
