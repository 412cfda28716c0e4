// SPDX-License-Identifier: MIT
//
// Use of the CPUs: shares over the whole call, single segments of its first part, and close-ups of a few moments. The
// memory does not grow with the call.
//
// The whole call is kept in two forms: CPU time per entity in buckets (series.h), and the share of each window of 12.5
// ms, the interval of Figure 3 of Jones and Saroiu. The first kFirstSegments segments are kept individually. Later
// segments are kept in a ring. At a moment that deserves a close-up (the largest backlog, the first loss) the end of
// the ring is copied, and the recording continues for kCloseUpNs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "offhook/event_log.h"
#include "src/lab/analysis/series.h"

namespace offhook {

inline constexpr std::uint64_t kShareWindowNs = 12'500'000;
inline constexpr std::uint16_t kIdle = 0xffff;

/// `entity` had the CPU from begin to end.
struct CpuSegment {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint16_t entity = kIdle;
  std::uint8_t cpu = 0;
};

/// A part of the call in full detail.
struct CloseUp {
  std::string title;
  std::uint64_t centre_ns = 0;
  std::vector<CpuSegment> segments;
  std::vector<oh_event> marks;  ///< of the card and the driver
};

/// CPU time of one entity or of several together.
class CpuShare {
 public:
  void add(std::uint64_t begin_ns, std::uint64_t end_ns);
  void finish(std::uint64_t end_ns);  ///< closes the last whole window

  double total_ns = 0;
  SumSeries time{1024};              ///< ns of CPU time per bucket
  ExtremaSeries window_share{2048};  ///< share of each 12.5 ms window, 0 to 1
  double window_max = 0;

 private:
  /// Closes the current window, and the following ones before this window, which all have this share.
  void close_windows(std::uint64_t up_to, double share);
  std::uint64_t window_ = 0;
  double in_window_ns_ = 0;
};

class Timeline {
 public:
  static constexpr std::uint64_t kCloseUpNs = 60'000'000;  ///< on each side of the moment
  static constexpr std::size_t kCloseUpItems = 16'384;     ///< per kind; later ones are omitted
  static constexpr std::size_t kFirstSegments = 131'072;   ///< kept individually, without idle time
  static constexpr std::size_t kMaxEntities = 64;          ///< further ones are added to the last one

  enum class Moment { kSteady, kWorst, kFirstLoss, kCount };

  Timeline();
  /// Every event of the log, in order.
  void add(const oh_event& event);
  /// Records details around this moment; replaces an earlier moment of the same kind.
  void look_at(Moment moment, std::string title, std::uint64_t time_ns);
  void finish(std::uint64_t end_ns);

  struct Entity {
    std::uint16_t id = kIdle;
    bool serves = false;             ///< ran the driver's isr or service at least once
    std::uint64_t job_begin_ns = 0;  ///< when its latest job first ran
    CpuShare share;
  };
  const std::vector<Entity>& entities() const { return entities_; }  ///< in order of first appearance, without idle
  const CpuShare& modem() const { return modem_; }                   ///< all entities that serve, together
  /// The entity on this CPU now; null if the CPU is idle or the log does not name it.
  const Entity* running(std::uint8_t cpu) const;
  double modem_ns_so_far() const { return modem_.total_ns; }
  std::vector<CloseUp> close_ups() const;
  /// The first segments of the call, in the order of their ends.
  const std::vector<CpuSegment>& first_segments() const { return first_segments_; }
  /// Time up to which first_segments() is complete; the maximum of the type if it has the whole call.
  std::uint64_t first_segments_until_ns() const { return first_segments_until_ns_; }

 private:
  struct Cpu {
    std::uint16_t entity = kIdle;
    std::uint64_t since_ns = 0;
    bool seen = false;
  };
  template <typename T>
  struct Ring {
    explicit Ring(std::size_t n) : items(n) {}
    void push(const T& item) { items[next++ % items.size()] = item; }
    std::vector<T> items;
    std::size_t next = 0;
  };
  struct Recording {
    CloseUp close_up;
    std::uint64_t until_ns = 0;
  };
  Entity& entity(std::uint16_t id);
  void end_segment(Cpu& cpu, std::uint8_t index, std::uint64_t now);

  std::vector<Cpu> cpus_;
  std::vector<Entity> entities_;
  CpuShare modem_;
  std::vector<CpuSegment> first_segments_;
  std::uint64_t first_segments_until_ns_ = std::numeric_limits<std::uint64_t>::max();
  Ring<CpuSegment> recent_segments_{4096};
  Ring<oh_event> recent_marks_{1024};
  std::vector<std::optional<Recording>> recordings_;
};

}  // namespace offhook
