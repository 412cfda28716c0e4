// SPDX-License-Identifier: MIT
#include "src/decode/presentation/calls_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/decode/call/call.h"
#include "src/decode/call/verdict.h"
#include "src/page/page.h"

namespace offhook::decode {
namespace {

constexpr std::array kDirections = {"direction_1", "direction_2"};

using Json = nlohmann::ordered_json;

double to_ms(double s) {
  return std::round(s * 1000) / 1000;
}

Json empty_row(std::string_view recording) {
  Json row = {{"recording", recording}, {"call", nullptr},     {"start_s", nullptr},
              {"duration_s", nullptr},  {"technology", ""},    {"probability", nullptr},
              {"next_best", ""},        {"retrains", nullptr}, {"rate_renegotiations", nullptr},
              {"cleardowns", nullptr}};
  for (const char* direction : kDirections)
    row[direction] = {
        {"name", ""}, {"bit_rate", nullptr}, {"data", ""}, {"good_frames", nullptr}, {"bad_frames", nullptr}};
  for (const char* key : {"signals", "evidence", "page", "error"}) row[key] = "";
  return row;
}

std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return html_escape(value.get<std::string>());
  return value.is_number_float() ? fmt::format("{:.1f}", value.get<double>()) : value.dump();
}

// "33600 bit/s, data decoded to the end" of each direction.
std::string directions_text(const Json& row) {
  std::string out;
  for (const char* key : kDirections) {
    const Json& d = row.at(key);
    if (text_of(d.at("name")).empty()) continue;
    if (!out.empty()) out += "<br>";
    out += text_of(d.at("name")) + ": " +
           (d.at("bit_rate").is_null() ? "rate not decoded" : text_of(d.at("bit_rate")) + " bit/s") + "; " +
           text_of(d.at("data"));
  }
  return out;
}

std::string html_row(const Json& row) {
  const std::string name = text_of(row.at("recording")), page = text_of(row.at("page"));
  const bool failed = !text_of(row.at("error")).empty();
  std::string out = failed ? "<tr class=\"error\">" : "<tr>";
  out += "<td>" + (page.empty() ? name : "<a href=\"" + page + "\">" + name + "</a>") + "</td>";
  for (const char* key : {"call", "start_s", "duration_s"})
    out += "<td class=\"number\">" + text_of(row.at(key)) + "</td>";
  const Json& probability = row.at("probability");
  out += "<td>" + text_of(row.at(failed ? "error" : "technology")) +
         (probability.is_null() ? std::string() : fmt::format(" ({:.0f} %)", 100 * probability.get<double>())) +
         "</td><td>" + directions_text(row) + "</td>";
  out +=
      "<td class=\"number\">" + text_of(row.at("retrains")) + "</td><td>" + text_of(row.at("signals")) + "</td></tr>\n";
  return out;
}

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Decoded calls - Offhook</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #8886; padding: .3em .7em; text-align: left; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.error { color: #c33; }
</style></head><body>
)";

}  // namespace

Json table_row(const Call& call, std::string_view recording, std::string_view page) {
  const Verdict v = verdict_of(call);
  Json row = empty_row(recording);
  row["call"] = call.recording.call > 0 ? call.recording.call : 1;
  row["start_s"] = to_ms(call.recording.start_s);
  row["duration_s"] = to_ms(call.recording.duration_s);
  row["technology"] = v.technology;
  if (v.weight.kind != EvidenceKind::kNone) {
    row["probability"] = std::round(v.weight.probability * 1000) / 1000;
    row["next_best"] = v.weight.next_best;
  }
  row["retrains"] = v.retrains;
  row["rate_renegotiations"] = v.renegotiations;
  row["cleardowns"] = v.cleardowns;
  for (std::size_t k = 0; k < std::min(v.directions.size(), kDirections.size()); ++k) {
    const Verdict::Direction& d = v.directions[k];
    Json& one = row[kDirections[k]];
    one["name"] = d.name;
    if (d.bit_rate > 0) one["bit_rate"] = d.bit_rate;
    one["data"] = describe(d);
    one["good_frames"] = d.good_frames;
    one["bad_frames"] = d.bad_frames;
  }
  std::vector<std::string> signals;
  for (const CallSignal& s : call.signals) signals.push_back(s.detail.empty() ? s.name : s.name + " " + s.detail);
  row["signals"] = fmt::format("{}", fmt::join(signals, ", "));
  row["evidence"] = fmt::format("{}", fmt::join(v.evidence, "; "));
  row["page"] = page;
  return row;
}

Json table_row_of_error(std::string_view recording, std::string_view error) {
  Json row = empty_row(recording);
  row["error"] = error;
  return row;
}

std::string index_page(const Json& rows) {
  std::size_t calls = 0, errors = 0;
  for (const Json& row : rows) ++(row.at("call").is_null() ? errors : calls);
  std::string out(kHead);
  out += fmt::format("<h1>Decoded calls</h1>\n<p>{} {}{}</p>\n", calls, calls == 1 ? "call" : "calls",
                     errors > 0 ? fmt::format(", {} not decoded", errors) : std::string());
  out +=
      "<table><thead><tr><th>recording</th><th>call</th><th>from s</th><th>length s</th><th>verdict</th>"
      "<th>directions</th><th>retrains</th><th>signals</th></tr></thead><tbody>\n";
  for (const Json& row : rows) out += html_row(row);
  return out + "</tbody></table></body></html>\n";
}

}  // namespace offhook::decode
