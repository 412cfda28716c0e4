/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef OFFHOOK_LINUX_STDBOOL_H
#define OFFHOOK_LINUX_STDBOOL_H

#include <linux/types.h>

#endif
