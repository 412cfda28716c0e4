// SPDX-License-Identifier: MIT
#include "driver/session/live_bank.h"

#include <algorithm>

namespace offhook {

LiveBank::LiveBank(const oh_pump_type& type, const std::vector<Channel>& channels, const LiveDriverConfig& config)
    : type_(type), context_(config.context, [this] { return serve(); }) {
  begun_.reserve(channels.size());
  for (auto* pointers : {&self_, &tx_}) pointers->resize(channels.size());
  rx_.resize(channels.size());
  for (const Channel& channel : channels) {
    lines_.push_back(std::make_unique<Line>());
    Line& line = *lines_.back();
    line.pump = channel.pump;
    line.type = &type;
    LiveDriverConfig own = config;
    init_driver(*channel.card, {defer, report_gap, &line}, requests_later(), &own, &line.driver, &line.staging);
  }
  context_.start();
  for (const Channel& channel : channels) channel.card->start();
}

// An interrupt by itself requests nothing.
oh_context LiveBank::requests_later() {
  static constexpr oh_context_ops kOps = {
      sizeof(oh_context_ops), [](void*) { return 0; }, [](void*) {}, [](void*) {}, nullptr, nullptr, nullptr};
  return {&kOps, nullptr};
}

// Passed to the driver as its pump: records the work between the beginning of the service and the output.
void LiveBank::defer(void* self, const void* rx, void* tx, std::size_t n) {
  auto* line = static_cast<Line*>(self);
  line->rx = rx;
  line->tx = tx;
  line->n = n;
}

void LiveBank::report_gap(void* self, std::size_t n) {
  auto* line = static_cast<Line*>(self);
  line->type->report_gap(line->pump, n);
}

std::uint32_t LiveBank::serve() {
  std::uint32_t chunks = 0;
  for (std::size_t first = 0; first < lines_.size(); first += kTogether)
    chunks += serve(std::span(lines_).subspan(first, std::min(kTogether, lines_.size() - first)));
  if (asked_.load(std::memory_order_relaxed)) {
    asked_.store(false, std::memory_order_relaxed);
    count_data_mode();
  }
  return chunks;
}

void LiveBank::count_data_mode() {
  std::size_t in_data = 0;
  for (const auto& line : lines_) {
    oh_pump_status status{};
    type_.status(line->pump, &status);
    in_data += status.state == OH_PUMP_DATA;
  }
  in_data_mode_.store(in_data, std::memory_order_relaxed);
}

std::uint32_t LiveBank::serve(std::span<std::unique_ptr<Line>> part) {
  std::uint32_t chunks = 0;
  for (auto& line : part) line->more = true;
  for (;;) {
    begun_.clear();
    for (auto& line : part) {
      if (!line->more) continue;
      line->more = oh_driver_service_begin(&line->driver) > 0;
      if (line->more) begun_.push_back(line.get());
    }
    if (begun_.empty()) return chunks;
    advance();
    for (Line* line : begun_) oh_driver_service_output(&line->driver);
    for (Line* line : begun_) line->more = oh_driver_service_end(&line->driver) != 0;
    chunks += static_cast<std::uint32_t>(begun_.size());
  }
}

// Processes together all pumps that need the same number of samples.
void LiveBank::advance() {
  for (Line* first : begun_) {
    const std::size_t n = first->n;
    if (n == 0) continue;
    std::size_t count = 0;
    for (Line* line : begun_) {
      if (line->n != n) continue;
      self_[count] = line->pump;
      rx_[count] = line->rx;
      tx_[count++] = line->tx;
      line->n = 0;
    }
    type_.advance(&type_, self_.data(), rx_.data(), tx_.data(), count, n);
  }
}

}  // namespace offhook
