// SPDX-License-Identifier: MIT
//
// The encoder of V.34 from bits to precoded symbols, and the decoder from decided channel points to bits (clauses 7 to
// 9).
//
//   bits -> scrambler -> parser -> shell mapper, differential encoder -> mapper -> precoder -> x
//                                                                          ^ U0      | y, c
//                                                                          trellis encoder
//
// Both work on whole mapping frames: eight 2D symbols. The stages between x and y at the far end (non-linear encoder,
// modulator, line, equalizer, Viterbi decoder) are elsewhere.
#pragma once

#include <stdint.h>

#include "dsp/blocks/scrambler.h"
#include "dsp/v34/coding/frame_bits.h"
#include "dsp/v34/coding/framing.h"
#include "dsp/v34/coding/parser.h"
#include "dsp/v34/coding/precoder.h"
#include "dsp/v34/coding/trellis.h"

namespace offhook::v34 {

/// The parameters that both ends of one direction must share.
struct CodingParameters {
  Framing framing;
  Scrambling scrambling;          ///< of the transmitting modem
  TrellisCode trellis;            ///< chosen by the receiving modem, MP bits 29:30
  PrecoderCoefficients precoder;  ///< chosen by the receiving modem, MP type 1
};

/// State of an encoder before B1: zero by 10.1.3.1, which not all modems follow.
struct EncoderStart {
  int quadrant = 0;       ///< Z of the differential encoder
  int trellis_state = 0;  ///< below trellis_states()
  int frame = 0;          ///< mapping frames of B1 that passed without it
};

/// Bits to symbols. Starts at B1 (10.1.3.1) with everything zero. Real-time: yes, O(1) per frame.
class Encoder {
 public:
  struct Symbol {
    FixedPoint x;  ///< for the non-linear encoder and the modulator
    Point y;       ///< the receiver's signal after its whitening filter
  };

  Encoder() = default;
  explicit Encoder(const CodingParameters& parameters, const EncoderStart& start = {});

  /// Primary bits that the next frame() takes, 7..79.
  int primary_bits() const { return framing_.primary_bits(position_.in_data_frame()); }
  /// Whether the next frame() takes an auxiliary bit.
  bool takes_aux() const { return framing_.is_aux(position_.in_data_frame()); }
  const FramePosition& position() const { return position_; }

  /// @param[in] primary  primary_bits() unscrambled bits  @param aux  used only if takes_aux()
  /// @param[out] symbols  [8]
  void frame(const FrameBits& primary, int aux, Symbol* symbols);
  /// As above, with the transmitted symbols only. @param[out] x  [8]
  void frame(const FrameBits& primary, int aux, FixedPoint* x) {
    Symbol symbols[kSymbolsPerMappingFrame];
    frame(primary, aux, symbols);
    for (int n = 0; n < kSymbolsPerMappingFrame; ++n) x[n] = symbols[n].x;
  }
  /// As above from [primary_bits()] bits, one per byte.
  void frame(const uint8_t* primary, int aux, Symbol* symbols) {
    frame(FrameBits::packed(primary, primary_bits()), aux, symbols);
  }

  int trellis_state() const { return trellis_.state(); }  ///< for instruments and tests
  int quadrant_state() const { return z_; }               ///< Z of the differential encoder

 private:
  /// Scrambler and parser.
  void parse_frame(const FrameBits& primary, int aux, MappingFrame* bits);

  Framing framing_{};
  FramePosition position_;
  Scrambler scrambler_;
  TrellisEncoder trellis_;
  Precoder precoder_;
  int z_ = 0;
};

/// Decided channel points to bits: the exact inverse of Encoder. Real-time: yes, O(1) per frame.
class Decoder {
 public:
  Decoder() = default;
  explicit Decoder(const CodingParameters& parameters, const EncoderStart& start = {});

  int primary_bits() const { return framing_.primary_bits(position_.in_data_frame()); }
  bool gives_aux() const { return framing_.is_aux(position_.in_data_frame()); }
  const FramePosition& position() const { return position_; }

  /// @param[in] y  [8] decided points, odd coordinates, magnitude at most 255 each; any such points are safe
  /// @param[out] primary  primary_bits() descrambled bits  @param[out] aux  written only if gives_aux()
  /// @param[out] x  [8] the transmitted symbols, or null
  /// @return the number of primary bits
  int frame(const Point* y, FrameBits* primary, uint8_t* aux, FixedPoint* x = nullptr);
  /// As above to [primary_bits()] bits, one per byte.
  int frame(const Point* y, uint8_t* primary, uint8_t* aux, FixedPoint* x = nullptr) {
    FrameBits bits;
    const int n = frame(y, &bits, aux, x);
    bits.unpack(primary, n);
    return n;
  }

 private:
  /// Parser and descrambler; ends the frame.  @return number of primary bits
  int deparse_frame(const MappingFrame& bits, FrameBits* primary, uint8_t* aux);

  Framing framing_{};
  FramePosition position_;
  Descrambler descrambler_;
  Precoder precoder_;
  int z_ = 0;
};

/// Mean of |x|^2, units of the grid squared: the energy by which 9.7 and the transmit level are normalised. It is that
/// of the ideal constellation with its shell mapping, with high and low frames weighted, plus the precoder's dither.
/// Not real-time: for init.
float mean_energy(const Framing& framing, const PrecoderCoefficients& h);
/// The same if the coefficients are not known: with `precoding` the dither is uniform in [-w, w], its maximum.
float mean_energy(const Framing& framing, bool precoding);
/// Mean of |c - p|^2 of 9.6.2, which the precoder adds: p, reduced modulo 2w. With coefficients so small
/// that p stays within [-w, w] it is p itself.  Not real-time: for init.
float dither_energy(const Framing& framing, const PrecoderCoefficients& h);

}  // namespace offhook::v34
