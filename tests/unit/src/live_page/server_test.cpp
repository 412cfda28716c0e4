// SPDX-License-Identifier: MIT
#include "src/live_page/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "src/live_page/live_page.h"
#include "src/live_page/request.h"

namespace offhook::live_page {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A client that has sent some octets, and leaves when it has received a state.
class Client final : public Connection {
 public:
  explicit Client(std::string sent) : sent_(std::move(sent)) {}
  std::size_t read(char* octets, std::size_t n, int) override {
    n = sent_.copy(octets, std::min<std::size_t>(n, 7), at_);  // in pieces
    at_ += n;
    return n;
  }
  bool write(std::string_view octets, int) override {
    said += octets;
    return true;
  }
  bool is_open() const override { return said.find("event: state") == std::string::npos; }
  std::string said;

 private:
  std::string sent_;
  std::size_t at_ = 0;
};

class LivePageServer : public testing::Test {
 protected:
  LivePageServer() : board_(2), server_(board_, "<!doctype html>", "modem.example") {
    std::vector<LineView> views(2);
    views[1].name.set("/dev/ttySM1");
    views[1].points[0] = {4096, -4096};
    views[1].symbols = 1;
    board_.update(views, {}, 1000);
  }
  void SetUp() override {
    if (!Server::is_available()) GTEST_SKIP() << "this build has no cpp-httplib";
  }
  std::string ask(const std::string& request) {
    Client client(request);
    server_.serve(client);
    return client.said;
  }
  std::string get(const std::string& target) {
    return ask("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
  }

  Board board_;
  Server server_;
};

TEST_F(LivePageServer, HasFourPaths) {
  EXPECT_THAT(get("/"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("<!doctype html>"), HasSubstr("no-store")));
  const std::string status = get("/status");
  EXPECT_THAT(status, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("application/json")));
  const auto json = nlohmann::json::parse(status.substr(status.find("\r\n\r\n")));
  EXPECT_EQ(json.at("lines").size(), 2u);
  EXPECT_EQ(json.at("lines")[1].at("constellation").dump(), "[4096,-4096]");
  EXPECT_THAT(get("/metrics"), HasSubstr("offhook_line_info{line=\"1\",name=\"/dev/ttySM1\""));
  EXPECT_THAT(get("/other"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get("/../etc/passwd"), StartsWith("HTTP/1.1 404"));
}

TEST_F(LivePageServer, StreamsEventsOfALine) {
  const std::string said = ask("GET /events?line=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(said, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/event-stream"), HasSubstr("event: history\n"),
                          HasSubstr("event: state\n"), HasSubstr("\"points\":[4096,-4096]")));
  EXPECT_THAT(get("/events?line=2"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get("/events?line=-1"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get("/events?line=1x"), StartsWith("HTTP/1.1 404"));
}

TEST_F(LivePageServer, AStreamThatEndedGivesItsPlaceBack) {
  for (int k = 0; k < 40; ++k)
    EXPECT_THAT(ask("GET /events HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get("/metrics"), HasSubstr("offhook_page_clients 0\n"));
}

TEST_F(LivePageServer, TakesOnlyGet) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"})
    EXPECT_THAT(ask(std::string(method) + " /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"),
                AnyOf(StartsWith("HTTP/1.1 405"), StartsWith("HTTP/1.1 400")))
        << method;
  const std::string head = ask("HEAD /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST_F(LivePageServer, RefusesOtherHosts) {
  EXPECT_THAT(ask("GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n"), StartsWith("HTTP/1.1 421"));
  EXPECT_THAT(ask("GET /status HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("GET /status HTTP/1.1\r\nHost: MODEM.example:8080\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(LivePageServer, RefusesHeadsThatAreTooLong) {
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(9000, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(ask("GET /" + std::string(2000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
  std::string many = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int k = 0; k < 200; ++k) many += "A: b\r\n";
  EXPECT_THAT(ask(many + "\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: localhost\r\n"), "");  // the rest never came
}

TEST(LivePageRequest, KeepsTheRequestLineAndTheHost) {
  const auto head = parse_head("GET /status?line=2 HTTP/1.1\r\nRange: bytes=0-1\r\nhOsT:  localhost \r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->line, "GET /status?line=2 HTTP/1.1");
  EXPECT_EQ(head->host, "localhost");
  for (const char* wrong : {"", "\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/2\r\n\r\n",
                            "GET /\x01 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                            "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"})
    EXPECT_FALSE(parse_head(wrong)) << wrong;
}

TEST(LivePageRequest, HostsAreAddressesLocalhostOrTheNameOfThePage) {
  for (const char* ours : {"127.0.0.1", "192.0.2.7:8080", "[::1]:8080", "[2001:db8::1]", "LocalHost:80", "lab.example"})
    EXPECT_TRUE(host_is_ours(ours, "lab.example")) << ours;
  for (const char* other :
       {"", "example.com", "127.0.0.1.example.com", "localhost.example", "[evil]", "[::1", "1.2.3", ":80"})
    EXPECT_FALSE(host_is_ours(other, "lab.example")) << other;
  EXPECT_FALSE(host_is_ours(":80", ""));
}

TEST(LivePageAddress, IsLoopbackUnlessItNamesAnAddress) {
  EXPECT_EQ(parse_page_address("8080").address.text(), "127.0.0.1:8080");
  EXPECT_EQ(parse_page_address(":8080").address.text(), "127.0.0.1:8080");
  EXPECT_EQ(parse_page_address("0.0.0.0:8080").address.text(), "0.0.0.0:8080");
  EXPECT_EQ(parse_page_address("[::1]:65535").address.text(), "[::1]:65535");
  for (const char* wrong :
       {"", "x", "0", "65536", "-1", "8080x", "127.0.0.1", "127.0.0.1:", "::1:80", "[::1]", "1.2.3.4.5:80"})
    EXPECT_THROW(parse_page_address(wrong), std::runtime_error) << wrong;
}

}  // namespace
}  // namespace offhook::live_page
