// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/core/line_end.h"
#include "driver/live/card_kind.h"

namespace offhook {

/// A recording as a line: the input is a file, then silence; the output goes to another file.
class FileLine : public LineEnd {
 public:
  /// @param in   one channel at rate_hz, any format of libsndfile; read whole. Empty: silence
  /// @param out  WAV, 16 bits, replaced. Empty: none
  /// @throws std::runtime_error naming the file and the reason
  FileLine(const std::string& in, const std::string& out, std::uint32_t rate_hz = OH_MODEM_RATE_HZ);
  ~FileLine() override;
  FileLine(const FileLine&) = delete;
  FileLine& operator=(const FileLine&) = delete;

  /// Writes to the file's buffer, and sometimes to the file, so the disk may delay the card's thread.
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override;
  /// The error of the output (disk full); empty: none.
  const std::string& failure() const { return failure_; }

 private:
  struct Output;
  std::string out_, failure_;
  std::vector<std::int16_t> samples_;
  std::size_t next_ = 0;
  std::unique_ptr<Output> output_;
};

extern const CardKind kFileCards;

}  // namespace offhook
