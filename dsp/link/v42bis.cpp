// SPDX-License-Identifier: MIT
#include "dsp/link/v42bis.h"

#include <string.h>

#include <bit>

namespace offhook::v42 {
namespace {

constexpr uint8_t kFirstWidth = 9;                     // N3 + 1
constexpr Codeword kEtm = 0, kFlush = 1, kStepUp = 2;  // Table 2
constexpr uint8_t kEcm = 0, kEid = 1, kReset = 2;
constexpr uint8_t kEscapeStep = 51;  // 9.2 b

// The test for transparent mode (7.8, "not specified"): its interval in characters, and the required gain.
constexpr uint32_t kTestCharacters = 128;
constexpr uint32_t kWorthwhile = kTestCharacters * 8 / 16;

uint8_t width_of(uint32_t value) {
  return uint8_t(std::bit_width(value));
}

uint8_t log2_of_buckets(uint16_t codewords) {
  return width_of(codewords - 1u);
}

}  // namespace

size_t Dictionary::size(uint16_t codewords) {
  const size_t n = codewords * sizeof(Node) + (sizeof(Codeword) << log2_of_buckets(codewords));
  return (n + 63) / 64 * 64;
}

void Dictionary::init(uint8_t* memory, uint16_t codewords, uint8_t max_string) {
  node_ = reinterpret_cast<Node*>(memory);
  buckets_ = reinterpret_cast<Codeword*>(memory + codewords * sizeof(Node));
  codewords_ = codewords;
  max_string_ = max_string;
  bucket_shift_ = uint8_t(32 - log2_of_buckets(codewords));
}

void Dictionary::reset() {
  memset(node_, 0, codewords_ * sizeof(Node));
  memset(buckets_, 0xFF, sizeof(Codeword) << (32 - bucket_shift_));
  for (uint32_t c = 0; c < 256; ++c) node_[of(uint8_t(c))] = {kNoString, kNoString, 0, uint8_t(c), 1};
  next_ = kFirst;
}

// Fibonacci hashing: the high bits of a product with 2^32 over the golden ratio.
uint32_t Dictionary::bucket(Codeword parent, uint8_t c) const {
  return (uint32_t(parent) << 8 | c) * 2654435769u >> bucket_shift_;
}

Codeword Dictionary::find(Codeword string, uint8_t c) const {
  if (string == kNoString) return of(c);
  Codeword at = buckets_[bucket(string, c)];
  while (at != kNoString && (node_[at].parent != string || node_[at].character != c)) at = node_[at].chained;
  return at;
}

Codeword Dictionary::add(Codeword string, uint8_t c) {
  if (node_[string].length >= max_string_) return kNoString;
  const Codeword made = next_;
  Codeword& head = buckets_[bucket(string, c)];
  node_[made] = {string, head, 0, c, uint8_t(node_[string].length + 1)};
  head = made;
  ++node_[string].dependants;
  // One always exists: only a string of more than kMaxString characters could give dependants to all entries but one.
  do {
    next_ = next_ + 1u < codewords_ ? Codeword(next_ + 1) : kFirst;
  } while (node_[next_].length > 0 && node_[next_].dependants > 0);
  if (node_[next_].length > 0) detach(next_);
  return made;
}

void Dictionary::detach(Codeword leaf) {
  Node& node = node_[leaf];
  Codeword* at = &buckets_[bucket(node.parent, node.character)];
  while (*at != leaf) at = &node_[*at].chained;
  *at = node.chained;
  --node_[node.parent].dependants;
  node.length = 0;
}

size_t Dictionary::text(Codeword string, uint8_t* text) const {
  const size_t n = node_[string].length;
  for (size_t i = n; i > 0; --i, string = node_[string].parent) text[i - 1] = node_[string].character;
  return n;
}

void StringMatcher::reset() {
  dictionary_.reset();
  string_ = created_ = kNoString;
  ended_ = false;
}

Codeword StringMatcher::put(uint8_t c) {
  const Codeword longer = dictionary_.find(string_, c);
  if (longer != kNoString && longer != created_ && !ended_) {
    string_ = longer;
    return kNoString;
  }
  const Codeword whole = pending();
  created_ = longer == kNoString ? dictionary_.add(string_, c) : kNoString;
  string_ = Dictionary::of(c);
  ended_ = false;
  return whole;
}

size_t StringMatcher::put_codeword(uint32_t codeword, uint8_t* text) {
  if (!dictionary_.has(codeword)) return 0;
  const size_t n = dictionary_.text(Codeword(codeword), text);
  if (string_ != kNoString && dictionary_.find(string_, text[0]) == kNoString) dictionary_.add(string_, text[0]);
  if (!dictionary_.has(codeword)) return 0;  // the encoder had already recovered it
  string_ = Codeword(codeword);
  created_ = kNoString;
  ended_ = true;
  return n;
}

void Encoder::init(uint8_t* memory, uint16_t codewords, uint8_t max_string) {
  strings_.init(memory, codewords, max_string);
  reset();
}

void Encoder::reset() {
  strings_.reset();
  bits_ = 0;
  bit_count_ = 0;
  width_ = kFirstWidth;
  escape_ = 0;
  compressed_ = false;
  characters_ = plain_ = coded_ = 0;
}

// 7.5: the least significant bit first.
void Encoder::bits(uint32_t value) {
  bits_ |= value << bit_count_;
  bit_count_ = uint8_t(bit_count_ + width_);
  coded_ += width_;
  for (; bit_count_ >= 8; bit_count_ = uint8_t(bit_count_ - 8), bits_ >>= 8) octet(uint8_t(bits_));
}

void Encoder::align() {
  if (bit_count_ > 0) octet(uint8_t(bits_));
  bits_ = 0;
  bit_count_ = 0;
}

// 7.4
void Encoder::send(Codeword codeword) {
  for (; codeword >> width_; ++width_) bits(kStepUp);
  bits(codeword);
}

// 7.8
void Encoder::test() {
  if (characters_ < kTestCharacters) return;
  const bool change = compressed_ ? coded_ > plain_ + kWorthwhile : coded_ + kWorthwhile < plain_;
  if (change && compressed_) {
    if (const Codeword string = strings_.pending(); string != kNoString) send(string);
    bits(kEtm);
    align();
  } else if (change) {
    octet(escape_);
    octet(kEcm);
  }
  if (change) {
    strings_.end();
    compressed_ = !compressed_;
  }
  characters_ = plain_ = coded_ = 0;
}

size_t Encoder::put(uint8_t c, uint8_t* out) {
  out_ = out;
  n_ = 0;
  test();
  const Codeword string = strings_.put(c);
  if (string != kNoString && compressed_) send(string);
  if (string != kNoString && !compressed_) coded_ += string >> width_ ? width_of(string) : width_;
  if (!compressed_) octet(c);
  ++characters_;
  plain_ += 8;
  if (c == escape_) {  // 9.2
    if (!compressed_) octet(kEid);
    plain_ += 8;
    escape_ = uint8_t(escape_ + kEscapeStep);
  }
  return n_;
}

size_t Encoder::flush(uint8_t* out) {
  const Codeword string = strings_.pending();
  if (!compressed_ || string == kNoString) return 0;
  out_ = out;
  n_ = 0;
  send(string);
  strings_.end();
  if (bit_count_ > 0) {
    bits(kFlush);
    align();
  }
  return n_;
}

void Decoder::init(uint8_t* memory, uint16_t codewords, uint8_t max_string) {
  strings_.init(memory, codewords, max_string);
  reset();
}

void Decoder::reset() {
  strings_.reset();
  text_size_ = given_ = 0;
  bits_ = 0;
  bit_count_ = 0;
  width_ = kFirstWidth;
  escape_ = 0;
  escaping_ = compressed_ = failed_ = false;
}

size_t Decoder::put(const uint8_t* octets, size_t size, size_t* used, uint8_t* out, size_t n) {
  size_t made = 0;
  *used = 0;
  for (;;) {
    const size_t left = size_t(text_size_ - given_), now = left < n - made ? left : n - made;
    memcpy(out + made, text_ + given_, now);
    made += now;
    given_ = uint8_t(given_ + now);
    if (made == n || *used == size || failed_) return made;
    text_size_ = given_ = 0;
    octet(octets[(*used)++]);
  }
}

// At most one codeword ends in an octet.
void Decoder::octet(uint8_t value) {
  if (compressed_) {
    bits_ |= uint32_t(value) << bit_count_;
    bit_count_ = uint8_t(bit_count_ + 8);
    if (bit_count_ < width_) return;
    const uint32_t word = bits_ & ((1u << width_) - 1);
    bits_ >>= width_;
    bit_count_ = uint8_t(bit_count_ - width_);
    codeword(word);
  } else if (escaping_) {
    escaping_ = false;
    command(value);
  } else if (value == escape_) {
    escaping_ = true;
  } else {
    character(value);
  }
}

void Decoder::character(uint8_t c) {
  strings_.put(c);
  text_[0] = c;
  text_size_ = 1;
}

void Decoder::command(uint8_t value) {
  switch (value) {
    case kEcm:
      compressed_ = true;
      bits_ = 0;
      bit_count_ = 0;
      break;
    case kEid:
      character(escape_);
      escape_ = uint8_t(escape_ + kEscapeStep);
      break;
    case kReset:
      reset();
      break;
    default:
      failed_ = true;
  }
}

void Decoder::codeword(uint32_t value) {
  switch (value) {
    case kEtm:
      compressed_ = false;
      strings_.end();
      break;
    case kFlush:  // the rest of the octet is empty
      bits_ = 0;
      bit_count_ = 0;
      break;
    case kStepUp:
      failed_ = ++width_ > width_of(strings_.codewords() - 1u);
      break;
    default:
      text_size_ = uint8_t(strings_.put_codeword(value, text_));
      failed_ = text_size_ == 0;
      for (uint8_t i = 0; i < text_size_; ++i) {
        if (text_[i] == escape_) escape_ = uint8_t(escape_ + kEscapeStep);
      }
  }
}

}  // namespace offhook::v42
