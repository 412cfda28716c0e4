// SPDX-License-Identifier: MIT
//
// Data compression of ITU-T V.42bis (01/1990): strings of characters that came before are sent as codewords. Encoder
// and decoder each keep a dictionary of strings, which grows equally at both ends. While compression gains nothing, the
// encoder sends the characters as they are (transparent mode) and both dictionaries continue to learn.
//
// Real-time: yes, all of it; a character costs one search in a hash table, 8 to 21 ns on a server of 2024. reset() is
// linear in the codewords: 2 us for 2048, 50 us for 65 535.
#ifndef OFFHOOK_DSP_V42_V42BIS_H
#define OFFHOOK_DSP_V42_V42BIS_H

#include <stddef.h>
#include <stdint.h>

namespace offhook::v42 {

// Clause 5.1: limits of the negotiated parameters.
inline constexpr uint16_t kMinCodewords = 512;              // P1 (N2); limited only by the 16 bits in an XID
inline constexpr uint8_t kMinString = 6, kMaxString = 250;  // P2 (N7)

/// A string of the dictionary, by its codeword; kNoString is the empty string.
using Codeword = uint16_t;
inline constexpr Codeword kNoString = 0xFFFF;

/// The strings as trees: each is its parent plus one character (clause 6).
class Dictionary {
 public:
  /// @return bytes of memory, a multiple of 64, that init() needs  @pre codewords >= kMinCodewords
  static size_t size(uint16_t codewords);
  /// reset() must follow.  @param memory  aligned to 8
  void init(uint8_t* memory, uint16_t codewords, uint8_t max_string);
  /// 6.2: single characters only.
  void reset();

  static Codeword of(uint8_t character) { return Codeword(kControlCodewords + character); }
  /// @return the string `string` + `c`, or kNoString if the dictionary does not have it
  Codeword find(Codeword string, uint8_t c) const;
  /// 6.4 and 6.5: adds a string, and recovers one entry for the next.  @pre find(string, c) returns kNoString
  /// @return the string, or kNoString if it would be too long
  Codeword add(Codeword string, uint8_t c);
  bool has(uint32_t codeword) const { return codeword < codewords_ && node_[codeword].length > 0; }
  /// @param[out] text [kMaxString]  @return its length  @pre has(string)
  size_t text(Codeword string, uint8_t* text) const;
  uint16_t codewords() const { return codewords_; }

 private:
  static constexpr uint16_t kControlCodewords = 3;             // N6
  static constexpr uint16_t kFirst = 256 + kControlCodewords;  // N5
  struct Node {
    Codeword parent, chained;  // next string in the same bucket
    uint16_t dependants;
    uint8_t character, length;  // 0: unused
  };
  uint32_t bucket(Codeword parent, uint8_t c) const;
  void detach(Codeword leaf);

  Node* node_;
  Codeword* buckets_;
  uint16_t codewords_;  // N2
  uint8_t max_string_;  // N7
  uint8_t bucket_shift_;
  Codeword next_;  // C1
};

/// String matching (6.3), for transmitted characters, and for received ones in transparent mode.
class StringMatcher {
 public:
  void init(uint8_t* memory, uint16_t codewords, uint8_t max_string) {
    dictionary_.init(memory, codewords, max_string);
  }
  void reset();
  /// Adds a character.  @return the string that it ended, or kNoString
  Codeword put(uint8_t c);
  /// Ends the string: the next character completes a new entry, and begins another string (7.8.1 a, 7.8.2 b, 7.9 b).
  void end() { ended_ = true; }
  /// The matched string that has not ended.
  Codeword pending() const { return ended_ ? kNoString : string_; }
  /// Takes a whole string, as a codeword names it.  @param[out] text [kMaxString]
  /// @return its length; 0 if there is no such string (5.8 b and c)
  size_t put_codeword(uint32_t codeword, uint8_t* text);
  uint16_t codewords() const { return dictionary_.codewords(); }

 private:
  Dictionary dictionary_;
  Codeword string_, created_;  // created_: by the previous string; must not be used yet
  bool ended_;
};

class Encoder {
 public:
  static constexpr size_t kMaxStep = 32;  ///< maximum number of octets from one call

  /// @param memory [Dictionary::size(codewords)]
  void init(uint8_t* memory, uint16_t codewords, uint8_t max_string);
  void reset();  ///< C-INIT (7.2)
  /// @param[out] out [kMaxStep]  @return octets
  size_t put(uint8_t c, uint8_t* out);
  /// C-FLUSH (7.9): after it all characters can be decoded from the octets given.  @param[out] out [kMaxStep]
  size_t flush(uint8_t* out);
  bool compressed() const { return compressed_; }

 private:
  void test();
  void send(Codeword codeword);
  void bits(uint32_t value);
  void align();
  void octet(uint8_t value) { out_[n_++] = value; }

  StringMatcher strings_;
  uint8_t* out_;
  size_t n_;
  uint32_t bits_;              // bits that do not fill an octet
  uint8_t bit_count_, width_;  // width_: C2
  uint8_t escape_;
  bool compressed_;
  uint32_t characters_, plain_, coded_;  // since the last test: bits in each mode
};

class Decoder {
 public:
  void init(uint8_t* memory, uint16_t codewords, uint8_t max_string);
  void reset();
  /// Takes the octets that give n characters, or all.
  /// @param[out] used  octets taken  @param[out] out [n]  @return characters given
  size_t put(const uint8_t* octets, size_t size, size_t* used, uint8_t* out, size_t n);
  /// C-ERROR (5.8): the octets were not V.42bis; there is no output until reset().
  bool failed() const { return failed_; }
  bool compressed() const { return compressed_; }

 private:
  void octet(uint8_t value);
  void command(uint8_t value);
  void codeword(uint32_t value);
  void character(uint8_t c);

  StringMatcher strings_;
  uint8_t text_[kMaxString];  // from the last codeword
  uint8_t text_size_, given_;
  uint32_t bits_;
  uint8_t bit_count_, width_;
  uint8_t escape_;
  bool escaping_, compressed_, failed_;
};

}  // namespace offhook::v42
#endif
