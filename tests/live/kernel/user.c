/* SPDX-License-Identifier: MIT
 *
 * The call in user space, on a thread whose stack is painted: more than a kernel's thread has is a failure.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "two_modems.h"

enum { SECONDS = 12, STACK = 1 << 20, PAINT = 0xa5, KERNEL_STACK = 16384, LEFT_TO_OTHERS = 6144 };

static void* allocate(unsigned long bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, bytes)) return NULL;
  return memset(memory, 0, bytes);
}
static void nothing(void) {}
static unsigned long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static struct result result;
static struct loopback_outcome loopbacks[LOOPBACK_PUMPS];
static int failed;

static void* no_call(void* unused) {
  return unused;
}
static void* call(void* unused) {
  const struct world world = {allocate, nothing, nothing, now_ns};
  failed = run_two_modems(&world, SECONDS, &result);
  for (int i = 0; i < LOOPBACK_PUMPS; ++i) failed |= run_loopback(&world, i, LOOPBACK_BLOCKS, &loopbacks[i]);
  return unused;
}

/* @return bytes of stack that a thread has used, including those of the C library */
static size_t stack_of(void* (*function)(void*)) {
  static unsigned char stack[STACK] __attribute__((aligned(4096)));
  pthread_attr_t attributes;
  pthread_t thread;
  size_t untouched = 0;
  memset(stack, PAINT, STACK);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, STACK) || pthread_create(&thread, &attributes, function, NULL) ||
      pthread_join(thread, NULL)) {
    exit(1);
  }
  while (untouched < STACK && stack[untouched] == PAINT) ++untouched;
  return STACK - untouched;
}

int main(void) {
  const size_t none = stack_of(no_call), used = stack_of(call) - none;
  if (failed) return 1;
  printf("rates %u %u, bits %llu %llu, errors %llu %llu, state %llu, hash %016llx\n", result.rate[0], result.rate[1],
         result.bits[0], result.bits[1], result.errors[0], result.errors[1], result.state_size, result.hash);
  for (int i = 0; i < LOOPBACK_PUMPS; ++i)
    printf("loopback %s: checked %llu, wrong %llu, hash %016llx\n", loopbacks[i].name, loopbacks[i].checked,
           loopbacks[i].wrong, loopbacks[i].hash);
  printf("stack: %zu bytes\n", used);
#ifdef NDEBUG /* otherwise nothing is inlined, and everything is larger */
  if (used > KERNEL_STACK - LEFT_TO_OTHERS) {
    printf("a kernel's thread has %d, of which others need %d\n", KERNEL_STACK, LEFT_TO_OTHERS);
    return 1;
  }
#endif
  return 0;
}
