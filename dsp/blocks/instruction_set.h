// SPDX-License-Identifier: MIT
//
// How one source becomes a variant for each instruction set: it is included once for each, in a namespace of its own,
// with kLanes, the floats of a vector register, and OFFHOOK_TARGET, an attribute that every function of it carries.
// (Functions shared between targets would be lowered for the least of them.)
#pragma once

#if defined(__x86_64__)
#define OFFHOOK_TARGET_AVX2 __attribute__((target("avx2")))
#define OFFHOOK_TARGET_AVX512 __attribute__((target("avx2,avx512f,avx512vl,avx512dq,avx512bw")))
#endif
