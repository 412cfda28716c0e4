// SPDX-License-Identifier: MIT
#include <string.h>

#include "dsp/link/v44.h"
#include "dsp/link/v44_coding.h"

namespace offhook::v44 {
namespace {

// The test for transparent mode (7.11.5, "not specified"): its interval in characters, and the required gain.
constexpr uint32_t kTestCharacters = 256;
constexpr uint32_t kWorthwhile = kTestCharacters * 8 / 16;

constexpr size_t kRoots = 256;  // N4

}  // namespace

size_t Encoder::size(const Parameters& p) {
  return rounded(p.codewords * sizeof(Node) + kRoots * sizeof(Codeword) + p.history);
}

void Encoder::init(uint8_t* memory, const Parameters& p) {
  p_ = p;
  node_ = reinterpret_cast<Node*>(memory);
  root_ = reinterpret_cast<Codeword*>(memory + p.codewords * sizeof(Node));
  history_ = memory + p.codewords * sizeof(Node) + kRoots * sizeof(Codeword);
  reset();
}

void Encoder::reset() {
  clear_dictionary();
  bits_ = 0;
  bit_count_ = 0;
  escape_ = 0;
  compressed_ = true;
  after_codeword_ = unflushed_ = false;
  characters_ = plain_ = coded_ = 0;
}

// 7.5.1
void Encoder::clear_dictionary() {
  memset(root_, 0, kRoots * sizeof(Codeword));
  next_ = kFirstCodeword;
  width_ = kFirstWidth;
  filled_ = 0;
  ordinal_width_ = kFirstOrdinalWidth;
  length_ = 0;
}

// 7.12
void Encoder::reinitialize() {
  control(kReinit);
  clear_dictionary();
}

// Among the siblings of `of_first`, the segment of this length that begins with c. A segment of several characters
// begins like the rest of the history, so its length is sufficient to identify it.
Codeword Encoder::child(Codeword of_first, uint8_t length, uint8_t c) const {
  Codeword at = of_first;
  while (at != 0 && (node_[at].length != length || history_[node_[at].position] != c)) at = node_[at].side;
  return at;
}

// Adds a character (6.3.1, 6.3.2). If two segments begin alike, the shorter one matches first.
// @return false if the string ends before it
bool Encoder::match(uint8_t c) {
  if (extension_ == 0) {
    const Codeword below = child(at_ == 0 ? root_[first_] : node_[at_].down, 1, c);
    if (below != 0) {
      at_ = below;
      ++length_;
      return true;
    }
    if (at_ == 0) return false;
  }
  // The compared characters are before c, because a string's earlier occurrence ends before its later one.
  const Node& node = node_[at_];
  const uint32_t behind = uint32_t(node.position) + node.length;
  if (history_[behind + extension_] != c) return false;
  ++extension_;
  const Codeword whole = extension_ > 1 ? child(node.down, extension_, history_[behind]) : Codeword(0);
  if (whole != 0) {
    at_ = whole;
    length_ = uint8_t(length_ + extension_);
    extension_ = 0;
  }
  return true;
}

// A character that begins a string. If there is no string with it, it is sent as an ordinal immediately.
void Encoder::begin(uint8_t c) {
  first_ = c;
  at_ = 0;
  length_ = 1;
  extension_ = 0;
  if (root_[c] == 0) end_string();
}

// Table 1 and 7.11.3. The next character is appended before it is known, as in Appendix II.
void Encoder::end_string() {
  if (at_ == 0) {
    ordinal(first_);
    create(root_[first_], filled_, 1);
  } else {
    codeword(at_);
    if (extension_ > 0) {
      extension(extension_);
      create(node_[at_].down, filled_ - extension_, extension_);
    } else if (length_ < p_.max_string) {
      create(node_[at_].down, filled_, 1);
    }
  }
  length_ = 0;
}

void Encoder::create(Codeword& parent_down, uint32_t position, uint8_t length) {
  if (next_ == p_.codewords) {
    reinitialize();
    return;
  }
  node_[next_] = {uint16_t(position), 0, parent_down, length};
  parent_down = Codeword(next_++);
}

size_t Encoder::put(uint8_t c, uint8_t* out) {
  out_ = out;
  n_ = 0;
  test();
  const bool fits = length_ > 0 && match(c);
  if (length_ > 0 && !fits) end_string();
  history_[filled_++] = c;
  if (!fits) {
    begin(c);
  } else if (length_ + extension_ == p_.max_string) {
    end_string();
  }
  if (filled_ == p_.history) {  // 7.11.4
    if (length_ > 0) end_string();
    if (filled_ > 0) reinitialize();
  }
  ++characters_;
  plain_ += 8;
  if (compressed_) {
    unflushed_ = true;
    return n_;
  }
  octet(c);
  if (c == escape_) {  // 7.14
    octet(kEid);
    escape_ = uint8_t(escape_ + kEscapeStep);
  }
  return n_;
}

size_t Encoder::flush(uint8_t* out) {
  if (!compressed_ || !unflushed_) return 0;
  out_ = out;
  n_ = 0;
  if (length_ > 0) end_string();
  control(kFlush);
  align();
  unflushed_ = false;
  return n_;
}

// 7.11.5. In transparent mode the strings continue, and the cost of compression is counted.
void Encoder::test() {
  if (characters_ < kTestCharacters) return;
  if (compressed_ && coded_ > plain_ + kWorthwhile) {  // 6.5.1
    if (length_ > 0) end_string();
    control(kEtm);
    align();
    compressed_ = unflushed_ = false;
  } else if (!compressed_ && coded_ + kWorthwhile < plain_) {  // 6.5.2
    clear_dictionary();
    octet(escape_);
    octet(kEcm);
    compressed_ = true;
    after_codeword_ = false;
  }
  characters_ = plain_ = coded_ = 0;
}

// Table 5: the prefixes of the following four.
void Encoder::ordinal(uint8_t c) {
  if (c > 127 && ordinal_width_ == kFirstOrdinalWidth) {  // 7.11.1
    control(kStepUp);
    ++ordinal_width_;
  }
  bits(0, after_codeword_ ? 2 : 1);
  bits(c, ordinal_width_);
  after_codeword_ = false;
}

void Encoder::codeword(Codeword value) {
  for (; value >> width_; ++width_) control(kStepUp);  // 7.11.2
  bits(1, 1);
  bits(value, width_);
  after_codeword_ = true;
}

// Tables 3 and 4.
void Encoder::extension(uint8_t length) {
  bits(2, 2);
  if (length < kSecondLength) {
    bits(1, 1);
  } else if (length < kThirdLength) {
    bits(0, 1);
    bits(length - kSecondLength + 1u, 2);
  } else if (length < kLastLength) {
    bits(0, 4);
    bits(uint32_t(length) - kThirdLength, 3);
  } else {
    bits(8, 4);
    bits(uint32_t(length) - kLastLength, last_length_width(p_.max_string));
  }
  after_codeword_ = false;
}

void Encoder::control(uint8_t code) {
  bits(1, 1);
  bits(code, width_);
  after_codeword_ = false;
}

// 6.6: the least significant bit first.
void Encoder::bits(uint32_t value, uint8_t width) {
  coded_ += width;
  if (!compressed_) return;
  bits_ |= value << bit_count_;
  bit_count_ = uint8_t(bit_count_ + width);
  for (; bit_count_ >= 8; bit_count_ = uint8_t(bit_count_ - 8), bits_ >>= 8) octet(uint8_t(bits_));
}

void Encoder::align() {
  if (bit_count_ > 0) octet(uint8_t(bits_));
  bits_ = 0;
  bit_count_ = 0;
}

}  // namespace offhook::v44
