/* SPDX-License-Identifier: MIT
 *
 * Three pumps that are no telephone modem, each with a line that checks what comes back: written once against the
 * public headers, run unchanged in the simulator, on the timer card and in a kernel module.
 *
 *   dmt    receives 256 tones at 1104 kHz (FFT, one-tap equaliser a tone) and sends its decisions of 63 of them at 276
 *          kHz; the line sends random points through a short channel and compares
 *   audio  dsp/audio's pump in partitions of 256 samples; the line sends noise and compares with a second pump that
 *          computes each sample by itself
 *   g711   receives mu-law octets and sends them back; the line sends a counter and compares
 *
 * Freestanding. The line uses floating point as the pump does.
 */
#ifndef OFFHOOK_TESTS_LOOPBACK_LOOPBACK_H
#define OFFHOOK_TESTS_LOOPBACK_LOOPBACK_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/card_engine.h"
#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The line's counters. */
struct loopback_result {
  uint64_t periods; /**< sample periods that passed on the line */
  uint64_t hash;    /**< FNV-1a of every octet played */
  uint64_t checked; /**< samples (audio, g711) or tones (dmt) that were compared */
  uint64_t wrong;
};

struct loopback {
  const char* name;
  struct oh_streams streams;
  uint32_t block, transmit_lead; /**< sample periods */
  size_t (*size)(void);          /**< octets of memory, aligned to 64, for pump and line */
  int (*init)(void* self);       /**< not real-time. @return 0, or -1 */
  struct oh_pump (*pump)(void* self);
  struct oh_line_end (*line)(void* self);
  struct loopback_result (*result)(const void* self);
};

enum { LOOPBACKS = 3 };
const struct loopback* loopback_at(int i);
/* Hidden: otherwise position-independent code would read their addresses from a GOT, which a module lacks. */
extern const struct loopback loopback_audio __attribute__((visibility("hidden")));
extern const struct loopback loopback_dmt __attribute__((visibility("hidden")));
extern const struct loopback loopback_g711 __attribute__((visibility("hidden")));

static inline void loopback_hash(uint64_t* hash, const void* octets, size_t n) {
  const uint8_t* p = (const uint8_t*)octets;
  for (size_t i = 0; i < n; ++i) *hash = (*hash ^ p[i]) * 0x100000001b3u;
}
#define LOOPBACK_HASH_START 0xcbf29ce484222325u

#ifdef __cplusplus
}
#endif
#endif
