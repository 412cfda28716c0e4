// SPDX-License-Identifier: MIT
#include "driver/tty/quick_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "driver/base/file.h"
#include "driver/base/line_reader.h"
#include "driver/base/output.h"

namespace offhook::modem {
namespace {

constexpr std::string_view kHeader =
    "# Offhook: Quick Connect profiles of V.92. Fields: card, role, number, symbol rate, carrier, Ucode of QTS, round "
    "trip\n";
constexpr std::string_view kExpected =
    "CARD, call or answer, NUMBER, 3 to 5, low or high, 0 to 127, samples below 100000, with tabs between them";
constexpr std::size_t kFields = 7;
constexpr unsigned kLeastRate = 3, kMostRate = 5, kMostUcode = 127, kMostRoundTrip = 99'999;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = line.find('\t');
    fields.push_back(line.substr(0, end));
    if (end != std::string_view::npos) line.remove_prefix(end + 1);
  }
  return fields;
}

/// @return whether the whole text is a number in the range
bool read_number(std::string_view text, unsigned least, unsigned most, unsigned* n) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *n);
  return error == std::errc() && end == text.data() + text.size() && *n >= least && *n <= most;
}

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

bool same(const oh_v90_profile& a, const oh_v90_profile& b) {
  return a.upstream_symbol_rate == b.upstream_symbol_rate && a.upstream_high_carrier == b.upstream_high_carrier &&
         a.u_qts == b.u_qts && a.round_trip_samples == b.round_trip_samples;
}

}  // namespace

QuickProfiles::QuickProfiles(std::filesystem::path file) : file_(std::move(file)) {
  if (!std::filesystem::exists(file_)) {
    expect_writable(file_);
    return;
  }
  const std::string text = read_file(file_, kMostTextBytes);
  LineReader lines{text};
  while (const auto line = lines.next()) read_line(*line, lines.number);
  changed_ = false;
}

void QuickProfiles::read_line(std::string_view line, std::size_t number) {
  if (line.empty() || line.front() == '#') return;
  const auto fields = fields_of(line);
  unsigned rate = 0, ucode = 0, round_trip = 0;
  const bool right = fields.size() == kFields && (fields[1] == "call" || fields[1] == "answer") &&
                     read_number(fields[3], kLeastRate, kMostRate, &rate) &&
                     (fields[4] == "low" || fields[4] == "high") && read_number(fields[5], 0, kMostUcode, &ucode) &&
                     read_number(fields[6], 0, kMostRoundTrip, &round_trip);
  if (!right)
    throw std::runtime_error(
        fmt::format("{}:{}: not a Quick Connect profile, expected {}", file_.string(), number, kExpected));
  const Key key{std::string(fields[0]), fields[1] == "call" ? OH_PUMP_CALL : OH_PUMP_ANSWER, std::string(fields[2])};
  store(key, {.upstream_symbol_rate = static_cast<std::uint8_t>(rate),
              .upstream_high_carrier = static_cast<std::uint8_t>(fields[4] == "high" ? 1 : 0),
              .u_qts = static_cast<std::uint8_t>(ucode),
              .reserved = 0,
              .round_trip_samples = round_trip});
}

oh_v90_profile QuickProfiles::find(const Key& key) const {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  return entry == entries_.end() ? oh_v90_profile{} : entry->profile;
}

void QuickProfiles::store(const Key& key, const oh_v90_profile& profile) {
  if (!is_printable(key.card) || !is_printable(key.number) || profile.round_trip_samples > kMostRoundTrip) return;
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (entry != entries_.end()) {
    if (same(entry->profile, profile)) return;
    entry->profile = profile;
  } else {
    if (entries_.size() == kMost) entries_.erase(entries_.begin());
    entries_.push_back({key, profile});
  }
  changed_ = true;
}

void QuickProfiles::save() {
  if (file_.empty() || !changed_) return;
  std::string text(kHeader);
  for (const auto& [key, p] : entries_)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", key.card, key.role == OH_PUMP_CALL ? "call" : "answer",
                        key.number, p.upstream_symbol_rate, p.upstream_high_carrier != 0 ? "high" : "low", p.u_qts,
                        p.round_trip_samples);
  write_file(file_, text, Privacy::kPrivate);
  changed_ = false;
}

}  // namespace offhook::modem
