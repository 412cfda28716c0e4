/* SPDX-License-Identifier: MIT
 *
 * Holds patterns in every SSE and AVX register and in MXCSR, and looks whether they are still there: whoever interrupts
 * this program has to leave them. Threads differ in their patterns, so that one's state in another shows, too.
 *
 * usage: fpu_guard SECONDS      or until SIGTERM; exit status 1 when anything changed
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 2, REGISTERS = 16, SPINS = 20000 };

static double seconds;
static volatile sig_atomic_t stopped;
static uint64_t rounds[THREADS], disturbed[THREADS];

static void stop(int signal) {
  (void)signal;
  stopped = 1;
}

/* One round: load the registers, wait, store them. */
static void hold(const void* in, void* out, const uint32_t* mxcsr_in, uint32_t* mxcsr_out) {
  uint64_t spins = SPINS;
  __asm__ volatile(
      "ldmxcsr %[min]\n"
      ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqu \\n*32(%[in]), %%ymm\\n\n.endr\n"
      "1: dec %[spins]\n jnz 1b\n"
      ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqu %%ymm\\n, \\n*32(%[out])\n.endr\n"
      "stmxcsr %[mout]\n"
      "vzeroupper\n"
      : [spins] "+r"(spins), [mout] "=m"(*mxcsr_out)
      : [in] "r"(in), [out] "r"(out), [min] "m"(*mxcsr_in)
      : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static void* guard(void* self) {
  const uintptr_t which = (uintptr_t)self;
  uint8_t in[REGISTERS * 32], out[REGISTERS * 32];
  uint32_t usual;
  struct timespec begin, now;
  __asm__ volatile("stmxcsr %0" : "=m"(usual));
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    const uint32_t mxcsr = which % 2 ? 0x7f80 : 0x9fc0; /* other rounding, denormals as zeros: never in the kernel */
    uint32_t left;
    for (size_t k = 0; k < sizeof in; ++k) in[k] = (uint8_t)(k * 37 + which * 101 + rounds[which]);
    hold(in, out, &mxcsr, &left);
    __asm__ volatile("ldmxcsr %0" : : "m"(usual));
    ++rounds[which];
    disturbed[which] += memcmp(in, out, sizeof in) != 0 || left != mxcsr;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (!stopped && (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[THREADS];
  uint64_t all = 0, wrong = 0;
  seconds = argc == 2 ? strtod(argv[1], NULL) : 0;
  if (seconds <= 0) {
    fprintf(stderr, "usage: fpu_guard SECONDS\n");
    return 2;
  }
  signal(SIGTERM, stop);
  for (uintptr_t t = 0; t < THREADS; ++t) {
    if (pthread_create(&threads[t], NULL, guard, (void*)t)) return 2;
  }
  for (int t = 0; t < THREADS; ++t) {
    pthread_join(threads[t], NULL);
    all += rounds[t];
    wrong += disturbed[t];
  }
  printf("%llu rounds, %llu disturbed\n", (unsigned long long)all, (unsigned long long)wrong);
  return wrong != 0;
}
