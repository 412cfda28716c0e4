// SPDX-License-Identifier: MIT
#include <string.h>

#include <bit>

#include "dsp/link/v44.h"
#include "dsp/link/v44_coding.h"

namespace offhook::v44 {

size_t Decoder::size(const Parameters& p) {
  return rounded(p.codewords * sizeof(String) + p.history);
}

void Decoder::init(uint8_t* memory, const Parameters& p) {
  p_ = p;
  string_ = reinterpret_cast<String*>(memory);
  history_ = memory + p.codewords * sizeof(String);
  max_width_ = uint8_t(std::bit_width(p.codewords - 1u));
  reset();
}

void Decoder::reset() {
  clear_dictionary();
  bits_ = 0;
  bit_count_ = 0;
  escape_ = 0;
  compressed_ = true;
  escaping_ = plain_due_ = failed_ = false;
}

// 7.5.2.  @pre all of the history was read
void Decoder::clear_dictionary() {
  next_ = kFirstCodeword;
  width_ = kFirstWidth;
  filled_ = given_ = 0;
  ordinal_width_ = kFirstOrdinalWidth;
  last_codeword_ = 0;
  created_ = stepped_ = false;
}

size_t Decoder::put(const uint8_t* octets, size_t size, size_t* used, uint8_t* out, size_t n) {
  size_t made = 0;
  *used = 0;
  for (;;) {
    const size_t left = filled_ - given_, now = left < n - made ? left : n - made;
    memcpy(out + made, history_ + given_, now);
    made += now;
    given_ += uint32_t(now);
    if (made < n && plain_due_) {
      out[made++] = plain_;
      plain_due_ = false;
    }
    if (made == n || failed_) return made;
    if (compressed_ && code()) continue;
    if (failed_ || *used == size) return made;
    const uint8_t value = octets[(*used)++];
    if (compressed_) {
      bits_ |= uint32_t(value) << bit_count_;
      bit_count_ = uint8_t(bit_count_ + 8);
    } else {
      transparent(value);
    }
  }
}

// 7.14
void Decoder::transparent(uint8_t value) {
  if (!escaping_) {
    escaping_ = value == escape_;
    plain_ = value;
    plain_due_ = !escaping_;
    return;
  }
  escaping_ = false;
  switch (value) {
    case kEcm:  // 6.5.2
      clear_dictionary();
      compressed_ = true;
      break;
    case kEid:
      plain_ = escape_;
      plain_due_ = true;
      escape_ = uint8_t(escape_ + kEscapeStep);
      break;
    default:  // EPM too, because later negotiation of parameters is not offered
      failed_ = true;
  }
}

// Decodes one code from the available bits (Table 5).  @return false if it needs more bits
bool Decoder::code() {
  if (bit_count_ == 0) return false;
  if (bits_ & 1) return read_codeword();
  const uint8_t prefix = last_codeword_ != 0 ? 2 : 1;
  if (bit_count_ < prefix) return false;
  return prefix == 2 && (bits_ & 2) ? read_extension() : read_ordinal(prefix);
}

// A codeword or a control code. After STEPUP, the step applies to its size (7.11.2).
bool Decoder::read_codeword() {
  const auto width = uint8_t(width_ + stepped_);
  failed_ = width > max_width_;
  if (failed_ || bit_count_ < 1 + width) return false;
  const uint32_t value = bits_ >> 1 & ((1u << width) - 1);
  take_bits(uint8_t(1 + width));
  width_ = width;
  stepped_ = false;
  value < kFirstCodeword ? control(value) : codeword(value);
  return true;
}

// After STEPUP, the step applies to the size of an ordinal (7.11.1).
bool Decoder::read_ordinal(uint8_t prefix) {
  const auto width = uint8_t(ordinal_width_ + stepped_);
  failed_ = width > kLastOrdinalWidth;
  if (failed_ || bit_count_ < prefix + width) return false;
  const uint32_t value = bits_ >> prefix & ((1u << width) - 1);
  take_bits(uint8_t(prefix + width));
  ordinal_width_ = width;
  stepped_ = false;
  ordinal(uint8_t(value));
  return true;
}

// Tables 3 and 4: a prefix that gives the number of bits, then the bits.
bool Decoder::read_extension() {
  constexpr uint8_t kPrefix = 2;
  struct Range {
    uint8_t mask, value;      // the first bits
    uint8_t fixed, variable;  // bits
    uint8_t base;             // the length if the variable bits are 0
  };
  const Range ranges[] = {{1, 1, 1, 0, 1},
                          {15, 0, 4, 3, kThirdLength},
                          {15, 8, 4, last_length_width(p_.max_string), kLastLength},
                          {1, 0, 1, 2, kSecondLength - 1}};  // the previous two represent two zeros
  const uint32_t rest = bits_ >> kPrefix;
  const int have = bit_count_ - kPrefix;
  const bool zeros = (rest & 7) == 0;
  if (have < 1 || (!(rest & 1) && have < (zeros ? 4 : 3))) return false;
  const Range* range = ranges;
  while ((rest & range->mask) != range->value) ++range;
  if (have < range->fixed + range->variable) return false;
  take_bits(uint8_t(kPrefix + range->fixed + range->variable));
  extension(range->base + (rest >> range->fixed & ((1u << range->variable) - 1)));
  return true;
}

// 6.4.1
void Decoder::ordinal(uint8_t c) {
  last_codeword_ = 0;
  failed_ = filled_ == p_.history;
  if (failed_) return;
  history_[filled_++] = c;
  create(2);
}

void Decoder::control(uint32_t code) {
  last_codeword_ = 0;
  switch (code) {
    case kEtm:
      compressed_ = false;
      [[fallthrough]];
    case kFlush:  // the rest of the octet is empty
      bits_ = 0;
      bit_count_ = 0;
      break;
    case kStepUp:
      stepped_ = true;
      break;
    case kReinit:
      clear_dictionary();
      break;
  }
}

void Decoder::codeword(uint32_t value) {
  failed_ = value >= next_;
  if (failed_) return;
  const String string = string_[value];
  if (!copy(string.last + 1u - string.length, string.length)) return;
  last_codeword_ = Codeword(value);
  created_ = false;
  if (string.length < p_.max_string) create(string.length + 1u);
}

void Decoder::extension(uint32_t length) {
  const String string = string_[last_codeword_];
  last_codeword_ = 0;
  failed_ = string.length + length > p_.max_string;
  if (failed_ || !copy(string.last + 1u, length)) return;
  if (created_) string_[next_ - 1] = {uint16_t(filled_ - 1), uint8_t(string.length + length)};
}

// One by one, because the copied string may overlap its own beginning.
bool Decoder::copy(uint32_t from, uint32_t length) {
  failed_ = filled_ + length > p_.history;
  for (uint32_t i = 0; i < length && !failed_; ++i) history_[filled_++] = history_[from + i];
  return !failed_;
}

// The string of the last characters and the next one (Table 2). It may be requested before the next character is known
// (6.4.1, 3 and 4). Then its first character is also its last.
void Decoder::create(uint32_t length) {
  created_ = next_ < p_.codewords;
  if (created_) string_[next_++] = {uint16_t(filled_), uint8_t(length)};
}

}  // namespace offhook::v44
