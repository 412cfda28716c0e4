/* SPDX-License-Identifier: MIT
 *
 * A pump of one's own in C: a modem of pulses at 48 kHz, 10 kbit/s in each direction.
 *
 *   cc -shared -fPIC pulse.c -o libpulse.so $(pkg-config --cflags offhook)
 *   offhook --plugin ./libpulse.so run pulse.toml
 *
 * A frame of 1 ms has 8 samples of synchronisation, which are twice as large as the rest, and 10 bits of 4 samples.
 * Until the receiver is in step the sender leaves the bits silent.
 */
#include <offhook/plugin.h>

enum { RATE = 48000, FRAME = 48, SYNC = 8, PER_BIT = 4, LEVEL = 4000, BIT_RATE = 10000 };

struct pulse {
  struct oh_bit_port port;
  uint64_t samples, filled_in, frames, sent, received;
  uint32_t losses, tx_at, rx_at; /* last two: index of the sample in the frame */
  int in_step, bit, sum;
};

static int16_t next(struct pulse* p) {
  const uint32_t at = p->tx_at;
  p->tx_at = (at + 1) % FRAME;
  if (at < SYNC) return at < SYNC / 2 ? 2 * LEVEL : -2 * LEVEL;
  if ((at - SYNC) % PER_BIT == 0) {
    uint8_t bit = 0;
    if (p->in_step) oh_port_get(&p->port, &bit, 1);
    p->sent += p->in_step;
    p->bit = p->in_step ? 2 * (bit & 1) - 1 : 0;
  }
  return (int16_t)(p->bit * LEVEL);
}

static void take(struct pulse* p, int16_t x) {
  if (!p->in_step) {
    if (x < LEVEL * 3 / 2) return;
    p->in_step = 1;
    p->rx_at = 0;
  }
  const uint32_t at = p->rx_at;
  p->rx_at = (at + 1) % FRAME;
  if (at == 0 || at == SYNC / 2) { /* the synchronisation is at its old position */
    p->in_step = at == 0 ? x > LEVEL * 3 / 2 : x < -LEVEL * 3 / 2;
    p->losses += !p->in_step;
    p->frames += at > 0 && p->in_step;
  }
  if (at < SYNC) return;
  p->sum = (at - SYNC) % PER_BIT == 0 ? x : p->sum + x;
  if ((at - SYNC) % PER_BIT != PER_BIT - 1 || (p->sum < 2 * LEVEL && p->sum > -2 * LEVEL)) return;
  const uint8_t bit = p->sum > 0;
  oh_port_put(&p->port, &bit, 1);
  p->received++;
}

static void process(void* self, const void* rx, void* tx, size_t n) {
  struct pulse* p = self;
  for (size_t i = 0; i < n; ++i) {
    take(p, ((const int16_t*)rx)[i]);
    ((int16_t*)tx)[i] = next(p);
  }
  p->samples += n;
}

static void report_gap(void* self, size_t n) { /* samples were lost, but both frames advance */
  struct pulse* p = self;
  p->rx_at = (uint32_t)((p->rx_at + n) % FRAME);
  p->tx_at = (uint32_t)((p->tx_at + n) % FRAME);
  p->samples += n;
  p->filled_in += n;
}

static size_t size(const struct oh_pump_config* config) {
  (void)config;
  return sizeof(struct pulse);
}

static int init(void* self, const struct oh_pump_config* config) {
  *(struct pulse*)self = (struct pulse){.port = config->port};
  return 0;
}

static void status(const void* self, struct oh_pump_status* s) {
  const struct pulse* p = self;
  s->state = p->in_step ? OH_PUMP_DATA : OH_PUMP_TRAINING;
  s->tx_bit_rate = s->rx_bit_rate = p->in_step ? BIT_RATE : 0;
  s->samples = p->samples;
  s->filled_in = p->filled_in;
  s->bits_sent = p->sent;
  s->bits_received = p->received;
}

static int metric(const void* self, uint32_t index, struct oh_metric* m) {
  const struct pulse* p = self;
  const struct oh_metric all[] = {{"frames received", "", (double)p->frames}, {"frames lost", "", p->losses}};
  if (index >= sizeof all / sizeof *all) return -22; /* -EINVAL: no more rows */
  *m = all[index];
  return 0;
}

static const struct oh_pump_format format = {{RATE, OH_LINEAR16}, {RATE, OH_LINEAR16}};
static const struct oh_pump_type type = {.struct_size = sizeof type,
                                         .name = "pulse",
                                         .formats = &format,
                                         .format_count = 1,
                                         .roles = 1 << OH_PUMP_CALL | 1 << OH_PUMP_ANSWER,
                                         .size = size,
                                         .init = init,
                                         .process = process,
                                         .report_gap = report_gap,
                                         .status = status,
                                         .metric = metric};

OH_PLUGIN(reason) {
  return oh_register_pump(&type, reason);
}
