// SPDX-License-Identifier: MIT
//
// The symbols of the start-up, as points of the tones with unit power:
//
//    REVERB   one repeated symbol: the pseudo-random sequence from its start
//    SEGUE    REVERB with its sign changed, except the pilot
//    MEDLEY   the pseudo-random sequence running on from symbol to symbol, added to one of period 2^23 - 1
//    octet    REVERB turned by a quarter turn for each pair of bits; tone k has pair k mod 4, so that each octet is on
//             every tone of the band
//
// The pilot is the same in all of them. Downstream d(n) = d(n-4) + d(n-9) after nine ones, upstream d(n) = d(n-5) +
// d(n-6) after six; two bits per tone, from tone 0 up.
//
// The second sequence of MEDLEY is this project's choice: s(n) = s(n-18) + s(n-23) after 23 ones. With d alone,
// upstream MEDLEY has 63 symbols, and each is the one before moved on by a bit. An equaliser that is fitted to it then
// cancels interference by the sequence and not by the channel: the SNR in data was up to 10 dB below that in MEDLEY.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/dmt/tones.h"

namespace offhook::dmt {

inline constexpr Complex kPilotPoint{0.70710678f, 0.70710678f};

class Medley {
 public:
  explicit Medley(const Band& band) : downstream_(band.points > 64) { reset(); }
  void reset() {
    register_ = downstream_ ? 0x1ff : 0x3f;
    long_ = (1u << 23) - 1;
  }
  /// The next symbol. @param[out] points  [band.tones()], zero outside the band. Real-time: yes, O(tones).
  void next(const Band& band, Complex* points);

 private:
  int bit();
  bool downstream_;
  uint32_t register_ = 0, long_ = 0;  // the newest bit lowest
};

/// @param[out] points  [band.tones()]
void reverb(const Band& band, Complex* points);
/// @param[in] reverb  [band.tones()]  @param[out] points  [band.tones()]
void octet_symbol(const Band& band, const Complex* reverb, uint8_t octet, Complex* points);
/// The tones of the handshake, each with a pilot's point; all others are silent.
void tones_symbol(const Band& band, const int* tones, int n, Complex* points);

inline constexpr uint8_t kReverbOctet = 0, kSegueOctet = 0xff;

/// Two bits to quarter turns: 00 none, 01 one ahead, 10 one back, 11 half a turn.
constexpr Complex turned(Complex z, unsigned pair) {
  switch (pair & 3) {
    case 1:
      return {-z.im, z.re};
    case 2:
      return {z.im, -z.re};
    case 3:
      return {-z.re, -z.im};
    default:
      return z;
  }
}

}  // namespace offhook::dmt
