/* SPDX-License-Identifier: MIT */
#include "two_modems.h"

#include "dsp/v34/session/pump.h"
#include "offhook/card_engine.h"
#include "offhook/driver.h"
#include "offhook/modem_card.h"

enum { RATE_HZ = OH_MODEM_RATE_HZ, BLOCK_SAMPLES = 80, TRANSMIT_LEAD = 2 * BLOCK_SAMPLES, ENDS = 2, IN_STEP = 64 };

struct modem {
  struct oh_driver driver;
  struct oh_card_engine card;
  int16_t played; /* captured by the other end in its next sample period */
  struct modem* other;
  unsigned long long* hash;
  int wants_service;
  /* x^23 + x^18 + 1: the sent bits, and the last received bits, from which the next bit follows */
  uint32_t sent, received,
      in_step; /* in_step: successive bits that matched; before data mode, the other end sends ones */
  uint64_t bits, errors;
};

static uint32_t next_bit(uint32_t last) {
  return (last >> 17 ^ last >> 22) & 1;
}

static int get_bit(void* user) {
  struct modem* m = user;
  const uint32_t bit = next_bit(m->sent);
  m->sent = m->sent << 1 | bit;
  return (int)bit;
}

static void put_bit(void* user, int bit) {
  struct modem* m = user;
  const int follows = next_bit(m->received) == (uint32_t)bit;
  if (m->in_step >= IN_STEP) {
    ++m->bits;
    m->errors += !follows;
  } else {
    m->in_step = follows ? m->in_step + 1 : 0;
  }
  m->received = m->received << 1 | (uint32_t)bit;
}

/* n is 1 */
static void exchange(void* self, const void* played, void* captured, size_t n) {
  struct modem* m = self;
  (void)n;
  m->played = *(const int16_t*)played;
  *(int16_t*)captured = m->other->played;
  *m->hash = (*m->hash ^ (uint16_t)m->played) * 0x100000001b3; /* FNV-1a */
}

static void request(void* self) {
  ((struct modem*)self)->wants_service = 1;
}
/* The code that checks whether the modem requests service is its context. */
static int start(void* self) {
  return self == NULL;
}
static void stop(void* self) {
  ((struct modem*)self)->wants_service = 0;
}
static const struct oh_context_ops context_ops = {sizeof context_ops, start, request, stop, NULL, NULL, NULL};

static uint64_t now_ns(void* world) {
  return ((const struct world*)world)->now_ns();
}

static int set_up(const struct world* world, struct modem* m, enum oh_pump_role role, unsigned long long* state_size) {
  struct oh_driver_config config = {
      .context = {&context_ops, m},
      .now_ns = now_ns,
      .clock = (void*)world,
      .policy = OH_SERVICE_DRAIN_ALL,
      .transmit_lead_samples = TRANSMIT_LEAD,
      .block_plan = {BLOCK_SAMPLES},
      .block_plan_length = 1,
  };
  const struct oh_pump_type* type = oh_v34_type();
  const struct oh_pump_config pump = {
      .struct_size = sizeof pump,
      .format = type->formats[0],
      .role = role,
      .tx_level_dbm0 = -12,
      .port = {.get_bit = get_bit, .put_bit = put_bit, .user = m},
      .io_delay_samples = TRANSMIT_LEAD,
  };
  const struct oh_streams streams = oh_modem_streams(RATE_HZ);
  const size_t size = oh_card_size(&streams);
  void* memory = world->allocate(size);
  int failed;
  if (memory == NULL || oh_card_init(memory, &streams) || oh_card_attach(&config.card, memory, size)) return -1;
  oh_card_engine_init(&m->card, &config.card, NULL);
  config.staging = world->allocate(oh_driver_staging_size(&config.card));
  *state_size = type->size(&pump);
  config.pump = oh_pump_at(type, world->allocate(*state_size));
  if (config.pump.self == NULL || config.staging == NULL) return -1;
  m->sent = role == OH_PUMP_CALL ? 0x1234567 : 0x7654321;
  world->begin();
  failed = type->init(config.pump.self, &pump);
  world->end();
  if (failed) return -1;
  if (oh_driver_init(&m->driver, &config)) return -1;
  oh_card_engine_start(&m->card, 0);
  return 0;
}

__attribute__((force_align_arg_pointer)) int run_two_modems(const struct world* world, unsigned seconds,
                                                            struct result* result) {
  struct modem* modems = world->allocate(ENDS * sizeof *modems);
  int e;
  if (modems == NULL) return -1;
  if (set_up(world, &modems[0], OH_PUMP_CALL, &result->state_size)) return -1;
  if (set_up(world, &modems[1], OH_PUMP_ANSWER, &result->state_size)) return -1;

  result->hash = 0xcbf29ce484222325;
  for (e = 0; e < ENDS; ++e) {
    modems[e].other = &modems[1 - e];
    modems[e].hash = &result->hash;
  }
  for (uint64_t t = 0; t < (uint64_t)seconds * RATE_HZ; ++t) {
    for (e = 0; e < ENDS; ++e) {
      struct modem* m = &modems[e];
      const struct oh_line_end line = {exchange, m};
      if (oh_card_engine_run(&m->card, &line, 1, 0) == 0) continue;
      oh_driver_isr(&m->driver); /* uses no floating-point register */
      if (!m->wants_service) continue;
      m->wants_service = 0;
      world->begin();
      oh_driver_service(&m->driver);
      world->end();
    }
  }
  for (e = 0; e < ENDS; ++e) {
    struct oh_pump_status status = {.struct_size = sizeof status};
    world->begin();
    oh_v34_type()->status(modems[e].driver.config.pump.self, &status);
    world->end();
    result->rate[e] = status.rx_bit_rate;
    result->bits[e] = modems[e].bits;
    result->errors[e] = modems[e].errors;
  }
  return 0;
}
