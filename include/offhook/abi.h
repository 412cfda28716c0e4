/* SPDX-License-Identifier: MIT
 *
 * What liboffhook exports, and how structs that cross its C ABI may grow.
 *
 * The first member of such a struct, struct_size, is the sizeof() of whoever fills the struct in; C++ sets it by
 * itself. New members come at the end only, and no such struct stands by value inside another one. Who reads a struct
 * looks at no member beyond its struct_size, and who fills one in for a caller writes none beyond it. Where a smaller
 * struct would leave open what is wanted, as in a configuration, a size that is not one of a published version is
 * refused with -EINVAL.
 */
#ifndef OFFHOOK_ABI_H
#define OFFHOOK_ABI_H

#include <stdint.h>

/** Exported by liboffhook; everything else in it is hidden. */
#if defined(__GNUC__)
#define OH_API __attribute__((visibility("default")))
#else
#define OH_API
#endif

/** What a member is where C++ is not told otherwise; in C it is zero. */
#ifdef __cplusplus
#define OH_BY_DEFAULT(...) = __VA_ARGS__
#else
#define OH_BY_DEFAULT(...)
#endif

#define OH_STRUCT_SIZE(type) uint32_t struct_size OH_BY_DEFAULT(sizeof(type))

#endif
