/* SPDX-License-Identifier: MIT
 *
 * The datapump contract: samples in, samples out, one for one.
 *
 * A pump is one end of a modem connection. Whoever hosts it (the simulator, a Linux thread, a kernel module) gives it
 * memory once and then calls process() with blocks of any length; the pump never blocks, allocates, locks or calls the
 * system after init, and its cost per sample is bounded. Its only clock is the number of samples it has been given:
 * every block must come exactly once and in order, and when samples were lost fill_in() says how many, so that the
 * count stays exact and the far end sees no jump in time.
 *
 * Bits pass through a port that the layer above (V.42, a bit-error tester, a raw file) implements.
 */
#ifndef OFFHOOK_DSP_PUMP_PUMP_H
#define OFFHOOK_DSP_PUMP_PUMP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where the pump's bits come from and go to. Both are called from within process() and must be real-time safe. */
struct oh_bit_port {
  int (*get_bit)(void* user);           /**< next bit to send: 0 or 1; called only in OH_PUMP_DATA */
  void (*put_bit)(void* user, int bit); /**< one received bit, 0 or 1; called only in OH_PUMP_DATA */
  void* user;
};

enum oh_pump_state {
  OH_PUMP_IDLE = 0,   /**< nothing sent, nothing listened for */
  OH_PUMP_CONNECTING, /**< answer tone, V.8 */
  OH_PUMP_TRAINING,   /**< training or retraining; no data */
  OH_PUMP_DATA,       /**< the bit port is live */
  OH_PUMP_FAILED      /**< carrier lost or training timed out; for ever, until init */
};

enum oh_pump_role { OH_PUMP_CALL = 0, OH_PUMP_ANSWER = 1 };

/** What a pump can speak, as bits of a set. */
enum oh_modulation {
  OH_MODULATION_NONE = 0,
  OH_MODULATION_V22BIS = 1, /**< and V.22 */
  OH_MODULATION_V32BIS = 2,
  OH_MODULATION_V34 = 4
};

/** Why OH_PUMP_FAILED. */
enum oh_pump_failure {
  OH_PUMP_FAILURE_NONE = 0,  /**< not failed; or the carrier was lost, or never came */
  OH_PUMP_NOTHING_IN_COMMON, /**< the far end was heard, and has no modulation that this one may use */
  OH_PUMP_TOO_SLOW           /**< the rate agreed on is below min_bit_rate */
};

/** What a pump measures of its line and of itself. */
enum oh_instrument {
  OH_INSTRUMENT_SNR = 0,              /**< dB: of the equalised symbols */
  OH_INSTRUMENT_CLOCK = 1,            /**< ppm: far symbol clock against ours */
  OH_INSTRUMENT_CARRIER = 2,          /**< Hz: received carrier against nominal */
  OH_INSTRUMENT_ECHO_RETURN_LOSS = 3, /**< dB: echo taken off by the canceller */
  OH_INSTRUMENT_PATH_METRIC = 4,  /**< of the Viterbi decoder's best path: 10 log10, a decided symbol's squared error,
                                       grid units */
  OH_INSTRUMENT_RETRAIN_CAUSE = 5 /**< once, when a training begins: enum oh_v34_cause */
};

/** What an observer may see. Called from within process(); a NULL observer costs one predictable branch. */
struct oh_pump_observer {
  void (*symbol)(void* user, float re, float im); /**< one equalised received symbol, decision units; may be NULL */
  void (*instrument)(void* user, enum oh_instrument what,
                     float value); /**< each every 100 ms, while known; may be NULL */
  /** The equaliser's n taps, oldest sample first, when data mode begins and every 10 s of it; may be NULL. */
  void (*taps)(void* user, const float* re, const float* im, int n);
  void* user;
};

struct oh_pump_config {
  uint32_t sample_rate_hz; /**< rate of both directions; 8000 for every pump, others as the pump says */
  enum oh_pump_role role;
  uint32_t max_bit_rate; /**< bit/s; 0: the pump's highest */
  float tx_level_dbm0;   /**< line level of the transmitted signal, data mode */
  struct oh_bit_port port;
  struct oh_pump_observer observer;
  uint32_t
      io_delay_samples; /**< from a sample's arrival at the line terminals to the departure of the one that the same
                             call of process() gives: what card and driver keep queued, both directions together */
  uint32_t
      min_bit_rate; /**< bit/s, of either direction: less is no connection. Automode alone looks at this and the next */
  uint32_t modulations; /**< set of enum oh_modulation that may be used; 0: all that the pump has */
};

struct oh_pump_status {
  enum oh_pump_state state;
  uint32_t tx_bit_rate;          /**< bit/s, 0 outside OH_PUMP_DATA */
  uint32_t rx_bit_rate;          /**< bit/s, 0 outside OH_PUMP_DATA */
  float rx_level_dbm0;           /**< received signal level */
  uint64_t samples;              /**< samples processed plus samples filled in, since init: the pump's clock */
  uint64_t filled_in;            /**< samples reported lost through fill_in() */
  uint32_t retrains;             /**< trainings begun after the first */
  uint64_t bits_sent;            /**< bits taken from the port */
  uint64_t bits_received;        /**< bits given to the port */
  enum oh_modulation modulation; /**< in use, or being tried; OH_MODULATION_NONE: not decided. Of automode */
  enum oh_pump_failure failure;
};

/** One kind of pump. `self` is the memory that was given to init. */
struct oh_pump_ops {
  const char* name; /**< "v22bis", "v34", ... */
  /** @return bytes of memory, aligned to 64, that init needs; 0 when the configuration is not one this pump can do */
  size_t (*size)(const struct oh_pump_config* config);
  /** @return 0, or -EINVAL for a configuration that the pump cannot do. Not real-time: may fill tables. */
  int (*init)(void* self, const struct oh_pump_config* config);
  /** @param rx [n] received samples  @param tx [n] samples to send; may be rx itself. n >= 1. Real-time: yes, O(n). */
  void (*process)(void* self, const int16_t* rx, int16_t* tx, size_t n);
  /** n received samples were lost and n transmitted samples will not be asked for. Real-time: yes, O(n). */
  void (*fill_in)(void* self, size_t n);
  /** Snapshot. Real-time: yes, O(1). */
  void (*status)(const void* self, struct oh_pump_status* status);
  /** Gives back what init took outside its memory; may be NULL. Not real-time. */
  void (*release)(void* self);
  /** Ends the connection as the modem's Recommendation has it, telling the far end; the state is OH_PUMP_IDLE when that
   * is done. May be NULL: there is nothing but silence. Real-time: yes. */
  void (*hang_up)(void* self);
};

/** A pump bound to its memory: what the driver holds. Plain data. */
struct oh_pump {
  const struct oh_pump_ops* ops;
  void* self;
};

#ifdef __cplusplus
}
#endif
#endif
