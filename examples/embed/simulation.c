/* SPDX-License-Identifier: MIT
 *
 * The simulator in C: which of three contexts is sufficient for low-latency audio, next to a network card?
 *
 *   cc simulation.c -o simulation $(pkg-config --cflags --libs offhook-simulator)
 */
#include <offhook/simulator.h>
#include <stdio.h>

static const char* const network =
    "name = \"network\"\n"
    "[block]\nrate_hz = 8000\nplan_samples = [8]\n"
    "[buffers]\ncount = 4\n"
    "[work]\nblock_us = 50\nphi = 1\n";

int main(void) {
  const char* const contexts[] = {"INT", "THR 24", "THR 8"};
  const char* reason = "";
  for (size_t k = 0; k < sizeof contexts / sizeof *contexts; ++k) {
    struct oh_simulation* s = oh_simulation_create(&reason);
    if (!s || oh_simulation_set(s, "host.name", "nt2000-p2-450", &reason) ||
        oh_simulation_read(s, "device = \"rt-audio\"\nload.spinner = true\ntransfer.device_s = 5\n", &reason) ||
        oh_simulation_add_device(s, "network", network, "DPC", &reason) ||
        oh_simulation_set(s, "context", contexts[k], &reason) || oh_simulation_run(s, &reason))
      return fprintf(stderr, "simulation: %s\n", reason), oh_simulation_destroy(s), 1;
    double blocks = 0, late = 0;
    if (oh_simulation_number(s, "figures.total.blocks", &blocks) ||
        oh_simulation_number(s, "figures.total.blocks_late", &late))
      return oh_simulation_destroy(s), 1;
    printf("%-7s %s: %.0f of %.0f blocks late\n", contexts[k], oh_simulation_text(s, "verdict"), late, blocks);
    oh_simulation_destroy(s);
  }
  return 0;
}
