/* SPDX-License-Identifier: MIT */
#include "dsp/audio/pump.h"
#include "tests/loopback/loopback.h"

enum { RATE_HZ = 48000, RING = 4096, PARTITION = 256, BLOCK = 600, LEAD = 2 * BLOCK, PUMP_MOST = 512 * 1024 };

struct audio {
  struct loopback_result seen;
  uint64_t position;
  uint32_t noise;
  int16_t expected[RING]; /* a ring: the reference's output for each position, LEAD later */
  uint8_t pump[PUMP_MOST] __attribute__((aligned(64)));
  uint8_t reference[PUMP_MOST] __attribute__((aligned(64)));
};

static size_t size(void) {
  return sizeof(struct audio);
}
static int init(void* self) {
  struct audio* a = self;
  struct oh_pump_config config;
  const struct oh_pump_type* type = oh_audio_type(PARTITION);
  __builtin_memset(a, 0, sizeof *a);
  __builtin_memset(&config, 0, sizeof config);
  a->seen.hash = LOOPBACK_HASH_START;
  config.struct_size = sizeof config;
  config.format.rx.rate_hz = config.format.tx.rate_hz = RATE_HZ;
  if (type->size(&config) > PUMP_MOST) return -1;
  return type->init(a->pump, &config) != 0 || type->init(a->reference, &config) != 0 ? -1 : 0;
}
static struct oh_pump pump(void* self) {
  return oh_pump_at(oh_audio_type(PARTITION), ((struct audio*)self)->pump);
}

/* Equal, or different by one: after a gap the states of the two equalisers converge, and rounding may differ. */
static int is_near(int16_t a, int16_t b) {
  return a - b <= 1 && b - a <= 1;
}
static void exchange(void* self, const void* played, void* captured, size_t n) {
  struct audio* a = self;
  const int16_t* heard = played;
  int16_t* sent = captured;
  for (size_t i = 0; i < n; ++i, ++a->position) {
    a->noise = a->noise * 1664525u + 1013904223u;
    sent[i] = (int16_t)((int32_t)a->noise >> 19);
    oh_audio_type(PARTITION)->process(a->reference, &sent[i], &a->expected[(a->position + LEAD) % RING], 1);
    a->seen.checked += a->position >= LEAD;
    a->seen.wrong += a->position >= LEAD && !is_near(heard[i], a->expected[a->position % RING]);
  }
  a->seen.periods += n;
  loopback_hash(&a->seen.hash, played, n * sizeof *heard);
}
static struct oh_line_end line(void* self) {
  const struct oh_line_end end = {exchange, self};
  return end;
}
static struct loopback_result result(const void* self) {
  return ((const struct audio*)self)->seen;
}

const struct loopback loopback_audio = {
    .name = "audio",
    .streams = {{RATE_HZ, OH_LINEAR16, RING, 1, RING / 2}, {RATE_HZ, OH_LINEAR16, RING, 1, RING / 2}},
    .block = BLOCK,
    .transmit_lead = LEAD,
    .size = size,
    .init = init,
    .pump = pump,
    .line = line,
    .result = result};
