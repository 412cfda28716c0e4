/* SPDX-License-Identifier: MIT
 *
 * The C API of the simulator, used from C against the installed library: settings by text and by key, a competing
 * device, a pump of this program, results by key, and every kind of error.
 */
#include <errno.h>
#include <offhook/plugin.h>
#include <offhook/simulator.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int true_, const char* what, const char* reason) {
  if (true_) return;
  printf("FAILED  %s: %s\n", what, reason);
  failures++;
}
#define EXPECT(condition) expect(condition, #condition, reason)

/* A pump without bits: it returns what it receives. */
struct echo {
  uint64_t samples;
};
static size_t size(const struct oh_pump_config* config) {
  return (void)config, sizeof(struct echo);
}
static int init(void* self, const struct oh_pump_config* config) {
  (void)config;
  ((struct echo*)self)->samples = 0;
  return 0;
}
static void process(void* self, const void* rx, void* tx, size_t n) {
  memcpy(tx, rx, 2 * n);
  ((struct echo*)self)->samples += n;
}
static void report_gap(void* self, size_t n) {
  ((struct echo*)self)->samples += n;
}
static void status(const void* self, struct oh_pump_status* s) {
  s->state = OH_PUMP_DATA;
  s->samples = ((const struct echo*)self)->samples;
}
static int metric(const void* self, uint32_t index, struct oh_metric* m) {
  if (index > 0) return -EINVAL;
  *m = (struct oh_metric){"samples", "", (double)((const struct echo*)self)->samples};
  return 0;
}
static const struct oh_pump_format format = {{48000, OH_LINEAR16}, {48000, OH_LINEAR16}};

static const char scenario[] =
    "context = \"INT\"\npump.kind = \"device\"\ntransfer.device_s = 1\nseed = 7\n"
    "[device]\nname = \"echo\"\npump = \"echo\"\nblock = { rate_hz = 48000, plan_samples = [480] }\n"
    "buffers.count = 3\nwork = { block_us = 1000, phi = 0.5 }\n";

static char* results_of(double* late) {
  const char* reason = "";
  struct oh_simulation* s = oh_simulation_create(&reason);
  EXPECT(s != NULL);
  if (s == NULL) exit(1);
  double value = 0;
  EXPECT(oh_simulation_json(s) == NULL && oh_simulation_text(s, "verdict") == NULL);
  EXPECT(oh_simulation_number(s, "figures.total.blocks", &value) == -ENOENT);
  EXPECT(oh_simulation_read(s, scenario, &reason) == 0);
  EXPECT(oh_simulation_add_device(s, "audio", "rt-audio", "DPC", &reason) == 0);
  EXPECT(oh_simulation_add_device(s, "audio", "rt-audio", "DPC", &reason) == -EINVAL && strstr(reason, "unique name"));
  EXPECT(oh_simulation_add_device(s, "other", "no-such", "DPC", &reason) == -EINVAL && strstr(reason, "no-such"));
  EXPECT(oh_simulation_add_device(s, "other", "rt-audio", "XYZ", &reason) == -EINVAL && strstr(reason, "XYZ"));
  EXPECT(oh_simulation_run(s, &reason) == 0);
  EXPECT(oh_simulation_number(s, "pump.metrics.0.value", &value) == 0 && value > 47000 && value < 49000);
  EXPECT(oh_simulation_number(s, "complete", &value) == 0 && value == 1);
  EXPECT(oh_simulation_number(s, "figures.total.blocks_late", late) == 0);
  EXPECT(oh_simulation_number(s, "figures.total.nothing", &value) == -ENOENT);
  EXPECT(oh_simulation_number(s, "pump.metrics.5.value", &value) == -ENOENT);
  EXPECT(oh_simulation_number(s, "verdict", &value) == -EINVAL);
  EXPECT(oh_simulation_text(s, "verdict") && !strcmp(oh_simulation_text(s, "verdict"), "sufficient"));
  EXPECT(oh_simulation_text(s, "pump.name") && !strcmp(oh_simulation_text(s, "pump.name"), "echo"));
  EXPECT(oh_simulation_text(s, "complete") == NULL);
  char* copy = strdup(oh_simulation_json(s));
  oh_simulation_destroy(s);
  return copy;
}

int main(void) {
  const char* reason = "";
  struct oh_pump_type type = {.struct_size = sizeof type,
                              .name = "echo",
                              .formats = &format,
                              .format_count = 1,
                              .roles = 3,
                              .size = size,
                              .init = init,
                              .process = process,
                              .report_gap = report_gap,
                              .metric = metric};
  EXPECT(oh_register_pump(&type, &reason) == -EINVAL && strstr(reason, "has no function status"));
  type.status = status;
  EXPECT(oh_register_pump(&type, &reason) == 0);
  EXPECT(oh_register_pump(&type, &reason) == -EEXIST && strstr(reason, "is taken"));

  double late[2] = {-1, -1};
  char *first = results_of(&late[0]), *again = results_of(&late[1]);
  EXPECT(late[0] == 0 && late[1] == 0);
  EXPECT(!strcmp(first, again));
  free(first), free(again);

  struct oh_simulation* s = oh_simulation_create(&reason);
  EXPECT(oh_simulation_read(s, "contxt = \"INT\"", &reason) == -EINVAL && strstr(reason, "scenario:1:1"));
  EXPECT(oh_simulation_read(s, NULL, &reason) == -EINVAL);
  EXPECT(oh_simulation_set(s, "seed", "many", &reason) == -EINVAL && strstr(reason, "seed"));
  EXPECT(oh_simulation_set(s, "context", "FIFO 50", NULL) == 0);
  EXPECT(oh_simulation_run(s, &reason) == -EINVAL && strstr(reason, "FIFO"));
  EXPECT(oh_simulation_json(s) == NULL);
  oh_simulation_destroy(s);
  oh_simulation_destroy(NULL);
  printf(failures ? "%d failures\n" : "the C API of the simulator: all expectations hold\n", failures);
  return failures != 0;
}
