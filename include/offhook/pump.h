/* SPDX-License-Identifier: MIT
 *
 * The datapump contract: samples in, samples out, one for one.
 *
 * A pump is one end of a modem connection. It has two sides. A driver holds struct oh_pump: process() and report_gap(),
 * and nothing else. The owner of the modem also holds its struct oh_pump_type, to create, observe and end it.
 *
 * The host of a pump (the simulator, a Linux thread, a kernel module) gives it memory once and then calls process()
 * with blocks of any length. After init the pump never blocks, allocates, locks or makes a system call, and its cost
 * per sample is bounded. Its only clock is the number of samples: every block must be given exactly once and in order.
 * report_gap() reports lost samples, so that the count stays exact and the far end sees no jump in time. The rates of
 * the two directions may differ by a whole ratio (offhook/stream.h). Every count here is in sample periods of the
 * slower direction; a block of n periods has n * ratio samples of the faster one.
 *
 * Bits pass through a port that the layer above (V.42, a bit-error tester, a raw file) implements.
 */
#ifndef OFFHOOK_PUMP_H
#define OFFHOOK_PUMP_H

#include <stddef.h>
#include <stdint.h>

#include "offhook/abi.h"
#include "offhook/hold.h"
#include "offhook/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The driver's view: a pump bound to its memory. All functions are present. */
struct oh_pump {
  /** @param rx  n periods of received samples  @param tx  n periods of samples to send; may be rx if both have the same
   * format. Both are in the configured formats of the pump. n >= 1. Real-time: yes, O(n). */
  void (*process)(void* self, const void* rx, void* tx, size_t n);
  /** Skips n periods of received samples that were lost, and
   * the same number of transmitted ones. Real-time: yes, O(n). */
  void (*report_gap)(void* self, size_t n);
  void* self;
};

/** Source and destination of the pump's bits. All functions are called from process() and report_gap(), only in
 * OH_PUMP_DATA, and must be real-time safe. Either member of each pair may be NULL: oh_port_get() and oh_port_put()
 * then use the other. The layout is frozen; there is no struct_size. */
struct oh_bit_port {
  int (*get_bit)(void* user);           /**< next bit to send: 0 or 1 */
  void (*put_bit)(void* user, int bit); /**< one received bit, 0 or 1 */
  void* user;
  /** The next n bits to send, n >= 1: eight per octet, the first one in the least significant place, as in V.42 and
   * G.992. Unused bits of the last octet are zero. */
  void (*get_bits)(void* user, uint8_t* octets, size_t n) OH_BY_DEFAULT(NULL);
  /** n received bits in the same order. Unused bits of the last octet are undefined. */
  void (*put_bits)(void* user, const uint8_t* octets, size_t n) OH_BY_DEFAULT(NULL);
};

/** @return whether the port has both directions */
static inline int oh_port_is_whole(const struct oh_bit_port* port) {
  return (port->get_bit != NULL || port->get_bits != NULL) && (port->put_bit != NULL || port->put_bits != NULL);
}

/** Takes n bits from a port, in the order of get_bits(). */
static inline void oh_port_get(const struct oh_bit_port* port, uint8_t* octets, size_t n) {
  if (port->get_bits != NULL) {
    port->get_bits(port->user, octets, n);
    return;
  }
  for (size_t k = 0; k < n; ++k) {
    const unsigned bit = port->get_bit(port->user) & 1u;
    octets[k / 8] = (uint8_t)((k % 8 == 0 ? 0u : octets[k / 8]) | bit << k % 8);
  }
}

/** Gives n bits to a port, in the order of put_bits(). */
static inline void oh_port_put(const struct oh_bit_port* port, const uint8_t* octets, size_t n) {
  if (port->put_bits != NULL) {
    port->put_bits(port->user, octets, n);
    return;
  }
  for (size_t k = 0; k < n; ++k) port->put_bit(port->user, octets[k / 8] >> k % 8 & 1);
}

/** Takes one bit from a port, and gives one to it. */
static inline int oh_port_get_bit(const struct oh_bit_port* port) {
  uint8_t octet;
  if (port->get_bit != NULL) return port->get_bit(port->user) & 1;
  port->get_bits(port->user, &octet, 1);
  return octet & 1;
}
static inline void oh_port_put_bit(const struct oh_bit_port* port, int bit) {
  const uint8_t octet = (uint8_t)bit;
  if (port->put_bit != NULL) {
    port->put_bit(port->user, bit);
  } else {
    port->put_bits(port->user, &octet, 1);
  }
}

enum oh_pump_state {
  OH_PUMP_IDLE = 0,   /**< nothing is sent or received */
  OH_PUMP_CONNECTING, /**< answer tone, V.8 */
  OH_PUMP_TRAINING,   /**< training or retraining; no data */
  OH_PUMP_DATA,       /**< the bit port is in use */
  OH_PUMP_FAILED      /**< carrier lost or training timed out; permanent until init */
};

enum oh_pump_role { OH_PUMP_CALL = 0, OH_PUMP_ANSWER = 1 };

/** Modulations of a pump, as bits of a set. */
enum oh_modulation {
  OH_MODULATION_NONE = 0,
  OH_MODULATION_V22BIS = 1, /**< and V.22, if that is all the far end has */
  OH_MODULATION_V32BIS = 2,
  OH_MODULATION_V34 = 4,
  OH_MODULATION_V22 = 8,
  OH_MODULATION_V23 = 16, /**< duplex: 1200 bit/s from the answerer, 75 from the caller */
  OH_MODULATION_V21 = 32,
  OH_MODULATION_BELL103 = 64,
  OH_MODULATION_V90 = 128, /**< the analogue modem on a card that receives 16000 samples/s, the other on octets */
  OH_MODULATION_BELL212A = 256,
  OH_MODULATION_OWN = 1 << 24 /**< this bit and higher ones belong to added pumps */
};

/** Reason for OH_PUMP_FAILED. */
enum oh_pump_failure {
  OH_PUMP_FAILURE_NONE = 0,  /**< not failed; or the carrier was lost or never received */
  OH_PUMP_NOTHING_IN_COMMON, /**< the far end was received, but has no permitted modulation */
  OH_PUMP_TOO_SLOW           /**< the negotiated rate is below min_bit_rate */
};

/** Measurements of a pump: its line and its receiver. */
enum oh_instrument {
  OH_INSTRUMENT_SNR = 0,              /**< dB, for the equalised symbols */
  OH_INSTRUMENT_CLOCK = 1,            /**< ppm: far symbol clock relative to the near one */
  OH_INSTRUMENT_CARRIER = 2,          /**< Hz: received carrier relative to nominal */
  OH_INSTRUMENT_ECHO_RETURN_LOSS = 3, /**< dB: echo removed by the canceller */
  OH_INSTRUMENT_PATH_METRIC = 4,      /**< of the Viterbi decoder's best path: 10 log10 of a decided symbol's squared
                                           error in grid units */
  OH_INSTRUMENT_RETRAIN_CAUSE = 5,    /**< once, when a training begins: enum oh_retrain_cause */
  OH_INSTRUMENT_ROUND_TRIP = 6,       /**< ms: once, at the start of a training, if known */
  OH_INSTRUMENT_TX_SYMBOL_RATE = 7,   /**< symbols/s; reported like the round trip */
  OH_INSTRUMENT_RX_SYMBOL_RATE = 8,   /**< symbols/s; reported like the round trip */
  OH_INSTRUMENT_START_UP = 9,         /**< reported when it changes: enum oh_start_up */
  OH_INSTRUMENT_SLIPS = 10 /**< reported on changes: slips of the receiver by whole symbols in data, in the call */
};

/** The event that a modem awaits in a start-up or retrain. After a failed training, the last one is the reason. */
enum oh_start_up {
  OH_START_UP_NONE = 0,
  OH_START_UP_ANSWER_TONE,  /**< caller, after an answer tone: the far end's modulation or V.8 menu */
  OH_START_UP_MENUS,        /**< V.8: the far end's menu */
  OH_START_UP_INFO0,        /**< Phase 2: the far end's INFO0 */
  OH_START_UP_PROBING,      /**< Phase 2, after INFO0: tones, line probing, INFO1. V.32bis: tones AA and AC */
  OH_START_UP_FAR_S,        /**< Phase 3: the far end's S */
  OH_START_UP_FAR_TRAINING, /**< Phase 3, after S: PP, TRN and J. V.32bis: TRN and rates */
  OH_START_UP_OWN_TRAINING, /**< Phase 3: the answer to this end's S, PP, TRN and J */
  OH_START_UP_RATES         /**< Phase 4: MP or CP, E. V.32bis: R3 and E */
};

/** Sequences of a start-up by which the ends exchange their capabilities. */
enum oh_sequence {
  OH_SEQUENCE_CM = 0,     /**< V.8, without the synchronization octet: sent by a caller, received by an answerer */
  OH_SEQUENCE_JM,         /**< V.8: sent by an answerer, received by a caller */
  OH_SEQUENCE_INFO0_SENT, /**< V.34 and V.90: the information bits from bit 12 on, the first one in bit 0 */
  OH_SEQUENCE_INFO0_RECEIVED
};
#define OH_SEQUENCES 4
#define OH_SEQUENCE_OCTETS 16 /**< length of the longest one, a menu of V.8 */

/** Cause of a retrain. */
enum oh_retrain_cause {
  OH_RETRAIN_NONE = 0, /**< no retrain */
  OH_RETRAIN_OWN,      /**< requested by the owner */
  OH_RETRAIN_FAR,      /**< requested by the far end */
  OH_RETRAIN_LOST,     /**< the receiver lost the signal permanently */
  OH_RETRAIN_TIMEOUT   /**< a procedure of the training or a renegotiation timed out */
};

/** Callbacks of an observer, called from process() and report_gap(). Each function may be NULL, and then costs one
 * predictable branch. */
struct oh_pump_observer {
  OH_STRUCT_SIZE(struct oh_pump_observer);
  void* user;
  void (*symbol)(void* user, float re, float im); /**< one equalised received symbol, in decision units */
  void (*instrument)(void* user, enum oh_instrument what, float value); /**< each one every 100 ms, if known */
  /** The equaliser's n taps, oldest sample first, when data mode begins and every 10 s in it. */
  void (*taps)(void* user, const float* re, const float* im, int n);
  /** A sequence, when both ends have exchanged it or V.8 has ended without it: n octets, at most OH_SEQUENCE_OCTETS. */
  void (*sequence)(void* user, enum oh_sequence which, const uint8_t* octets, size_t n);
};

/** The samples of one direction. */
struct oh_sample_format {
  uint32_t rate_hz;
  enum oh_encoding encoding;
};

/** The samples of both directions. */
struct oh_pump_format {
  struct oh_sample_format rx, tx;
};

struct oh_pump_config {
  OH_STRUCT_SIZE(struct oh_pump_config);
  struct oh_pump_format format; /**< one of the type's formats */
  enum oh_pump_role role;
  uint32_t max_bit_rate; /**< bit/s; 0: the pump's highest rate */
  float tx_level_dbm0;   /**< line level of the transmitted signal in data mode */
  struct oh_bit_port port;
  const struct oh_pump_observer* observer; /**< copied by init; NULL: none */
  uint32_t io_delay_samples;               /**< time at the line terminals between the arrival of a sample
                                              and the departure of the sample from the same call of
                                              process(): the queues of card and driver in both directions */
  uint32_t
      min_bit_rate; /**< bit/s in either direction; a lower rate ends the call. Only automode uses this and the next */
  uint32_t modulations;   /**< set of permitted enum oh_modulation; 0: all that the pump has */
  uint32_t guard_tone_hz; /**< Hz: guard tone with the signal of a V.22 or V.22bis answerer (V.22bis 2.2): 1800, 550, or
                             0 for none */
};

struct oh_pump_status {
  OH_STRUCT_SIZE(struct oh_pump_status);
  enum oh_pump_state state;
  uint32_t tx_bit_rate;          /**< bit/s, 0 outside OH_PUMP_DATA */
  uint32_t rx_bit_rate;          /**< bit/s, 0 outside OH_PUMP_DATA */
  float rx_level_dbm0;           /**< received signal level */
  uint64_t samples;              /**< sample periods processed and concealed since init: the pump's clock */
  uint64_t filled_in;            /**< sample periods reported lost through report_gap() */
  uint32_t retrains;             /**< trainings begun after the first one */
  uint64_t bits_sent;            /**< bits taken from the port */
  uint64_t bits_received;        /**< bits given to the port */
  enum oh_modulation modulation; /**< in use or being tried; OH_MODULATION_NONE: automode is undecided */
  enum oh_pump_failure failure;
  enum oh_hold_state hold; /**< modem-on-hold, if the pump has it */
  uint32_t hold_timeout;   /**< code of T1 (V.92, Table 33) in OH_HOLD_AWAY and OH_HOLD_WAITING; otherwise 0 */
};

/** One value that a pump reports about itself. */
struct oh_metric {
  const char* name; /**< name, such as "frames received"; valid as long as the pump */
  const char* unit; /**< unit, such as "dB"; "" for a count */
  double value;
};

/** Operations of a pump, as bits of a set. */
enum oh_pump_operation {
  OH_OPERATION_INIT = 1,
  OH_OPERATION_PROCESS = 2,
  OH_OPERATION_FILL_IN = 4,
  OH_OPERATION_STATUS = 8,
  OH_OPERATION_HANG_UP = 16,
  OH_OPERATION_HOLD = 32 /**< and allow_hold */
};

/** The owner's view: one type of pump. `self` is the memory given to init. All functions are present except optional
 * ones. An unsupported one is NULL, or beyond the struct_size of an older pump. */
struct oh_pump_type {
  OH_STRUCT_SIZE(struct oh_pump_type);
  uint32_t format_count;
  const char* name;                     /**< "v22bis", "v34", ... */
  const struct oh_pump_format* formats; /**< [format_count] all formats that init accepts; the default is first */
  uint32_t roles;                       /**< set of 1 << enum oh_pump_role */
  uint32_t fpu;                         /**< set of enum oh_pump_operation that use floating-point registers */
  /** Sample periods. A call of process() or report_gap() with n <= 512 periods costs at most as much as n +
   * longest_step periods of data mode on average. The difference is uneven work (a mapping frame, the fit of an
   * equaliser), and the greater cost of the start-up. Multiplied by the cost of a period, it bounds the time of a call.
   * tests/bench/longest_step_bench.cpp measures it, and this value has a safety factor of at least 1.5. */
  uint32_t longest_step;

  /** @return bytes of memory, aligned to 64, that init needs; 0 if the pump does not support the configuration */
  size_t (*size)(const struct oh_pump_config* config);
  /** @return 0, or -EINVAL for an unsupported configuration. Not real-time: may fill tables. */
  int (*init)(void* self, const struct oh_pump_config* config);
  /** As in struct oh_pump. */
  void (*process)(void* self, const void* rx, void* tx, size_t n);
  void (*report_gap)(void* self, size_t n);
  /** Snapshot. Real-time: yes, O(1). */
  void (*status)(const void* self, struct oh_pump_status* status);
  /** Ends the connection as the Recommendation specifies, with a message to the far end. The state is then
   * OH_PUMP_IDLE, immediately if only silence was sent. Real-time: yes. */
  void (*hang_up)(void* self);
  /** Frees resources that init acquired outside its memory. Not real-time. */
  void (*release)(void* self);
  /** process() of `count` pumps of this type, n periods each: self[k] receives rx[k] and sends tx[k]. A type without a
   * faster form uses oh_pump_advance_each. Real-time: yes, O(count * n). */
  void (*advance)(const struct oh_pump_type* type, void* const* self, const void* const* rx, void* const* tx,
                  size_t count, size_t n);
  /** Optional, both or none: modem-on-hold, called through oh_pump_hold() and oh_pump_allow_hold(). Commands are valid
   * in data mode, OH_HOLD_RESUME in OH_HOLD_AWAY. status() reports the result. @return 0, or -EINVAL if not possible
   * now. Real-time: yes. */
  int (*hold)(void* self, enum oh_hold_order order) OH_BY_DEFAULT(NULL);
  /** Sets the duration granted to the far end's requests. @param timeout code of T1 (V.92, Table 33: 1 is 10 s, 13 no
   * limit); 0, as after init: requests are denied. @return 0, or -EINVAL for a reserved code. Real-time: yes. */
  int (*allow_hold)(void* self, uint32_t timeout) OH_BY_DEFAULT(NULL);
  /** Optional: value number `index` for reports, from 0; called through oh_pump_metric(). Never during process().
   * @return 0, or -EINVAL if the pump has no more values */
  int (*metric)(const void* self, uint32_t index, struct oh_metric* metric) OH_BY_DEFAULT(NULL);
  /** Optional: the frames that the layer above has received since the last call, as evidence for the choice of a rate.
   * Called through oh_pump_note_frames(), between two calls of process() in OH_PUMP_DATA. While
   * that layer is idle, it has no good frames, and errors in its flags are damaged frames, which cost it nothing.
   * @param good, bad  frames with a correct check sequence, and damaged ones
   * Real-time: yes, O(1), without floating point. */
  void (*note_frames)(void* self, uint32_t good, uint32_t bad) OH_BY_DEFAULT(NULL);
};

/** Whether a pump of this type has modem-on-hold. */
static inline int oh_pump_has_hold(const struct oh_pump_type* type) {
  return type->struct_size >= offsetof(struct oh_pump_type, allow_hold) + sizeof type->allow_hold &&
         type->hold != NULL && type->allow_hold != NULL;
}
/** Calls the operation.  @return its result, or -EINVAL if the pump does not support it. */
static inline int oh_pump_hold(const struct oh_pump_type* type, void* self, enum oh_hold_order order) {
  return oh_pump_has_hold(type) ? type->hold(self, order) : -22;
}
static inline int oh_pump_allow_hold(const struct oh_pump_type* type, void* self, uint32_t timeout) {
  return oh_pump_has_hold(type) ? type->allow_hold(self, timeout) : -22;
}

/** @return its result, or -EINVAL if the type has no metrics */
static inline int oh_pump_metric(const struct oh_pump_type* type, const void* self, uint32_t index,
                                 struct oh_metric* metric) {
  return type->struct_size >= offsetof(struct oh_pump_type, metric) + sizeof type->metric && type->metric != NULL
             ? type->metric(self, index, metric)
             : -22;
}

/** Calls the operation, if the pump has it. */
static inline void oh_pump_note_frames(const struct oh_pump_type* type, void* self, uint32_t good, uint32_t bad) {
  if (type->struct_size >= offsetof(struct oh_pump_type, note_frames) + sizeof type->note_frames &&
      type->note_frames != NULL)
    type->note_frames(self, good, bad);
}

/** Calls each process() one after the other. */
OH_API void oh_pump_advance_each(const struct oh_pump_type* type, void* const* self, const void* const* rx,
                                 void* const* tx, size_t count, size_t n);

/** A pump of a type for a driver, at memory that its init has initialised. */
static inline struct oh_pump oh_pump_at(const struct oh_pump_type* type, void* self) {
  const struct oh_pump pump = {type->process, type->report_gap, self};
  return pump;
}

#ifdef __cplusplus
}
#endif
#endif
