// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "driver/base/json.h"
#include "driver/base/printable.h"
#include "src/live_page/server.h"
#include "src/live_page/text.h"

namespace offhook::live_page {

namespace {

using Json = nlohmann::ordered_json;

std::string message(std::string_view event, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", event, json_text(data));
}

}  // namespace

void Board::update(const std::vector<LineView>& views, const PageView& page, std::int64_t unix_ms) {
  const std::lock_guard lock(mutex_);
  views_ = views;
  page_ = page;
  unix_ms_ = unix_ms;
  chronicle_.look(views, unix_ms);
  Json state = {{"t", unix_ms}, {"news", of_one_direction(page.news.view())}, {"lines", Json::array()}};
  for (std::size_t k = 0; k < views_.size(); ++k) {
    state["lines"].push_back(line_json(views_[k], k, Points::kWithout));
    state["lines"].back()["late_recently"] = chronicle_.recent_late(k);
  }
  state_ = message("state", state);
  ++looks_;
  changed_.notify_all();
}

std::string Board::status() const {
  const std::lock_guard lock(mutex_);
  Json all = {{"made_by", "Offhook " OFFHOOK_VERSION},
              {"t", unix_ms_},
              {"news", of_one_direction(page_.news.view())},
              {"lines", Json::array()}};
  for (std::size_t k = 0; k < views_.size(); ++k) all["lines"].push_back(line_json(views_[k], k, Points::kWith));
  all["events"] = chronicle_.events(0);
  return json_text(all, 1) + "\n";
}

std::string Board::metrics(std::uint32_t clients) const {
  const std::lock_guard lock(mutex_);
  return metrics_text(views_, clients);
}

std::string Board::news(Cursor* cursor) const {
  cursor->look = looks_;
  std::string text = state_;
  const LineView& view = views_[cursor->line];
  if (view.symbols != cursor->symbols)
    text += message("points", {{"symbols", view.symbols},
                               {"points", points_json(view, view.symbols > cursor->symbols ? cursor->symbols : 0)}});
  cursor->symbols = view.symbols;
  if (chronicle_.newest_event() > cursor->event) text += message("events", chronicle_.events(cursor->event));
  cursor->event = chronicle_.newest_event();
  return text;
}

std::string Board::begin(Cursor* cursor) const {
  const std::lock_guard lock(mutex_);
  return "retry: 2000\n\n" + message("history", chronicle_.history(cursor->line)) + news(cursor);
}

std::string Board::next(Cursor* cursor) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(1), [&] { return looks_ != cursor->look; });
  return looks_ == cursor->look ? "" : news(cursor);
}

}  // namespace offhook::live_page
