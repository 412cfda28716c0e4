// SPDX-License-Identifier: MIT
//
// Preloaded into every process of a test run: the first thread that a process starts writes down which test that was.
// The test is the ancestor that ctest started, named by its command line, as a line of NUL-separated words in the file
// $OFFHOOK_THREADED. Used by sanitize.py.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 1 << 16 };

static size_t read_proc(int pid, const char* name, char* into) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t length = 0;
  ssize_t got;
  while (length < kMost - 1 && (got = read(file, into + length, kMost - 1 - length)) > 0) length += (size_t)got;
  close(file);
  into[length] = 0;
  return length;
}

static int parent_of(int pid, char* buffer) {
  const char* end = read_proc(pid, "stat", buffer) ? strrchr(buffer, ')') : NULL;  // PID (NAME) STATE PARENT ...
  return end ? atoi(end + 4) : 0;
}

static void write_down(void) {
  const char* path = getenv("OFFHOOK_THREADED");
  static char line[kMost], buffer[kMost];
  if (!path) return;
  for (int pid = getpid(); pid > 1;) {
    const int parent = parent_of(pid, buffer);
    if (parent > 1 && read_proc(parent, "comm", buffer) && strcmp(buffer, "ctest\n") == 0) {
      size_t length = read_proc(pid, "cmdline", line);
      if (length) line[length - 1] = '\n';
      const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
      if (file < 0 || write(file, line, length) < 0) abort();
      close(file);
      return;
    }
    pid = parent;
  }
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, write_down);
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, start, argument);
}
