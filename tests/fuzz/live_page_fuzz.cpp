// SPDX-License-Identifier: MIT
// What a client of the live page may send, in pieces of any length; and texts from outside, which the page shows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "src/live_page/request.h"
#include "src/live_page/server.h"
#include "src/live_page/text.h"

namespace {

using namespace offhook::live_page;

class Client final : public Connection {
 public:
  Client(std::string_view sent, std::size_t piece) : sent_(sent), piece_(piece) {}
  std::size_t read(char* octets, std::size_t n, int) override {
    n = sent_.copy(octets, std::min(n, piece_), at_);
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
  std::string_view sent_;
  std::size_t piece_, at_ = 0;
};

void request(std::string_view text, std::size_t piece) {
  static Board board(2);
  static Server server(board, "<!doctype html>", "modem.example");
  static const bool once = [] {
    board.update(std::vector<LineView>(2), {}, 1000);
    return true;
  }();
  static_cast<void>(once);
  Client client(text, piece);
  server.serve(client);
  if (!client.said.empty() && !client.said.starts_with("HTTP/1.1 ")) __builtin_trap();
  if (const auto head = parse_head(text.substr(0, head_octets(text)))) {
    if (head->line.find_first_of("\r\n") != std::string::npos) __builtin_trap();
    if (head->host && head->host->find_first_of("\r\n ") != std::string::npos) __builtin_trap();
  }
}

// One line of JSON for a stream, and one label for each text.
void texts(std::string_view text) {
  LineView view;
  view.name.set(text);
  view.caller.set(text);
  view.state.set(text);
  view.figures[0].key.set(text);
  view.figure_count = 1;
  const std::string json =
      line_json(view, 0, Points::kWith).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (json.find('\n') != std::string::npos || !nlohmann::json::accept(json)) __builtin_trap();
  const std::string metrics = metrics_text({&view, 1}, 0);
  for (std::size_t at = 0, end = 0; at < metrics.size(); at = end + 1) {
    end = metrics.find('\n', at);
    const std::string_view row(metrics.data() + at, end - at);
    if (!row.starts_with("# ") && !row.starts_with("offhook_")) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 2 == 0) {
    request(text, 1 + data[0] / 2);
  } else {
    texts(text);
  }
  return 0;
}
