// SPDX-License-Identifier: MIT
//
// Recorded calls for tests. They are not part of the project: NEEDS_RECORDINGS() skips where they are absent.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/decode/call/call.h"
#include "src/decode/presentation/json.h"
#include "tests/recordings.h"

#define NEEDS_RECORDINGS() \
  if (const std::string lacks = absent_call(); !lacks.empty()) GTEST_SKIP() << lacks << " is not on this machine"

namespace offhook::decode {

using Json = nlohmann::ordered_json;

inline const std::filesystem::path kCalls = recordings() / "calls";

/// @return truth.json, or the first recording that it names, where that is not on this machine; empty: all are
inline std::string absent_call() {
  if (std::string truth = absent(kCalls, {"truth.json"}); !truth.empty()) return truth;
  const Json all = Json::parse(std::ifstream(kCalls / "truth.json"));
  std::vector<std::string> files;
  for (const auto& [file, call] : all.items()) files.push_back(file);
  return absent(kCalls, files);
}

/// A call of kCalls, decoded once for all the tests.
inline const Json& own(const std::string& file) {
  static std::map<std::string, Json> done;
  const auto [at, fresh] = done.try_emplace(file);
  if (fresh) at->second = json_of(analyse(read_recording(kCalls / file)));
  return at->second;
}

/// From `from_s` on, to `to_s` or the end.
inline Recording cut(const std::string& file, double from_s, double to_s = 1e9) {
  Recording r = read_recording(kCalls / file);
  for (std::vector<float>& x : r.channel) {
    const auto at = [&](double s) {
      return x.begin() + static_cast<long>(std::min(s * kRateHz, static_cast<double>(x.size())));
    };
    x = std::vector<float>(at(from_s), at(to_s));
  }
  r.duration_s = seconds(r.channel[0].size());
  return r;
}

/// One channel with both directions, `answer_gain` on channel 1.
inline Recording mixed(const std::string& file, float answer_gain) {
  Recording r = read_recording(kCalls / file);
  for (std::size_t i = 0; i < r.channel[0].size(); ++i) r.channel[0][i] += answer_gain * r.channel[1][i];
  r.channel.resize(1);
  return r;
}

}  // namespace offhook::decode
