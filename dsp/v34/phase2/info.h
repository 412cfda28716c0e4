// SPDX-License-Identifier: MIT
//
// The INFO sequences of Phase 2: each modem's capabilities (INFO0), and their measurements of the line and choices
// (INFO1). V.34 (10/96) 10.1.2.3, Tables 14 to 16, and 10.2.2.1, Table 22; with the variants of V.90 (09/98) 8.2.3,
// Tables 7 to 11, which share their Phase 2: INFO0d has more about a digital modem, INFO1d is laid out as INFO1c, and
// INFO1a has a second form.
//
// Every kind has the same three functions: encode() to bits, decode() from bits, and an InfoReceiver that finds it in
// the bits of a DPSK demodulator.
#pragma once

#include <stdint.h>

#include "dsp/blocks/sequence.h"
#include "dsp/v34/coding/framing.h"

namespace offhook::v34 {

enum class TransmitClock : uint8_t { kInternal, kFromReceiver, kExternal, kReserved };

/// INFO0c and INFO0a: the sender's capabilities. Carriers, 3429 and power reduction refer only to its own transmitter.
struct Info0 {
  static constexpr int kBits = 49;
  bool supports_2743;
  bool supports_2800;
  bool supports_3429;
  bool low_carrier_3000;
  bool high_carrier_3000;
  bool low_carrier_3200;
  bool high_carrier_3200;
  bool may_transmit_3429;
  bool can_reduce_power;
  uint8_t max_rate_difference;  ///< difference of the two directions' symbol rates, in steps, 0..5
  bool cme;                     ///< circuit multiplication equipment
  bool supports_1664_points;
  TransmitClock clock;
  bool acknowledge;  ///< an INFO0 was received correctly (error recovery)
  friend bool operator==(const Info0&, const Info0&) = default;
};

/// Values of an analogue modem of V.92 instead of Info0::clock, which it does not need (V.92, Table 16).
inline constexpr uint8_t kInfo0aV92 = 1, kInfo0aShortPhase2 = 2;

/// INFO0d of V.90: the digital modem. `v34.clock` is reserved there: sent as 0 and ignored.
struct Info0d {
  static constexpr int kBits = 62;
  Info0 v34;
  uint8_t nominal_power;      ///< -6 - v dBm0 in Phase 2, 0..15
  uint8_t max_power;          ///< -0.5 (v + 1) dBm0, 0..31
  bool power_at_codec;        ///< measured at the output of the codec; otherwise at the modem's terminals
  bool a_law;                 ///< else mu-law
  bool upstream_3429;         ///< V.90 with 3429 symbols/s upstream
  bool short_phase2 = false;  ///< V.92: requests short Phase 2; in V.92, Table 15, in place of `v34.clock`
  bool v92 = false;           ///< V.92 capability, likewise
  friend bool operator==(const Info0d&, const Info0d&) = default;
};

/// The result of probing for one symbol rate.
struct ProbingResult {
  Carrier carrier;
  uint8_t pre_emphasis;  ///< index of 5.4, 0..10
  uint8_t max_rate;      ///< in 2400 bit/s, 0..14; 0: not usable
  friend bool operator==(const ProbingResult&, const ProbingResult&) = default;
};

/// The usable part of a result: numbers that Tables 15 and 16 do not define are unusable.
ProbingResult usable(const ProbingResult& result);

inline constexpr int16_t kOffsetUnknown = -512;

/// INFO1c, and INFO1d of V.90: results for the direction to the sender, one for each symbol rate.
struct Info1c {
  static constexpr int kBits = 109;
  uint8_t min_power_reduction;    ///< dB, 0..7, for the far transmitter
  uint8_t extra_power_reduction;  ///< dB, 0..7, additional reduction that the sender's receiver tolerates
  uint8_t md_length;              ///< of the sender's MD, in 35 ms, 0..127
  ProbingResult probing[kSymbolRates];
  int16_t frequency_offset;  ///< received minus sent 1050 Hz, in 0.02 Hz, -511..511; or kOffsetUnknown
  friend bool operator==(const Info1c&, const Info1c&) = default;
};

/// INFO1a: the choice of the answer modem.
struct Info1a {
  static constexpr int kBits = 70;
  uint8_t min_power_reduction;
  uint8_t extra_power_reduction;
  uint8_t md_length;
  ProbingResult call_to_answer;  ///< for the symbol rate chosen below
  SymbolRate rate_answer_to_call;
  SymbolRate rate_call_to_answer;
  int16_t frequency_offset;
  friend bool operator==(const Info1a&, const Info1a&) = default;
};

/// INFO1a of V.90 for the choice of V.90 by the analogue modem. It differs from the other by the value 6 in bits 37:39.
struct Info1aV90 {
  static constexpr int kBits = 70;
  uint8_t md_length;
  uint8_t u_info;            ///< Ucode of the two-point training point, 67..127
  SymbolRate rate_upstream;  ///< 3000, 3200 or 3429
  int16_t frequency_offset;
  bool high_carrier = false;  ///< short Phase 2 of V.92, which has no INFO1d (V.92, Table 19); otherwise reserved
  /// V.92's PCM upstream (V.92, Table 18); then neither `rate_upstream` nor `frequency_offset` is sent.
  bool pcm_upstream = false;
  uint8_t filter_sections = 0;  ///< bits 12:13: sections of precoder and prefilter
  uint8_t total_taps = 0;       ///< bits 14:15: at most 192 + 64 v
  uint8_t section_taps = 0;     ///< bits 16:17: at most 128 + 64 v
  friend bool operator==(const Info1aV90&, const Info1aV90&) = default;
};

/// INFOh: the recipient's choice in half-duplex operation, which replaces INFO1 (10.2.2.1, Table 22).
struct InfoH {
  static constexpr int kBits = 51;
  uint8_t power_reduction;  ///< dB, 0..7, for the source's transmitter
  uint8_t trn_length;       ///< of the source's TRN, in 35 ms, 0..127
  Carrier carrier;
  uint8_t pre_emphasis;
  SymbolRate symbol_rate;
  bool trn_16_points;  ///< else 4
  friend bool operator==(const InfoH&, const InfoH&) = default;
};

/// Write a sequence. @param[out] bits  [T::kBits] one per byte, in order of time, from the first fill bit to the last
/// @pre every field within its stated range.  Real-time: yes, O(kBits).
void encode(const Info0& info, uint8_t* bits);
void encode(const Info0d& info, uint8_t* bits);
void encode(const Info1c& info, uint8_t* bits);
void encode(const Info1a& info, uint8_t* bits);
void encode(const Info1aV90& info, uint8_t* bits);
void encode(const InfoH& info, uint8_t* bits);

/// Read a sequence that may be damaged. @param[in] bits  [T::kBits], each 0 or 1; fill bits are ignored
/// @return true if frame sync and CRC are correct, and no field that selects
/// something is undefined. Otherwise `info` has the fields as read. INFO1c
/// selects nothing: use usable() for the choice. Real-time: yes, O(kBits).
bool decode(const uint8_t* bits, Info0* info);
bool decode(const uint8_t* bits, Info0d* info);
bool decode(const uint8_t* bits, Info1c* info);
bool decode(const uint8_t* bits, Info1a* info);
bool decode(const uint8_t* bits, Info1aV90* info);
bool decode(const uint8_t* bits, InfoH* info);

/// Finds sequences of one kind in a stream of demodulated bits, without waiting for the fill bits after the CRC. Checks
/// every position, so that a false frame sync hides nothing.
template <class T>
class InfoReceiver {
 public:
  /// @return true if this bit was the last CRC bit of a correct sequence, now in `info`. Real-time: yes; O(1), and
  /// O(kBits) for one bit in 256.
  bool put(int bit, T* info) {
    history_.put(bit);
    if (!history_.matches(kWindow - 1 - kFill, kSync, 8)) return false;
    uint8_t bits[T::kBits];
    history_.copy(kWindow, bits);
    return decode(bits, info);
  }

  static constexpr uint32_t kSync = 0b01110010;  ///< for all INFO sequences; the left-most bit is the first in time

 private:
  static constexpr int kFill = 4;
  static constexpr int kWindow = T::kBits - kFill;
  BitHistory history_;
};

}  // namespace offhook::v34
