// SPDX-License-Identifier: MIT
//
// Prefetches memory before its use, a few cache lines at a time. The state of a thousand pumps fits in no cache, and a
// caller that advances the pumps in turn can prefetch the next pump's state.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace offhook {

class HotLines {
 public:
  static constexpr int kMostRanges = 48;
  static constexpr size_t kLine = 64;

  void clear() { count_ = next_ = 0; }
  bool empty() const { return next_ == count_; }
  /// A range beyond the capacity is ignored. A range that begins at the end of the last one extends it.
  void add(const void* from, size_t bytes) {
    const auto* at = static_cast<const char*>(from);
    if (count_ > 0 && range_[count_ - 1].end == at) {  // contiguous
      range_[count_ - 1].end += bytes;
      return;
    }
    if (count_ == kMostRanges || bytes == 0) return;
    range_[count_++] = {at - reinterpret_cast<uintptr_t>(at) % kLine, at + bytes};
  }
  /// The range from `from` to before `to`, within one object.
  void add_up_to(const void* from, const void* to) {
    add(from, static_cast<size_t>(static_cast<const char*>(to) - static_cast<const char*>(from)));
  }
  /// Lines that were not prefetched yet.
  size_t left() const {
    size_t lines = 0;
    for (int k = next_; k < count_; ++k)
      lines += (static_cast<size_t>(range_[k].end - range_[k].at) + kLine - 1) / kLine;
    return lines;
  }
  /// Prefetches the next `lines` lines into the second-level cache.  Real-time: yes, O(lines).
  void prefetch(int lines) {
    for (; lines > 0 && next_ < count_; --lines) {
      Range& r = range_[next_];
      __builtin_prefetch(r.at, 1, 2);
      r.at += kLine;
      if (r.at >= r.end) ++next_;
    }
  }

 private:
  struct Range {
    const char *at, *end;
  };
  Range range_[kMostRanges];
  int count_ = 0, next_ = 0;
};

}  // namespace offhook
