// SPDX-License-Identifier: MIT
#include "tests/realtime/realtime_guard.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

offhook::test::RealtimeRun offhook::test::run_realtime(const std::function<std::uint64_t()>&) {
  return {"a sanitizer's runtime allocates and makes system calls of its own", "", 0};
}

#else

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace {

/// In memory that is shared with the parent.
struct Report {
  char violation[64];
  long system_call;
  std::uint64_t value;
  bool finished;
  bool no_filter;
};

Report* report = nullptr;
volatile bool armed = false;

[[noreturn]] void leave() {
  for (;;) ::syscall(SYS_exit_group, 1);
}

/// Called by everything that is forbidden.
void forbidden(const char* what) {
  if (!armed) return;
  armed = false;
  std::strncpy(report->violation, what, sizeof report->violation - 1);
  leave();
}

void on_sigsys(int, siginfo_t* info, void*) {
  report->system_call = info->si_syscall;
  leave();
}

bool trap_system_calls() {
  struct sigaction action = {};
  action.sa_sigaction = on_sigsys;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSYS, &action, nullptr);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  const sock_fprog program = {sizeof code / sizeof code[0], code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

template <typename F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// The allocator, in front of glibc's. operator new and delete use it.
extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) {
  forbidden("malloc");
  return __libc_malloc(n);
}
void free(void* p) {
  forbidden("free");
  __libc_free(p);
}
void* calloc(size_t n, size_t size) {
  forbidden("calloc");
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  forbidden("realloc");
  return __libc_realloc(p, n);
}
void* memalign(size_t alignment, size_t n) {
  forbidden("memalign");
  return __libc_memalign(alignment, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  forbidden("aligned_alloc");
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** out, size_t alignment, size_t n) {
  forbidden("posix_memalign");
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  *out = __libc_memalign(alignment, n);
  return *out == nullptr ? ENOMEM : 0;
}

// The locks, in front of the library's own.
#define OFFHOOK_FORBID(name, type)                       \
  int name(type* lock) {                                 \
    forbidden(#name);                                    \
    static int (*real)(type*) = nullptr;                 \
    if (real == nullptr) real = next<int(type*)>(#name); \
    return real(lock);                                   \
  }
OFFHOOK_FORBID(pthread_mutex_lock, pthread_mutex_t)
OFFHOOK_FORBID(pthread_mutex_trylock, pthread_mutex_t)
OFFHOOK_FORBID(pthread_rwlock_rdlock, pthread_rwlock_t)
OFFHOOK_FORBID(pthread_rwlock_wrlock, pthread_rwlock_t)
int pthread_spin_lock(pthread_spinlock_t* lock) {
  forbidden("pthread_spin_lock");
  return next<int(pthread_spinlock_t*)>("pthread_spin_lock")(lock);
}
OFFHOOK_FORBID(sem_wait, sem_t)
OFFHOOK_FORBID(sem_post, sem_t)
#undef OFFHOOK_FORBID
}

namespace offhook::test {

RealtimeRun run_realtime(const std::function<std::uint64_t()>& body) {
  void* shared = ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return {"no shared memory", "", 0};
  report = new (shared) Report{{}, -1, 0, false, false};
  const pid_t child = ::fork();
  if (child < 0) return {"no child process", "", 0};
  if (child == 0) {
    if (!trap_system_calls()) {
      report->no_filter = true;
      leave();
    }
    armed = true;
    report->value = body();
    armed = false;
    report->finished = true;
    leave();
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  RealtimeRun run;
  run.value = report->value;
  if (report->no_filter) {
    run.skipped = "the kernel refuses a seccomp filter here";
  } else if (report->violation[0] != '\0') {
    run.violation = report->violation;
  } else if (report->system_call >= 0) {
    run.violation = "system call " + std::to_string(report->system_call);
  } else if (WIFSIGNALED(status)) {
    run.violation = "signal " + std::to_string(WTERMSIG(status));
  } else if (!report->finished) {
    run.violation = "the child ended early";
  }
  ::munmap(shared, sizeof(Report));
  report = nullptr;
  return run;
}

}  // namespace offhook::test

#endif
