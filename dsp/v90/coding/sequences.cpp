// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/sequences.h"

#include "dsp/v34/coding/mp_end.h"

namespace offhook::v90 {
namespace {

constexpr int kSyncBits = 17;
constexpr uint32_t kSync = (1u << kSyncBits) - 1;
constexpr uint32_t kStart = 0;
constexpr int kWord = 17;  // sixteen bits and their start bit

constexpr int words(int bits) {
  return (bits + 15) / 16;
}

// Table 13. Seventeen ones, two words, CRC.
template <class Io, class V>
void layout_jd(Io& io, V& v) {
  io.fixed(kSync, kSyncBits);
  io.fixed(kStart, 1);
  uint32_t low = v.rates & 0xFFFF, high = v.rates >> 16;
  io.field(low, 16);
  io.fixed(kStart, 1);
  io.field(high, 6);
  io.reserved(6);
  io.field(v.points16, 1);
  io.field(v.points16_renegotiation, 1);
  io.field(v.look_ahead, 2);
  io.fixed(kStart, 1);
  io.crc();
  if constexpr (!std::is_const_v<V>) v.rates = low | high << 16;
}

// Table 12 up to the lengths of the patterns.
constexpr int kDilHeader = kSyncBits + 2 * kWord;
template <class Io, class V>
void layout_dil_header(Io& io, V& v) {
  io.fixed(kSync, kSyncBits);
  io.fixed(kStart, 1);
  io.field(v.segments, 8);
  io.reserved(8);
  io.fixed(kStart, 1);
  uint8_t sign_length = v.segments == 0 ? uint8_t{0} : static_cast<uint8_t>(v.sign_length - 1);
  uint8_t training_length = v.segments == 0 ? uint8_t{0} : static_cast<uint8_t>(v.training_length - 1);
  io.field(sign_length, 7);
  io.reserved(1);
  io.field(training_length, 7);
  io.reserved(1);
  if constexpr (!std::is_const_v<V>) {
    v.sign_length = static_cast<uint8_t>(sign_length + 1);
    v.training_length = static_cast<uint8_t>(training_length + 1);
  }
}

// Table 12 after that; with rates Table 20 of V.92.
template <class Io, class V, class R>
void layout_dil_rest(Io& io, V& v, R* rates) {
  const auto pattern = [&](auto& octets, int pattern_bits) {
    for (int k = 0; k < 16 * words(pattern_bits); k += 8) {
      if (k % 16 == 0) io.fixed(kStart, 1);
      const int left = pattern_bits - k, used = left < 0 ? 0 : left < 8 ? left : 8;
      io.field(octets[k / 8], used);
      io.reserved(8 - used);
    }
  };
  const auto pairs = [&](auto& values, int n) {
    for (int k = 0; k < n; ++k) {
      if (k % 2 == 0) io.fixed(kStart, 1);
      io.field(values[k], 7);
      io.reserved(1);
    }
    if (n % 2 == 1) io.reserved(8);
  };
  pattern(v.sign, v.sign_length);
  pattern(v.training, v.training_length);
  pairs(v.length, 8);
  pairs(v.reference, 8);
  pairs(v.ucode, v.segments);
  io.fixed(kStart, 1);
  if (rates != nullptr) {
    uint32_t low = *rates & 0xFFFF, high = *rates >> 16;
    io.field(low, 16);
    io.fixed(kStart, 1);
    io.field(high, 3);
    io.reserved(13);
    io.fixed(kStart, 1);
    if constexpr (!std::is_const_v<R>) *rates = low | high << 16;
  }
  io.crc();
}

// Without fill.
int dil_length(const Dil& dil) {
  const int sign = dil.segments == 0 ? 1 : dil.sign_length, training = dil.segments == 0 ? 1 : dil.training_length;
  return kDilHeader + kWord * (words(sign) + words(training) + 8 + (dil.segments + 1) / 2 + 1);
}

// Table 16.
template <class Io, class V>
void layout_mp(Io& io, V& v) {
  io.fixed(kSync, kSyncBits);
  io.fixed(kStart, 1);
  io.field(v.type1, 1);
  io.reserved(5);
  io.field(v.drn, 4);
  io.reserved(1);
  io.field(v.trellis, 2);
  io.field(v.nonlinear, 1);
  io.field(v.expanded, 1);
  io.field(v.acknowledge, 1);
  io.fixed(kStart, 1);
  io.reserved(1);
  io.field(v.rate_mask, 13);
  io.reserved(2);
  io.fixed(kStart, 1);
  v34::end_mp(io, v);
}

void write_dil(FieldWriter& io, const Dil& dil, const UpstreamRates* rates) {
  Dil d = dil;
  if (d.segments == 0) {
    d.sign_length = d.training_length = 1;
    d.sign[0] = d.training[0] = 0;
  }
  const Dil& sent = d;
  layout_dil_header(io, sent);
  layout_dil_rest(io, sent, rates);
}

bool read_dil(const uint8_t* bits, int size, Dil* dil, UpstreamRates* rates) {
  *dil = {};
  if (size < kDilHeader) return false;
  FieldReader io(bits);
  layout_dil_header(io, *dil);
  if (!io.good() || size < dil_length(*dil) + (rates != nullptr ? 2 * kWord : 0)) return false;
  layout_dil_rest(io, *dil, rates);
  return io.good();
}

constexpr int kMpWindow[2] = {Mp::kBitsType0 - 1, Mp::kBitsType1 - 1};  // without fill

}  // namespace

int Dil::bits() const {
  const int n = dil_length(*this) + 1;
  return n + n % 2;
}

Pcm Dil::symbol(int segment, int k) const {
  const auto bit = [k](const uint8_t* octets, int pattern_bits) {
    const int at = k % pattern_bits;
    return (octets[at / 8] >> at % 8 & 1) != 0;
  };
  const uint8_t u = ucode[segment];
  return {bit(training, training_length) ? u : reference[u / kUchord], bit(sign, sign_length)};
}

int encode(const Jd& jd, uint8_t* bits) {
  FieldWriter io(bits);
  layout_jd(io, jd);
  io.fixed(0, Jd::kBits - io.size());
  return Jd::kBits;
}

bool decode(const uint8_t* bits, Jd* jd) {
  FieldReader io(bits);
  *jd = {};
  layout_jd(io, *jd);
  return io.good() && jd->look_ahead >= 1;
}

int encode(const Dil& dil, uint8_t* bits) {
  FieldWriter io(bits);
  write_dil(io, dil, nullptr);
  io.fixed(0, dil.bits() - io.size());
  return dil.bits();
}

int encode(const Dil& dil, UpstreamRates rates, uint8_t* bits) {
  FieldWriter io(bits);
  write_dil(io, dil, &rates);
  do io.fixed(0, 1);
  while (io.size() % 12 != 0);
  return io.size();
}

bool decode(const uint8_t* bits, int size, Dil* dil) {
  return read_dil(bits, size, dil, nullptr);
}

int encode(const Mp& mp, uint8_t* bits) {
  FieldWriter io(bits);
  layout_mp(io, mp);
  io.fixed(0, 1);
  return mp.bits();
}

bool decode(const uint8_t* bits, Mp* mp) {
  *mp = {};
  FieldReader io(bits);
  layout_mp(io, *mp);
  return io.good() && mp->trellis <= v34::TrellisCode::k64 && mp->drn <= 14;
}

bool MpReceiver::put(int bit, Mp* mp) {
  history_.put(bit);
  for (uint32_t type = 0; type < 2; ++type) {
    const int window = kMpWindow[type];
    if (!history_.matches(window - 1, kSync << 2 | kStart << 1 | type, 19)) continue;
    uint8_t bits[Mp::kBitsType1];
    history_.copy(window, bits);
    if (decode(bits, mp)) return true;
  }
  return false;
}

// A pattern of sixteen ones lies between start bits, so that seventeen ones and a zero are a frame sync.
bool DilReceiver::put(int bit, Dil* dil) {
  if (bit == 0 && ones_ >= kSyncBits) {
    for (int k = 0; k < kSyncBits; ++k) bits_[k] = 1;
    size_ = kSyncBits;
    expected_ = kDilHeader;
  }
  ones_ = bit == 1 ? ones_ + (ones_ < kSyncBits) : 0;
  if (expected_ == 0) return false;
  bits_[size_++] = static_cast<uint8_t>(bit);
  if (size_ < expected_) return false;
  const bool header_only = expected_ == kDilHeader;
  if (header_only) {
    FieldReader io(bits_);
    Dil header{};
    layout_dil_header(io, header);
    expected_ = io.good() ? dil_length(header) + (has_rates_ ? 2 * kWord : 0) : 0;
    return false;
  }
  expected_ = 0;
  return read_dil(bits_, size_, dil, has_rates_ ? &rates_ : nullptr);
}

int upstream_rate(uint16_t cp_mask, const Mp& mp) {
  for (int rate = mp.drn; rate >= 2; --rate) {
    if ((cp_mask & mp.rate_mask) >> (rate - 2) & 1) return rate;
  }
  return 0;
}

}  // namespace offhook::v90
