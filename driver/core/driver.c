/* SPDX-License-Identifier: MIT */
#include "offhook/driver.h"

#ifndef EINVAL
#define EINVAL 22 /* Linux's value; no OS header here */
#endif

/* No function reads a sample. */
static int has_no_samples(const struct oh_driver_config* config) {
  return config->staging == NULL && config->pump.process == NULL;
}

static uint64_t card_rx_position(const struct oh_driver* driver) {
  return driver->config.card.ops->rx_position(driver->config.card.self);
}

static uint64_t card_tx_position(const struct oh_driver* driver) {
  return driver->config.card.ops->tx_position(driver->config.card.self);
}

static void record(const struct oh_driver* driver, enum oh_event_kind kind, uint64_t argument) {
  const struct oh_driver_config* config = &driver->config;
  if (config->log == NULL) return;
  oh_event_log_write(config->log, config->now_ns(config->clock), kind, config->id,
                     argument > UINT32_MAX ? UINT32_MAX : (uint32_t)argument);
}

/* One writer; others may read each counter at any time. */
static void count(uint64_t* counter, uint64_t n) {
  __atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* A run of at most one ring has two pieces: the octets from `slot` on, and the rest from the ring's beginning. */
struct pieces {
  uint8_t* first;
  size_t first_octets, rest_octets;
};

static struct pieces pieces_of(const struct oh_ring* ring, uint64_t position, uint32_t n) {
  const uint32_t slot = (uint32_t)(position % ring->periods);
  const uint32_t first = n < ring->periods - slot ? n : ring->periods - slot;
  const struct pieces pieces = {ring->octets + (size_t)slot * ring->period_octets, (size_t)first * ring->period_octets,
                                (size_t)(n - first) * ring->period_octets};
  return pieces;
}

static void copy_from_ring(uint8_t* out, const struct oh_ring* ring, uint64_t position, uint32_t n) {
  const struct pieces p = pieces_of(ring, position, n);
  __builtin_memcpy(out, p.first, p.first_octets);
  __builtin_memcpy(out + p.first_octets, ring->octets, p.rest_octets);
}

static void copy_to_ring(const struct oh_ring* ring, uint64_t position, const uint8_t* in, uint32_t n) {
  const struct pieces p = pieces_of(ring, position, n);
  __builtin_memcpy(p.first, in, p.first_octets);
  __builtin_memcpy(ring->octets, in + p.first_octets, p.rest_octets);
}

static void silence_ring(const struct oh_ring* ring, uint64_t position, uint32_t n) {
  const struct pieces p = pieces_of(ring, position, n);
  __builtin_memset(p.first, ring->silence, p.first_octets);
  __builtin_memset(ring->octets, ring->silence, p.rest_octets);
}

static int plan_is_valid(const struct oh_card* card, const uint32_t* samples, uint32_t length, uint32_t lead) {
  if (samples == NULL || length == 0 || length > OH_BLOCK_PLAN_MAX) return 0;
  const uint32_t least = oh_streams_block_min(&card->streams), most = oh_streams_block_max(&card->streams);
  for (uint32_t i = 0; i < length; ++i) {
    if (samples[i] < least || samples[i] > most || samples[i] > lead) return 0;
  }
  return 1;
}

static size_t block_octets(const struct oh_card* card, const struct oh_stream_format* direction) {
  const struct oh_ring ring = oh_ring_of(&card->streams, direction, NULL);
  const size_t octets = (size_t)oh_streams_block_max(&card->streams) * ring.period_octets;
  return (octets + 7) / 8 * 8; /* the memory after it is aligned for any sample */
}

size_t oh_driver_staging_size(const struct oh_card* card) {
  if (!oh_streams_are_valid(&card->streams)) return 0;
  return block_octets(card, &card->streams.rx) + block_octets(card, &card->streams.tx);
}

int oh_driver_init(struct oh_driver* driver, const struct oh_driver_config* config) {
  const struct oh_card* card = &config->card;
  if (card->ops == NULL || card->rx_ring == NULL || card->tx_ring == NULL ||
      !oh_context_is_complete(&config->context) || (config->log != NULL && config->now_ns == NULL) ||
      oh_driver_staging_size(card) == 0 ||
      config->transmit_lead_samples > oh_ring_of(&card->streams, &card->streams.tx, NULL).periods ||
      !plan_is_valid(card, config->block_plan, config->block_plan_length, config->transmit_lead_samples)) {
    return -EINVAL;
  }
  if (!has_no_samples(config) &&
      (config->pump.process == NULL || config->pump.report_gap == NULL || config->staging == NULL)) {
    return -EINVAL;
  }
  __builtin_memset(driver, 0, sizeof *driver);
  driver->config = *config;
  driver->rx_ring = oh_ring_of(&card->streams, &card->streams.rx, card->rx_ring);
  driver->tx_ring = oh_ring_of(&card->streams, &card->streams.tx, card->tx_ring);
  driver->rx = config->staging;
  driver->tx = driver->rx != NULL ? driver->rx + block_octets(card, &card->streams.rx) : NULL;
  driver->plan_length = config->block_plan_length;
  __builtin_memcpy(driver->plan, config->block_plan, sizeof driver->plan);
  driver->plan_next = 1 % driver->plan_length;

  driver->rx_read = card_rx_position(driver);
  driver->boundary = driver->rx_read;
  driver->tx_next = card_tx_position(driver);
  silence_ring(&driver->tx_ring, driver->tx_next, config->transmit_lead_samples);
  driver->tx_next += config->transmit_lead_samples;
  card->ops->tx_written(card->self, driver->tx_next);
  return card->ops->set_block(card->self, driver->plan[0]);
}

int oh_driver_set_block_plan(struct oh_driver* driver, const uint32_t* samples, uint32_t length) {
  const struct oh_card* card = &driver->config.card;
  if (!plan_is_valid(card, samples, length, driver->config.transmit_lead_samples)) return -EINVAL;
  const int error = card->ops->set_block(card->self, samples[0]);
  if (error != 0) return error;

  /* Odd: an ISR that runs now keeps its old plan, and checks again at the next interrupt. */
  const uint32_t sequence = driver->plan_sequence;
  __atomic_store_n(&driver->plan_sequence, sequence + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (uint32_t i = 0; i < length; ++i) __atomic_store_n(&driver->new_plan[i], samples[i], __ATOMIC_RELAXED);
  __atomic_store_n(&driver->new_plan_length, length, __ATOMIC_RELAXED);
  __atomic_store_n(&driver->plan_sequence, sequence + 2, __ATOMIC_RELEASE);
  return 0;
}

/* Take a newly published plan, in one attempt. The first of its lengths was programmed by oh_driver_set_block_plan. */
static void adopt_plan(struct oh_driver* driver) {
  const uint32_t sequence = __atomic_load_n(&driver->plan_sequence, __ATOMIC_ACQUIRE);
  if (sequence == driver->plan_adopted || (sequence & 1) != 0) return;
  uint32_t plan[OH_BLOCK_PLAN_MAX];
  for (uint32_t i = 0; i < OH_BLOCK_PLAN_MAX; ++i) plan[i] = __atomic_load_n(&driver->new_plan[i], __ATOMIC_RELAXED);
  const uint32_t length = __atomic_load_n(&driver->new_plan_length, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (__atomic_load_n(&driver->plan_sequence, __ATOMIC_RELAXED) != sequence) return;
  __builtin_memcpy(driver->plan, plan, sizeof plan);
  driver->plan_length = length;
  driver->plan_next = 1 % length;
  driver->plan_adopted = sequence;
}

void oh_driver_isr(struct oh_driver* driver) {
  const struct oh_driver_config* config = &driver->config;
  const uint64_t interrupts = driver->counters.interrupts + 1;
  __atomic_store_n(&driver->counters.interrupts, interrupts, __ATOMIC_RELAXED);
  record(driver, OH_EV_ISR_ENTER, interrupts);

  const uint64_t end = config->card.ops->acknowledge(config->card.self);
  const uint64_t head = driver->owed_head;
  const uint64_t owed = head - __atomic_load_n(&driver->owed_tail, __ATOMIC_ACQUIRE);
  /* When the queue is full the boundary stays, and a later interrupt's block covers this one too. */
  if (end > driver->boundary && owed < OH_OWED_MAX) {
    __atomic_store_n(&driver->owed_end[head % OH_OWED_MAX], end, __ATOMIC_RELAXED);
    __atomic_store_n(&driver->owed_head, head + 1, __ATOMIC_RELEASE);
    driver->boundary = end;
  }

  adopt_plan(driver);
  config->card.ops->set_block(config->card.self, driver->plan[driver->plan_next]);
  driver->plan_next = (driver->plan_next + 1) % driver->plan_length;

  record(driver, OH_EV_SERVICE_REQUEST, oh_driver_owed(driver));
  config->context.ops->request(config->context.self);
  record(driver, OH_EV_ISR_EXIT, 0);
}

/* The oldest position that can still be read. */
static uint64_t oldest_received(const struct oh_driver* driver) {
  const struct oh_card* card = &driver->config.card;
  const uint64_t captured = card_rx_position(driver);
  const uint32_t ring = driver->rx_ring.periods;
  const uint64_t oldest = captured > ring ? captured - ring : 0;
  const uint64_t lost = card->ops->rx_lost_before(card->self);
  return lost > oldest ? lost : oldest;
}

/* The next n received samples are lost: inform the pump, and skip the matching transmit positions. If the samples have
 * left the receive ring, these positions have been played, because the lead is at most that ring. Otherwise they may
 * still be played, and are silent. */
static void report_gap(struct oh_driver* driver, uint64_t n) {
  const struct oh_pump* pump = &driver->config.pump;
  if (pump->report_gap != NULL) pump->report_gap(pump->self, (size_t)n);
  const uint64_t played = card_tx_position(driver);
  const uint64_t from = driver->tx_next > played ? driver->tx_next : played;
  const uint64_t ring_end = played + driver->tx_ring.periods;
  const uint64_t end = driver->tx_next + n < ring_end ? driver->tx_next + n : ring_end;
  if (from < end) silence_ring(&driver->tx_ring, from, (uint32_t)(end - from));
  driver->rx_read += n;
  driver->tx_next += n;
  count(&driver->counters.samples_filled_in, n);
  record(driver, OH_EV_FILL_IN, n);
}

static void end_run(struct oh_driver* driver) {
  driver->in_run = 0;
  record(driver, OH_EV_SERVICE_RUN_END, driver->run_chunks);
}

uint32_t oh_driver_service_begin(struct oh_driver* driver) {
  const struct oh_driver_config* config = &driver->config;
  if (!driver->in_run) {
    record(driver, OH_EV_SERVICE_RUN_BEGIN, 0);
    driver->run_head = __atomic_load_n(&driver->owed_head, __ATOMIC_ACQUIRE);
    driver->run_chunks = 0;
    driver->in_run = 1;
  }
  uint64_t tail = driver->owed_tail;
  while (tail != driver->run_head) {
    const uint64_t end = __atomic_load_n(&driver->owed_end[tail % OH_OWED_MAX], __ATOMIC_RELAXED);
    if (end > driver->rx_read) {
      const uint64_t left = end - driver->rx_read;
      const uint32_t most = oh_streams_block_max(&config->card.streams);
      uint32_t n = left < most ? (uint32_t)left : most;
      /* Copy first, then read the card's position: samples that it may have overwritten meanwhile are not used. */
      if (driver->rx != NULL) copy_from_ring(driver->rx, &driver->rx_ring, driver->rx_read, n);
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      const uint64_t oldest = oldest_received(driver);
      const uint64_t gone = oldest > driver->rx_read ? oldest - driver->rx_read : 0;
      if (gone >= n) {
        report_gap(driver, gone < left ? gone : left);
      } else {
        if (gone > 0) report_gap(driver, gone);
        n -= (uint32_t)gone;
        driver->rx_read += n;
        driver->chunk_samples = n;
        driver->chunk_ends_block = driver->rx_read == end;
        if (driver->chunk_ends_block) __atomic_store_n(&driver->owed_tail, tail + 1, __ATOMIC_RELEASE);
        config->card.ops->rx_read(config->card.self, driver->rx_read);
        record(driver, OH_EV_SERVICE_BEGIN, n);
        if (driver->rx != NULL) {
          const void* rx = driver->rx + gone * driver->rx_ring.period_octets;
          config->pump.process(config->pump.self, rx, driver->tx, n);
        }
        return n;
      }
    }
    if (end <= driver->rx_read) {
      driver->block_late = 0;
      __atomic_store_n(&driver->owed_tail, ++tail, __ATOMIC_RELEASE);
      config->card.ops->rx_read(config->card.self, driver->rx_read);
    }
  }
  end_run(driver);
  return 0;
}

void oh_driver_service_output(struct oh_driver* driver) {
  const struct oh_driver_config* config = &driver->config;
  const uint32_t n = driver->chunk_samples;
  const uint64_t played = card_tx_position(driver);
  const uint64_t behind = played > driver->tx_next ? played - driver->tx_next : 0;
  const uint32_t late = behind < n ? (uint32_t)behind : n;
  if (driver->tx != NULL)
    copy_to_ring(&driver->tx_ring, driver->tx_next + late, driver->tx + (size_t)late * driver->tx_ring.period_octets,
                 n - late);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  driver->tx_next += n;
  config->card.ops->tx_written(config->card.self, driver->tx_next);

  count(&driver->counters.samples_late, late);
  if (late > 0) driver->block_late = 1;
  record(driver, OH_EV_OUTPUT_READY, late);
}

int oh_driver_service_end(struct oh_driver* driver) {
  struct oh_driver_counters* counters = &driver->counters;
  count(&counters->samples_served, driver->chunk_samples);
  if (driver->chunk_ends_block) {
    count(&counters->blocks_served, 1);
    count(&counters->blocks_late, driver->block_late != 0);
    driver->block_late = 0;
  }
  const uint32_t pending = oh_driver_pending(driver);
  __atomic_store_n(&counters->pending_last, pending, __ATOMIC_RELAXED);
  if (pending > counters->pending_max) __atomic_store_n(&counters->pending_max, pending, __ATOMIC_RELAXED);
  record(driver, OH_EV_SERVICE_END, counters->pending_last);
  ++driver->run_chunks;
  if (driver->chunk_ends_block &&
      (driver->config.policy != OH_SERVICE_DRAIN_ALL || driver->owed_tail == driver->run_head)) {
    end_run(driver);
  }
  return driver->in_run;
}

uint32_t oh_driver_service(struct oh_driver* driver) {
  const uint64_t before = driver->counters.blocks_served;
  do {
    if (oh_driver_service_begin(driver) == 0) break;
    oh_driver_service_output(driver);
  } while (oh_driver_service_end(driver));
  return (uint32_t)(driver->counters.blocks_served - before);
}

uint32_t oh_driver_owed(const struct oh_driver* driver) {
  const uint64_t tail = __atomic_load_n(&driver->owed_tail, __ATOMIC_ACQUIRE);
  return (uint32_t)(__atomic_load_n(&driver->owed_head, __ATOMIC_ACQUIRE) - tail);
}

uint32_t oh_driver_pending(const struct oh_driver* driver) {
  return (uint32_t)(card_rx_position(driver) - driver->rx_read);
}
