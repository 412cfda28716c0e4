// SPDX-License-Identifier: MIT
//
// Memory that will be used soon, prefetched a few cache lines at a time: the state of a thousand pumps lies in no
// cache, and who advances one after the other knows which comes next.
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
  /// What is one range too many is left out; one that begins where the last ended is none.
  void add(const void* from, size_t bytes) {
    const auto* at = static_cast<const char*>(from);
    if (count_ > 0 && range_[count_ - 1].end == at) {  // they go on
      range_[count_ - 1].end += bytes;
      return;
    }
    if (count_ == kMostRanges || bytes == 0) return;
    range_[count_++] = {at - reinterpret_cast<uintptr_t>(at) % kLine, at + bytes};
  }
  /// What begins at `from` and ends before `to`, of one object.
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
