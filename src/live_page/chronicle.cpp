// SPDX-License-Identifier: MIT
#include "src/live_page/chronicle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "driver/base/printable.h"
#include "src/live_page/text.h"

namespace offhook::live_page {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kRecentSeconds = 10;

bool in_data(const LineView& view) {
  return view.phase == Phase::kData;
}

Json known(float value) {
  return value != 0 ? Json(std::round(static_cast<double>(value) * 100) / 100) : Json(nullptr);
}

}  // namespace

void Chronicle::add(std::size_t line, std::int64_t unix_ms, std::string_view kind, std::string text) {
  events_.push_back({next_id_++, unix_ms, line, kind, std::move(text)});
  if (events_.size() > kEvents) events_.pop_front();
}

void Chronicle::compare(Line& line, const LineView& now, std::size_t number, std::int64_t unix_ms) {
  const LineView& before = line.before;
  const bool stored = !before.state.view().empty();  // the very first state is not an event
  if (stored && (now.phase != before.phase || now.state.view() != before.state.view())) {
    const std::string who = now.phase == Phase::kRinging && !now.caller.view().empty()
                                ? fmt::format(", caller {}", of_one_direction(now.caller.view()))
                                : "";
    const bool in_words = now.state.view() != before.state.view() && now.phase != Phase::kRetraining;
    const std::string_view state = in_words ? now.state.view() : name_of(now.phase);
    add(number, unix_ms, "state", of_one_direction(state) + who);
  }
  for (std::size_t c = 0; c < std::size(now.retrains); ++c) {
    const std::uint32_t had = now.calls == before.calls ? before.retrains[c] : 0;
    if (now.retrains[c] > had) add(number, unix_ms, "retrain", fmt::format("retrain {}", cause_text(c)));
  }
  if (now.last_end.view() != before.last_end.view() && !now.last_end.view().empty())
    add(number, unix_ms, now.calls_failed > before.calls_failed ? "failure" : "end",
        "call ended: " + of_one_direction(now.last_end.view()));
  if (now.demoted > before.demoted) add(number, unix_ms, "failure", "the watchdog demoted the thread");
}

/// At most once per second, because there may be many.
void Chronicle::tell_losses(Line& line, const LineView& now, std::size_t number, std::int64_t unix_ms) {
  const auto counted = [](std::uint64_t n, std::string_view what, std::string_view more) {
    return fmt::format("{} {}{}{}", n, what, n == 1 ? "" : "s", more);
  };
  if (now.blocks_late > line.late_told)
    add(number, unix_ms, "late", counted(now.blocks_late - line.late_told, "block", " late"));
  line.late_told = now.blocks_late;
  if (now.slips > line.slips_told)
    add(number, unix_ms, "slip", counted(now.slips - line.slips_told, "slip", " of the receiver"));
  line.slips_told = now.slips;
}

void Chronicle::look(std::span<const LineView> lines, std::int64_t unix_ms) {
  const std::int64_t second = unix_ms / 1000;
  const bool next = second != second_;
  second_ = second;
  for (std::size_t k = 0; k < std::min(lines.size(), lines_.size()); ++k) {
    Line& line = lines_[k];
    const LineView& now = lines[k];
    if (line.known) {
      compare(line, now, k, unix_ms);
    } else {
      line.late_told = now.blocks_late;
      line.slips_told = now.slips;
    }
    line.known = true;
    if (next && line.now.unix_ms != 0) {
      line.now.late = now.blocks_late - line.late_told;
      line.samples.push_back(line.now);
      if (line.samples.size() > kSeconds) line.samples.pop_front();
      line.now = {};
    }
    if (next) tell_losses(line, now, k, unix_ms);
    line.now.unix_ms = unix_ms;
    line.now.snr_db = in_data(now) ? now.snr_db : 0;
    line.now.rx_level_dbm0 = has_signal(now) && now.rx_level_dbm0 > kSilenceDbm0 ? now.rx_level_dbm0 : 0;
    line.now.pending = std::max(line.now.pending, now.pending_peak);
    line.now.dispatch_us = std::max(line.now.dispatch_us, now.dispatch_peak_us);
    line.before = now;
  }
}

std::uint64_t Chronicle::recent_late(std::size_t line) const {
  std::uint64_t late = 0, seconds = 0;
  for (auto s = lines_[line].samples.rbegin(); s != lines_[line].samples.rend() && seconds < kRecentSeconds;
       ++s, ++seconds)
    late += s->late;
  return late;
}

Json Chronicle::history(std::size_t line) const {
  Json t = Json::array(), snr = Json::array(), level = Json::array(), pending = Json::array(), dispatch = Json::array(),
       late = Json::array();
  for (const Sample& s : lines_[line].samples) {
    t.push_back(s.unix_ms);
    snr.push_back(known(s.snr_db));
    level.push_back(known(s.rx_level_dbm0));
    pending.push_back(s.pending);
    dispatch.push_back(known(s.dispatch_us));
    late.push_back(s.late);
  }
  return {{"t", t},      {"snr_db", snr}, {"rx_level_dbm0", level}, {"pending", pending}, {"dispatch_us", dispatch},
          {"late", late}};
}

Json Chronicle::events(std::uint64_t after) const {
  Json all = Json::array();
  for (const Event& e : events_)
    if (e.id > after)
      all.push_back({{"id", e.id}, {"t", e.unix_ms}, {"line", e.line}, {"kind", e.kind}, {"text", e.text}});
  return all;
}

}  // namespace offhook::live_page
