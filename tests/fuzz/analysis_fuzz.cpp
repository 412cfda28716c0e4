// SPDX-License-Identifier: MIT
//
// Any events, in any order: every figure is made of them, and its JSON has a number or nothing in each place.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/lab/analysis/figures.h"
#include "src/lab/analysis/verdict.h"

using namespace offhook;

namespace {

/// Events of a call with an increasing clock: an input's octets are time steps, not times.
oh_event later(const oh_event& event, std::uint64_t& now_ns) {
  oh_event next = event;
  now_ns += event.time_ns % 1'000'000'000;
  next.time_ns = now_ns;
  return next;
}

void analyse(const std::uint8_t* data, std::size_t size, bool in_order) {
  Analyzer analyzer;
  std::uint64_t now_ns = 0;
  for (std::size_t at = 0; at + sizeof(oh_event) <= size; at += sizeof(oh_event)) {
    oh_event event;
    std::memcpy(&event, data + at, sizeof event);
    event.id %= 4;
    analyzer.add(in_order ? later(event, now_ns) : event);
  }
  const Figures& figures = analyzer.finish();
  if (figures.events != size / sizeof(oh_event)) std::abort();
  const nlohmann::json json = to_json(figures);
  if (nlohmann::json::parse(json.dump()).size() != json.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  analyse(data, size, true);
  analyse(data, size, false);
  return 0;
}
