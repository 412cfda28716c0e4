/* SPDX-License-Identifier: MIT */
#include "tests/loopback/loopback.h"

enum { RATE_HZ = 8000, RING = 512, BLOCK = 100, LEAD = 2 * BLOCK, SILENCE = 0xff };

struct g711 {
  struct loopback_result seen;
  uint64_t sent, position;
};

/* Never silence, so that a gap is visible. */
static uint8_t octet(uint64_t position) {
  return (uint8_t)(position % SILENCE);
}

static size_t size(void) {
  return sizeof(struct g711);
}
static int init(void* self) {
  struct g711* g = self;
  __builtin_memset(g, 0, sizeof *g);
  g->seen.hash = LOOPBACK_HASH_START;
  return 0;
}

static void process(void* self, const void* rx, void* tx, size_t n) {
  (void)self;
  __builtin_memcpy(tx, rx, n);
}
static void report_gap(void* self, size_t n) {
  (void)self;
  (void)n;
}
static struct oh_pump pump(void* self) {
  const struct oh_pump p = {process, report_gap, self};
  return p;
}

static void exchange(void* self, const void* played, void* captured, size_t n) {
  struct g711* g = self;
  const uint8_t* heard = played;
  uint8_t* sent = captured;
  for (size_t i = 0; i < n; ++i, ++g->position) {
    const uint8_t expected = g->position < LEAD ? SILENCE : octet(g->position - LEAD);
    ++g->seen.checked;
    g->seen.wrong += heard[i] != expected;
    sent[i] = octet(g->position);
  }
  g->seen.periods += n;
  loopback_hash(&g->seen.hash, played, n);
}
static struct oh_line_end line(void* self) {
  const struct oh_line_end end = {exchange, self};
  return end;
}
static struct loopback_result result(const void* self) {
  return ((const struct g711*)self)->seen;
}

const struct loopback loopback_g711 = {
    .name = "g711",
    .streams = {{RATE_HZ, OH_MULAW, RING, 1, RING / 2}, {RATE_HZ, OH_MULAW, RING, 1, RING / 2}},
    .block = BLOCK,
    .transmit_lead = LEAD,
    .size = size,
    .init = init,
    .pump = pump,
    .line = line,
    .result = result};

const struct loopback* loopback_at(int i) {
  return i == 0 ? &loopback_dmt : i == 1 ? &loopback_audio : &loopback_g711;
}
