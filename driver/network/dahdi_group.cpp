// SPDX-License-Identifier: MIT
#include "driver/network/dahdi_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>

#include "driver/base/printable.h"
#include "driver/network/internet_address.h"

namespace offhook {
namespace {

constexpr int kMostChannels = 1024;  // larger than any span

/// @return 0 if it is not a number from 1 to kMostChannels
int number_of(std::string_view text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() && n <= kMostChannels ? std::max(n, 0) : 0;
}

/// In ascending order, from the names of the device files.
std::vector<int> channels_of(int span, const std::string& folder) {
  std::vector<int> all;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("{}/{:03}", folder, span), none))
    if (const int channel = number_of(entry.path().filename().string()); channel > 0) all.push_back(channel);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::vector<DahdiGroupChannel> parse_dahdi_group(std::string_view place, const std::string& folder) {
  const CardPlace parts = card_place(place);
  const auto refuse = [&] {
    throw std::runtime_error(
        fmt::format("dahdi:{}: expected a span or channels of a span: dahdi:1, dahdi:1/3 or dahdi:1/1-15,1/17-31",
                    printable(place)));
  };
  std::string options;
  for (const CardOption& option : parts.options) options += fmt::format(",{}={}", option.name, option.value);
  std::vector<DahdiGroupChannel> all;
  const auto add = [&](int span, int channel, bool whole) {
    DahdiConfig config = parse_dahdi_place(fmt::format("{}/{}{}", span, channel, options));
    const auto same = [&config](const DahdiGroupChannel& c) { return c.config.device == config.device; };
    if (std::any_of(all.begin(), all.end(), same))
      throw std::runtime_error(fmt::format("dahdi:{}: channel {}/{} comes twice", printable(place), span, channel));
    all.push_back({std::move(config), whole});
  };
  for (const std::string_view word : parts.words) {
    const std::size_t slash = word.find('/');
    const int span = number_of(word.substr(0, slash));
    if (span == 0) refuse();
    if (slash == std::string_view::npos) {
      const std::vector<int> channels = channels_of(span, folder);
      if (channels.empty())
        throw std::runtime_error(
            fmt::format("dahdi:{}: {} has no channels of span {}", printable(place), folder, span));
      for (const int channel : channels) add(span, channel, true);
      continue;
    }
    const std::string_view range = word.substr(slash + 1);
    const std::size_t dash = range.find('-');
    const int first = number_of(range.substr(0, dash));
    const int last = dash == std::string_view::npos ? first : number_of(range.substr(dash + 1));
    if (first == 0 || last < first) refuse();
    for (int channel = first; channel <= last; ++channel) add(span, channel, false);
  }
  if (all.empty()) refuse();
  return all;
}

}  // namespace offhook
