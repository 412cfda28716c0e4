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
  std::string_view metric;  ///< after "offhook_"; empty: none. A counter ends with "_total"
  std::string_view labels;  ///< such as direction="sent"; empty: only the line's
  std::string_view unit, what;
  bool of_calls;                                  ///< a device has none
  std::optional<double> (*get)(const LineView&);  ///< nothing: not known now
  double scale = 1;                               ///< of the metric, which has base units
};
std::span<const Value> values();

/// "requested here", "by the far end", ... by enum oh_retrain_cause
std::string_view cause_text(std::size_t cause);

enum class Points : bool { kWithout, kWith };
/// One line: {"line": 0, "name": ..., "phase": ..., "snr_db": ..., "retrain_causes": {...}, "network": {...}}. Values
/// that are not known are null. Texts are any bytes; invalid UTF-8 is replaced.
nlohmann::ordered_json line_json(const LineView& view, std::size_t line, Points points);
/// The points [from, symbols) that are still kept: [re, im, re, im, ...] in units of 1/4096.
nlohmann::ordered_json points_json(const LineView& view, std::uint64_t from);

/// `/metrics`: the text format 0.0.4 of Prometheus. @param clients  pages that are open
std::string metrics_text(std::span<const LineView> lines, std::uint32_t clients);

}  // namespace offhook::live_page
