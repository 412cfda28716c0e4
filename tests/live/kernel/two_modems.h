/* SPDX-License-Identifier: MIT
 *
 * Two drivers with a V.34 pump each, on cards that are wired to each other: a whole call in plain C, without an OS and
 * without a header of anybody's, since those of the kernel and of the compiler declare the same types differently.
 */
#ifndef OFFHOOK_TESTS_LIVE_KERNEL_TWO_MODEMS_H
#define OFFHOOK_TESTS_LIVE_KERNEL_TWO_MODEMS_H

struct result {
  unsigned rate[2];              /* received bit/s; 0: no data mode */
  unsigned long long bits[2];    /* bits received since the other end's sequence began */
  unsigned long long errors[2];  /* wrong ones, compared with the sent sequence */
  unsigned long long hash;       /* hash of all samples sent by both */
  unsigned long long state_size; /* bytes of one pump */
};

/* The differences between kernel and user space. */
struct world {
  void* (*allocate)(unsigned long bytes); /* zeroed, aligned to 64; may fail and return NULL */
  void (*begin)(void);                    /* called before the pump runs: floating point is used until end() */
  void (*end)(void);
  unsigned long long (*now_ns)(void);
};

/* @return 0, or -1 if memory was insufficient or the pump refused. Allocated memory remains allocated. */
/* May be called with the kernel's stack alignment of 8 bytes. */
int run_two_modems(const struct world* world, unsigned seconds, struct result* result);

/* A loopback pump (tests/loopback) under a driver on a card engine. */
struct loopback_outcome {
  const char* name;
  unsigned long long checked, wrong, hash;
};
enum { LOOPBACK_PUMPS = 3, LOOPBACK_BLOCKS = 200 };

/* @param which from 0  @return 0 or -1, as above */
int run_loopback(const struct world* world, int which, unsigned blocks, struct loopback_outcome* outcome);

#endif
