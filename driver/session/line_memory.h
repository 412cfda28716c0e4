// SPDX-License-Identifier: MIT
//
// The last part of a line: a ring of the samples of both directions, which the service fills while a call lasts. The
// owner reads it after the call, when no service writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "offhook/stream.h"

namespace offhook::modem {

class LineMemory {
 public:
  /// 16-bit linear samples, the oldest first, as many of each. If a card received two samples for one that it sent,
  /// the sent one appears twice.
  struct Samples {
    std::vector<std::int16_t> received, sent;
    int rate_hz;
  };

  /// @param periods  sample periods; 0: nothing is kept  @param encoding  of both directions
  /// @param received  samples in a period; more than one are linear
  LineMemory(std::size_t periods, oh_encoding encoding, std::size_t received = 1);

  /// Forgets everything. @param encoding  of the next samples: the previous one, or the other law of G.711
  void clear(oh_encoding encoding) {
    position_ = 0;
    encoding_ = encoding;
  }
  /// @param[in] rx, tx  n periods in the encoding. Real-time: yes, O(n).
  void write(const void* rx, const void* tx, std::size_t n);
  /// `n` periods are missing in both directions: recorded as silence. Real-time: yes, O(n), at most one pass over the
  /// ring.
  void skip(std::size_t n);
  /// @param sent_later  periods from sending a sample to its arrival on the line: `sent` is delayed by them, so that
  /// both directions have the time of the line
  Samples samples(std::size_t sent_later) const;

 private:
  template <class Copy>
  void pieces(std::size_t n, Copy copy);

  oh_encoding encoding_;
  std::size_t capacity_, octets_, received_;  // of the ring in periods, of a sample, samples received in a period
  std::vector<std::uint8_t> rx_, tx_;
  std::uint64_t position_ = 0;  // periods since clear()
};

}  // namespace offhook::modem
