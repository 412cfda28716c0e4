// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "driver/base/output.h"

namespace offhook {

/// Both directions of the line as a 16-bit stereo WAV file: the near end's input is left, its output right.
class LineRecording {
 public:
  /// @param file  which is written as a whole  @throws std::runtime_error naming the file and the cause
  LineRecording(OutputFile file, int rate_hz);
  ~LineRecording();
  /// @pre both have the same number.  @throws std::runtime_error (disk full ...)
  void write(std::span<const std::int16_t> left, std::span<const std::int16_t> right);
  /// @throws std::runtime_error
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook
