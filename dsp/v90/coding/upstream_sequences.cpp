// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/upstream_sequences.h"

#include "dsp/v90/coding/cp.h"

namespace offhook::v90 {
namespace {

constexpr int kSyncBits = 17;
constexpr uint32_t kSync = (1u << kSyncBits) - 1;
constexpr uint32_t kStart = 0;
constexpr int kWord = 17;  // sixteen bits and their start bit
constexpr int kEndBits = 17;
constexpr int kCpdHeader = 51, kModuliBits = 6 * kWord, kLengthsBits = 4 * kWord, kSetsBits = 5 * kWord;

template <class Io>
void begin(Io& io) {
  io.fixed(kSync, kSyncBits);
  io.fixed(kStart, 1);
}

// Table 22.
template <class Io, class V>
void layout_jp(Io& io, V& v) {
  begin(io);
  io.field(v.extension, 16);
  io.fixed(kStart, 1);
  io.reserved(12);
  bool jp = true;
  io.field(jp, 1);
  io.field(v.points8, 1);
  io.field(v.points8_renegotiation, 1);
  io.reserved(1);
  io.fixed(kStart, 1);
  io.crc();
}

// Tables 27 and 31.
template <class Io, class V>
void layout_suv(Io& io, V& v) {
  begin(io);
  bool suv = true;
  io.field(suv, 1);
  io.reserved(7);
  io.field(v.wait_for_cp, 1);
  io.field(v.level, 5);
  io.field(v.wants_silence, 1);
  io.field(v.acknowledge, 1);
  io.fixed(kStart, 1);
  io.crc();
}

// Table 24.
template <class Io, class V>
void layout_short_cp(Io& io, V& v) {
  begin(io);
  uint8_t kind = 2;
  io.reserved(1);  // 1: SUVu
  io.field(kind, 2);
  io.field(v.drn, 5);
  io.reserved(7);
  io.field(v.acknowledge, 1);
  io.fixed(kStart, 1);
  io.crc();
}

// Table 30, part by part.
template <class Io, class V>
void layout_cpd_header(Io& io, V& v) {
  begin(io);
  io.reserved(1);
  io.field(v.has_moduli, 1);
  io.field(v.has_filters, 1);
  io.field(v.has_constellations, 1);
  io.field(v.drn, 5);
  io.field(v.trellis, 2);
  io.field(v.extend_e2u, 1);
  io.reserved(3);
  io.field(v.acknowledge, 1);
  io.fixed(kStart, 1);
  io.field(v.gain, 16);
}

template <class Io, class V>
void layout_moduli(Io& io, V& v) {
  for (int i = 0; i < kUpstreamIntervals; ++i) {
    if (i % 2 == 0) io.fixed(kStart, 1);
    io.field(v.modulus[i], 8);
  }
}

template <class Io, class V>
void layout_lengths(Io& io, V& v) {
  const auto one = [&io](auto& section) {
    io.fixed(kStart, 1);
    io.field(section.length, 9);
    io.reserved(7);
  };
  one(v.z1), one(v.p1), one(v.z2), one(v.p2);
}

template <class Io, class V>
void layout_taps(Io& io, V& v) {
  const auto one = [&io](auto& section) {
    for (int k = 0; k < section.length; ++k) {
      io.fixed(kStart, 1);
      io.field(section.tap[k], 16);
    }
  };
  one(v.z1), one(v.p1), one(v.z2), one(v.p2);
}

template <class Io, class V>
void layout_sets(Io& io, V& v) {
  io.fixed(kStart, 1);
  for (int i = 0; i < 4; ++i) io.field(v.interval[i], 4);
  io.fixed(kStart, 1);
  for (int i = 4; i < 6; ++i) io.field(v.interval[i], 4);
  io.reserved(8);
  for (int s = 0; s < kConstellationSets; ++s) {
    if (s % 2 == 0) io.fixed(kStart, 1);
    io.field(v.points[s], 8);
  }
}

template <class Io, class V>
void layout_points(Io& io, V& v) {
  for (int s = 0; s < kConstellationSets; ++s) {
    for (int n = 0; n < v.points[s]; ++n) {
      io.fixed(kStart, 1);
      io.field(v.point[s][n], 16);
    }
  }
}

template <class Io, class V>
void layout_cpd(Io& io, V& v) {
  layout_cpd_header(io, v);
  if (v.has_moduli) layout_moduli(io, v);
  if (v.has_filters) {
    layout_lengths(io, v);
    layout_taps(io, v);
  }
  if (v.has_constellations) {
    layout_sets(io, v);
    layout_points(io, v);
  }
  io.fixed(kStart, 1);
  io.crc();
}

bool lengths_are_good(const Cpd& c) {
  const FilterSection* sections[] = {&c.z1, &c.p1, &c.z2, &c.p2};
  int total = 0;
  for (const FilterSection* s : sections) {
    if (s->length > kMostFilterTaps) return false;
    total += s->length;
  }
  return total <= kMostTotalTaps;
}

bool sets_are_good(const Cpd& c) {
  for (const uint8_t set : c.interval) {
    if (set >= kConstellationSets) return false;
  }
  for (const uint8_t n : c.points) {
    if (n > kMostPositivePoints) return false;
  }
  return true;
}

struct Extent {
  int bits;    // up to the next field that determines a length, or the end; 0: it is damaged
  bool whole;  // the end, without fill
};

// How far a CPd reaches, as far as its first `size` bits say.
Extent cpd_extent(const uint8_t* bits, int size, Cpd* cpd) {
  FieldReader io(bits);
  layout_cpd_header(io, *cpd);
  int end = kCpdHeader + (cpd->has_moduli ? kModuliBits : 0);
  if (size < end) return {io.good() ? end : 0, false};
  if (cpd->has_moduli) layout_moduli(io, *cpd);
  if (cpd->has_filters) {
    end += kLengthsBits;
    if (size < end) return {io.good() ? end : 0, false};
    layout_lengths(io, *cpd);
    if (!io.good() || !lengths_are_good(*cpd)) return {0, false};
    end += kWord * (cpd->z1.length + cpd->p1.length + cpd->z2.length + cpd->p2.length);
  }
  if (cpd->has_constellations) {
    end += kSetsBits;
    if (size < end) return {io.good() ? end : 0, false};
    if (cpd->has_filters) layout_taps(io, *cpd);
    layout_sets(io, *cpd);
    if (!io.good() || !sets_are_good(*cpd)) return {0, false};
    for (const uint8_t n : cpd->points) end += kWord * n;
  }
  return {io.good() ? end + kEndBits : 0, true};
}

}  // namespace

int encode(const Jp& jp, uint8_t* bits) {
  FieldWriter io(bits);
  layout_jp(io, jp);
  io.fixed(0, Jp::kBits - io.size());
  return Jp::kBits;
}

bool decode(const uint8_t* bits, Jp* jp) {
  FieldReader io(bits);
  *jp = {};
  layout_jp(io, *jp);
  return io.good() && bits[47] == 1;
}

int encode(const Suv& suv, uint8_t* bits) {
  FieldWriter io(bits);
  layout_suv(io, suv);
  io.fixed(0, 1);
  return Suv::kBits;
}

bool decode(const uint8_t* bits, Suv* suv) {
  FieldReader io(bits);
  *suv = {};
  layout_suv(io, *suv);
  return io.good() && bits[18] == 1;
}

int encode(const ShortCp& cp, uint8_t* bits) {
  FieldWriter io(bits);
  layout_short_cp(io, cp);
  io.fixed(0, 1);
  return ShortCp::kBits;
}

bool decode(const uint8_t* bits, ShortCp* cp) {
  FieldReader io(bits);
  *cp = {};
  layout_short_cp(io, *cp);
  return io.good() && bits[18] == 0 && bits[19] == 0 && bits[20] == 1 && cp->drn <= Cp::kMaxDrn;
}

int encode(const Cpd& cpd, uint8_t* bits) {
  FieldWriter io(bits);
  layout_cpd(io, cpd);
  io.fixed(0, 1);
  return io.size();
}

bool decode(const uint8_t* bits, int size, Cpd* cpd) {
  if (size < kCpdHeader) return false;
  const Extent extent = cpd_extent(bits, size, cpd);
  if (!extent.whole || extent.bits == 0 || size < extent.bits) return false;
  FieldReader io(bits);
  layout_cpd(io, *cpd);
  return io.good() && cpd->drn <= kMostUpstreamDrn && cpd->trellis <= v34::TrellisCode::k64;
}

bool CpdReceiver::put(int bit, Cpd* cpd) {
  if (bit == 0 && ones_ >= kSyncBits) {
    for (int k = 0; k < kSyncBits; ++k) bits_[k] = 1;
    size_ = kSyncBits;
    expected_ = kCpdHeader;
    whole_ = false;
  }
  ones_ = bit != 0 ? ones_ + (ones_ < kSyncBits) : 0;
  if (expected_ == 0) return false;
  bits_[size_++] = bit != 0;
  if (size_ == kSyncBits + 2 && bit != 0) expected_ = 0;  // an SUV
  if (expected_ == 0 || size_ < expected_) return false;
  Cpd read = *cpd;
  if (!whole_) {
    const Extent extent = cpd_extent(bits_, size_, &read);
    expected_ = extent.bits;
    whole_ = extent.whole;
    return false;
  }
  expected_ = 0;
  if (!decode(bits_, size_, &read)) return false;
  *cpd = read;
  return true;
}

}  // namespace offhook::v90
