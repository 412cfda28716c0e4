// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/cp.h"

namespace offhook::v90 {
namespace {

constexpr int kSyncBits = 17;
constexpr uint32_t kSync = (1u << kSyncBits) - 1;
constexpr uint32_t kStart = 0;
constexpr int kHeaderBits = 136;  // up to the first constellation's start bit
constexpr int kMaskBits = 136;    // one constellation
constexpr int kEndBits = 17;      // start bit and CRC

// Bits without fill.
int length(int constellations, bool codec_differs) {
  return kHeaderBits + kMaskBits * constellations * (codec_differs ? 2 : 1) + kEndBits;
}

template <class Io, class V>
void layout_shaping(Io& io, V& v) {
  io.fixed(kStart, 1);
  io.field(v.trn1d_ratio, 16);
  io.fixed(kStart, 1);
  io.field(v.a1, 8);
  io.field(v.a2, 8);
  io.fixed(kStart, 1);
  io.field(v.b1, 8);
  io.field(v.b2, 8);
  io.fixed(kStart, 1);
  for (int i = 0; i < 4; ++i) io.field(v.interval[i], 4);
  io.fixed(kStart, 1);
  for (int i = 4; i < kFrameIntervals; ++i) io.field(v.interval[i], 4);
  io.field(v.codec_differs, 1);
  io.reserved(7);
}

template <class Io, class V>
void layout_header(Io& io, V& v) {
  io.fixed(kSync, kSyncBits);
  io.fixed(kStart, 1);
  io.reserved(1);
  io.field(v.data_mode, 1);
  io.field(v.drn, 5);
  io.reserved(5);
  io.field(v.silence, 1);
  io.field(v.shaping_bits, 2);
  io.field(v.acknowledge, 1);
  io.fixed(kStart, 1);
  io.field(v.a_law, 1);
  io.field(v.upstream_mask, 13);
  io.field(v.look_ahead, 2);
  layout_shaping(io, v);
}

// Table 23 of V.92.
template <class Io, class V>
void layout_header_v92(Io& io, V& v) {
  io.fixed(kSync, kSyncBits);
  io.fixed(kStart, 1);
  io.reserved(1);  // 1: SUVu
  io.field(v.data_mode, 2);
  io.field(v.drn, 5);
  io.reserved(5);
  io.field(v.shaping_bits, 2);
  io.field(v.acknowledge, 1);
  io.fixed(kStart, 1);
  io.field(v.a_law, 1);
  io.reserved(13);
  io.field(v.look_ahead, 2);
  layout_shaping(io, v);
}

template <class Io, class V>
void layout_rest(Io& io, V& v) {
  const int n = v.constellations();
  const auto masks = [&](auto& sets) {
    for (int i = 0; i < n; ++i) {
      for (auto& chord : sets[i].uchord) {
        io.fixed(kStart, 1);
        io.field(chord, 16);
      }
    }
  };
  masks(v.constellation);
  if (v.codec_differs) masks(v.codec);
  io.fixed(kStart, 1);
  io.crc();
}

void read_header(FieldReader& io, CpForm form, Cp* cp) {
  if (form == CpForm::kV92) {
    layout_header_v92(io, *cp);
  } else {
    layout_header(io, *cp);
  }
}

// Bits 18 to 20 of V.92: CPt or CPu; not SUVu, and not the short CPus.
bool is_cp(const uint8_t* bits, CpForm form) {
  return form == CpForm::kV90 || (bits[18] == 0 && bits[20] == 0);
}

bool header_is_good(const FieldReader& io, const Cp& cp) {
  return io.good() && cp.drn <= Cp::kMaxDrn && cp.constellations() <= kFrameIntervals;
}

}  // namespace

int UcodeMask::points() const {
  int n = 0;
  for (int u = 0; u < kUcodes; ++u) n += has(u);
  return n;
}

int Cp::constellations() const {
  int most = 0;
  for (const uint8_t i : interval) most = i > most ? i : most;
  return most + 1;
}

int Cp::bits() const {
  return length(constellations(), codec_differs) + kFillBits;
}

int encode(const Cp& cp, uint8_t* bits) {
  FieldWriter io(bits);
  layout_header(io, cp);
  layout_rest(io, cp);
  io.fixed(0, Cp::kFillBits);
  return io.size();
}

int encode_v92(const Cp& cp, uint8_t* bits) {
  FieldWriter io(bits);
  layout_header_v92(io, cp);
  layout_rest(io, cp);
  io.fixed(0, 1);
  return io.size();
}

bool decode(const uint8_t* bits, int size, Cp* cp, CpForm form) {
  *cp = {};
  if (size < kHeaderBits) return false;
  FieldReader io(bits);
  read_header(io, form, cp);
  if (!header_is_good(io, *cp) || !is_cp(bits, form) || size < length(cp->constellations(), cp->codec_differs))
    return false;
  layout_rest(io, *cp);
  return io.good();
}

bool CpReceiver::put(int bit, Cp* cp) {
  if (bit == 0 && ones_ >= kSyncBits) {
    for (int k = 0; k < kSyncBits; ++k) bits_[k] = 1;
    size_ = kSyncBits;
    expected_ = kHeaderBits;
  }
  ones_ = bit != 0 ? ones_ + (ones_ < kSyncBits) : 0;
  if (expected_ == 0) return false;
  bits_[size_++] = bit != 0;
  if (size_ < expected_) return false;
  if (expected_ == kHeaderBits) {
    *cp = {};
    FieldReader io(bits_);
    read_header(io, form_, cp);
    expected_ = header_is_good(io, *cp) && is_cp(bits_, form_) ? length(cp->constellations(), cp->codec_differs) : 0;
    return false;
  }
  expected_ = 0;
  return decode(bits_, size_, cp, form_);
}

}  // namespace offhook::v90
