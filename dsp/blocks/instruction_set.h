// SPDX-License-Identifier: MIT
//
// How one source becomes a variant for each instruction set. It is included once per set, each time in its own
// namespace, with kLanes (floats in a vector register) and OFFHOOK_TARGET (an attribute of each of its functions).
// (Functions shared between targets would be compiled for the smallest of them.)
//
// OFFHOOK_BASELINE_ONLY: a build for code that may use only the baseline's registers, such as a kernel's interrupts.
#pragma once

#if defined(__x86_64__) && !defined(OFFHOOK_BASELINE_ONLY)
#define OFFHOOK_X86_VARIANTS
#define OFFHOOK_TARGET_AVX2 __attribute__((target("avx2")))
#define OFFHOOK_TARGET_AVX512 __attribute__((target("avx2,avx512f,avx512vl,avx512dq,avx512bw")))
#endif

namespace offhook {

/// A vector at any position of an array. It is a struct because clang treats a reference to a less aligned vector type
/// as a reference to an aligned vector. memcpy would be a function call, because the build is freestanding.
template <class V>
struct __attribute__((packed, may_alias)) Unaligned {
  V v;
};

}  // namespace offhook
