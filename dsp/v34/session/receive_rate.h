// SPDX-License-Identifier: MIT
//
// The rate that this end requests in its MP. In start-up it follows from the noise of the training, in a renegotiation
// also from the noise of the data before it. Both of V.34's ends and the digital modem of V.90 have one.
#pragma once

#include <stdint.h>

#include "dsp/v34/session/line_monitor.h"

namespace offhook::v34 {

/// The far end is silent below this share of its power. Heard::power averages over 64 ms, so half a window of the line
/// monitor after the beginning of silence it has fallen by 11 dB.
inline constexpr float kSilentShare = 0.1f;

class ReceiveRate {
 public:
  static constexpr uint8_t kNoLimit = 14;

  /// The state that survives a training.
  struct Memory {
    LineMonitor::Memory monitor;
    /// SNR of TRN over SNR of data. Noise of the line gives 1. An overloaded line gives more: the points of TRN do not
    /// reach the peaks that are clipped.
    double loss = 1;
  };
  Memory memory() const;
  void remember(const Memory& memory);

  /// Data mode begins. Not strictly real-time: as required_snr().
  /// @param mask  rates that both ends have, bit k: (k + 1) * 2400 bit/s  @param most  the highest permitted of
  /// them, in 2400 bit/s  @param training_snr  the argument of choose() in this procedure; 0: not known  @param
  /// b1_variance  DataReceiver::b1_variance().
  void start(const DataParameters& p, const RateLimits& limits, uint16_t mask, uint8_t most, double training_snr = 0,
             float b1_variance = 0);
  /// As LineMonitor::put().  Real-time: yes, O(1).
  LineMonitor::Advice put(const DataReceiver& r, bool uncertain);
  /// As LineMonitor::note_bad_frames().
  void note_bad_frames(uint32_t n) { monitor_.note_bad_frames(n); }
  /// The highest rate to request after advice to renegotiate, in 2400 bit/s.
  uint8_t limit_after(LineMonitor::Advice advice) const;

  /// The rate for MP, in 2400 bit/s. @param training_snr  as required_snr()  @param margin  factor on a rate's required
  /// SNR  @param renegotiation  whether earlier data count  @param limit  kNoLimit, or limit_after(). Real-time: as
  /// choose_rate().
  uint8_t choose(const RateLimits& limits, double training_snr, double margin, bool renegotiation, uint8_t limit) const;
  /// As LineMonitor::slips().
  uint32_t slips() const { return monitor_.slips(); }
  /// Noise of the data, grid units squared per dimension, a mean over about half a second; 0: unknown.
  float data_variance() const { return data_variance_; }

 private:
  double loss_of(double data_snr) const;

  LineMonitor monitor_;
  uint8_t rate_ = 0, lowest_ = 1;
  float energy_ = 0;  // of the data's points
  float data_variance_ = 0;
  double training_snr_ = 0;  // of the newest procedure; 0: unknown
  double loss_ = 1;
};

}  // namespace offhook::v34
