/* SPDX-License-Identifier: MIT
 *
 * Competing threads of a virtual machine (advice.py), until they are killed:
 *
 *   compete fifo PRIORITY WORK_US PERIOD_US        works by its own CPU time, then sleeps until the next period
 *   compete deadline WORK_US PERIOD_US             SCHED_DEADLINE with a tenth more than its work
 *   compete softirq PRIORITY WORK_US PERIOD_US     the same, but the work is UDP packets to itself, which softirqs
 * receive
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct attributes { /* Linux's struct sched_attr, which the C library does not have */
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};

static int64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void work(int64_t ns) {
  const int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

/* A softirq runs at the end of send(), in this thread's time. A fixed number of packets could be too many. */
static void send_packets(int out, int in, int64_t ns) {
  static char data[512];
  const int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
    if (send(out, data, sizeof data, 0) < 0) exit(1);
    while (recv(in, data, sizeof data, MSG_DONTWAIT) > 0) {
    }
  }
}

static int open_pair(int* in) {
  struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof self;
  int out = socket(AF_INET, SOCK_DGRAM, 0);
  *in = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(*in, (struct sockaddr*)&self, sizeof self) || getsockname(*in, (struct sockaddr*)&self, &length) ||
      connect(out, (struct sockaddr*)&self, sizeof self))
    exit(1);
  return out;
}

int main(int argc, char** argv) {
  const int deadline = argc == 4 && strcmp(argv[1], "deadline") == 0,
            softirq = argc == 5 && strcmp(argv[1], "softirq") == 0;
  if (!deadline && !softirq && !(argc == 5 && strcmp(argv[1], "fifo") == 0)) return 1;
  const long amount = atol(argv[deadline ? 2 : 3]), period_ns = 1000 * atol(argv[deadline ? 3 : 4]);
  struct attributes a = {.size = sizeof a, .policy = SCHED_FIFO, .priority = deadline ? 0 : (uint32_t)atoi(argv[2])};
  int in = -1;
  const int out = softirq ? open_pair(&in) : -1;
  mlockall(MCL_CURRENT | MCL_FUTURE);
  if (deadline) {
    a.policy = 6; /* SCHED_DEADLINE */
    a.runtime = (uint64_t)amount * 1100;
    a.deadline = a.period = (uint64_t)period_ns;
  }
  if (syscall(SYS_sched_setattr, 0, &a, 0)) {
    perror(argv[1]);
    return 1;
  }
  for (int64_t next = now(CLOCK_MONOTONIC);; next += period_ns) {
    const struct timespec at = {next / 1000000000, next % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    if (softirq)
      send_packets(out, in, 1000 * amount);
    else
      work(1000 * amount);
  }
}
