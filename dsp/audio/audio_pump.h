// SPDX-License-Identifier: MIT
//
// The pumps of dsp/audio/pump.h, for any complex transform.
#pragma once

#include <new>

#include "dsp/audio/convolver.h"
#include "dsp/audio/equaliser.h"
#include "dsp/audio/pump.h"
#include "dsp/audio/room.h"
#include "dsp/pump/pump_type.h"

namespace offhook::audio {

inline constexpr oh_pump_format kFormats[] = {{{48'000, OH_LINEAR16}, {48'000, OH_LINEAR16}},
                                              {{96'000, OH_LINEAR16}, {96'000, OH_LINEAR16}}};

/// The nearest sample of a card, limited to its range.
inline int16_t rounded(float x) {
  return clip(x < 0 ? x - 0.5f : x + 0.5f);
}

struct Response {
  float taps[Convolver::kMostTaps];
  Response() { room_response(taps, Convolver::kMostTaps); }
};

/// The calling end.
class Room {
 public:
  /// @param response  in memory that is not used otherwise after init
  Room(int partition, uint32_t rate_hz, const Response& response, const oh_fft_ops& fft)
      : convolver_(partition, response.taps, Convolver::kMostTaps, fft), equaliser_(kGainsDb, rate_hz) {}

  int16_t process(int16_t x) {
    const int16_t y = sent_[at_];
    received_[at_] = x;
    if (++at_ == convolver_.partition()) compute();
    return y;
  }
  bool metric(uint32_t index, oh_metric* m) const {
    if (index == 0) *m = {"partitions computed", "", static_cast<double>(computed_)};
    if (index == 1) *m = {"samples clipped", "", static_cast<double>(clipped_)};
    return index < 2;
  }

 private:
  void compute() {
    const int n = convolver_.partition();
    at_ = 0;
    ++computed_;
    for (int k = 0; k < n; ++k) work_[k] = received_[k];
    convolver_.process(work_, work_);
    equaliser_.process(work_, n);
    for (int k = 0; k < n; ++k) {
      sent_[k] = rounded(work_[k]);
      clipped_ += work_[k] > INT16_MAX || work_[k] < INT16_MIN;
    }
  }
  Convolver convolver_;
  Equaliser equaliser_;
  int at_ = 0;
  uint64_t computed_ = 0, clipped_ = 0;
  int16_t received_[Convolver::kMost], sent_[Convolver::kMost] = {};
  float work_[Convolver::kMost];
};

/// The answering end.
class Player {
 public:
  int16_t process(int16_t x) {
    square_ += static_cast<float>(x) * static_cast<float>(x);
    ++samples_;
    return static_cast<int16_t>(kPeak * noise_.next());
  }
  bool metric(uint32_t index, oh_metric* m) const {
    const double mean = samples_ > 0 ? square_ / static_cast<double>(samples_) : 0;
    if (index == 0) *m = {"level received", "dB of full scale", power_db(mean) - power_db(kFullScale * kFullScale)};
    return index == 0;
  }

 private:
  static constexpr float kPeak = 4000;  // 23 dB below full scale
  static constexpr double kFullScale = 32768;
  Noise noise_{2};
  double square_ = 0;
  uint64_t samples_ = 0;
};

/// One end, depending on its role.
struct Audio {
  Audio(int partition, const oh_pump_config& c, const Response& response, const oh_fft_ops& fft) : role(c.role) {
    if (role == OH_PUMP_CALL) {
      new (&room) Room(partition, c.format.rx.rate_hz, response, fft);
    } else {
      new (&player) Player;
    }
  }
  ~Audio() {
    if (role == OH_PUMP_CALL) room.~Room();
  }
  int16_t process(int16_t x) {
    ++samples;
    return role == OH_PUMP_CALL ? room.process(x) : player.process(x);
  }
  oh_pump_role role;
  uint64_t samples = 0, lost = 0;
  union {
    Room room;
    Player player;
  };
};

/// The pump's memory. Only init needs the response.
struct Memory {
  Memory(int partition, const oh_pump_config& c, const oh_fft_ops& fft) : audio(partition, c, response, fft) {}
  Response response;
  Audio audio;
};

inline Audio& of(void* self) {
  return static_cast<Memory*>(self)->audio;
}
inline const Audio& of(const void* self) {
  return static_cast<const Memory*>(self)->audio;
}

inline size_t size(const oh_pump_config* c) {
  if (c == nullptr || c->struct_size != sizeof *c || (c->role != OH_PUMP_CALL && c->role != OH_PUMP_ANSWER)) return 0;
  for (const oh_pump_format& format : kFormats) {
    if (same_format(format, c->format)) return (sizeof(Memory) + 63) / 64 * 64;
  }
  return 0;
}

/// A transform: the address of its operations.
using Fft = const oh_fft_ops* (*)();

template <int kPartition, Fft kFft>
int init(void* self, const oh_pump_config* c) {
  constexpr int kInvalid = -22;  // -EINVAL, without an OS header
  if (self == nullptr || size(c) == 0) return kInvalid;
  new (self) Memory(kPartition, *c, *kFft());
  return 0;
}

inline void process(void* self, const void* rx, void* tx, size_t n) {
  const auto* in = static_cast<const int16_t*>(rx);
  auto* out = static_cast<int16_t*>(tx);
  for (size_t i = 0; i < n; ++i) out[i] = of(self).process(in[i]);
}

inline void report_gap(void* self, size_t n) {
  of(self).lost += n;
  for (size_t i = 0; i < n; ++i) of(self).process(0);
}

inline void status(const void* self, oh_pump_status* s) {
  oh_pump_status all{};
  all.struct_size = sizeof all;
  all.state = OH_PUMP_DATA;
  all.samples = of(self).samples;
  all.filled_in = of(self).lost;
  give_status(all, s);
}

inline int metric(const void* self, uint32_t index, oh_metric* m) {
  const Audio& audio = of(self);
  return (audio.role == OH_PUMP_CALL ? audio.room.metric(index, m) : audio.player.metric(index, m)) ? 0 : -22;
}

template <int kPartition, Fft kFft>
constexpr oh_pump_type named(const char* name) {
  return {.format_count = 2,
          .name = name,
          .formats = kFormats,
          .roles = kBothRoles,
          .fpu = OH_OPERATION_INIT | OH_OPERATION_PROCESS | OH_OPERATION_FILL_IN,
          .longest_step = kPartition * 3 / 2,  // a call may complete one partition more than its samples fill
          .size = size,
          .init = init<kPartition, kFft>,
          .process = process,
          .report_gap = report_gap,
          .status = status,
          .hang_up = [](void*) {},
          .release = [](void* self) { static_cast<Memory*>(self)->~Memory(); },
          .advance = oh_pump_advance_each,
          .metric = metric};
}

/// @param types  one for each partition, the smallest first  @return NULL for any other partition
template <size_t kCount>
const oh_pump_type* type_of(const oh_pump_type (&types)[kCount], uint32_t partition) {
  uint32_t of_row = Convolver::kLeast;
  for (const oh_pump_type& type : types) {
    if (of_row == partition) return &type;
    of_row *= 2;
  }
  return nullptr;
}

}  // namespace offhook::audio
