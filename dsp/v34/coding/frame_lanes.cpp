// SPDX-License-Identifier: MIT
#include "dsp/v34/coding/frame_lanes.h"

#include "dsp/blocks/instruction_set.h"
#include "dsp/v34/coding/parser.h"
#include "dsp/v34/coding/shell_mapper.h"

namespace offhook::v34 {
namespace {

// One word of 32 bits for each lane.
using Lanes = int32_t[kMostFrameLanes];

struct alignas(64) PrecoderWords {
  Lanes h[3], x[3], p_re, p_im, c, scale_bits;
};
// The part that a lane without a frame has, too, so that loops over it end.
struct alignas(64) ShellWords {
  Lanes rings, sum, rest, total;  // ShellSum
  Lanes ring[kSymbolsPerMappingFrame];
  ShellWords() : sum{}, rest{}, ring{} {
    for (int l = 0; l < kMostFrameLanes; ++l) rings[l] = total[l] = 1;
  }
};
struct alignas(64) EncoderWords {
  ShellWords shell;
  PrecoderWords precoder;
  Lanes z, trellis_code, trellis_state;
  Lanes group[kGroupsPerMappingFrame];    // in: I1, I2, I3, V0 from the lowest bit on
  Lanes symbol[kSymbolsPerMappingFrame];  // in: the mapper's point before it is turned; out: x
};
struct alignas(64) DecoderWords {
  ShellWords shell;
  PrecoderWords precoder;
  Lanes z;
  Lanes group[kGroupsPerMappingFrame];    // out: I1, I2, I3
  Lanes symbol[kSymbolsPerMappingFrame];  // in: y; out: u turned into the quarter constellation
};

// Two 16-bit parts as a word, and back.
template <class P>
int32_t word_of(const P& parts) {
  static_assert(sizeof(P) == 4 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  int32_t word;
  __builtin_memcpy(&word, &parts, 4);
  return word;
}
template <class P>
P parts_of(int32_t word) {
  P parts;
  __builtin_memcpy(&parts, &word, 4);
  return parts;
}

// The lanes compute the result of subset_label().
constexpr bool labels_are_bits() {
  for (int re = -7; re <= 7; re += 2) {
    for (int im = -7; im <= 7; im += 2) {
      const int b1 = re >> 1, b0 = b1 ^ im >> 1, b2 = re >> 2 ^ im >> 2 ^ b0;
      const int label = subset_label({static_cast<int16_t>(re), static_cast<int16_t>(im)});
      if (label != 4 * (b2 & 1) + 2 * (b1 & 1) + (b0 & 1)) return false;
    }
  }
  return true;
}
static_assert(labels_are_bits());

#if defined(OFFHOOK_X86_VARIANTS)
namespace avx2 {
constexpr int kLanes = 8;
#define OFFHOOK_TARGET OFFHOOK_TARGET_AVX2
#include "dsp/v34/coding/frame_lanes_variant.inc"
#undef OFFHOOK_TARGET
}  // namespace avx2

namespace avx512 {
constexpr int kLanes = 16;
#define OFFHOOK_TARGET OFFHOOK_TARGET_AVX512
#include "dsp/v34/coding/frame_lanes_variant.inc"
#undef OFFHOOK_TARGET
}  // namespace avx512
#endif

struct Variant {
  int lanes;  // 0: there are none
  void (*shell_map)(ShellWords*);
  void (*shell_unmap)(ShellWords*);
  void (*encode)(EncoderWords*);
  void (*decode)(DecoderWords*);
};
Variant variant_for([[maybe_unused]] InstructionSet set) {
#if defined(OFFHOOK_X86_VARIANTS)
  if (set == InstructionSet::kAvx512)
    return {avx512::kLanes, avx512::shell_map, avx512::shell_unmap, avx512::encode, avx512::decode};
  if (set == InstructionSet::kAvx2)
    return {avx2::kLanes, avx2::shell_map, avx2::shell_unmap, avx2::encode, avx2::decode};
#endif
  return {};  // four lanes gain nothing over one
}

// Runs of lanes of the frames that have one; the others, and runs too short, alone.
template <class Frame, class Fits, class Together, class Alone>
void in_runs(Frame* frame, int count, int lanes, Fits fits, Together together, Alone alone) {
  Frame* run[kMostFrameLanes];
  int filled = 0;
  const auto give = [&] {
    if (filled < kLeastFrameLanes) {
      for (int l = 0; l < filled; ++l) alone(run[l]);
    } else {
      together(run, filled);
    }
    filled = 0;
  };
  for (int k = 0; k < count; ++k) {
    if (lanes == 0 || !fits(frame[k])) {
      alone(frame + k);
      continue;
    }
    run[filled++] = frame + k;
    if (filled == lanes) give();
  }
  give();
}

}  // namespace

// The parts of an encoder and a decoder that the lanes need.
struct FrameLanes {
  // Sums of products with x stay within 32 bits, rounding included.
  static bool fits(const Precoder& p) {
    int sum = 0;
    for (const auto& h : p.h_.h) sum += (h.re < 0 ? -h.re : h.re) + (h.im < 0 ? -h.im : h.im);
    return sum <= 0xFFFF;
  }
  static void load(const Precoder& p, PrecoderWords* w, int lane) {
    for (int k = 0; k < 3; ++k) {
      w->h[k][lane] = word_of(p.h_.h[k]);
      w->x[k][lane] = word_of(p.x_[k]);
    }
    w->p_re[lane] = p.p_re_;
    w->p_im[lane] = p.p_im_;
    w->c[lane] = word_of(p.c_);
    w->scale_bits[lane] = p.scale_bits_;
  }
  static void save(const PrecoderWords& w, int lane, Precoder* p) {
    for (int k = 0; k < 3; ++k) p->x_[k] = parts_of<FixedPoint>(w.x[k][lane]);
    p->p_re_ = w.p_re[lane];
    p->p_im_ = w.p_im[lane];
    p->c_ = parts_of<Point>(w.c[lane]);
  }

  static bool fits(const FrameToEncode& f) { return fits(f.encoder->precoder_); }
  // Bits that choose the rings.
  static void load_shell(const FrameToEncode& f, EncoderWords* w, int lane, MappingFrame* bits) {
    Encoder& e = *f.encoder;
    e.parse_frame(f.primary, f.aux, bits);
    const ShellSum s = shell_sum(e.framing_.rings, bits->shell);
    w->shell.rings[lane] = e.framing_.rings;
    w->shell.sum[lane] = s.sum;
    w->shell.rest[lane] = static_cast<int>(s.rest);
    w->shell.total[lane] = static_cast<int>(s.total);
  }
  static void load(const FrameToEncode& f, EncoderWords* w, int lane, const MappingFrame& bits) {
    const Encoder& e = *f.encoder;
    for (int j = 0; j < kGroupsPerMappingFrame; ++j) {
      const auto& g = bits.group[j];
      w->group[j][lane] = g.i1 | g.i2 << 1 | g.i3 << 2 | e.position_.bit_inversion(j) << 3;
      for (int k = 0; k < 2; ++k) {
        const int n = 2 * j + k;
        w->symbol[n][lane] = word_of(quarter_point(g.q[k] + (w->shell.ring[n][lane] << e.framing_.point_bits)));
      }
    }
    w->z[lane] = e.z_;
    w->trellis_code[lane] = static_cast<int>(e.trellis_.code());
    w->trellis_state[lane] = e.trellis_.state();
    load(e.precoder_, &w->precoder, lane);
  }
  static void save(const EncoderWords& w, int lane, FrameToEncode* f) {
    Encoder& e = *f->encoder;
    e.z_ = w.z[lane];
    e.trellis_.set_state(w.trellis_state[lane]);
    save(w.precoder, lane, &e.precoder_);
    for (int n = 0; n < kSymbolsPerMappingFrame; ++n) f->x[n] = parts_of<FixedPoint>(w.symbol[n][lane]);
    e.position_.advance();
  }

  static bool fits(const FrameToDecode& f) { return fits(f.decoder->precoder_); }
  static void load(const FrameToDecode& f, DecoderWords* w, int lane) {
    for (int n = 0; n < kSymbolsPerMappingFrame; ++n) w->symbol[n][lane] = word_of(f.y[n]);
    w->z[lane] = f.decoder->z_;
    load(f.decoder->precoder_, &w->precoder, lane);
  }
  // All but the bits that chose the rings.
  static void save(DecoderWords* w, int lane, const FrameToDecode& f, MappingFrame* bits) {
    Decoder& d = *f.decoder;
    d.z_ = w->z[lane];
    save(w->precoder, lane, &d.precoder_);
    const int limit = d.framing_.points() / 4;
    const int rings = d.framing_.rings;
    int sum = 0;
    for (int j = 0; j < kGroupsPerMappingFrame; ++j) {
      auto& g = bits->group[j];
      const int i = w->group[j][lane];
      g.i1 = i & 1;
      g.i2 = i >> 1 & 1;
      g.i3 = static_cast<uint8_t>(i >> 2);
      for (int k = 0; k < 2; ++k) {
        const int n = 2 * j + k;
        const int label = quarter_label(parts_of<Point>(w->symbol[n][lane]), limit);
        w->shell.ring[n][lane] = label >> d.framing_.point_bits;
        sum += label >> d.framing_.point_bits;
        g.q[k] = static_cast<uint8_t>(label & ((1 << d.framing_.point_bits) - 1));
      }
    }
    w->shell.rings[lane] = rings;
    w->shell.total[lane] = static_cast<int>(shell_before(rings, sum + 1) - shell_before(rings, sum));
  }
  static void save_shell(const ShellWords& w, int lane, MappingFrame* bits, FrameToDecode* f) {
    Decoder& d = *f->decoder;
    bits->shell = static_cast<uint32_t>(shell_before(w.rings[lane], w.sum[lane])) + static_cast<uint32_t>(w.rest[lane]);
    f->bits = d.deparse_frame(*bits, &f->primary, &f->aux);
  }

  static void run(const Variant& variant, FrameToEncode** frame, int count) {
    EncoderWords words{};
    MappingFrame bits[kMostFrameLanes];
    for (int l = 0; l < count; ++l) load_shell(*frame[l], &words, l, &bits[l]);
    variant.shell_map(&words.shell);
    for (int l = 0; l < count; ++l) load(*frame[l], &words, l, bits[l]);
    variant.encode(&words);
    for (int l = 0; l < count; ++l) save(words, l, frame[l]);
  }
  static void run(const Variant& variant, FrameToDecode** frame, int count) {
    DecoderWords words{};
    MappingFrame bits[kMostFrameLanes];
    for (int l = 0; l < count; ++l) load(*frame[l], &words, l);
    variant.decode(&words);
    for (int l = 0; l < count; ++l) save(&words, l, *frame[l], &bits[l]);
    variant.shell_unmap(&words.shell);
    for (int l = 0; l < count; ++l) save_shell(words.shell, l, &bits[l], frame[l]);
  }
};

void encode_frames(FrameToEncode* frame, int count, InstructionSet set) {
  const Variant variant = variant_for(set);
  in_runs(
      frame, count, variant.lanes, [](const FrameToEncode& f) { return FrameLanes::fits(f); },
      [&](FrameToEncode** run, int lanes) { FrameLanes::run(variant, run, lanes); },
      [](FrameToEncode* f) { f->encoder->frame(f->primary, f->aux, f->x); });
}

void decode_frames(FrameToDecode* frame, int count, InstructionSet set) {
  const Variant variant = variant_for(set);
  in_runs(
      frame, count, variant.lanes, [](const FrameToDecode& f) { return FrameLanes::fits(f); },
      [&](FrameToDecode** run, int lanes) { FrameLanes::run(variant, run, lanes); },
      [](FrameToDecode* f) { f->bits = f->decoder->frame(f->y, &f->primary, &f->aux); });
}

}  // namespace offhook::v34
