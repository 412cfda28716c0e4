// SPDX-License-Identifier: MIT
#include "driver/network/jitter_buffer.h"

#include <algorithm>
#include <cstdlib>

namespace offhook {

JitterBuffer::JitterBuffer(std::uint32_t depth_samples) : depth_(depth_samples) {}

void JitterBuffer::restart(std::uint16_t sequence, std::uint32_t timestamp) {
  if (started_) ++counters_.restarts;
  started_ = true;
  lost_before_ = counters_.lost;
  unique_ = 0;
  counters_.highest = first_sequence_ = 0x10000u | sequence;  // room for packets that arrive before it
  seen_.reset();
  newest_ = begin_ = timestamp;
  newest_payload_ = 0;
  read_ = newest_ - depth_;
  present_.fill(false);
  late_in_a_row_ = 0;
  restart_sequence_ = 1 << 16;
  look_at_ = taken_ + kRegular;
  looked_packets_ = looked_late_ = 0;
  has_first_look_ = false;
}

/// @return whether the packet is new
bool JitterBuffer::note_sequence(std::uint16_t sequence) {
  const auto ahead = static_cast<std::int16_t>(sequence - static_cast<std::uint16_t>(counters_.highest));
  if (ahead > 0) {
    for (int k = 1; k <= ahead; ++k) seen_.reset((counters_.highest + static_cast<std::uint32_t>(k)) % kWindow);
    counters_.highest += static_cast<std::uint32_t>(ahead);
  } else {
    if (seen_.test(sequence % kWindow)) {
      ++counters_.duplicates;
      return false;
    }
    if (unique_ > 0) ++counters_.reordered;
    const std::uint32_t extended = counters_.highest - static_cast<std::uint32_t>(-ahead);
    first_sequence_ = std::min(first_sequence_, extended);
  }
  seen_.set(sequence % kWindow);
  ++unique_;
  ++counters_.received;
  counters_.lost = lost_before_ + (counters_.highest - first_sequence_ + 1 - unique_);
  return true;
}

void JitterBuffer::slip_to(std::int64_t read) {
  ++counters_.slips;
  counters_.slipped_samples += read - read_;
  for (std::int64_t at = read_; at < read && at < read_ + kCapacity; ++at) present(at) = false;
  read_ = read;
  late_in_a_row_ = 0;
}

void JitterBuffer::put(std::uint16_t sequence, std::uint32_t timestamp, std::span<const std::uint8_t> payload) {
  if (payload.empty() || payload.size() > kCapacity / 4) return;
  const auto ahead = static_cast<std::int16_t>(sequence - static_cast<std::uint16_t>(counters_.highest));
  constexpr int kFar = kWindow - 1;
  std::int64_t at = newest_ + static_cast<std::int32_t>(timestamp - static_cast<std::uint32_t>(newest_));
  const auto n = static_cast<std::int64_t>(payload.size());
  const bool fits = started_ && std::abs(ahead) <= kFar && at + n <= read_ + kCapacity && at >= read_ - kCapacity;
  if (!fits) {
    // One such packet may come from any sender; two in a row are the far end's new sequence (RFC 3550, A.1).
    if (started_ && sequence != restart_sequence_) {
      ++counters_.strange;
      restart_sequence_ = static_cast<std::uint16_t>(sequence + 1);
      return;
    }
    restart(sequence, timestamp);
    at = newest_;
  }
  if (!note_sequence(sequence)) return;
  if (static_cast<std::uint16_t>(counters_.highest) == sequence) {
    if (newest_payload_ > 0 && ahead == 1 && at != newest_ + newest_payload_) ++counters_.jumps;
    const double transit = static_cast<double>(taken_ - put_at_) - static_cast<double>(at - newest_);
    if (newest_payload_ > 0) jitter_ += (std::abs(transit) - jitter_) / 16;
    counters_.jitter_samples = static_cast<std::uint32_t>(jitter_);
    newest_ = at;
    newest_payload_ = static_cast<std::uint32_t>(n);
  }
  put_at_ = taken_;
  const bool late = at + n <= read_;
  if (late) ++counters_.late;
  late_in_a_row_ = late ? late_in_a_row_ + 1 : 0;
  if (late_in_a_row_ >= kLateInARow) slip_to(at - depth_);
  look(at - read_, late);
  for (std::int64_t k = std::max<std::int64_t>(read_ - at, 0); k < n; ++k) {
    octets_[static_cast<std::uint64_t>(at + k) % kCapacity] = payload[static_cast<std::size_t>(k)];
    present(at + k) = true;
  }
}

/// Compares the least delay of some seconds with the depth, and measures the far clock by it.
void JitterBuffer::look(std::int64_t headroom, bool late) {
  least_headroom_ = looked_packets_ == 0 ? headroom : std::min(least_headroom_, headroom);
  ++looked_packets_;
  looked_late_ += late;
  if (taken_ < look_at_) return;
  const double drift = static_cast<double>(least_headroom_ + counters_.slipped_samples);
  if (!has_first_look_) {
    has_first_look_ = true;
    first_look_ = drift;
    first_look_at_ = taken_;
  } else if (taken_ - first_look_at_ >= kClockKnown) {
    counters_.clock_ppm = 1e6 * (drift - first_look_) / static_cast<double>(taken_ - first_look_at_);
  }
  if (least_headroom_ > 2 * depth_ + kEarly) {
    slip_to(read_ + least_headroom_ - depth_);
  } else if (32 * looked_late_ > looked_packets_) {
    slip_to(read_ - depth_);
  }
  look_at_ = taken_ + kRegular;
  looked_packets_ = looked_late_ = 0;
}

std::size_t JitterBuffer::take(std::uint8_t* out, std::size_t n, Kind* kind) {
  if (!started_ || taken_ - put_at_ > kSilentAfter) {
    *kind = Kind::kSilent;
    taken_ += n;
    read_ += static_cast<std::int64_t>(n);
    return n;
  }
  const bool have = present(read_);
  std::size_t k = 0;
  for (; k < n && present(read_) == have; ++k, ++read_, ++taken_) {
    if (have) out[k] = octets_[static_cast<std::uint64_t>(read_) % kCapacity];
    present(read_) = false;
  }
  *kind = have ? Kind::kSamples : Kind::kLost;
  // The samples before the first packet are the buffer's own delay.
  if (!have && read_ <= begin_) *kind = Kind::kSilent;
  if (*kind == Kind::kLost) counters_.lost_samples += k;
  return k;
}

}  // namespace offhook
