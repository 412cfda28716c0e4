// SPDX-License-Identifier: MIT
//
// Finds S (10.1.3.7) and its transition to S-bar, at two samples per symbol, before anything is known about the
// line.
//
// S repeats every two symbols, four samples: lines at the carrier and half a symbol rate above and below it. Each group
// of four samples is split into these three lines (and a fourth place that stays empty). During S, the lines of 16
// groups in a row agree and hold nearly all the power. S-bar is S with its sign changed: at the carrier, the
// correlation of a group with the mean of the previous groups falls from 1 to -1.
#pragma once

#include "dsp/blocks/complex.h"

namespace offhook {

class SDetector {
 public:
  void reset() { *this = {}; }
  /// One T/2 sample. Real-time: yes, O(1); its work is done every fourth sample.
  void put(Complex u) {
    s_bar_ = false;
    sample_[samples_++] = u;
    if (samples_ == 4) put_group();
  }

  /// S is there.
  bool in_s() const { return in_s_; }
  /// True after the one put() that detected S-bar.
  bool s_bar() const { return s_bar_; }
  /// At s_bar(): T/2 samples since the sign changed.
  /// The error is about the delay spread of the line.
  float age() const { return age_; }
  /// Carrier of S against nominal, turns per symbol; good to a fraction of 1e-4 on a usable line.
  float turns_per_symbol() const { return turns_; }

 private:
  static constexpr int kWindow = 16;  // groups
  static constexpr int kLag = 8;      // groups between which the carrier's turn is measured

  struct Group {
    Complex line[3]{};
    float power = 0;
    float unused = 0;  // a whole number of vectors
  };
  using Quad = float __attribute__((vector_size(16)));
  struct Sum {
    Quad low{}, high{};
    void add(const Group& group);
  };
  void put_group();
  Group mean_of_window() const;
  float likeness(const Group& g) const;

  Complex sample_[4]{};
  int samples_ = 0;
  alignas(64) Group group_[kWindow]{};
  int newest_ = 0;
  Sum before_;  // of the groups at the positions before the newest
  int hits_ = 0;
  bool in_s_ = false;
  bool s_bar_ = false;
  Complex mean_[3]{};  // of S, before the change began
  Complex turn_{};
  float turns_ = 0;
  float age_ = 0;
  int against_ = 0;  // consecutive groups that are S-bar
  int strange_ = 0;  // consecutive groups that are neither
};

}  // namespace offhook
