// SPDX-License-Identifier: MIT
#include "src/decode/v34/sequence_reader.h"

namespace offhook::decode {

SequenceReader::Found SequenceReader::put(const std::uint8_t* bits, int n, double t, double symbol_s) {
  const double bit_s = symbol_s / n;
  bool e = false;
  for (int k = 0; k < n; ++k) {
    stream_.push_back(bits[k]);
    last16_ = (last16_ << 1 | bits[k]) & 0xFFFF;
    ones_ = bits[k] ? ones_ + 1 : 0;
    if (!v90_ && read_j(t, symbol_s) == Found::kJPrime) return Found::kJPrime;
    const double t_end = t + (k + 1) * bit_s;
    if (v90_) {
      read_cp(bits[k], 1 << n, t_end, bit_s);
    } else {
      read_mp(bits[k], t_end, bit_s);
    }
    if (e_may_come_ && ones_ == v34::kSequenceEBits && p_.t_e_end == 0) {
      p_.t_e_end = t + symbol_s;
      const int symbols = v34::kSequenceEBits / n;
      p_.t_e = p_.t_e_end - symbols * symbol_s;
      e = true;
    }
  }
  return e ? Found::kE : Found::kNothing;
}

SequenceReader::Found SequenceReader::read_j(double t, double symbol_s) {
  const auto bits = static_cast<long>(stream_.size());
  if (last16_ == v34::kSequenceJ4 || last16_ == v34::kSequenceJ16) {
    const int points = last16_ == v34::kSequenceJ4 ? 4 : 16;
    // J is repeated (10.1.3.3), by modems of K56flex with 8 bits more: a single one of 16 bits is another
    // sequence.
    const bool repeated = points == candidate_points_ && bits - last_candidate_ <= kLongestJ;
    if (repeated && p_.j_points == 0) {
      p_.t_j = candidate_t_ - 8 * symbol_s;
      p_.j_points = points;
      p_.j_repeats = 1;
      last_j_ = last_candidate_;
      period_ = bits - last_candidate_;
    }
    candidate_points_ = points;
    candidate_t_ = t;
    last_candidate_ = bits;
    if (points == p_.j_points && (bits - last_j_) % period_ == 0 && bits - last_j_ <= kMostJMissed * period_) {
      ++p_.j_repeats;
      p_.t_j_end = t + symbol_s;
      last_j_ = bits;
    }
  }
  if (p_.j_points == 0 || last16_ != v34::kSequenceJPrime || bits - last_j_ > 16) return Found::kNothing;
  p_.t_j_prime = t - 7 * symbol_s;
  return Found::kJPrime;
}

void SequenceReader::read_mp(int bit, double t_end, double bit_s) {
  v34::Mp mp{};
  if (!mp_receiver_.put(bit, &mp)) return;
  const int length = mp.bits() - (mp.type1 ? 1 : 3);  // without fill
  const std::vector<std::uint8_t> raw(stream_.end() - length, stream_.end());
  if (p_.mp.empty() || p_.mp.back().bits != raw) p_.mp.push_back({mp, raw, t_end - length * bit_s, 0, 0});
  ++p_.mp.back().count;
  p_.mp.back().t_last_end = t_end;
  e_may_come_ = true;
  ones_ = 0;
}

void SequenceReader::read_cp(int bit, int points, double t_end, double bit_s) {
  if (v90::Dil dil; dil_receiver_.put(bit, &dil)) p_.dil = dil;
  v90::Cp cp;
  if (!cp_receiver_.put(bit, &cp)) return;
  t_end += v90::Cp::kFillBits * bit_s;
  const double t_begin = t_end - cp.bits() * bit_s;
  const std::vector<std::uint8_t> raw(cp_receiver_.bits(), cp_receiver_.bits() + cp_receiver_.size());
  if (p_.cp.empty() || p_.cp.back().bits != raw) p_.cp.push_back({cp, raw, points, t_begin, 0, 0, 0});
  ++p_.cp.back().count;
  p_.cp.back().t_last = t_begin;
  p_.cp.back().t_last_end = t_end;
  // SCR, which is ones as well, may follow CPt and CPs.
  e_may_come_ = cp.data_mode && !cp.silence;
  ones_ = 0;
}

}  // namespace offhook::decode
