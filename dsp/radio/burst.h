// SPDX-License-Identifier: MIT
//
// The burst of one slot: a header and a payload. Two waveforms carry it, a single carrier and OFDM (single_carrier.h,
// ofdm.h); both have this interface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dsp/radio/liquid.h"

namespace offhook::radio {

/// Sample rate of a burst, complex; for a waveform with several rates, the first.
inline constexpr unsigned kSampleRateHz = 2'000'000;

inline constexpr unsigned kAddresses = 4096;

/// The header, which is protected better than the payload.
struct BurstHeader {
  std::uint16_t slot = 0;      ///< the sender's count of slots, modulo 65536
  bool from_caller = false;    ///< the sender determines the time
  std::uint8_t rate = 0;       ///< of the payload: an index into kRates
  std::uint8_t best_rate = 0;  ///< the highest rate that the sender could receive
  bool hears = false;          ///< whether the sender receives the far end
  bool data = false;           ///< whether the payload is data
  bool ends = false;           ///< whether the sender is hanging up
  std::uint16_t address = 0;   ///< of the pair, below kAddresses
};

/// Modulation and code of a payload.
struct Rate {
  modulation_scheme modulation;
  fec_scheme code;
  float least_snr_db;  ///< SNR at which less than 1 burst of 100 is lost in white noise, plus 1 dB; checked by
                       ///< burst_liquid_test
};
inline constexpr std::array<Rate, 4> kRates = {{{LIQUID_MODEM_QPSK, LIQUID_FEC_GOLAY2412, 9},
                                                {LIQUID_MODEM_QPSK, LIQUID_FEC_SECDED7264, 12},
                                                {LIQUID_MODEM_QAM16, LIQUID_FEC_SECDED7264, 19},
                                                {LIQUID_MODEM_QAM64, LIQUID_FEC_SECDED7264, 26}}};

/// Converts header and payload to symbols and back, with the same length for all rates. Everything is configured once,
/// so that nothing allocates later.
class Packets {
 public:
  /// @param symbols  for header and payload together, at least 100
  explicit Packets(unsigned symbols);

  unsigned symbols() const { return header_symbols_ + payload_symbols_; }
  unsigned header_symbols() const { return header_symbols_; }
  /// Octets of a payload at a rate.
  unsigned octets(unsigned rate) const { return octets_[rate]; }
  unsigned most_octets() const { return octets_.back(); }

  /// @param payload  [octets(header.rate)]  @param[out] symbols  [symbols()]. Real-time: yes.
  void encode(const BurstHeader& header, const std::uint8_t* payload, Complex* symbols);
  /// @return whether the header is correct. Real-time: yes.
  bool decode_header(Complex* symbols, BurstHeader& header);
  /// The symbols of the header alone. @param[out] symbols  [header_symbols()]. Real-time: yes.
  void encode_header(const BurstHeader& header, Complex* symbols);
  /// @param symbols  as for decode_header, which found `rate`  @param[out] payload  [octets(rate)]
  /// @return whether the payload is correct. Real-time: yes.
  bool decode_payload(Complex* symbols, unsigned rate, std::uint8_t* payload);

 private:
  using Packet = Owned<qpacketmodem, qpacketmodem_destroy>;
  unsigned header_symbols_, payload_symbols_;
  Packet header_;
  std::array<Packet, kRates.size()> payload_;
  std::array<unsigned, kRates.size()> octets_;
  std::vector<std::uint8_t> scrambled_;
};

/// A receiver's event after a sample.
enum class Heard : std::uint8_t {
  kNothing,
  kBroken,  ///< a burst has ended that could not be decoded
  kHeader,  ///< a burst has ended of which only the header could be decoded
  kBurst    ///< a whole one
};

}  // namespace offhook::radio
