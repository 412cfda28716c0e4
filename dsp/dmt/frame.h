// SPDX-License-Identifier: MIT
//
// Data frames of ADSL: octets to and from the symbols, 68 data frames to a superframe (its 69th symbol, which carries
// none, is the synchronization symbol: 69 symbols in 17 ms).
//
// TransmitPath and ReceivePath have one latency path each: an overhead octet and the payload of each frame, scrambled,
// in Reed-Solomon words over one or several frames, interleaved. Depth 1 is the fast path, others the interleaved one.
//
//    frame of a superframe   0        1         2 to 33   34         35          36 to 67
//    overhead octet          CRC      ib 0-7    free      ib 8-15    ib 16-23    free
//
// The 64 free ones of a superframe are an operation's (procedure/bit_swap.h), zeros if there is none.
//
// The CRC covers all octets of the path in the previous superframe, except that one octet. Bits go least significant
// first throughout. Source: G.992.1 7.4 in outline (docs/dmt.md lists the choices made here).
#pragma once

#include <stdint.h>

#include "dsp/dmt/interleaver.h"
#include "dsp/dmt/octet_scrambler.h"
#include "dsp/dmt/reed_solomon.h"

namespace offhook::dmt {

inline constexpr int kFrames = 68;  ///< of a superframe
inline constexpr int kMostFramesPerWord = 16;
inline constexpr int kOperationOctets = kFrames - 4;  ///< of a superframe
/// Index of a frame's overhead octet among them; negative: none.
constexpr int operation_octet(int frame) {
  if (frame < 2 || frame == 34 || frame == 35) return -1;
  return frame < 34 ? frame - 2 : frame - 4;
}

/// Eight steps of Crc8 from each register.
struct Crc8Steps {
  uint8_t of[256];
};
constexpr Crc8Steps make_crc8_steps() {
  Crc8Steps steps{};
  for (unsigned n = 0; n < 256; ++n) {
    unsigned r = n;
    for (int k = 0; k < 8; ++k) r = r >> 1 ^ ((r & 1) != 0 ? 0xb8u : 0u);
    steps.of[n] = static_cast<uint8_t>(r);
  }
  return steps;
}
inline constexpr Crc8Steps kCrc8Steps = make_crc8_steps();

/// x^8 + x^4 + x^3 + x^2 + 1, initially zeros. The register has its bits in reverse order, so that whole octets can be
/// added.
class Crc8 {
 public:
  constexpr void put(uint8_t octet) { register_ = kCrc8Steps.of[register_ ^ octet]; }
  constexpr uint8_t value() const {
    uint8_t v = 0;
    for (int k = 0; k < 8; ++k) v = static_cast<uint8_t>(v << 1 | (register_ >> k & 1));
    return v;
  }
  constexpr void reset() { register_ = 0; }

 private:
  uint8_t register_ = 0;
};

struct PathParameters {
  uint8_t payload = 0;          ///< octets of a frame without the overhead octet; with it and R, at most 255 per word
  uint8_t check = 0;            ///< R, octets of a word: even, at most 16, a multiple of frames_per_word
  uint8_t frames_per_word = 1;  ///< S: 1, 2, 4, 8, 16
  uint8_t depth = 1;            ///< D: a power of two, at most 64

  constexpr int word_data() const { return frames_per_word * (payload + 1); }
  constexpr int word() const { return word_data() + check; }
  /// Octets of each symbol.
  constexpr int octets() const { return word() / frames_per_word; }
  constexpr bool possible() const {
    const auto power = [](int x, int most) { return x >= 1 && x <= most && (x & (x - 1)) == 0; };
    return payload >= 1 && power(frames_per_word, kMostFramesPerWord) && power(depth, Interleaver::kMostDepth) &&
           check <= ReedSolomon::kMostCheck && check % 2 == 0 && check % frames_per_word == 0 && word() <= 255;
  }
  friend constexpr bool operator==(const PathParameters&, const PathParameters&) = default;
};

class TransmitPath {
 public:
  /// @pre p.possible(). Not bounded by a symbol's time: clears the interleaver.
  void reset(const PathParameters& p);
  /// The octets of one data symbol. @param[in] payload  [p.payload] of this frame  @param indicators  ib 0 to 23
  /// @param[in] operation  [kOperationOctets] of this superframe
  /// @param[out] out  [p.octets()]: of the word that was put one word (S frames) earlier. Real-time: yes, O(octets).
  void process(const uint8_t* payload, uint32_t indicators, const uint8_t* operation, uint8_t* out);

 private:
  void put(uint8_t octet);

  PathParameters p_;
  ReedSolomon code_;
  ReedSolomon::Octets check_;
  Interleaver interleaver_;
  OctetScrambler scrambler_;
  Crc8 crc_;
  int frame_ = 0;  // of the superframe
  int in_word_ = 0;
};

/// The work of a word is spread evenly over the following symbols: S to arrive, S to leave the deinterleaver, at most
/// kSearchSymbols to be corrected, then one frame per symbol.
class ReceivePath {
 public:
  struct Frame {
    const uint8_t* payload;  ///< [p.payload]
    bool superframe_ended;   ///< crc_good is the result for the superframe before this frame
    bool crc_good;
    bool indicators_known;  ///< after frame 35
    uint32_t indicators;
    int operation_octet;  ///< index of `overhead` among them; negative: none
    uint8_t overhead;
  };
  static constexpr int kSearchSymbols = 4;

  /// As TransmitPath::reset().
  void reset(const PathParameters& p);
  /// The octets of one data symbol. @param[in] in  [p.octets()]  @param[out] frame  its payload stays until the next
  /// process()  @return whether there is a frame. Real-time: yes, O(octets + R^2).
  bool process(const uint8_t* in, Frame* frame);

  uint32_t corrected_octets() const { return corrected_; }
  uint32_t lost_words() const { return lost_; }  ///< words that could not be corrected

 private:
  struct Word {
    uint8_t octets[256]{};
    ReedSolomon::Octets check;
    Correction correction;
  };
  /// Words after the arriving one: read, corrected, returned.
  static constexpr int kWords = 3;

  void read(Word* word, int symbol);
  void correct(Word* word, int symbol);
  Frame give(Word* word, int symbol);
  int search_symbols() const { return p_.frames_per_word < kSearchSymbols ? p_.frames_per_word : kSearchSymbols; }

  PathParameters p_;
  ReedSolomon code_;
  Interleaver interleaver_;
  OctetScrambler descrambler_;
  Crc8 crc_;
  int frame_ = 0;
  int in_word_ = 0;
  int skip_ = 0;  // words before the first whole one: the initial content of the transmitter and the interleavers
  bool first_ = true;
  uint32_t indicators_ = 0;
  uint32_t corrected_ = 0, lost_ = 0;
  Word words_[kWords];
  int newest_ = 0;  // index in words_ of the word that is read
};

}  // namespace offhook::dmt
