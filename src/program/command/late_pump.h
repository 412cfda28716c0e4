// SPDX-License-Identifier: MIT
//
// A far modem that still trains when the near one is in data mode (V.90 9.4.1 allows 15 s and five round trips): any
// pump that reports training for some more time. Meanwhile it sends ones and discards its input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "offhook/pump.h"

namespace offhook::command {

/// @tparam kInner  type of the pump
template <const oh_pump_type* (*kInner)()>
class LatePump {
 public:
  /// @param late_s  for every later call, s
  static const oh_pump_type* type(double late_s) {
    static oh_pump_type type;
    late_s_ = late_s;
    type = *kInner();
    type.size = size;
    type.init = init;
    type.process = process;
    type.report_gap = report_gap;
    type.status = status;
    type.hang_up = [](void* self) { kInner()->hang_up(inner(self)); };
    type.release = [](void* self) { kInner()->release(inner(self)); };
    type.advance = oh_pump_advance_each;
    type.hold = nullptr;
    type.allow_hold = nullptr;
    type.note_frames = [](void* self, std::uint32_t good, std::uint32_t bad) {
      oh_pump_note_frames(kInner(), inner(self), good, bad);
    };
    return &type;
  }

 private:
  static constexpr std::size_t kOwn = 64;
  static LatePump& of(void* self) { return *static_cast<LatePump*>(self); }
  static void* inner(void* self) { return static_cast<std::uint8_t*>(self) + kOwn; }

  static std::size_t size(const oh_pump_config* config) {
    const std::size_t n = kInner()->size(config);
    return n == 0 ? 0 : n + kOwn;
  }
  static int init(void* self, const oh_pump_config* config) {
    static_assert(sizeof(LatePump) <= kOwn);
    auto& p = *new (self) LatePump;
    oh_pump_config own = *config;
    const std::uint32_t rate_hz = std::min(config->format.rx.rate_hz, config->format.tx.rate_hz);
    p.left_ = static_cast<std::uint64_t>(late_s_ * rate_hz);
    p.port_ = config->port;
    own.port = {nullptr, nullptr, self, get_bits, put_bits};
    return kInner()->init(inner(self), &own);
  }
  static void process(void* self, const void* rx, void* tx, std::size_t n) {
    kInner()->process(inner(self), rx, tx, n);
    of(self).count(n);
  }
  static void report_gap(void* self, std::size_t n) {
    kInner()->report_gap(inner(self), n);
    of(self).count(n);
  }
  static void status(const void* self, oh_pump_status* s) {
    kInner()->status(static_cast<const std::uint8_t*>(self) + kOwn, s);
    if (s->state != OH_PUMP_DATA || static_cast<const LatePump*>(self)->left_ == 0) return;
    s->state = OH_PUMP_TRAINING;
    s->tx_bit_rate = s->rx_bit_rate = 0;
  }
  static void get_bits(void* self, std::uint8_t* octets, std::size_t n) {
    if (of(self).left_ == 0) return oh_port_get(&of(self).port_, octets, n);
    std::memset(octets, 0xff, (n + 7) / 8);
    if (n % 8 != 0) octets[n / 8] = static_cast<std::uint8_t>((1u << n % 8) - 1);
  }
  static void put_bits(void* self, const std::uint8_t* octets, std::size_t n) {
    if (of(self).left_ == 0) oh_port_put(&of(self).port_, octets, n);
  }
  void count(std::size_t n) {
    oh_pump_status s{};
    kInner()->status(inner(this), &s);
    if (s.state == OH_PUMP_DATA) left_ -= std::min<std::uint64_t>(left_, n);
  }

  static inline double late_s_ = 0;
  std::uint64_t left_ = 0;  // periods in data mode
  oh_bit_port port_{};
};

}  // namespace offhook::command
