// SPDX-License-Identifier: MIT
//
// The jitter buffer of a modem: its depth is fixed, and nothing is concealed.
//
// Packets are placed by their timestamps. The reader takes one sample for each period of its own clock, a fixed number
// of samples behind the newest packet. Samples that did not come in time are lost, and the reader learns exactly which:
// a modem's receiver must count all samples, and must not adapt to invented ones. Adaptive buffers of telephones
// stretch or drop speech; each such step is a jump that a modem has to find again.
//
// If the far clock differs, the reader drifts against the packets. When the depth is used up or doubled, the reader
// slips once, back to the middle, and the slip is counted.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

namespace offhook {

/// Counts since the start; in packets, unless the name has another unit.
struct JitterCounters {
  std::uint64_t received = 0;        ///< with the expected payload, duplicates excluded
  std::uint64_t lost = 0;            ///< sequence numbers that never arrived
  std::uint64_t duplicates = 0;      ///< with a sequence number that had already arrived
  std::uint64_t reordered = 0;       ///< after one with a higher sequence number
  std::uint64_t late = 0;            ///< after their samples were due
  std::uint64_t restarts = 0;        ///< sequence or timestamps restarted
  std::uint64_t strange = 0;         ///< with an impossible sequence number or timestamp; not used
  std::uint64_t jumps = 0;           ///< timestamps that do not match the sequence
  std::uint64_t slips = 0;           ///< of the reader, to track the far clock or a changed delay
  std::uint64_t lost_samples = 0;    ///< missing when the reader needed them
  std::int64_t slipped_samples = 0;  ///< skipped (positive) or waited for (negative) by slips
  std::uint32_t jitter_samples = 0;  ///< RFC 3550 6.4.1
  std::uint32_t highest = 0;         ///< extended sequence number
  double clock_ppm = 0;              ///< far clock relative to ours; 0 for the first half minute
};

class JitterBuffer {
 public:
  /// @param depth_samples  delay of the first packet's first sample; at most half the capacity
  explicit JitterBuffer(std::uint32_t depth_samples);

  /// A packet. Real-time: yes, O(payload)
  void put(std::uint16_t sequence, std::uint32_t timestamp, std::span<const std::uint8_t> payload);
  /// The next samples: up to n, all of one kind. Before the first packet, and when none has come for a second, the line
  /// is silent and nothing counts as lost.
  /// @param[out] out  [n]; unchanged for samples that are lost or of a silent line
  /// @return how many, at least 1.  @pre n >= 1.  Real-time: yes, O(n)
  enum class Kind : std::uint8_t { kSamples, kLost, kSilent };
  std::size_t take(std::uint8_t* out, std::size_t n, Kind* kind);

  const JitterCounters& counters() const { return counters_; }
  static constexpr std::uint32_t kCapacity = 1 << 14;  ///< samples, 2 s
  /// From now on, packets come from another source.
  void expect_restart() { started_ = false; }

 private:
  static constexpr std::size_t kWindow = 1024;             // sequence numbers remembered
  static constexpr std::uint32_t kSilentAfter = 8000;      // samples
  static constexpr std::uint32_t kRegular = 4 * 8000;      // samples between two checks of the delay
  static constexpr std::uint32_t kClockKnown = 24 * 8000;  // samples; a packet of jitter is then 100 ppm
  static constexpr std::uint32_t kLateInARow = 10;
  static constexpr std::int64_t kEarly = 160;  // beyond twice the depth: one packet

  bool note_sequence(std::uint16_t sequence);
  void restart(std::uint16_t sequence, std::uint32_t timestamp);
  void slip_to(std::int64_t read);
  void look(std::int64_t headroom, bool late);
  bool& present(std::int64_t at) { return present_[static_cast<std::uint64_t>(at) % kCapacity]; }

  std::int64_t depth_;
  JitterCounters counters_;
  std::array<std::uint8_t, kCapacity> octets_{};
  std::array<bool, kCapacity> present_{};
  bool started_ = false;
  std::uint32_t restart_sequence_ = 1 << 16;  // a packet that fits nowhere is followed by this one: a restart
  std::int64_t read_ = 0, begin_ = 0;         // timestamps, extended, of the first packet
  std::int64_t newest_ = 0;                   // of the newest packet's first sample
  std::uint32_t newest_payload_ = 0;
  std::uint64_t taken_ = 0, put_at_ = 0;        // samples by our clock
  std::uint32_t first_sequence_ = 0;            // extended
  std::uint64_t unique_ = 0, lost_before_ = 0;  // since the last restart; in earlier runs of the sequence
  std::bitset<kWindow> seen_;
  std::uint32_t late_in_a_row_ = 0;
  double jitter_ = 0;
  std::int64_t least_headroom_ = 0;  // of this check
  std::uint32_t looked_packets_ = 0, looked_late_ = 0;
  std::uint64_t look_at_ = 0, first_look_at_ = 0;
  double first_look_ = 0;
  bool has_first_look_ = false;
};

}  // namespace offhook
