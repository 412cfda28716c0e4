// SPDX-License-Identifier: MIT
//
// From equalised symbols to bits: TRN, rate signals, E, and data through the Viterbi decoder. For every symbol it names
// the transmitted point, to which the receiver adapts. In data it recognises the preamble of a rate renegotiation and
// continues with the rate signal; the preamble is one point, or one and its opposite in turn, for 56 symbols.
#pragma once

#include <stdint.h>

#include "dsp/v32/transmitter.h"
#include "dsp/v32/viterbi.h"
#include "offhook/pump.h"

namespace offhook::v32 {

class BitReceiver {
 public:
  enum class Stage : uint8_t { kTrn, kRateSignal, kData };

  /// @param role  of this end: the far end has the other scrambler
  explicit BitReceiver(oh_pump_role role, const oh_bit_port& port)
      : scrambling_(role == OH_PUMP_CALL ? kGpa : kGpc), trn_(scrambling_), descrambler_(scrambling_), port_(port) {}

  /// TRN comes next. Its first 1280 symbols are known to arrive; after them, symbols are decided one by one.
  void begin_trn() {
    stage_ = Stage::kTrn;
    trn_ = Trn(scrambling_);
    symbols_ = 0;
    b1_ = kB1Symbols;
    run_ = 0;
    word_ = 0;
    bits_ = 0;
  }
  /// One symbol, in units of the points of energy() mean
  /// power. @return the most likely point. Real-time: yes.
  Complex put(Complex y);

  /// Mean power of the arriving points.
  float energy() const { return stage_ == Stage::kData ? energy_ : 10; }
  Stage stage() const { return stage_; }
  int symbols() const { return symbols_; }  ///< of TRN and rate signals, or of data
  /// Number of equal rate sequences in succession; the newest is in rates().
  bool rate_signal() const { return run_ >= kEqualSequences; }
  RateSignal rates() const { return rates_; }
  /// B1 is over: bits now go to the port.
  bool live() const { return stage_ == Stage::kData && symbols_ >= b1_ + ViterbiDecoder::kDepth; }
  /// These may be a preamble instead of data, so do not adapt to them.
  bool doubtful() const { return alike_ >= kDoubtful; }
  const Rate& rate() const { return *rate_; }
  uint64_t bits_received() const { return bits_received_; }
  /// Mean squared distance of data symbols to the decided points, relative to half the squared distance of neighbours.
  float data_error() const { return error_; }
  /// Of the last symbols, about a thousand: the share with an error above data_error()'s unit. 0 to 1.
  float far_share() const { return far_share_; }
  /// The same in the units of the rate's points.
  float squared_error() const { return error_ * near(); }

 private:
  static constexpr int kEqualSequences = 3;  // 5.3.1 requires at least two
  static constexpr int kDoubtful = 4;        // equal symbols; with data, one case in 256
  static constexpr int kPreamble = 24;       // with data, once in 10^14 symbols

  float near() const;
  bool preamble(Complex y);
  void begin_rate_signal();
  void put_dibit(int label);
  void put_data(int label);
  void begin_data(int rate);

  Scrambling scrambling_;
  Trn trn_;
  Descrambler descrambler_;
  oh_bit_port port_;
  Stage stage_ = Stage::kTrn;
  int symbols_ = 0;
  int y_ = 0;          // Y1 Y2 of the last symbol
  uint32_t word_ = 0;  // the last bits, the newest one in bit 31
  uint16_t last_ = 0;
  int bits_ = 0;  // since the last rate sequence
  int run_ = 0;
  RateSignal rates_;
  const Rate* rate_ = &kRates[0];
  float energy_ = 10;
  float error_ = 0;
  float far_share_ = 0;
  int b1_ = kB1Symbols;
  Complex before_{};  // the last symbol
  int alike_ = 0;     // successive symbols that match a preamble
  ViterbiDecoder viterbi_{kRates[4]};
  uint64_t bits_received_ = 0;
};

}  // namespace offhook::v32
