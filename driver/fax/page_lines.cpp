// SPDX-License-Identifier: MIT
#include "driver/fax/page_lines.h"

#include <utility>

namespace offhook::fax {
namespace {

constexpr std::uint32_t kEndZeros = 11;   // and a one: EOL
constexpr std::uint32_t kReturnEnds = 6;  // EOLs of RTC

}  // namespace

void PageLines::begin(std::uint32_t least_bits, bool two_dimensions) {
  *this = {};
  least_bits_ = least_bits;
  two_dimensions_ = two_dimensions;
}

void PageLines::send(bool bit) {
  octet_ |= static_cast<int>(bit) << octet_bits_;
  if (++octet_bits_ < 8) return;
  octets_ += static_cast<char>(octet_);
  octet_ = octet_bits_ = 0;
}

void PageLines::put_bit(bool bit) {
  if (std::exchange(tag_, false)) {
    send(bit);
    return;
  }
  ++line_bits_;
  if (bit && zeros_ >= kEndZeros) {
    end_line();
  } else {
    zeros_ = bit ? 0 : zeros_ + 1;
    send(bit);
  }
}

/// The bit is the one of an EOL.
void PageLines::end_line() {
  const bool empty = line_bits_ == zeros_ + 1;  // the first EOL, or RTC
  if (!empty) {
    ends_ = 0;
    for (std::uint32_t n = line_bits_; n < least_bits_; ++n) send(false);
  }
  ++ends_;
  send(true);
  tag_ = two_dimensions_;
  zeros_ = line_bits_ = 0;
}

void PageLines::put(std::string_view octets) {
  for (const char c : octets)
    for (int k = 0; k < 8; ++k) put_bit((static_cast<unsigned char>(c) >> k & 1) != 0);
}

void PageLines::end() {
  while (ends_ < kReturnEnds || line_bits_ > zeros_) {
    for (std::uint32_t n = zeros_; n < kEndZeros; ++n) put_bit(false);
    put_bit(true);
    if (tag_) put_bit(true);
  }
  while (octet_bits_ != 0) send(false);
}

std::string PageLines::take() {
  return std::exchange(octets_, {});
}

}  // namespace offhook::fax
