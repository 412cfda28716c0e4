/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef OFFHOOK_LINUX_STDDEF_H
#define OFFHOOK_LINUX_STDDEF_H

#include <linux/stddef.h>
#include <linux/types.h>

#endif
