// SPDX-License-Identifier: MIT
//
// Knowledge about the line towards this end, from the trainings and data modes of a call. A retrain makes a new
// Session, which receives this memory; Phase 2 uses it for INFO1. Each fact has an age, because lines change.
#pragma once

#include <stdint.h>

#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/receive_rate.h"

namespace offhook::v34 {

class CallMemory {
 public:
  /// Successive trainings without lasting data after which another modulation probably does better.
  static constexpr uint8_t kTrainingsInVain = 4;

  /// A training or its data mode has ended. Times are samples of 8000 Hz since the call began.
  struct Ended {
    uint64_t at;
    SymbolRate rx_symbol_rate;
    bool missed_far_training;  ///< Session::missed_far_training()
    bool missed_mp;            ///< Session::missed_mp()
    uint64_t data_samples;     ///< how long data mode lasted
    ReceiveRate::Memory rates;
  };
  void put(const Ended& ended) {
    if (ended.data_samples > 0) {
      rates_ = ended.rates;
      rates_at_ = ended.at;
    }
    missed_mp_ |= ended.missed_mp;
    if (ended.missed_far_training) {
      const auto s = static_cast<int>(ended.rx_symbol_rate);
      failed_at_[s] = ended.at;
      if (failures_[s] < kMostFailures) ++failures_[s];
    }
    in_vain_ = ended.data_samples >= kLasting ? 0
               : in_vain_ < UINT8_MAX         ? static_cast<uint8_t>(in_vain_ + 1)
                                              : in_vain_;
  }

  /// duration of data mode
  ReceiveRate::Memory rates(uint64_t now) const {
    ReceiveRate::Memory memory = rates_;
    for (uint64_t age = now - rates_at_; age >= kHalfLife && memory.loss > 1; age -= kHalfLife) {
      memory.loss = memory.loss > 1.41 ? 1 + (memory.loss - 1) / 2 : 1;
    }
    return memory;
  }
  /// Symbol rates for Phase2::avoid(): avoided for five minutes after the first failure, and for twice as long after
  /// each further one.
  SymbolRates avoided(uint64_t now) const {
    SymbolRates set = 0;
    for (int s = 0; s < kSymbolRates; ++s) {
      if (failures_[s] > 0 && now - failed_at_[s] < kHalfLife << (failures_[s] - 1)) {
        set = static_cast<SymbolRates>(set | 1u << s);
      }
    }
    return set;
  }
  /// An MP with sixteen points was not received, so request four.
  bool missed_mp() const { return missed_mp_; }
  /// Successive trainings that led to less than ten seconds of data.
  uint8_t in_vain() const { return in_vain_; }

 private:
  static constexpr uint64_t kHalfLife = 300 * 8000;
  static constexpr uint64_t kLasting = 10 * 8000;
  static constexpr uint8_t kMostFailures = 5;

  ReceiveRate::Memory rates_;
  uint64_t rates_at_ = 0;
  uint64_t failed_at_[kSymbolRates]{};
  uint8_t failures_[kSymbolRates]{};
  bool missed_mp_ = false;
  uint8_t in_vain_ = 0;
};

}  // namespace offhook::v34
