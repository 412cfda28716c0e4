// SPDX-License-Identifier: MIT
#include "driver/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace offhook {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLeastBeginning = 3;  // the letters that identify a word

/// Typing errors between the two; kNone if more than half of the letters differ.
std::size_t slips(std::string_view name, std::string_view candidate) {
  const std::size_t distance = edit_distance(name, candidate);
  return 2 * distance <= std::max(name.size(), candidate.size()) ? distance : kNone;
}

/// Twice the typing errors, plus one if only the last part of a key, or its beginning, matches: among equal candidates
/// a whole name comes first.
std::size_t distance_to(std::string_view name, std::string_view candidate) {
  const auto twice = [](std::size_t distance) { return distance == kNone ? kNone : 2 * distance; };
  const std::size_t distance = twice(slips(name, candidate));
  const std::size_t dot = candidate.rfind('.');
  if (name.find('.') != std::string_view::npos || dot == std::string_view::npos) return distance;
  const std::string_view last = candidate.substr(dot + 1);
  const bool begins = name.size() >= kLeastBeginning && last.starts_with(name);
  const std::size_t in_table = twice(begins ? std::min<std::size_t>(slips(name, last), 1) : slips(name, last));
  return std::min(distance, in_table == kNone ? kNone : in_table + 1);
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t least = kNone;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = distance_to(name, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string the_nearest(std::string_view name, std::span<const std::string_view> candidates, std::string_view noun) {
  const std::string_view found = nearest(name, candidates);
  if (found.empty()) return "";
  return fmt::format("; the nearest {}{}is \"{}\"", noun, noun.empty() ? "" : " ", found);
}

}  // namespace offhook
