// SPDX-License-Identifier: MIT
//
// Tones in windows that overlap. A window consists of equal parts, and each part is computed once.
//
//   samples:  | part 0 | part 1 | part 2 | part 3 | part 4 | ...
//   window 0: |--------------------------|
//   window 1:          |--------------------------|
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

class ToneWindows {
 public:
  /// @param x  at 8000 Hz, which must stay in memory  @param hz  of the tones
  /// @param hop  samples of a part, a multiple of 4  @param parts  of a window
  ToneWindows(std::span<const float> x, std::span<const int> hz, std::size_t hop, std::size_t parts);

  /// Mean square of window `number`, which begins with the part of that number.
  /// @pre the window lies within the samples; windows are asked for in order
  double power_of(std::size_t number);
  /// Mean square of each tone in that window. @param[out] power  [hz.size()]
  void tones_of(std::size_t number, std::span<double> power);

 private:
  struct Part {
    std::size_t number = SIZE_MAX;
    double power = 0;
    bool has_tones = false;
    std::vector<Cd> tone;
  };
  std::span<const float> samples(std::size_t part) const { return x_.subspan(part * hop_, hop_); }
  Part& at(std::size_t number);
  void add_tones(Part& p) const;

  std::span<const float> x_;
  std::size_t hop_, tones_;
  std::vector<Cd> turns_;  ///< [tones][hop] of a tone within a part
  std::vector<Cd> moves_;  ///< [tones][parts] from the window's begin to a part
  std::vector<Part> parts_;
};

}  // namespace offhook::decode
