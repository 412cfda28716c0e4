/* SPDX-License-Identifier: MIT */
#include "offhook/card_engine.h"
#include "offhook/driver.h"
#include "tests/loopback/loopback.h"
#include "two_modems.h"

static void request(void* self) {
  *(int*)self = 1;
}
/* The code that checks `wanted` is the context. */
static int start(void* self) {
  return self == NULL;
}
static void stop(void* self) {
  *(int*)self = 0;
}
static const struct oh_context_ops context_ops = {sizeof context_ops, start, request, stop, NULL, NULL, NULL};

__attribute__((force_align_arg_pointer)) int run_loopback(const struct world* world, int which, unsigned blocks,
                                                          struct loopback_outcome* outcome) {
  const struct loopback* kind = loopback_at(which);
  const size_t size = oh_card_size(&kind->streams);
  struct oh_driver* driver = world->allocate(sizeof *driver);
  void* self = world->allocate(kind->size());
  void* memory = world->allocate(size);
  int wanted = 0;
  struct oh_driver_config config = {.context = {&context_ops, &wanted},
                                    .policy = OH_SERVICE_DRAIN_ALL,
                                    .transmit_lead_samples = kind->transmit_lead,
                                    .block_plan = {kind->block},
                                    .block_plan_length = 1};
  struct oh_card_engine engine;
  struct oh_line_end line;
  struct loopback_result result;
  int failed;
  if (driver == NULL || self == NULL || memory == NULL) return -1;
  if (oh_card_init(memory, &kind->streams) || oh_card_attach(&config.card, memory, size)) return -1;
  config.staging = world->allocate(oh_driver_staging_size(&config.card));
  world->begin();
  failed = kind->init(self);
  world->end();
  if (failed) return -1;
  config.pump = kind->pump(self);
  if (oh_driver_init(driver, &config)) return -1;
  line = kind->line(self);
  oh_card_engine_init(&engine, &config.card, NULL);
  oh_card_engine_start(&engine, 0);
  for (; blocks > 0; --blocks) {
    world->begin(); /* the line also computes */
    oh_card_engine_run(&engine, &line, oh_card_engine_left(&engine), 0);
    world->end();
    oh_driver_isr(driver);
    if (!wanted) return -1;
    wanted = 0;
    world->begin();
    oh_driver_service(driver);
    world->end();
  }
  result = kind->result(self);
  outcome->name = kind->name;
  outcome->checked = result.checked;
  outcome->wrong = result.wrong;
  outcome->hash = result.hash;
  return 0;
}
