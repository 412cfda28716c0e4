// SPDX-License-Identifier: MIT
//
// What the kernel's scheduler does with threads of one CPU, as the threads see it: how long they run at a stretch, how
// long they wait in between, when one that sleeps gets the CPU.
//
//   fair_threads SECONDS [hog:NICE | fifo:PRIORITY | sleeper:NICE] ...
//
// A hog and a FIFO thread spin. A sleeper wakes every 10.3 ms and computes for 0.5 ms. One line a stretch, wait,
// latency (until it first runs) or response (until it is done): "stretch THREAD NS".
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 100000, kThreads = 16 };
static const long long kPeriod = 10300000, kWork = 500000, kGap = 200000;

struct thread {
  const char* what;
  int argument;
  int count;
  struct {
    char kind;
    long long ns;
  } rows[kMost];
};

static struct thread threads[kThreads];
static long long begin, end;

static long long now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void note(struct thread* t, char kind, long long ns) {
  if (t->count == kMost) return;
  t->rows[t->count].kind = kind;
  t->rows[t->count++].ns = ns;
}

// Another thread ran if the clock jumps by more than an interrupt takes.
static void spin(struct thread* t) {
  long long from = begin, last = begin, at;
  while ((at = now(CLOCK_MONOTONIC)) < end) {
    if (at - last > kGap) {
      if (from != begin) note(t, 's', last - from);
      note(t, 'w', at - last);
      from = at;
    }
    last = at;
  }
}

static void wake_and_work(struct thread* t) {
  for (long long wake = begin + kPeriod; wake < end; wake += kPeriod) {
    const struct timespec until = {wake / 1000000000, wake % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    const long long used = now(CLOCK_THREAD_CPUTIME_ID);
    note(t, 'l', now(CLOCK_MONOTONIC) - wake);
    while (now(CLOCK_THREAD_CPUTIME_ID) - used < kWork) {
    }
    note(t, 'r', now(CLOCK_MONOTONIC) - wake);
  }
}

static void* run(void* of) {
  struct thread* t = of;
  struct sched_param p = {0};
  if (strcmp(t->what, "fifo") == 0) {
    p.sched_priority = t->argument;
    sched_setscheduler(0, SCHED_FIFO, &p);
  } else {
    sched_setscheduler(0, SCHED_OTHER, &p);
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), t->argument);
  }
  const struct timespec at = {begin / 1000000000, begin % 1000000000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
  if (strcmp(t->what, "sleeper") == 0) {
    wake_and_work(t);
  } else {
    spin(t);
  }
  return NULL;
}

// The virtual machine's spinner with SCHED_IDLE is also a fair thread.
static void signal_idle_class(int what) {
  DIR* proc = opendir("/proc");
  for (const struct dirent* e; proc != NULL && (e = readdir(proc)) != NULL;) {
    const pid_t pid = atoi(e->d_name);
    if (pid > 1 && sched_getscheduler(pid) == SCHED_IDLE) kill(pid, what);
  }
  if (proc != NULL) closedir(proc);
}

int main(int argc, char** argv) {
  if (argc < 3 || argc > kThreads + 2) {
    fprintf(stderr, "fair_threads: expected SECONDS and 1 to %d threads\n", kThreads);
    return 1;
  }
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  const struct sched_param most = {.sched_priority = 99};
  if (sched_setaffinity(0, sizeof first, &first) != 0 || sched_setscheduler(0, SCHED_FIFO, &most) != 0 ||
      mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    perror("fair_threads");
    return 1;
  }
  signal_idle_class(SIGSTOP);
  begin = now(CLOCK_MONOTONIC) + 100000000;
  end = begin + (long long)(atof(argv[1]) * 1e9);
  pthread_t ids[kThreads];
  const int count = argc - 2;
  for (int i = 0; i < count; i++) {
    char* colon = strchr(argv[i + 2], ':');
    threads[i].argument = colon != NULL ? atoi(colon + 1) : 0;
    if (colon != NULL) *colon = 0;
    threads[i].what = argv[i + 2];
    pthread_create(&ids[i], NULL, run, &threads[i]);
  }
  for (int i = 0; i < count; i++) pthread_join(ids[i], NULL);
  signal_idle_class(SIGCONT);
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < threads[i].count; k++) {
      const char kind = threads[i].rows[k].kind;
      printf("%s %s%d %lld\n",
             kind == 's'   ? "stretch"
             : kind == 'w' ? "wait"
             : kind == 'l' ? "latency"
                           : "response",
             threads[i].what, i, threads[i].rows[k].ns);
    }
  }
  return 0;
}
