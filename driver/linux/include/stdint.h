/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of <stdint.h> that the public headers need, by the kernel's types. */
#ifndef OFFHOOK_LINUX_STDINT_H
#define OFFHOOK_LINUX_STDINT_H

#include <linux/limits.h>
#include <linux/types.h>

#define UINT32_MAX U32_MAX

#endif
