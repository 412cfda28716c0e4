// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/card/line_end.h"
#include "driver/live/card_kind.h"

namespace offhook {

/// A line that is a recording: what is captured comes from a file, then silence; what is played goes to another file.
class FileLine : public LineEnd {
 public:
  /// @param in   one channel at rate_hz, any format of libsndfile; read whole. Empty: silence
  /// @param out  WAV, 16 bits, replaced. Empty: none
  /// @throws std::runtime_error naming the file and what is wrong
  FileLine(const std::string& in, const std::string& out, std::uint32_t rate_hz = OH_MODEM_RATE_HZ);
  ~FileLine() override;
  FileLine(const FileLine&) = delete;
  FileLine& operator=(const FileLine&) = delete;

  /// Writes to the file's buffer, so now and then to the file: the card's thread may be held up by the disk.
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override;
  /// What went wrong with the output (disk full); empty while all is well.
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
