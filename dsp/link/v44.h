// SPDX-License-Identifier: MIT
//
// Data compression of ITU-T V.44 (11/2000, Corrigendum 1 03/2002), the stream method. Both ends keep the characters so
// far (the history) and number the strings in it. A repeated string is sent as its codeword; if the characters after it
// repeat too, a length follows. A character that begins no string is sent by itself (an ordinal). While compression
// gains nothing, the encoder sends characters as they are (transparent mode). A full dictionary is replaced by an empty
// one.
//
// Real-time: yes, all of it. For a character the encoder searches the strings that differ from here on: at most 256,
// and a few in text. The decoder's time is linear in its output. A new dictionary clears 512 octets.
#ifndef OFFHOOK_DSP_V44_V44_H
#define OFFHOOK_DSP_V44_V44_H

#include <stddef.h>
#include <stdint.h>

namespace offhook::v44 {

// Table 10: the smallest values that may be negotiated, and the defaults.
inline constexpr uint16_t kMinCodewords = 256, kDefaultCodewords = 1024;
inline constexpr uint8_t kMinString = 32, kDefaultString = 255;
inline constexpr uint16_t kMinHistory = 512, kDefaultHistory = 3 * kDefaultCodewords;

/// Parameters of one direction (Table 10).
struct Parameters {
  uint16_t codewords = kDefaultCodewords;  ///< N2, control codes included
  uint8_t max_string = kDefaultString;     ///< N7, characters
  uint16_t history = kDefaultHistory;      ///< N8, characters
  bool valid() const { return codewords >= kMinCodewords && max_string >= kMinString && history >= kMinHistory; }
};

/// A string by its number. Those below kFirstCodeword are control codes.
using Codeword = uint16_t;

class Encoder {
 public:
  static constexpr size_t kMaxStep = 48;  ///< maximum number of octets from one call

  /// @return bytes of memory, a multiple of 64, that init() needs  @pre p.valid()
  static size_t size(const Parameters& p);
  /// @param memory  [size(p)], aligned to 8
  void init(uint8_t* memory, const Parameters& p);
  void reset();  ///< C-INIT (7.5)
  /// @param[out] out [kMaxStep]  @return octets
  size_t put(uint8_t c, uint8_t* out);
  /// C-FLUSH (7.13): after it all characters can be decoded from the octets given.  @param[out] out [kMaxStep]
  size_t flush(uint8_t* out);
  bool compressed() const { return compressed_; }

 private:
  /// A segment of a string (6.2.1): it continues a parent segment, or a single character.
  struct Node {
    uint16_t position;    // position of its first character in the history
    Codeword down, side;  // first continuation; next sibling
    uint8_t length;       // characters
  };
  Codeword child(Codeword of_first, uint8_t length, uint8_t c) const;
  bool match(uint8_t c);
  void begin(uint8_t c);
  void end_string();
  void create(Codeword& parent_down, uint32_t position, uint8_t length);
  void clear_dictionary();
  void reinitialize();
  void test();
  void ordinal(uint8_t c);
  void codeword(Codeword value);
  void extension(uint8_t length);
  void control(uint8_t code);
  void bits(uint32_t value, uint8_t width);
  void align();
  void octet(uint8_t value) { out_[n_++] = value; }

  Parameters p_;
  Node* node_;
  Codeword* root_;         // [256] the first string of two characters that begins with this one
  uint8_t* history_;       // [N8]
  uint32_t next_;          // C1
  uint8_t width_;          // C2; C3 is 2^C2
  uint32_t filled_;        // C4
  uint8_t ordinal_width_;  // C5

  // The string that is being matched: its first character, the last matching segment, and the matching history after
  // that.
  uint8_t first_;
  Codeword at_;        // 0: only the first character
  uint8_t length_;     // of the string up to at_; 0: none
  uint8_t extension_;  // characters behind it

  uint8_t* out_;
  size_t n_;
  uint32_t bits_;  // bits that do not fill an octet
  uint8_t bit_count_;
  uint8_t escape_;
  bool compressed_, after_codeword_, unflushed_;
  uint32_t characters_, plain_, coded_;  // since the last test: bits in each mode
};

class Decoder {
 public:
  static size_t size(const Parameters& p);
  void init(uint8_t* memory, const Parameters& p);
  void reset();
  /// Takes the octets that give n characters, or all.
  /// @param[out] used  octets taken  @param[out] out [n]  @return characters given
  size_t put(const uint8_t* octets, size_t size, size_t* used, uint8_t* out, size_t n);
  /// C-ERROR (7.15): the octets were not V.44; there is no output until reset().
  bool failed() const { return failed_; }
  bool compressed() const { return compressed_; }

 private:
  struct String {   // 6.2.2
    uint16_t last;  // position of its last character in the history
    uint8_t length;
  };
  bool code();
  bool read_codeword();
  bool read_ordinal(uint8_t prefix);
  bool read_extension();
  void transparent(uint8_t value);
  void ordinal(uint8_t c);
  void control(uint32_t code);
  void codeword(uint32_t value);
  void extension(uint32_t length);
  bool copy(uint32_t from, uint32_t length);
  void create(uint32_t length);
  void clear_dictionary();
  void take_bits(uint8_t n) { bits_ >>= n, bit_count_ = uint8_t(bit_count_ - n); }

  Parameters p_;
  String* string_;
  uint8_t* history_;
  uint32_t next_;              // C1
  uint8_t width_, max_width_;  // C2, N1
  uint32_t filled_, given_;    // C4, and the part that the user has read
  uint8_t ordinal_width_;      // C5
  Codeword last_codeword_;     // 0: the last item was none
  bool created_;               // one of its strings and the next character
  bool stepped_;               // STEPUP: the next code shows which size it refers to
  uint32_t bits_;
  uint8_t bit_count_;
  uint8_t escape_, plain_;  // plain_: a character of transparent mode
  bool escaping_, compressed_, plain_due_, failed_;
};

}  // namespace offhook::v44
#endif
