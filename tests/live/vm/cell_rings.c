/* SPDX-License-Identifier: MIT
 *
 * The cells of a DMT pump of the kernel's that nobody reads, and those that are no whole ones: what a program sees of
 * them on /dev/offhook0. The far end sends more than the driver holds.
 *
 * usage: cell_rings SECONDS     of the line; a line of what was counted; exit status 1 when something is not as it must
 * be
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "offhook/kernel_modem.h"

enum { CELL = 52, RATE_HZ = 276000, BLOCK = 1104 };

static int bad;
static uint8_t octets[1 << 17];

static void expect(int is, const char* what) {
  if (is) return;
  printf("%s (errno %d); ", what, errno);
  bad = 1;
}

/* Cells at the end of readable memory: the one that extends beyond it is not accepted, not even partly. @return octets
 * accepted */
static uint64_t write_beyond_memory(int device) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t* two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ssize_t n;

  if (two == MAP_FAILED || mprotect(two + page, page, PROT_NONE) != 0) {
    expect(0, "no memory");
    return 0;
  }
  two[page - 3 * CELL / 2 + 3] = 0x10;
  expect(write(device, two + page - CELL / 2, CELL) == -1 && errno == EFAULT, "half a cell's memory is no fault");
  n = write(device, two + page - 3 * CELL / 2, 3 * CELL);
  expect(n == CELL, "a cell and half of one are not a cell");
  munmap(two, 2 * page);
  return n > 0 ? (uint64_t)n : 0;
}

static uint64_t read_all(int device) {
  uint64_t all = 0;
  ssize_t n;

  while ((n = read(device, octets, sizeof octets)) > 0) all += (uint64_t)n;
  return all;
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 3;
  struct oh_kernel_call call = {.struct_size = sizeof call, .role = OH_PUMP_CALL, .pump = "dmt"};
  struct oh_kernel_status status = {.struct_size = sizeof status};
  const int device = open("/dev/offhook0", O_RDWR | O_NONBLOCK);
  struct pollfd room = {.fd = device, .events = POLLOUT};
  ssize_t n;
  uint64_t written = 0, read_octets = 0, end;

  call.transmit_lead_samples = 3 * BLOCK;
  call.block_plan[0] = BLOCK;
  call.block_plan_length = 1;
  if (device < 0 || ioctl(device, OH_KERNEL_START, &call) != 0) {
    perror("no call");
    return 1;
  }
  for (size_t k = 0; k < sizeof octets; k += CELL) octets[k + 3] = 0x10; /* not the header of an idle cell */
  expect(write(device, octets, CELL - 1) == -1 && errno == EINVAL, "less than a cell is taken");
  expect(write(device, octets, CELL + 1) == CELL, "a cell and an octet are not a cell");
  written = CELL + write_beyond_memory(device);
  while ((n = write(device, octets, 100 * CELL + 7)) > 0) {
    expect(n % CELL == 0, "part of a cell is taken");
    written += (uint64_t)n;
  }
  expect(errno == EAGAIN, "a full queue does not say so");
  expect(poll(&room, 1, 0) == 0, "a full queue has room");
  expect(written / CELL == OH_KERNEL_OCTETS / CELL || written / CELL == (OH_KERNEL_OCTETS + 4096) / CELL,
         "the queue does not hold what it should");
  do {
    usleep(10000);
    if (ioctl(device, OH_KERNEL_GET_STATUS, &status) != 0 || status.card != OH_KERNEL_IN_CALL) break;
  } while ((double)status.samples < seconds * RATE_HZ);
  expect(status.card == OH_KERNEL_IN_CALL && status.pump == OH_PUMP_DATA, "not in data");
  expect(status.cells_sent > 0, "nothing was sent");
  expect(status.cells_unread > 0, "nothing was dropped unread");
  expect(status.hec_errors == 0 && status.delineation_losses == 0, "the line is not clean");
  read_octets = read_all(device);
  /* That made room for data of the link: they come with the blocks after it, even if we can check only rarely.
   */
  if (ioctl(device, OH_KERNEL_GET_STATUS, &status) != 0) return 1;
  end = status.samples + 10 * BLOCK;
  do {
    usleep(10000);
    if (ioctl(device, OH_KERNEL_GET_STATUS, &status) != 0) return 1;
  } while (status.samples < end && status.card == OH_KERNEL_IN_CALL);
  read_octets += read_all(device);
  expect(read_octets % CELL == 0 && read_octets / CELL + status.cells_unread == status.cells_received,
         "read and unread are not what was received");
  printf("%llu cells received, %llu read, %llu unread; %llu octets written at once\n",
         (unsigned long long)status.cells_received, (unsigned long long)(read_octets / CELL),
         (unsigned long long)status.cells_unread, (unsigned long long)written);
  ioctl(device, OH_KERNEL_STOP);
  return bad;
}
