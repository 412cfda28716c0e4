// SPDX-License-Identifier: MIT
#include "src/lab/analysis/timeline.h"

#include <algorithm>
#include <utility>

namespace offhook {

void CpuShare::close_windows(std::uint64_t up_to, double share) {
  const auto close = [this](double of_window) {
    window_share.add(window_ * kShareWindowNs, of_window);
    window_max = std::max(window_max, of_window);
    window_ += 1;
  };
  if (window_ >= up_to) return;
  close(in_window_ns_ / static_cast<double>(kShareWindowNs));
  in_window_ns_ = 0;
  // For a long interval without a change, the first and the last window are sufficient.
  if (window_ < up_to) close(share);
  if (window_ < up_to) {
    window_ = up_to - 1;
    close(share);
  }
}

void CpuShare::add(std::uint64_t begin_ns, std::uint64_t end_ns) {
  total_ns += static_cast<double>(end_ns - begin_ns);
  time.add_interval(begin_ns, end_ns);
  close_windows(begin_ns / kShareWindowNs, 0);
  const std::uint64_t stop = std::min(end_ns, (window_ + 1) * kShareWindowNs);
  in_window_ns_ += static_cast<double>(stop - std::min(begin_ns, stop));
  if (stop == end_ns) return;
  close_windows(end_ns / kShareWindowNs, 1);
  in_window_ns_ = static_cast<double>(end_ns % kShareWindowNs);
}

void CpuShare::finish(std::uint64_t end_ns) {
  close_windows(end_ns / kShareWindowNs, 0);
}

Timeline::Timeline() : recordings_(static_cast<std::size_t>(Moment::kCount)) {
  entities_.reserve(kMaxEntities);
}

Timeline::Entity& Timeline::entity(std::uint16_t id) {
  for (Entity& e : entities_) {
    if (e.id == id) return e;
  }
  if (entities_.size() == kMaxEntities) return entities_.back();
  entities_.emplace_back();
  entities_.back().id = id;
  return entities_.back();
}

const Timeline::Entity* Timeline::running(std::uint8_t cpu) const {
  if (cpu >= cpus_.size() || cpus_[cpu].entity == kIdle) return nullptr;
  for (const Entity& e : entities_) {
    if (e.id == cpus_[cpu].entity) return &e;
  }
  return nullptr;
}

void Timeline::end_segment(Cpu& cpu, std::uint8_t index, std::uint64_t now) {
  if (!cpu.seen || now <= cpu.since_ns) return;
  const CpuSegment segment{cpu.since_ns, now, cpu.entity, index};
  cpu.since_ns = now;
  if (cpu.entity != kIdle) {
    Entity& e = entity(cpu.entity);
    e.share.add(segment.begin_ns, segment.end_ns);
    if (e.serves) modem_.add(segment.begin_ns, segment.end_ns);
    if (first_segments_.size() < kFirstSegments) {
      first_segments_.push_back(segment);
    } else {  // an interval of another CPU may have begun earlier than the last one kept
      first_segments_until_ns_ = std::min(first_segments_until_ns_, segment.begin_ns);
    }
  }
  recent_segments_.push(segment);
  for (auto& recording : recordings_) {
    if (recording && segment.begin_ns < recording->until_ns && recording->close_up.segments.size() < kCloseUpItems) {
      recording->close_up.segments.push_back(segment);
    }
  }
}

void Timeline::add(const oh_event& event) {
  switch (event.kind) {
    case OH_EV_RUN:
    case OH_EV_IDLE: {
      if (cpus_.size() <= event.cpu) cpus_.resize(event.cpu + std::size_t{1});
      Cpu& cpu = cpus_[event.cpu];
      end_segment(cpu, event.cpu, event.time_ns);
      if (!cpu.seen || event.time_ns > cpu.since_ns) cpu.since_ns = event.time_ns;
      cpu.seen = true;
      cpu.entity = event.kind == OH_EV_IDLE ? kIdle : event.id;
      if (cpu.entity != kIdle) {
        Entity& e = entity(cpu.entity);
        if (event.argument == 1) e.job_begin_ns = event.time_ns;
      }
      return;
    }
    case OH_EV_ISR_ENTER:
    case OH_EV_SERVICE_BEGIN:
    case OH_EV_SERVICE_RUN_BEGIN:
      if (event.cpu < cpus_.size() && cpus_[event.cpu].entity != kIdle) entity(cpus_[event.cpu].entity).serves = true;
      break;
    case OH_EV_INTERRUPT:
    case OH_EV_RX_OVERRUN:
    case OH_EV_TX_UNDERRUN:
    case OH_EV_OUTPUT_READY:
    case OH_EV_SERVICE_END:
    case OH_EV_FILL_IN:
    case OH_EV_SERVICE_RUN_END:
      break;
    default:
      return;
  }
  recent_marks_.push(event);
  for (auto& recording : recordings_) {
    if (recording && event.time_ns < recording->until_ns && recording->close_up.marks.size() < kCloseUpItems) {
      recording->close_up.marks.push_back(event);
    }
  }
}

void Timeline::look_at(Moment moment, std::string title, std::uint64_t time_ns) {
  Recording recording;
  recording.close_up.title = std::move(title);
  recording.close_up.centre_ns = time_ns;
  recording.until_ns = time_ns + kCloseUpNs;
  const std::uint64_t from = time_ns > kCloseUpNs ? time_ns - kCloseUpNs : 0;
  const auto copy = [from](const auto& ring, auto& out, auto time_of) {
    const std::size_t held = std::min(ring.next, ring.items.size());
    for (std::size_t i = ring.next - held; i < ring.next; ++i) {
      const auto& item = ring.items[i % ring.items.size()];
      if (time_of(item) > from) out.push_back(item);
    }
  };
  copy(recent_segments_, recording.close_up.segments, [](const CpuSegment& s) { return s.end_ns; });
  copy(recent_marks_, recording.close_up.marks, [](const oh_event& e) { return e.time_ns; });
  recordings_[static_cast<std::size_t>(moment)] = std::move(recording);
}

void Timeline::finish(std::uint64_t end_ns) {
  for (std::size_t i = 0; i < cpus_.size(); ++i) end_segment(cpus_[i], static_cast<std::uint8_t>(i), end_ns);
  for (Entity& e : entities_) e.share.finish(end_ns);
  modem_.finish(end_ns);
}

std::vector<CloseUp> Timeline::close_ups() const {
  std::vector<CloseUp> out;
  for (const auto& recording : recordings_) {
    if (recording) out.push_back(recording->close_up);
  }
  return out;
}

}  // namespace offhook
