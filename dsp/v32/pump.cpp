// SPDX-License-Identifier: MIT
#include "dsp/v32/pump.h"

#include <new>

#include "dsp/blocks/level.h"
#include "dsp/v32/bits.h"
#include "dsp/v32/transmitter.h"
#include "dsp/v34/echo_canceller.h"
#include "dsp/v34/modulator.h"
#include "dsp/v34/receiver.h"
#include "dsp/v34/tone.h"
#include "dsp/v8/v8.h"

namespace offhook::v32 {
namespace {

using v34::Carrier;
using v34::EchoCanceller;
using v34::Modulator;
using v34::Receiver;
using v34::SymbolRate;
using v34::ToneDetector;
using v34::ToneEvent;

constexpr int kInvalid = -22;  // -EINVAL without an OS header
constexpr uint32_t kRateHz = 8000;
constexpr double kSymbol = 8000.0 / 2400;     // samples
constexpr uint64_t kGiveUp = 60 * kRateHz;    // without data mode
constexpr uint64_t kStepLimit = 8 * kRateHz;  // for the far end to answer, once it has been heard
constexpr int kTurnRound = 64;                // symbols from a reversal to its answer (6.1, 6.2)
// AC before the first reversal. 128 are enough for the text; a foreign caller that had been sending AA since the answer
// tone missed the reversal 53 ms after the tone's end, over mu-law.
constexpr int kAcSymbols = 720;
constexpr int kTrnSymbols = 3600;  // 1.5 s: the echo canceller takes that long; 1280 to 8192 are allowed (5.2.3)
// An answer tone is to be heard for 1 s (6.1); V.8 knows it for one after 0.42 s.
constexpr int kAnswerToneRest = 4800;
// Received noise at which a rate has about one error in 10^5 bits, with a margin of 1 dB: dB below the signal.
constexpr double kLeastSnrDb[] = {0, 15.5, 18.5, 21.5, 24.5};
constexpr float kLostError = 0.8f;  // of BitReceiver::data_error(); random symbols have 1 and more
constexpr int kLostSymbols = 1200;

v8::Config v8_config(const oh_pump_config& c) {
  v8::Config v;
  v.role = c.role;
  v.menu.call_function = v8::CallFunction::kData;
  v.menu.modulations = v8::kV32bis;
  v.menu.has_protocol = true;
  v.menu.protocol = v8::kProtocolLapm;
  v.tx_level_dbm0 = c.tx_level_dbm0;
  return v;
}

class Modem {
 public:
  explicit Modem(const oh_pump_config& c)
      : config_(c),
        calls_(c.role == OH_PUMP_CALL),
        v8_(v8_config(c)),
        tone_(calls_ ? 600 : 1800),
        tx_(c.role, c.port),
        bits_(c.role, c.port) {
    modulator_.init(SymbolRate::k2400, Carrier::kHigh, 0, dbm0_to_rms(static_cast<double>(c.tx_level_dbm0)),
                    best_kernels(), v34::RollOff::k25Percent);
    receiver_.init(SymbolRate::k2400, Carrier::kHigh, best_kernels(), false);
    echo_.init(SymbolRate::k2400, Carrier::kHigh, static_cast<int>(c.io_delay_samples), 0);
    for (int k = 0; k < 5; ++k) {
      if (c.max_bit_rate == 0 || c.max_bit_rate >= kRates[k].bit_rate) own_rates_ |= static_cast<uint8_t>(1 << k);
    }
  }

  int16_t process(int16_t rx) { return step(rx, false); }
  void lost() {
    ++filled_in_;
    step(0, true);
  }
  void begin() { begin_tones(); }
  void status(oh_pump_status* s) const;

 private:
  enum class Step : uint8_t {
    kV8,
    kAnswerTone,  // caller: the rest of ANS's second
    kTone,        // AA, or AC: until the far end has its tone and, caller, its reversal
    kReversed,    // CC, or CA: until the far end's next reversal
    kWaitS,       // caller: silent, until S and TRN and R1 have come
    kAcAgain,     // answerer: AC, until AA has ended
    kPause,       // answerer: silence of 16 symbols
    kExtraS,      // caller: S for a round trip
    kS,
    kSBar,
    kTrn,
    kRate,  // R1, R2 or R3
    kFarS,  // answerer: silent while S, TRN and R2 come
    kData,  // E is asked for, or sent
    kFailed
  };

  int16_t step(int16_t rx, bool is_lost);
  float modem(float rx, bool is_lost);
  void receive(float rx, bool is_lost);
  void follow_tone(float rx, bool is_lost);
  void before_symbol();
  void follow_receiver();
  void begin_tones();
  void retrain();
  void enter(Step s) {
    step_ = s;
    entered_ = samples_;
    if (s == Step::kData) tone_.reset();
  }
  void send(Step s, Signal signal) {
    tx_.start(signal);
    enter(s);
  }
  void listen(bool on) {
    receiver_.set_task(Receiver::Task::kHold);
    if (!on) return;
    receiver_.init(SymbolRate::k2400, Carrier::kHigh, best_kernels(), false);
    receiver_.set_grid(10);
    receiver_.set_task(Receiver::Task::kTrain);
    heard_s_ = in_trn_ = false;
  }
  uint64_t age() const { return samples_ - entered_; }
  uint8_t possible_rates() const;
  static int highest(uint8_t rates) {
    int best = -1;
    for (int k = 0; k < 5; ++k) best = rates >> k & 1 ? k : best;
    return best;
  }
  bool live() const { return step_ == Step::kData && tx_.live() && bits_.live(); }

  oh_pump_config config_;
  bool calls_;
  Step step_ = Step::kV8;
  uint64_t samples_ = 0, filled_in_ = 0, entered_ = 0, without_data_ = 0;
  uint32_t retrains_ = 0;
  bool nothing_in_common_ = false;
  float power_ = 0;
  uint8_t own_rates_ = 0;

  v8::V8 v8_;
  ToneDetector tone_;
  Transmitter tx_;
  BitReceiver bits_;
  Modulator modulator_;
  Receiver receiver_;
  EchoCanceller echo_;

  double tone_zero_ = 0;     // samples_ when the tone detector's clock was 0
  double switch_at_ = -1;    // samples_ at which the symbol that answers a reversal is to be pushed; -1: none
  double own_reversal_ = 0;  // when ours left
  double round_trip_ = 0;    // samples
  int extra_s_ = 0;
  bool second_training_ = false;  // the answerer's R3, the caller's second look at S
  bool heard_s_ = false, in_trn_ = false;
  int lost_symbols_ = 0;
};

uint8_t Modem::possible_rates() const {
  uint8_t rates = 0;
  const double snr = power_db(static_cast<double>(receiver_.snr()));
  for (int k = 0; k < 5; ++k) {
    if (own_rates_ >> k & 1 && snr >= kLeastSnrDb[k]) rates |= static_cast<uint8_t>(1 << k);
  }
  return rates;
}

int16_t Modem::step(int16_t rx, bool is_lost) {
  ++samples_;
  const float x = rx;
  power_ += (x * x - power_) * (1.f / 256);
  float tx = 0;
  switch (step_) {
    case Step::kV8:
      tx = v8_.process(x);
      if (v8_.state() == v8::State::kRunning) break;
      if (v8_.state() == v8::State::kAnswerTone) {
        if (calls_) {
          enter(Step::kAnswerTone);
        } else {
          begin_tones();
        }
      } else if (v8_.result().modulation == v8::kV32bis) {
        begin_tones();
      } else {
        nothing_in_common_ = true;
        enter(Step::kFailed);
      }
      break;
    case Step::kAnswerTone:
      if (age() >= kAnswerToneRest) begin_tones();
      break;
    case Step::kFailed:
      break;
    default:
      tx = modem(x, is_lost);
      break;
  }
  without_data_ = live() ? 0 : without_data_ + 1;
  if (without_data_ > kGiveUp) step_ = Step::kFailed;
  return static_cast<int16_t>(tx > 32767 ? 32767 : tx < -32768 ? -32768 : tx);
}

void Modem::begin_tones() {
  tone_ = ToneDetector(calls_ ? 600 : 1800);
  tone_zero_ = static_cast<double>(samples_);
  switch_at_ = -1;
  second_training_ = false;
  lost_symbols_ = 0;
  echo_.set_training(false);
  listen(false);
  bits_ = BitReceiver(config_.role, config_.port);
  send(Step::kTone, calls_ ? Signal::kAa : Signal::kAc);
}

void Modem::retrain() {
  ++retrains_;
  begin_tones();
}

float Modem::modem(float rx, bool is_lost) {
  const bool tones = step_ == Step::kTone || step_ == Step::kReversed || step_ == Step::kAcAgain;
  float x = rx;
  if (tones) {
    follow_tone(rx, is_lost);
  } else {
    const bool train = step_ == Step::kTrn && !second_training_;
    if (echo_.training() != train) echo_.set_training(train);
    x = is_lost ? 0 : echo_.cancel(rx);
    receive(x, is_lost);
    follow_receiver();
    if (step_ == Step::kData && !is_lost) {
      tone_.put(x);
      if (tone_.steady_ms() > 60 && tone_.share() > 0.3f) retrain();
    }
  }
  if (step_ != Step::kTone && step_ != Step::kData && age() > kStepLimit + static_cast<uint64_t>(2 * round_trip_)) {
    retrain();
  }
  if (modulator_.wants_symbol()) {
    before_symbol();
    modulator_.push(tx_.next());
  }
  const float sent = modulator_.next();
  if (!tones) echo_.sent(is_lost ? 0 : sent);
  return sent;
}

// Reversals and their answers (6.1, 6.2). Times are those of the line's terminals.
void Modem::follow_tone(float rx, bool is_lost) {
  const bool reversal = tone_.put(is_lost ? 0 : rx) == ToneEvent::kReversal;
  if (reversal && switch_at_ < 0 && tone_.steady_before_reversal_ms() > 20) {
    const double heard = tone_zero_ + tone_.reversal_time();
    if (calls_ ? step_ == Step::kTone || step_ == Step::kReversed : step_ == Step::kReversed) {
      if (step_ == Step::kReversed) {
        round_trip_ = heard - own_reversal_ - kTurnRound * kSymbol;
        if (round_trip_ < 0) round_trip_ = 0;
      }
      if (calls_ && step_ == Step::kReversed) {  // done: silence
        echo_.init(SymbolRate::k2400, Carrier::kHigh, static_cast<int>(config_.io_delay_samples),
                   static_cast<int>(round_trip_));
        listen(true);
        send(Step::kWaitS, Signal::kSilence);
        return;
      }
      // The change lies half a symbol before the peak of the first new symbol.
      switch_at_ = heard + (kTurnRound + 0.5) * kSymbol - static_cast<double>(modulator_.delay_samples()) -
                   static_cast<double>(config_.io_delay_samples);
    }
  }
  if (step_ == Step::kAcAgain && tone_.steady_ms() <= 0) {
    echo_.init(SymbolRate::k2400, Carrier::kHigh, static_cast<int>(config_.io_delay_samples),
               static_cast<int>(round_trip_));
    send(Step::kPause, Signal::kSilence);
  }
}

// A symbol is due: what signal is it of?
void Modem::before_symbol() {
  const auto now = static_cast<double>(samples_);
  const int n = tx_.count();
  const double leaves = now + static_cast<double>(modulator_.delay_samples()) - 0.5 * kSymbol;
  switch (step_) {
    case Step::kTone:
      if (calls_) {
        if (switch_at_ < 0 || now < switch_at_ - 0.5 * kSymbol) break;
        switch_at_ = -1;
        own_reversal_ = leaves;
        send(Step::kReversed, Signal::kCc);
      } else if (n >= kAcSymbols && n % 2 == 0 && tone_.steady_ms() >= 64 / 2.4f) {
        own_reversal_ = leaves;
        send(Step::kReversed, Signal::kCa);
      }
      break;
    case Step::kReversed:
      if (calls_ || switch_at_ < 0 || n % 2 != 0 || now < switch_at_ - kSymbol) break;
      switch_at_ = -1;
      send(Step::kAcAgain, Signal::kAc);
      break;
    case Step::kPause:
      if (n >= 16) send(Step::kS, Signal::kS);
      break;
    case Step::kExtraS:
      if (n >= static_cast<int>(round_trip_ / kSymbol) + kTurnRound) enter(Step::kS), extra_s_ = n;
      break;
    case Step::kS:
      if (n >= extra_s_ + 256 && n % 2 == 0) {
        extra_s_ = 0;
        send(Step::kSBar, Signal::kSBar);
      }
      break;
    case Step::kSBar:
      if (n >= Receiver::kSBarSymbols) send(Step::kTrn, Signal::kTrn);
      break;
    case Step::kTrn:
      if (n < kTrnSymbols) break;
      if (calls_) {
        tx_.set_rates({.rates = static_cast<uint8_t>(bits_.rates().rates & possible_rates())});
        listen(true);
      } else if (!second_training_) {
        tx_.set_rates({.rates = own_rates_});
        listen(true);
      } else {
        const int rate = highest(static_cast<uint8_t>(bits_.rates().rates & possible_rates()));
        tx_.set_rates({.rates = static_cast<uint8_t>(rate < 0 ? 0 : 1 << rate)});
      }
      send(Step::kRate, Signal::kRate);
      break;
    default:
      break;
  }
}

void Modem::receive(float rx, bool is_lost) {
  const bool symbol = is_lost ? receiver_.process_lost() : receiver_.process(rx);
  switch (receiver_.take_event()) {
    case Receiver::Event::kS:
      heard_s_ = true;
      break;
    case Receiver::Event::kSBar:
      if (receiver_.task() == Receiver::Task::kTrain) {
        bits_.begin_trn();
        in_trn_ = true;
      }
      return;
    case Receiver::Event::kNone:
      break;
  }
  if (!symbol || !in_trn_) return;
  const BitReceiver::Stage before = bits_.stage();
  const Complex y = receiver_.symbol();
  const Complex sent = bits_.put(y);
  if (!receiver_.erased()) receiver_.adapt(sent);
  if (before != BitReceiver::Stage::kData && bits_.stage() == BitReceiver::Stage::kData) {
    receiver_.set_grid(bits_.energy());
    receiver_.set_task(Receiver::Task::kFollow);
  }
  if (bits_.stage() == BitReceiver::Stage::kData) {
    lost_symbols_ = bits_.data_error() > kLostError ? lost_symbols_ + 1 : 0;
  }
  if (config_.observer.symbol != nullptr) {
    const float scale = 1 / square_root(bits_.energy());
    config_.observer.symbol(config_.observer.user, scale * y.re, scale * y.im);
  }
}

// What has been received moves the procedure on.
void Modem::follow_receiver() {
  const bool rates = in_trn_ && bits_.stage() == BitReceiver::Stage::kRateSignal && bits_.rate_signal();
  switch (step_) {
    case Step::kWaitS:
      if (!rates) break;
      send(Step::kExtraS, Signal::kS);
      receiver_.set_task(Receiver::Task::kHold);
      in_trn_ = false;
      break;
    case Step::kRate:
      if (calls_) {
        if (!rates) break;
        // R3: one rate, or none for the end of the call.
        const int rate = highest(static_cast<uint8_t>(bits_.rates().rates & own_rates_));
        if (rate < 0) {
          enter(Step::kFailed);
          break;
        }
        tx_.end_rate_signal(rate);
        enter(Step::kData);
      } else if (!second_training_) {
        if (!heard_s_) break;
        send(Step::kFarS, Signal::kSilence);
        receiver_.set_task(Receiver::Task::kHold);
      } else if (in_trn_ && bits_.stage() == BitReceiver::Stage::kData) {
        int rate = 0;
        while (&kRates[rate] != &bits_.rate()) ++rate;
        tx_.end_rate_signal(rate);
        enter(Step::kData);
      }
      break;
    case Step::kFarS: {
      const auto wait = static_cast<uint64_t>(round_trip_ + kTurnRound * kSymbol);
      if (receiver_.task() == Receiver::Task::kHold && age() >= wait) listen(true);
      if (!rates) break;
      second_training_ = true;
      extra_s_ = 0;
      send(Step::kS, Signal::kS);
      break;
    }
    case Step::kData:
      if (tx_.signal() == Signal::kData && !tx_.live() && bits_.live() && tx_.count() >= kB1Symbols) tx_.set_live();
      if (lost_symbols_ > kLostSymbols) retrain();
      break;
    default:
      break;
  }
}

void Modem::status(oh_pump_status* s) const {
  *s = {};
  const bool unanswered = step_ == Step::kTone && retrains_ == 0;
  s->state = step_ == Step::kV8 || step_ == Step::kAnswerTone || unanswered ? OH_PUMP_CONNECTING
             : step_ == Step::kFailed                                       ? OH_PUMP_FAILED
             : live()                                                       ? OH_PUMP_DATA
                                                                            : OH_PUMP_TRAINING;
  s->modulation = OH_MODULATION_V32BIS;
  if (nothing_in_common_) s->failure = OH_PUMP_NOTHING_IN_COMMON;
  if (live()) {
    s->tx_bit_rate = tx_.rate().bit_rate;
    s->rx_bit_rate = bits_.rate().bit_rate;
  }
  s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(static_cast<double>(power_)));
  s->samples = samples_;
  s->filled_in = filled_in_;
  s->retrains = retrains_;
  s->bits_sent = tx_.bits_sent();
  s->bits_received = bits_.bits_received();
}

bool possible(const oh_pump_config* c) {
  return c != nullptr && c->sample_rate_hz == kRateHz && (c->role == OH_PUMP_CALL || c->role == OH_PUMP_ANSWER) &&
         (c->max_bit_rate == 0 || c->max_bit_rate >= 4800) && c->tx_level_dbm0 >= -48.0f && c->tx_level_dbm0 <= -3.0f &&
         c->port.get_bit != nullptr && c->port.put_bit != nullptr && c->io_delay_samples < 320;
}

size_t size(const oh_pump_config* config) {
  return possible(config) ? (sizeof(Modem) + 63) / 64 * 64 : 0;
}

int init(void* self, const oh_pump_config* config) {
  if (self == nullptr || !possible(config)) return kInvalid;
  new (self) Modem(*config);
  return 0;
}

void process(void* self, const int16_t* rx, int16_t* tx, size_t n) {
  Modem& m = *static_cast<Modem*>(self);
  for (size_t i = 0; i < n; ++i) tx[i] = m.process(rx[i]);
}

void fill_in(void* self, size_t n) {
  for (size_t i = 0; i < n; ++i) static_cast<Modem*>(self)->lost();
}

void status(const void* self, oh_pump_status* s) {
  static_cast<const Modem*>(self)->status(s);
}

}  // namespace
}  // namespace offhook::v32

const oh_pump_ops* oh_v32bis_ops() {
  static constexpr oh_pump_ops kOps = {"v32bis",
                                       offhook::v32::size,
                                       offhook::v32::init,
                                       offhook::v32::process,
                                       offhook::v32::fill_in,
                                       offhook::v32::status,
                                       nullptr,
                                       nullptr};
  return &kOps;
}

void oh_v32bis_begin(void* self) {
  static_cast<offhook::v32::Modem*>(self)->begin();
}
