// SPDX-License-Identifier: MIT
//
// Recovers from a hit: a step of the line's phase or gain, or both. Decisions fail at the outer points first, so loops
// that follow decisions do not recover. The symbols themselves still lie on a grid, only turned and scaled: this tries
// turns and gains on the last symbols and takes the one that brings them nearest to the grid.
//
//   watching --error of 128 symbols well above the usual--> waiting: nothing is adapted for 128 symbols
//      ^                                                       |
//      '--- turned and scaled, or given up after four tries ---+--- no turn helps: wait again
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"

namespace offhook::qam {

/// The grid of a constellation's points.
enum class Grid : uint8_t {
  kUnknown,
  kOdd,    ///< both coordinates are odd
  kOddSum  ///< the coordinates are integers with an odd sum
};

/// The point of the unbounded grid that is nearest to y.  @pre grid is known
Complex nearest_on(Grid grid, Complex y);

class HitRecovery {
 public:
  static constexpr int kSymbols = 128;

  /// From now on, other symbols arrive.
  void reset() { *this = {}; }
  /// The squared error of a decided symbol.  @return whether search() is due.  Real-time: yes, O(1).
  bool put(float squared_error) {
    sum_ += squared_error;
    if (++count_ < kSymbols) return false;
    return end_window();
  }
  /// Do not adapt: the symbols are displaced from their decisions.
  bool waiting() const { return waiting_; }

  /// Whether a window has just ended with a usual error.
  bool usual() const { return count_ == 0 && !waiting_; }
  /// The error of symbols on the grid, squared, over the product of the usual error and the error of random symbols.
  /// Below 1, the symbols fit: their error is below the geometric mean of the two. They also fit if it is far below
  /// that of random symbols. Arguments as of search().  Real-time: yes.
  float misfit(Grid grid, const Complex* recent, float scale, float warp, const Complex* whitening) const;
  /// The symbols were recovered by other means.
  void end_wait() {
    waiting_ = false;
    sum_ = 0;
    count_ = 0;
  }

  struct Found {
    bool found = false;
    float turns = 0;  ///< phase by which the symbols lead
    float gain = 1;   ///< factor by which they are too large
  };
  /// @param recent  [kSymbols] symbols of unit power, oldest first  @param scale  to grid units
  /// @param warp  NonlinearEncoder's zeta per energy; 0: none  @param whitening  h1, h2, h3. Real-time: yes; about
  /// 200,000 multiplications, once for each hit that put() reports.
  Found search(Grid grid, const Complex* recent, float scale, float warp, const Complex* whitening);

 private:
  static constexpr float kJump = 1.45f;      // relative to the usual error; a mean of 128 is known to 9 % (one sigma)
  static constexpr float kLikeUsual = 1.3f;  // maximum error after a turn
  static constexpr float kNoChance = 0.75f, kFarFromChance = 0.15f;  // relative to the error of random symbols
  static constexpr int kTries = 4;
  static constexpr int kLearnt = 4;  // windows in the mean before the usual error counts

  bool end_window();
  bool is_usual(Grid grid, float error) const;

  float sum_ = 0;
  int count_ = 0;
  float usual_ = 0;
  int learnt_ = 0;
  int tries_ = 0;
  bool waiting_ = false;
};

}  // namespace offhook::qam
