// SPDX-License-Identifier: MIT
#include "dsp/link/mnp5.h"

namespace offhook::mnp5 {
namespace {

constexpr uint8_t kRun = 3, kMostMore = 250, kMostCount = 255;
constexpr uint8_t kHeaderBits = 3, kFlushBits = 11;

/// Bits after the header: its value, but one for 0. After 7 and seven ones there are eight.
uint8_t body_bits(uint8_t header) {
  return header == 0 ? 1 : header;
}

}  // namespace

FrequencyTable::FrequencyTable() {
  for (unsigned i = 0; i < 256; ++i) {
    counts_[i] = 0;
    characters_[i] = rank_[i] = uint8_t(i);
  }
}

uint8_t FrequencyTable::count(uint8_t rank) {
  const uint8_t c = characters_[rank], n = uint8_t(counts_[rank] + 1);
  for (; rank > 0 && counts_[rank - 1] < n; --rank) {
    counts_[rank] = counts_[rank - 1];
    characters_[rank] = characters_[rank - 1];
    rank_[characters_[rank]] = rank;
  }
  counts_[rank] = n;
  characters_[rank] = c;
  rank_[c] = rank;
  if (counts_[0] == kMostCount) {
    for (uint8_t& count : counts_) count = uint8_t(count >> 1);
  }
  return c;
}

size_t Encoder::add(uint32_t bits, uint8_t n, uint8_t* out) {
  bits_ = bits_ << n | bits;
  pending_ = uint8_t(pending_ + n);
  size_t octets = 0;
  for (; pending_ >= 8; pending_ = uint8_t(pending_ - 8)) out[octets++] = uint8_t(bits_ >> (pending_ - 8));
  return octets;
}

size_t Encoder::token(uint8_t rank, uint8_t* out) {
  uint8_t header = 0;
  while (rank >> (header + 1)) ++header;
  const uint8_t body = header == 0 ? rank : uint8_t(rank - (1u << header));
  if (rank == 255) return add(0x7FEu, kFlushBits, out);  // 111, seven ones, 0
  const uint8_t n = body_bits(header);
  return add(uint32_t(header) << n | body, uint8_t(kHeaderBits + n), out);
}

size_t Encoder::put(uint8_t c, uint8_t* out) {
  size_t n = 0;
  const bool same = equal_ > 0 && c == character_;
  if (same && equal_ == kRun) {
    if (++more_ < kMostMore) return 0;
    equal_ = more_ = 0;
    return token(kMostMore, out);
  }
  if (!same && equal_ == kRun) {
    n = token(more_, out);
    more_ = 0;
  }
  equal_ = same ? uint8_t(equal_ + 1) : uint8_t(1);
  character_ = c;
  const uint8_t rank = table_.rank(c);
  n += token(rank, out + n);
  table_.count(rank);
  return n;
}

size_t Encoder::flush(uint8_t* out) {
  size_t n = 0;
  if (equal_ == kRun) {
    n = token(more_, out);
    equal_ = more_ = 0;
  }
  if (pending_ == 0) return n;
  n += add(0x7FF, kFlushBits, out + n);
  if (pending_ > 0) n += add(0xFFu >> pending_, uint8_t(8 - pending_), out + n);
  equal_ = 0;
  return n;
}

// A token has all of its bits.
void Decoder::complete() {
  const uint8_t body = uint8_t(have_ - kHeaderBits), header = uint8_t(token_ >> body);
  const uint16_t value = token_ & uint16_t((1u << body) - 1);
  const bool flush = body == 8 && value == 0xFF;
  const uint8_t rank = body == 8 ? uint8_t(255) : header == 0 ? uint8_t(value) : uint8_t((1u << header) + value);
  token_ = have_ = 0;
  if (flush) {
    left_ = equal_ = 0;
    return;
  }
  if (equal_ == kRun) {
    equal_ = 0;
    repeat_ = rank;
    return;
  }
  const uint8_t c = table_.count(rank);
  equal_ = equal_ > 0 && c == character_ ? uint8_t(equal_ + 1) : uint8_t(1);
  character_ = c;
  repeat_ = 1;
}

size_t Decoder::put(const uint8_t* octets, size_t size, size_t* used, uint8_t* out, size_t n) {
  size_t made = 0;
  *used = 0;
  for (;;) {
    for (; repeat_ > 0 && made < n; --repeat_) out[made++] = character_;
    if (repeat_ > 0 || made == n) return made;
    if (left_ == 0) {
      if (*used == size) return made;
      octet_ = octets[(*used)++];
      left_ = 8;
    }
    token_ = uint16_t(token_ << 1 | (octet_ >> --left_ & 1));
    if (++have_ < kHeaderBits + 1) continue;
    const uint8_t body = uint8_t(have_ - kHeaderBits), header = uint8_t(token_ >> body);
    const bool ones = header == 7 && body == 7 && (token_ & 0x7F) == 0x7F;  // an eighth bit follows
    if (body == 8 || (body == body_bits(header) && !ones)) complete();
  }
}

}  // namespace offhook::mnp5
