// SPDX-License-Identifier: MIT
//
// Data compression of MNP class 5: run lengths, then tokens by frequency.
//
// After three equal characters follows the number of further ones, up to 250, then the run ends. A character is sent as
// its rank in a table that is sorted by the number of its occurrences: three bits of header, and one to eight bits. So
// the two most frequent ones take four bits, and rare ones ten or eleven. The number of a run is sent as a rank and
// changes nothing in the table. Bits go most significant first. A code of eleven ones ends the octet at a flush.
//
// Sources: the example of the University of New Brunswick's course ECE4253 (tokens, order of the table), and the
// reconstructed firmware of a handheld computer with MNP 5 (runs, halved counts, flush); see docs/mnp.md. Real-time
// safe, no memory of its own.
#ifndef OFFHOOK_DSP_V42_MNP5_H
#define OFFHOOK_DSP_V42_MNP5_H

#include <stddef.h>
#include <stdint.h>

namespace offhook::mnp5 {

/// Characters by falling number of occurrences; of equal numbers, the one that reached it first is first.
class FrequencyTable {
 public:
  FrequencyTable();
  uint8_t rank(uint8_t c) const { return rank_[c]; }
  /// Counts the character of this rank.  @return the character. O(256)
  uint8_t count(uint8_t rank);

 private:
  uint8_t counts_[256], characters_[256], rank_[256];  // by rank; by rank; by character
};

class Encoder {
 public:
  /// Octets that put() and flush() write, at most.
  static constexpr size_t kMaxStep = 4;
  /// @param[out] out  [kMaxStep]  @return octets
  size_t put(uint8_t c, uint8_t* out);
  /// All characters so far can be decoded.
  size_t flush(uint8_t* out);

 private:
  size_t add(uint32_t bits, uint8_t n, uint8_t* out);
  size_t token(uint8_t rank, uint8_t* out);
  FrequencyTable table_;
  uint8_t character_ = 0, equal_ = 0, more_ = 0;  // the newest; how often in a row, up to 3; and beyond these
  uint32_t bits_ = 0;
  uint8_t pending_ = 0;  // bits that are not in an octet yet
};

class Decoder {
 public:
  /// Decodes until the output is full or the octets are used.  @param[out] used  octets  @return characters
  size_t put(const uint8_t* octets, size_t size, size_t* used, uint8_t* out, size_t n);

 private:
  void complete();
  FrequencyTable table_;
  uint8_t character_ = 0, equal_ = 0, repeat_ = 0;  // as above; characters due
  uint8_t octet_ = 0, left_ = 0;                    // bits of it
  uint16_t token_ = 0;
  uint8_t have_ = 0;  // bits of the token
};

}  // namespace offhook::mnp5
#endif
