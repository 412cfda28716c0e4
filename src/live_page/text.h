// SPDX-License-Identifier: MIT
//
// The state of the lines as text: JSON for the page and for programs, metrics for Prometheus. One table names each
// value once (docs/live-page.md has it, and a test compares).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/live_page/view.h"

namespace offhook::live_page {

struct Value {
  std::string_view key;     ///< in JSON
  std::string_view metric;  ///< follows "offhook_"; empty: none. The name of a counter ends with "_total"
  std::string_view labels;  ///< label, such as direction="sent"; empty: only that of the line
  std::string_view unit, what;
  bool of_calls;                                  ///< a device has none
  std::optional<double> (*get)(const LineView&);  ///< nothing if it is unknown now
  double scale = 1;                               ///< unit of the metric, which is a base unit
};
std::span<const Value> values();

/// "requested here", "by the far end", ... by enum oh_retrain_cause
std::string_view cause_text(std::size_t cause);

enum class Points : bool { kWithout, kWith };
/// One line: {"line": 0, "name": ..., "phase": ..., "snr_db": ..., "retrain_causes": {...}, "network": {...}}. Unknown
/// values are null. Texts may contain any bytes; invalid UTF-8 is replaced.
nlohmann::ordered_json line_json(const LineView& view, std::size_t line, Points points);
/// The points [from, symbols) that are still kept: [re, im, re, im, ...] in units of 1/4096.
nlohmann::ordered_json points_json(const LineView& view, std::uint64_t from);

/// `/metrics`: the text format 0.0.4 of Prometheus. @param clients  number of open pages
std::string metrics_text(std::span<const LineView> lines, std::uint32_t clients);

}  // namespace offhook::live_page
