// SPDX-License-Identifier: MIT
//
// Memory that will be used soon, prefetched a few cache lines at a time: the state of a thousand pumps lies in no
// cache, and who advances one after the other knows which comes next.
#pragma once

#include <stddef.h>

namespace offhook {

class HotLines {
 public:
  static constexpr int kMostRanges = 40;
  static constexpr size_t kLine = 64;

  void clear() { count_ = next_ = 0; }
  /// What is one range too many is left out.
  void add(const void* from, size_t bytes) {
    if (count_ == kMostRanges || bytes == 0) return;
    const auto* at = static_cast<const char*>(from);
    range_[count_++] = {at, at + bytes};
  }
  /// Lines that were not prefetched yet.
  size_t left() const {
    size_t lines = 0;
    for (int k = next_; k < count_; ++k)
      lines += (static_cast<size_t>(range_[k].end - range_[k].at) + kLine - 1) / kLine;
    return lines;
  }
  /// So many more of the lines are on their way to the second-level cache.  Real-time: yes, O(lines).
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
