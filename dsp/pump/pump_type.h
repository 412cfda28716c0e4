// SPDX-License-Identifier: MIT
//
// The pump contract (offhook/pump.h) as C++ classes fulfil it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <new>

#include "offhook/pump.h"

namespace offhook {

/// Linear samples at 8000 Hz in both directions: the format of modems of the telephone network.
inline constexpr oh_pump_format kLinear8000 = {{8000, OH_LINEAR16}, {8000, OH_LINEAR16}};

/// The format of an analogue modem of V.90: it receives twice the samples that it sends.
inline constexpr oh_pump_format kLinear16000To8000 = {{16000, OH_LINEAR16}, {8000, OH_LINEAR16}};
/// The network's octets.
inline constexpr oh_pump_format kMuLaw8000 = {{8000, OH_MULAW}, {8000, OH_MULAW}};
inline constexpr oh_pump_format kALaw8000 = {{8000, OH_ALAW}, {8000, OH_ALAW}};

constexpr bool same_format(const oh_sample_format& a, const oh_sample_format& b) {
  return a.rate_hz == b.rate_hz && a.encoding == b.encoding;
}
constexpr bool same_format(const oh_pump_format& a, const oh_pump_format& b) {
  return same_format(a.rx, b.rx) && same_format(a.tx, b.tx);
}
/// Whether the format is one of the type's.
inline bool takes(const oh_pump_type& type, const oh_pump_format& format) {
  for (uint32_t k = 0; k < type.format_count; ++k) {
    if (same_format(type.formats[k], format)) return true;
  }
  return false;
}

inline constexpr uint32_t kBothRoles = 1u << OH_PUMP_CALL | 1u << OH_PUMP_ANSWER;
inline constexpr uint32_t kEveryOperation = OH_OPERATION_INIT | OH_OPERATION_PROCESS | OH_OPERATION_FILL_IN |
                                            OH_OPERATION_STATUS | OH_OPERATION_HANG_UP | OH_OPERATION_HOLD;

/// Requirements of every modem of the telephone network on its configuration: a known size, a format and a role of its
/// type, -48 to -3 dBm0, a complete bit port, a defined guard tone, and at least `least_bit_rate` if any.
inline bool is_possible(const oh_pump_config* c, uint32_t least_bit_rate) {
  return c != nullptr && c->struct_size == sizeof *c && same_format(c->format, kLinear8000) &&
         (c->role == OH_PUMP_CALL || c->role == OH_PUMP_ANSWER) &&
         (c->max_bit_rate == 0 || c->max_bit_rate >= least_bit_rate) && c->tx_level_dbm0 >= -48.0f &&
         c->tx_level_dbm0 <= -3.0f && oh_port_is_whole(&c->port) &&
         (c->guard_tone_hz == 0 || c->guard_tone_hz == 550 || c->guard_tone_hz == 1800);
}

/// The members of the configuration's observer that both sides know; all null if there is none.
inline oh_pump_observer observer_of(const oh_pump_config& c) {
  oh_pump_observer o{};
  if (c.observer == nullptr) return o;
  const uint32_t known = c.observer->struct_size < sizeof o ? c.observer->struct_size : sizeof o;
  __builtin_memcpy(&o, c.observer, known);
  return o;
}

/// The part of `all` for which the caller's status has room.
inline void give_status(const oh_pump_status& all, oh_pump_status* s) {
  const uint32_t room = s->struct_size;
  __builtin_memcpy(s, &all, room < sizeof all ? room : sizeof all);
  s->struct_size = room;
}

/// The operations for a driver of any object with process(const int16_t* rx, int16_t* tx, size_t n) and
/// report_gap(size_t n).
template <class P>
oh_pump pump_of(P& pump) {
  return {[](void* self, const void* rx, void* tx, size_t n) {
            static_cast<P*>(self)->process(static_cast<const int16_t*>(rx), static_cast<int16_t*>(tx), n);
          },
          [](void* self, size_t n) { static_cast<P*>(self)->report_gap(n); }, &pump};
}

/// Samples of 8000 Hz between card and line, both directions together: 400 ms, which is more than sound cards queue.
/// From 40 ms (V.34) or 27 ms (V.32bis) on, reversals are answered later than required, and the far end adds the excess
/// to its round trip.
inline constexpr uint32_t kMostIoDelay = 3200;

/// An odd number of whole cache lines of 64 octets. Equal members of neighbouring states in
/// an array then use different sets of the cache.
constexpr size_t state_size(size_t bytes) {
  return ((bytes + 63) / 64 | 1) * 64;
}

/// The type of a pump that is one `Modem`: constructed from an oh_pump_config, int16_t process(int16_t) per sample,
/// lost() for a lost sample, status(oh_pump_status*), hang_up(), kLeastBitRate and kLongestStep. It needs no
/// destructor. The delay between card and line may be up to kMostIoDelay. Real-time: as Modem is.
template <class Modem>
struct ModemType {
  static Modem& of(void* self) { return *static_cast<Modem*>(self); }

  static size_t size(const oh_pump_config* config) {
    return is_possible(config, Modem::kLeastBitRate) && config->io_delay_samples <= kMostIoDelay
               ? state_size(sizeof(Modem))
               : 0;
  }
  static int init(void* self, const oh_pump_config* config) {
    constexpr int kInvalid = -22;  // -EINVAL, without an OS header
    if (self == nullptr || size(config) == 0) return kInvalid;
    new (self) Modem(*config);
    return 0;
  }
  static void process(void* self, const void* rx, void* tx, size_t n) {
    const auto* in = static_cast<const int16_t*>(rx);
    auto* out = static_cast<int16_t*>(tx);
    for (size_t i = 0; i < n; ++i) out[i] = of(self).process(in[i]);
  }
  static void report_gap(void* self, size_t n) {
    for (size_t i = 0; i < n; ++i) of(self).lost();
  }
  static void status(const void* self, oh_pump_status* s) {
    oh_pump_status all;
    static_cast<const Modem*>(self)->status(&all);
    give_status(all, s);
  }

  /// @param name  of the pump; not copied
  static constexpr oh_pump_type named(const char* name) {
    return {.format_count = 1,
            .name = name,
            .formats = &kLinear8000,
            .roles = kBothRoles,
            .fpu = kEveryOperation,
            .longest_step = Modem::kLongestStep,
            .size = size,
            .init = init,
            .process = process,
            .report_gap = report_gap,
            .status = status,
            .hang_up = [](void* self) { of(self).hang_up(); },
            .release = [](void*) {},
            .advance = oh_pump_advance_each};
  }
};

}  // namespace offhook
