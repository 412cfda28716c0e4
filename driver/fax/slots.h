// SPDX-License-Identifier: MIT
//
// The messages between the two halves of a fax machine, and the ring that carries them from one thread to another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace offhook::fax {

/// A signal that a fax machine sends or receives.
enum class Signal : std::uint8_t { kNone, kPause, kCed, kCng, kV21, kV27ter, kV29, kV17, kV34 };

constexpr bool is_page_signal(Signal s) {
  return s >= Signal::kV27ter;
}

/// Name of a signal of pages, for people; empty: of another signal.
constexpr std::string_view modulation_name(Signal signal) {
  constexpr std::array<std::string_view, 4> kNames = {"V.27ter", "V.29", "V.17", "V.34"};
  return is_page_signal(signal) ? kNames[static_cast<std::size_t>(signal) - static_cast<std::size_t>(Signal::kV27ter)]
                                : "";
}

/// Kinds of messages: orders and data go from T.30 to the modems, reports come back.
enum class Kind : std::uint8_t {
  kSend,         ///< order: send `signal`; for kPause, `value` is its length in ms
  kReceive,      ///< order: receive `signal`; for kPause, report a silence of `value` ms
  kDropFrames,   ///< order: forget the frames of the present signal
  kFrame,        ///< a frame of HDLC without its check sequence; received: `value` is 1 if the check was good, and
                 ///< the two octets of the check follow the frame's
  kEndOfFrames,  ///< no more frames: the signal ends after the last one
  kBits,         ///< `value` bits, the first in time in the least significant place
  kEndOfBits,    ///< the signal ends
  kTaken,        ///< report: the modem has taken a frame from the ring
  kSent,         ///< report: the signal has ended
  kFrameStatus,  ///< report: `value` is a negative status of spandsp, of a receiver of frames
  kBitStatus,    ///< report: the same, of a receiver of bits
  kSilent,       ///< report: the awaited silence was detected
  kV34           ///< report: V.34 half duplex carries the call; `value` is the bit rate of its primary channel
};

struct Message {
  static constexpr std::size_t kMostOctets = 400;  ///< the longest frame that spandsp receives
  Kind kind{};
  Signal signal{};
  bool short_training = false, frames = false;
  bool at_once = false;     ///< kSend: without the pause before a signal of data
  bool ones_first = false;  ///< kSend: ones are sent until the first bit of data arrives; they are not counted
  std::uint8_t turn = 0;    ///< counts kSend or kReceive; a message of an earlier turn is stale
  std::uint16_t length = 0;
  std::int32_t value = 0;
  std::array<std::uint8_t, kMostOctets + 2> octets;
};

/// Whether turn `a` comes after turn `b`.
constexpr bool is_later(std::uint8_t a, std::uint8_t b) {
  return static_cast<std::int8_t>(static_cast<std::uint8_t>(a - b)) > 0;
}

/// Slots from one writer to one reader. Neither waits. Real-time: yes.
template <std::size_t kSlots, class Slot = Message>
class SlotRing {
  static_assert((kSlots & (kSlots - 1)) == 0);

 public:
  /// @return the slot to fill before push(), or null if the ring is full. The writer's.
  Slot* free_slot() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    return head - tail_.load(std::memory_order_acquire) < kSlots ? &slots_[head % kSlots] : nullptr;
  }
  void push() { head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  /// @return the oldest message, which stays until pop(), or null. The reader's.
  const Slot* front() const {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    return tail == head_.load(std::memory_order_acquire) ? nullptr : &slots_[tail % kSlots];
  }
  void pop() { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  std::size_t size() const { return head_.load(std::memory_order_acquire) - tail_.load(std::memory_order_acquire); }

 private:
  std::array<Slot, kSlots> slots_;
  std::atomic<std::size_t> head_{0}, tail_{0};
};

using OrderRing = SlotRing<16>;
/// 64 blocks of 20 ms: T.30 may stall for more than a second before a report is lost.
using ReportRing = SlotRing<64>;
using DataRing = SlotRing<32>;

/// The rings of a pump, for its owner's thread.
struct Rings {
  OrderRing* orders;                          ///< owner to pump: kSend, kReceive, kDropFrames
  DataRing* data;                             ///< owner to pump: kFrame, kEndOfFrames, kBits, kEndOfBits
  ReportRing* reports;                        ///< pump to owner
  const std::atomic<std::uint64_t>* samples;  ///< processed and lost: the clock of T.30
};

/// @return a report to fill before push(), without octets, or null if the ring is full. The writer's.
inline Message* new_report(ReportRing& ring, Kind kind, std::uint8_t turn, std::int32_t value) {
  Message* m = ring.free_slot();
  if (m == nullptr) return nullptr;
  m->kind = kind;
  m->turn = turn;
  m->value = value;
  m->length = 0;
  return m;
}

/// The oldest message of data that belongs to the signal being sent, or null; stale ones are dropped. The reader's.
inline const Message* data_of_turn(DataRing& ring, std::uint8_t turn) {
  while (const Message* m = ring.front()) {
    if (m->turn == turn) return m;
    if (is_later(m->turn, turn)) return nullptr;
    ring.pop();
  }
  return nullptr;
}

}  // namespace offhook::fax
