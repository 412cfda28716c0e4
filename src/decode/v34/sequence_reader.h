// SPDX-License-Identifier: MIT
#pragma once

#include "src/decode/v34/training.h"

namespace offhook::decode {

/// From the bits behind TRN in a training segment: J, J', MP, CP and E.
class SequenceReader {
 public:
  enum class Found { kNothing, kJPrime, kE };

  /// @param v90  from the analogue modem of V.90, which sends CP in place of J and MP
  SequenceReader(Segment& segment, bool v90) : p_(segment), v90_(v90) {}

  /// The bits of one symbol. @param t  its time, s  @param symbol_s  its duration
  /// @return J' ends the bits: the next symbols may have another number of points
  Found put(const std::uint8_t* bits, int n, double t, double symbol_s);

 private:
  Found read_j(double t, double symbol_s);
  void read_mp(int bit, double t_end, double bit_s);
  void read_cp(int bit, int points, double t_end, double bit_s);

  Segment& p_;
  bool v90_;
  v34::MpReceiver mp_receiver_;
  v90::CpReceiver cp_receiver_;
  v90::DilReceiver dil_receiver_;
  std::vector<std::uint8_t> stream_;
  std::uint32_t last16_ = 0;
  static constexpr int kMostJMissed = 8;  // in a row, by wrong bits
  static constexpr int kLongestJ = 32;    // bits from one to the next
  long last_j_ = -1;                      // bits in the stream then
  long last_candidate_ = -1;              // bits in the stream behind the last 16 that resemble J
  int candidate_points_ = 0;
  long period_ = 16;  // bits
  double candidate_t_ = 0;
  int ones_ = 0;
  bool e_may_come_ = false;
};

}  // namespace offhook::decode
