// SPDX-License-Identifier: MIT
//
// The levels that the digital modem of a recorded V.90 call sent, symbol by symbol, from TRN1d on.
//
//   recorder on the network's clock: one sample per symbol, taps fitted to each batch of symbols by least squares
//   recorder on any clock, 16 000 Hz: the modem's own receiver, which follows the clock (dsp/v90/pcm/receiver.h)
//   recorder on any clock, 8000 Hz: the same. Its feedback taps replace the band around 4000 Hz, which is missing
//
// The caller returns the level that was sent for each symbol, and the input adapts to the error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dsp/v90/pcm/receiver.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {

/// A channel, and the other one, which may be in it as an echo.
struct PcmLine {
  std::span<const float> own, other;     ///< at 8000 Hz, equally long; `other` may be empty
  std::span<const std::int16_t> wide{};  ///< `own` at 16 000 Hz, with its echo; or empty
  bool band_limited = false;             ///< `wide` was converted from `own`, without the band around 4000 Hz and echo
  double train_s = 0, train_end_s = 0;   ///< of the analogue modem's first TRN, while the digital one is silent
};

class PcmInput {
 public:
  virtual ~PcmInput() = default;

  /// Finds TRN1d within [from_s, to_s), and fits to it. @param level  of TRN1d  @return why not; null: it is found
  virtual const char* begin(double from_s, double to_s, float level) = 0;
  /// The next symbol's level; nothing at the end of the search range or of the recording.
  virtual std::optional<float> next() = 0;
  /// The level that was sent for the symbol that next() gave. Once for each.
  virtual void sent(float reference, v90::PcmReceiver::Trust trust) = 0;
  /// Data frames begin with the next symbol.
  virtual void begin_frames() {}
  /// Whether the references of TRN1d and Jd should have the measured level of each interval: refit() follows.
  virtual bool wants_levels() const { return false; }
  /// The next references are exact: the taps are fitted to them again.
  virtual void refit() {}

  /// Whether the references are fed back so strongly that they must be free of the line's distortion.
  virtual bool feeds_back_much() const { return false; }

  virtual long position() const = 0;           ///< of the newest symbol; the first of TRN1d is 0
  virtual double t(long later = 0) const = 0;  ///< s, of the newest symbol, or of the one `later` symbols after it
  virtual double t_trn1d() const = 0;          ///< s; 0: it was not found
  virtual double training_db() const = 0;      ///< residual of TRN1d after the equaliser, relative to its level
  virtual std::optional<double> clock_ppm() const { return std::nullopt; }  ///< of the network; nothing: the recorder's
};

/// For a recorder whose clock is the network's.
std::unique_ptr<PcmInput> on_the_networks_clock(const PcmLine& line);
/// For any recorder of 16 000 samples/s or more. @pre `line.wide` is not empty
std::unique_ptr<PcmInput> on_any_clock(const PcmLine& line);

}  // namespace offhook::decode
