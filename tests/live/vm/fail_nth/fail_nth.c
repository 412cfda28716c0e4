// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes one call of another module fail: the nth call of a kernel
 * function from an address range is not executed, and returns the
 * value for insufficient memory or resources. Debian's kernels
 * have no fault injection of their own; they have kprobes.
 *
 *   insmod offhook_fail_nth.ko symbol=vzalloc value=0 nth=1 from=0xffffffffc0000000 size=65536 cat
 *   /sys/module/offhook_fail_nth/parameters/hits      1: it has happened
 */
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>

static char *symbol;
static long value;
static int nth = 1;
static ulong from, size;
static int hits;
module_param(symbol, charp, 0444);
module_param(value, long, 0444);
module_param(nth, int, 0444);
module_param(from, ulong, 0444);
module_param(size, ulong, 0444);
module_param(hits, int, 0444);

static atomic_t left;

/* Replaces the function: its return address is on top of the stack. */
void offhook_just_return(void);
asm(".text\n\t"
    ".global offhook_just_return\n\t"
    ".type offhook_just_return, @function\n"
    "offhook_just_return:\n\t" ASM_RET ".size offhook_just_return, .-offhook_just_return\n");

static int entered(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long caller = *(unsigned long *)regs->sp;

	if (caller - from >= size || atomic_dec_return(&left) != 0)
		return 0;
	hits = 1;
	regs->ax = value;
	regs->ip = (unsigned long)offhook_just_return;
	return 1;
}

/* A probe without it may become a jump, which cannot change the address to return to. */
static void passed(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {.pre_handler = entered, .post_handler = passed};

static int __init fail_nth_init(void)
{
	atomic_set(&left, nth);
	probe.symbol_name = symbol;
	return register_kprobe(&probe);
}

static void __exit fail_nth_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(fail_nth_init);
module_exit(fail_nth_exit);
MODULE_DESCRIPTION("Makes one call of a module fail");
MODULE_LICENSE("GPL");
