/* SPDX-License-Identifier: MIT
 *
 * Exports of liboffhook, and rules for the growth of structs in its C ABI.
 *
 * The first member of such a struct, struct_size, is the sizeof() of the side that writes the
 * struct; C++ sets it automatically. New members are appended only, and no such struct is a member
 * of another one by value. Readers must not access members beyond struct_size, and functions that
 * write a caller's struct write no member beyond it. For a configuration, a smaller struct would be ambiguous. Only
 * sizes of published versions are accepted there; others are refused with -EINVAL. */
#ifndef OFFHOOK_ABI_H
#define OFFHOOK_ABI_H

#include <stdint.h>

/** Exported by liboffhook; all other symbols are hidden. */
#if defined(__GNUC__)
#define OH_API __attribute__((visibility("default")))
#else
#define OH_API
#endif

/** Default value of a member in C++; in C it is zero. */
#ifdef __cplusplus
#define OH_BY_DEFAULT(...) = __VA_ARGS__
#else
#define OH_BY_DEFAULT(...)
#endif

#define OH_STRUCT_SIZE(type) uint32_t struct_size OH_BY_DEFAULT(sizeof(type))

#endif
