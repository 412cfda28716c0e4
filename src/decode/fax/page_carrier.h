// SPDX-License-Identifier: MIT
//
// The page-rate signals of a fax machine: the test of the line (TCF), a page, or the frames of a page with
// error correction. Demodulated by spandsp's receivers of V.27ter, V.29 and V.17.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/decode/fax/t30.h"

namespace offhook::decode {

/// One carrier, from its training to its end.
struct PageCarrier {
  PageRate rate;
  double t0 = 0, t1 = 0;  ///< s: begin of the training, end of the carrier
  bool trained = false;
  BitString bits{};  ///< behind the training
  /// T.38 with error correction: frames with a good check sequence, without it, in place of the bits.
  std::vector<std::vector<std::uint8_t>> frames{};
  int bad_frames = 0;    ///< likewise
  int lost_packets = 0;  ///< of T.38
};

/// Receivers that keep their state from a long training: V.17 needs that for a short one.
class PageReceiver {
 public:
  PageReceiver();
  ~PageReceiver();
  PageReceiver(const PageReceiver&) = delete;
  PageReceiver& operator=(const PageReceiver&) = delete;

  /// @param x  at 8000 Hz, int16 units, of the whole channel  @param from, to  s: the range to search for carriers
  /// @param short_training  V.17: of the first carrier; those behind a trained one have it anyway
  /// @return in order of time; one that did not train is left out if a trained one follows
  std::vector<PageCarrier> receive(std::span<const float> x, double from, double to, const PageRate& rate,
                                   bool short_training);

 private:
  struct Receivers;
  std::unique_ptr<Receivers> receivers_;
};

}  // namespace offhook::decode
