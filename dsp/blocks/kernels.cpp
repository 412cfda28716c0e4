// SPDX-License-Identifier: MIT
#include "dsp/blocks/kernels.h"

#include <utility>

#include "dsp/blocks/instruction_set.h"

#if defined(OFFHOOK_X86_VARIANTS)
#include <cpuid.h>
#endif

namespace offhook {
namespace {

constexpr int kRow = 16;  // partial sums

template <int kLanes>
struct Floats;
template <>
struct Floats<4> {
  using Vector = float __attribute__((vector_size(16)));
};
template <>
struct Floats<8> {
  using Vector = float __attribute__((vector_size(32)));
};
template <>
struct Floats<16> {
  using Vector = float __attribute__((vector_size(64)));
};
using Quad = Floats<4>::Vector;

// Each variant has to_four(): it adds the second half of the sixteen partial sums to the first, and repeats that.

namespace plain {
constexpr int kLanes = 4, kParts = kRow / kLanes;
using Vector = Floats<kLanes>::Vector;
inline Quad to_four(const Vector* v) {
  return (v[0] + v[2]) + (v[1] + v[3]);
}
#define OFFHOOK_TARGET
#include "dsp/blocks/kernels_variant.inc"
#undef OFFHOOK_TARGET
constexpr Kernels kKernels = {InstructionSet::kPlain, "plain",    dot, two_dots, dot_pair, accumulate, complex_dot,
                              complex_adapt,          interpolate};
}  // namespace plain

#if defined(OFFHOOK_X86_VARIANTS)
namespace avx2 {
constexpr int kLanes = 8, kParts = kRow / kLanes;
using Vector = Floats<kLanes>::Vector;
OFFHOOK_TARGET_AVX2 inline Quad to_four(const Vector* v) {
  const Vector eight = v[0] + v[1];
  return __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
}
#define OFFHOOK_TARGET OFFHOOK_TARGET_AVX2
#include "dsp/blocks/kernels_variant.inc"
#undef OFFHOOK_TARGET
constexpr Kernels kKernels = {InstructionSet::kAvx2, "avx2",        dot,        two_dots, dot_pair, accumulate,
                              complex_dot,           complex_adapt, interpolate};
}  // namespace avx2

namespace avx512 {
constexpr int kLanes = 16, kParts = kRow / kLanes;
using Vector = Floats<kLanes>::Vector;
OFFHOOK_TARGET_AVX512 inline Quad to_four(const Vector* v) {
  const auto eight = __builtin_shufflevector(v[0], v[0], 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(v[0], v[0], 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
}
#define OFFHOOK_TARGET OFFHOOK_TARGET_AVX512
#include "dsp/blocks/kernels_variant.inc"
#undef OFFHOOK_TARGET
constexpr Kernels kKernels = {InstructionSet::kAvx512, "avx512",   dot, two_dots, dot_pair, accumulate, complex_dot,
                              complex_adapt,           interpolate};
}  // namespace avx512
#endif

InstructionSet best_set() {
  InstructionSet best = InstructionSet::kPlain;
  for (const InstructionSet set : kInstructionSets) {
    if (cpu_has(set)) best = set;
  }
  return best;
}

}  // namespace

#if defined(OFFHOOK_X86_VARIANTS)
bool cpu_has(InstructionSet set) {
  if (set == InstructionSet::kPlain) return true;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kOsxsave = 1u << 27;
  if ((c & kOsxsave) == 0) return false;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  // The registers that the OS saves: SSE and AVX; for AVX-512 also the masks, the upper halves and the further sixteen.
  const uint32_t saved = set == InstructionSet::kAvx2 ? 0x06 : 0xE6;
  if ((low & saved) != saved || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kAvx2 = 1u << 5, kAvx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // F, DQ, BW, VL
  const unsigned wanted = set == InstructionSet::kAvx2 ? kAvx2 : kAvx2 | kAvx512;
  return (b & wanted) == wanted;
}

const Kernels& kernels_for(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx2:
      return avx2::kKernels;
    case InstructionSet::kAvx512:
      return avx512::kKernels;
    default:
      return plain::kKernels;
  }
}
#else
bool cpu_has(InstructionSet set) {
  return set == InstructionSet::kPlain;
}
const Kernels& kernels_for(InstructionSet) {
  return plain::kKernels;
}
#endif

const Kernels& best_kernels() {
  static const Kernels* best;  // every thread computes the same value
  const Kernels* known = __atomic_load_n(&best, __ATOMIC_RELAXED);
  if (known == nullptr) __atomic_store_n(&best, known = &kernels_for(best_set()), __ATOMIC_RELAXED);
  return *known;
}

}  // namespace offhook
