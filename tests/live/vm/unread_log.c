/* SPDX-License-Identifier: MIT
 *
 * A card whose clock waits for the driver, while the program that has mapped the event log does not read it: the line
 * has to stand nearly still until it does, or a call served in the interrupt would leave that program no CPU at all.
 *
 * usage: unread_log     a line of what was counted; exit status 1 when something is not as it must be
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "offhook/event_log.h"
#include "offhook/kernel_modem.h"

enum {
  BLOCK = 80,
  MANY = 1100, /* unread events, slightly more than the driver tolerates (driver/linux/hardware.c) */
  HELD = 40,   /* blocks; `offhook line card` moves one of them by itself every 100 ms */
  FREE = 100,  /* they cause less than MANY events */
};

static volatile const struct oh_event* events;
static int device;

/* @return seconds until this many more blocks are served */
static double seconds_of(unsigned blocks) {
  struct oh_kernel_status status = {.struct_size = sizeof status};
  struct timespec begun, now;
  unsigned long long first = 0;

  clock_gettime(CLOCK_MONOTONIC, &begun);
  for (;;) {
    if (ioctl(device, OH_KERNEL_GET_STATUS, &status) != 0 || status.card != OH_KERNEL_IN_CALL) return -1;
    if (first == 0) first = status.blocks;
    if (status.blocks >= first + blocks) break;
    usleep(1000);
  }
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec);
}

/* @return number of available events */
static size_t unread(void) {
  size_t n = 0;

  while (n < OH_KERNEL_LOG_EVENTS && events[n].kind != OH_EV_NONE) ++n;
  return n;
}

int main(void) {
  const struct oh_context_spec interrupt = {.struct_size = sizeof interrupt, .kind = OH_CONTEXT_INTERRUPT};
  struct oh_kernel_call call = {.struct_size = sizeof call, .role = OH_PUMP_CALL, .pump = "v34"};
  struct oh_kernel_status status = {.struct_size = sizeof status};
  double held, released;
  size_t n;

  call.transmit_lead_samples = 2 * BLOCK;
  call.block_plan[0] = BLOCK;
  call.block_plan_length = 1;
  device = open("/dev/offhook0", O_RDWR | O_NONBLOCK);
  if (device < 0) return 1;
  events = mmap(NULL, OH_KERNEL_LOG_EVENTS * sizeof *events, PROT_READ, MAP_SHARED, device, 0);
  if (events == MAP_FAILED || ioctl(device, OH_KERNEL_SET_CONTEXT, &interrupt) != 0 ||
      ioctl(device, OH_KERNEL_START, &call) != 0) {
    perror("no call");
    return 1;
  }
  while (unread() < MANY) usleep(1000);
  held = seconds_of(HELD);
  n = unread();
  if (ioctl(device, OH_KERNEL_RELEASE_LOG, n) != 0) return 1;
  released = seconds_of(FREE);
  if (ioctl(device, OH_KERNEL_GET_STATUS, &status) != 0) return 1;
  ioctl(device, OH_KERNEL_STOP);
  printf("%d blocks in %.2f s while %zu events are unread, %d in %.2f s once they are read; %llu lost\n", HELD, held, n,
         FREE, released, (unsigned long long)status.log_lost);
  return !(released > 0 && held > released && status.log_lost == 0);
}
