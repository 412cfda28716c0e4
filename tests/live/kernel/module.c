// SPDX-License-Identifier: MIT
/*
 * The call in a kernel module: insmod runs it, and fails if the call failed. The result is in the kernel's log.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <asm/fpu/api.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "two_modems.h"

enum { SECONDS = 12 };

static void* allocated[24];
static unsigned int allocations;

static void* allocate(unsigned long bytes) {
  if (allocations == ARRAY_SIZE(allocated)) return NULL;
  return allocated[allocations++] = vzalloc(bytes); /* whole pages */
}

static void begin(void) {
  kernel_fpu_begin();
}

static void end(void) {
  kernel_fpu_end();
  cond_resched();
}

static unsigned long long now_ns(void) {
  return ktime_get_ns();
}

static int __init offhook_init(void) {
  static const struct world world = {allocate, begin, end, now_ns};
  struct result r = {};
  struct loopback_outcome loopbacks[LOOPBACK_PUMPS] = {};
  int failed = run_two_modems(&world, SECONDS, &r);
  int i;

  for (i = 0; i < LOOPBACK_PUMPS; ++i) failed |= run_loopback(&world, i, LOOPBACK_BLOCKS, &loopbacks[i]);

  while (allocations > 0) vfree(allocated[--allocations]);
  if (failed) return -ENOMEM;
  pr_info("rates %u %u, bits %llu %llu, errors %llu %llu, state %llu, hash %016llx\n", r.rate[0], r.rate[1], r.bits[0],
          r.bits[1], r.errors[0], r.errors[1], r.state_size, r.hash);
  for (i = 0; i < LOOPBACK_PUMPS; ++i)
    pr_info("loopback %s: checked %llu, wrong %llu, hash %016llx\n", loopbacks[i].name, loopbacks[i].checked,
            loopbacks[i].wrong, loopbacks[i].hash);
  return 0;
}

static void __exit offhook_exit(void) {}

module_init(offhook_init);
module_exit(offhook_exit);
MODULE_DESCRIPTION("Two V.34 modems that call each other");
MODULE_LICENSE("Dual MIT/GPL");
