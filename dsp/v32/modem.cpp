// SPDX-License-Identifier: MIT
#include "dsp/v32/modem.h"

#include "dsp/blocks/level.h"

namespace offhook::v32 {
namespace {

using v34::Carrier;
using v34::Receiver;
using v34::SymbolRate;
using v34::ToneDetector;
using v34::ToneEvent;

constexpr uint32_t kRateHz = 8000;
constexpr double kSymbol = 8000.0 / 2400;      // samples
constexpr uint64_t kGiveUp = 60 * kRateHz;     // without data mode
constexpr uint64_t kStepLimit = 8 * kRateHz;   // for TRN and rate signals of the far end to come
constexpr uint64_t kShortLimit = 3 * kRateHz;  // for a reversal, for S, for E
constexpr int kTurnRound = 64;                 // symbols from a reversal to its answer (6.1, 6.2)
constexpr int kEndSymbols = 64;                // of the last signal of a connection (8, Note 2; 6, Note 6)
constexpr int kQuietSymbols = 240;             // before tones that begin again
constexpr int kLeastR4 = 64;                   // symbols of R4 and R5 (8.1, 8.2)
// AC before the first reversal. 128 are enough for the text; a foreign caller that had been sending AA since the answer
// tone missed the reversal 53 ms after the tone's end, over mu-law.
constexpr int kAcSymbols = 720;
// Then the answer tone, although V.8 is over: a foreign caller waits for one. Nobody may give up before (6, Note 5).
constexpr uint64_t kAcUnanswered = 3 * kRateHz;
// 1.5 s: the echo canceller takes that long; 1280 to 8192 are allowed (5.2.3). As long before R3, where no canceller
// trains: a foreign caller's receiver lost data within seconds after 0.5 s of it.
constexpr int kTrnSymbols = 3600;

// V.25, in samples.
constexpr uint64_t kSilenceBeforeAns = kRateHz * 18 / 10;
constexpr uint64_t kAns = kRateHz * 33 / 10;
constexpr uint64_t kAfterAns = kRateHz * 75 / 1000;
constexpr uint64_t kReversalPeriod = kRateHz * 45 / 100;
constexpr float kAnsHeardMs = 1000;

// The far end's AA or AC: in data more than 128 symbols of it, with a share that data and S do not have. S has half of
// its power at 1800 Hz and a quarter at 600 Hz, AA all, AC half; in ANS the far end's tone lies beside the own echo.
constexpr int kToneAlone = kRateHz * 60 / 1000;
constexpr int kToneAloneInTraining = kRateHz * 160 / 1000;
constexpr float kShareInData = 0.3f;
constexpr float kShareOfAa = 0.7f;
constexpr float kShareOfAc = 0.36f;
constexpr float kEarlyMs = 250;
constexpr float kEarlyOffsetHz = 10;  // a busy tone has 620 Hz

// Received power over the usual one: so much, with data that are lost, is noise; and when it has gone. In symbols.
constexpr float kDrowned = 1.6f;
constexpr float kDrownedNoMore = 1.3f;
constexpr int kLongestDrowned = 4 * 2400;

constexpr uint64_t kInstrumentsEvery = kRateHz / 10;

RateSet up_to(uint32_t max_bit_rate) {
  RateSet rates = 0;
  for (int k = 0; k < kRateCount; ++k) {
    if (max_bit_rate == 0 || max_bit_rate >= kRates[k].bit_rate) rates = static_cast<RateSet>(rates | 1 << k);
  }
  return rates;
}

}  // namespace

Modem::Modem(const oh_pump_config& c)
    : config_(c),
      calls_(c.role == OH_PUMP_CALL),
      own_rates_(up_to(c.max_bit_rate)),
      v8_(v8::data_call(c, v8::kV32bis)),
      ans_peak_(static_cast<float>(1.41421356 * dbm0_to_rms(static_cast<double>(c.tx_level_dbm0)))),
      tone_(calls_ ? 600 : 1800),
      tx_(c.role, c.port),
      bits_(c.role, c.port) {
  modulator_.init(SymbolRate::k2400, Carrier::kHigh, 0, dbm0_to_rms(static_cast<double>(c.tx_level_dbm0)),
                  best_kernels(), v34::RollOff::k25Percent);
  receiver_.init(SymbolRate::k2400, Carrier::kHigh, best_kernels(), false);
  echo_.init(SymbolRate::k2400, Carrier::kHigh, static_cast<int>(c.io_delay_samples), 0);
}

void Modem::only_v32(bool trellis) {
  only_v32_ = true;
  own_rates_ = static_cast<RateSet>(own_rates_ & kV32Rates & (trellis ? 0xff : ~(1u << 2)));
}

void Modem::enter(Step s) {
  step_ = s;
  entered_ = samples_;
  if (s != Step::kTone && s != Step::kReversed && s != Step::kAcAgain) {
    tone_.reset();
    tone_alone_ = 0;
  }
}

void Modem::listen(bool on) {
  receiver_.set_task(Receiver::Task::kHold);
  if (!on) return;
  receiver_.init(SymbolRate::k2400, Carrier::kHigh, best_kernels(), false);
  receiver_.set_grid(10);
  receiver_.set_task(Receiver::Task::kTrain);
  heard_s_ = in_trn_ = false;
}

RateSet Modem::possible_rates() const {
  RateSet rates = 0;
  const double snr = power_db(static_cast<double>(receiver_.snr()));
  for (int k = 0; k < kRateCount; ++k) {
    if (own_rates_ >> k & 1 && snr >= kLeastSnrDb[k]) rates = static_cast<RateSet>(rates | 1 << k);
  }
  return rates;
}

RateSignal Modem::signal_of(RateSet rates) const {
  const bool v32 = far_v32_ || only_v32_;
  return {.v32bis = !v32, .rates = static_cast<RateSet>(v32 ? rates & kV32Rates : rates)};
}

int16_t Modem::step(int16_t rx, bool is_lost) {
  ++samples_;
  const float x = rx;
  power_ += (x * x - power_) * (1.f / 256);
  float tx = 0;
  switch (step_) {
    case Step::kV8:
      tx = v8_.process(x);
      if (v8_.state() == v8::State::kRunning) {
        listen_for_start(x);
      } else if (v8_.state() == v8::State::kAnswerTone) {
        if (calls_) {
          enter(Step::kAnswerTone);
        } else {
          begin_tones();
        }
      } else if (v8_.result().modulation == v8::kV32bis) {
        begin(true);
      } else {
        nothing_in_common_ = true;
        enter(Step::kFailed);
      }
      break;
    case Step::kAnswerTone:
      if (calls_) {
        answer_tone_.put(x);
        if (answer_tone_.detector().steady_ms() >= kAnsHeardMs) {
          begin_tones();
          break;
        }
      } else if (age() >= kSilenceBeforeAns) {
        const uint64_t at = age() - kSilenceBeforeAns;
        tx = (at / kReversalPeriod % 2 == 0 ? ans_peak_ : -ans_peak_) * ans_.next().re;
        if (at >= kAns) enter(Step::kAfterTone);
      }
      listen_for_start(x);
      break;
    case Step::kAfterTone:
      if (age() >= kAfterAns) begin_tones();
      break;
    case Step::kReleased:
    case Step::kFailed:
      break;
    default:
      tx = modem(x, is_lost);
      break;
  }
  if (step_ == Step::kReleased || step_ == Step::kFailed) return 0;
  if (live()) had_data_ = true;
  without_data_ = live() ? 0 : without_data_ + 1;
  if (without_data_ > kGiveUp) step_ = Step::kFailed;
  if (config_.observer.instrument != nullptr && samples_ % kInstrumentsEvery == 0) show_instruments();
  if (config_.observer.taps != nullptr) show_taps();
  return static_cast<int16_t>(tx > 32767 ? 32767 : tx < -32768 ? -32768 : tx);
}

// A far end whose answer tone went unheard, or that does not wait for the end of ours (6, Note 1; A.2.1.1, A.2.2).
void Modem::listen_for_start(float rx) {
  tone_.put(rx);
  const float offset = tone_.frequency_offset_hz();
  if (tone_.steady_ms() < kEarlyMs || tone_.share() < kShareInData || offset > kEarlyOffsetHz ||
      offset < -kEarlyOffsetHz) {
    return;
  }
  if (calls_) {
    begin_tones();
  } else {
    enter(Step::kAfterTone);
  }
}

void Modem::begin_tones() {
  tone_ = ToneDetector(calls_ ? 600 : 1800);
  tone_zero_ = static_cast<double>(samples_);
  switch_at_ = -1;
  second_training_ = false;
  far_v32_ = false;
  first_ = agreed_ = false;
  echo_.set_training(false);
  listen(false);
  in_trn_ = false;
  bits_ = BitReceiver(config_.role, config_.port);
  send(Step::kTone, calls_ ? Signal::kAa : Signal::kAc);
}

void Modem::train_again(oh_v34_cause cause) {
  if (clearing_) {
    end_call();
    return;
  }
  ++retrains_;
  cause_ = cause;
  if (config_.observer.instrument != nullptr) {
    config_.observer.instrument(config_.observer.user, OH_INSTRUMENT_RETRAIN_CAUSE, static_cast<float>(cause_));
  }
  bits_before_ += bits_.bits_received();
  // Tones that begin again would be one more reversal to the far end.
  const bool quiet = step_ == Step::kReversed || step_ == Step::kAcAgain;
  begin_tones();
  if (quiet) send(Step::kQuiet, Signal::kSilence);
}

float Modem::modem(float rx, bool is_lost) {
  const bool tones =
      step_ == Step::kQuiet || step_ == Step::kTone || step_ == Step::kReversed || step_ == Step::kAcAgain;
  float x = rx;
  if (tones) {
    follow_tone(rx, is_lost);
  } else {
    const bool train = step_ == Step::kTrn && !second_training_;
    if (echo_.training() != train) echo_.set_training(train);
    x = is_lost ? 0 : echo_.cancel(rx);
    receive(x, is_lost);
    follow_receiver();
    if (!is_lost) follow_retrain_tone(x);
  }
  const auto round_trips = static_cast<uint64_t>(2 * round_trip_);
  const bool soon = step_ == Step::kReversed || step_ == Step::kAcAgain || (step_ == Step::kWaitS && !heard_s_) ||
                    step_ == Step::kRenegotiate || step_ == Step::kClear || step_ == Step::kData;
  if (step_ != Step::kTone && !live() && age() > (soon ? kShortLimit : kStepLimit) + round_trips) {
    if (step_ == Step::kRenegotiate && first_) may_renegotiate_ = false;  // 8, Note 3
    if (step_ == Step::kClear) {
      end_call();
    } else {
      train_again(OH_V34_CAUSE_TIMEOUT);
    }
  }
  if (step_ == Step::kReleased || step_ == Step::kFailed) return 0;
  if (modulator_.wants_symbol()) {
    before_symbol();
    modulator_.push(tx_.next());
  }
  const float sent = modulator_.next();
  if (!tones) echo_.sent(is_lost ? 0 : sent);
  return sent;
}

// The far end has begun a retrain. S may sound like it, but is known for what it is before that.
void Modem::follow_retrain_tone(float x) {
  const bool data = step_ == Step::kData || step_ == Step::kRenegotiate;
  const bool training = (step_ == Step::kWaitS || step_ == Step::kFarS || step_ == Step::kRate) && !heard_s_ &&
                        age() > static_cast<uint64_t>(round_trip_) + kToneAlone;  // the tones before have gone
  if (!data && !training) return;
  tone_.put(x);
  const float least = data ? kShareInData : calls_ ? kShareOfAc : kShareOfAa;
  tone_alone_ = tone_.present() && tone_.share() > least ? tone_alone_ + 1 : 0;
  if (tone_alone_ > (data ? kToneAlone : kToneAloneInTraining)) train_again(OH_V34_CAUSE_FAR);
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
    case Step::kQuiet:
      if (n >= kQuietSymbols) send(Step::kTone, calls_ ? Signal::kAa : Signal::kAc);
      break;
    case Step::kTone:
      if (calls_) {
        if (switch_at_ < 0 || now < switch_at_ - 0.5 * kSymbol) break;
        switch_at_ = -1;
        own_reversal_ = leaves;
        send(Step::kReversed, Signal::kCc);
      } else if (n >= kAcSymbols && n % 2 == 0 && tone_.steady_ms() >= 64 / 2.4f) {
        own_reversal_ = leaves;
        send(Step::kReversed, Signal::kCa);
      } else if (answers_again_ && retrains_ == 0 && age() > kAcUnanswered && tone_.steady_ms() <= 0) {
        answers_again_ = false;
        enter(Step::kAnswerTone);
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
        tx_.set_rates(signal_of(common(possible_rates())));  // R2
        listen(true);
        send(Step::kRate, Signal::kRate);
      } else if (!second_training_) {
        tx_.set_rates(signal_of(own_rates_));  // R1
        listen(true);
        send(Step::kRate, Signal::kRate);
      } else {
        const int rate = highest(common(possible_rates()));
        tx_.set_rates(signal_of(static_cast<RateSet>(rate < 0 ? 0 : 1 << rate)));  // R3
        send(rate < 0 ? Step::kClear : Step::kRate, Signal::kRate);
      }
      break;
    case Step::kRenegotiate: {
      if (tx_.signal() != Signal::kRate || n < kLeastR4 || !far_known_) break;
      const int rate = clearing_ ? -1 : highest(common(offered_));
      tx_.end_rate_signal(signal_of(0), rate);
      agreed_ = true;
      enter(rate < 0 ? Step::kClear : Step::kData);
      break;
    }
    case Step::kClear:
      if (n >= kEndSymbols && tx_.signal() == (agreed_ ? Signal::kE : Signal::kRate)) end_call();
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
  const float energy = bits_.energy();
  const Complex y = receiver_.symbol();
  const Complex sent = bits_.put(y);
  if (bits_.live()) look_for_noise();
  if (!receiver_.erased() && !bits_.doubtful() && drowned_ == 0) receiver_.adapt(sent);
  if (config_.observer.symbol != nullptr) {
    const float scale = 1 / square_root(energy);
    config_.observer.symbol(config_.observer.user, scale * y.re, scale * y.im);
  }
  const BitReceiver::Stage now = bits_.stage();
  if (now == before) {
    if (live() && bits_.symbols() % LineMonitor::kEvery == 0) follow_line();
  } else if (now == BitReceiver::Stage::kData) {
    receiver_.set_grid(bits_.energy());
    receiver_.set_task(Receiver::Task::kFollow);
    monitor_.begin(static_cast<int>(&bits_.rate() - kRates));
    usual_power_ = 0;
    drowned_ = 0;
  } else if (before == BitReceiver::Stage::kData) {  // a preamble has come
    receiver_.set_grid(bits_.energy());
    far_known_ = false;
    if (step_ == Step::kData) enter(Step::kData);  // R4 has so much time
  }
}

// What has been received moves the procedure on.
void Modem::follow_receiver() {
  const bool rates = in_trn_ && bits_.stage() == BitReceiver::Stage::kRateSignal && bits_.rate_signal();
  if (rates) far_v32_ = !bits_.rates().v32bis && bits_.rates().rates != 0;
  switch (step_) {
    case Step::kWaitS:
      if (!rates) break;
      far_rates_ = bits_.rates().rates;  // R1
      send(Step::kExtraS, Signal::kS);
      receiver_.set_task(Receiver::Task::kHold);
      in_trn_ = false;
      break;
    case Step::kRate:
      if (calls_) {
        if (!rates) break;
        // R3: one rate, or none for the end of the call.
        const int rate = highest(common(own_rates_));
        if (rate < 0) {
          end_call();
          break;
        }
        tx_.end_rate_signal(signal_of(0), rate);
        enter(Step::kData);
      } else if (!second_training_) {
        if (!heard_s_) break;
        send(Step::kFarS, Signal::kSilence);
        receiver_.set_task(Receiver::Task::kHold);
      } else if (in_trn_ && bits_.stage() == BitReceiver::Stage::kData) {
        tx_.end_rate_signal(signal_of(0), static_cast<int>(&bits_.rate() - kRates));
        enter(Step::kData);
      }
      break;
    case Step::kFarS: {
      const auto wait = static_cast<uint64_t>(round_trip_ + kTurnRound * kSymbol);
      if (receiver_.task() == Receiver::Task::kHold && age() >= wait) listen(true);
      if (!rates) break;
      far_rates_ = bits_.rates().rates;  // R2
      second_training_ = true;
      extra_s_ = 0;
      send(Step::kS, Signal::kS);
      break;
    }
    case Step::kData:
      // After a renegotiation the far end takes what follows 24 symbols of B1 for data (8.1, 8.2).
      if (tx_.ready() && !tx_.live() && (agreed_ || bits_.live())) tx_.set_live();
      if (tx_.live() && bits_.live()) first_ = agreed_ = false;
      if (rates && tx_.live() && !agreed_) {  // R4
        far_known_ = true;
        begin_renegotiation(possible_rates());
      }
      break;
    case Step::kRenegotiate:
      far_known_ |= rates;
      break;
    default:
      break;
  }
}

// Noise that drowns the data goes again, most often. A retrain would fail in it, and a far end that hears well may give
// up meanwhile: until the line is as it was nothing is adapted to and nothing concluded.
void Modem::look_for_noise() {
  const float power = receiver_.signal_power();
  if (usual_power_ <= 0) usual_power_ = power;
  const bool loud = power > kDrowned * usual_power_ && bits_.data_error() > 0.5f * LineMonitor::kLostError;
  drowned_ = loud || drowned_ > 0 ? drowned_ + 1 : 0;
  if (drowned_ > 0 && power < kDrownedNoMore * usual_power_) drowned_ = 0;
  if (drowned_ > kLongestDrowned) usual_power_ = power, drowned_ = 0;
  if (drowned_ == 0) usual_power_ += (power - usual_power_) * (1.f / 4096);
}

void Modem::follow_line() {
  if (drowned_ > 0) return;
  const double snr = power_db(static_cast<double>(receiver_.snr()));
  const RateSet all = static_cast<RateSet>(own_rates_ & far_rates_);
  int next = -1;
  for (int k = 0; k < kRateCount; ++k) {
    const bool faster = kRates[k].bit_rate > bits_.rate().bit_rate && all >> k & 1;
    if (faster && (next < 0 || kRates[k].bit_rate < kRates[next].bit_rate)) next = k;
  }
  const bool renegotiates = may_renegotiate_ && !far_v32_ && !only_v32_;
  switch (monitor_.put(bits_.data_error(), snr, renegotiates ? next : -1)) {
    case LineMonitor::Advice::kNone:
      break;
    case LineMonitor::Advice::kRetrain:
      train_again(OH_V34_CAUSE_LOST);
      break;
    case LineMonitor::Advice::kLower:
      if (bits_.rate().bit_rate <= kRates[0].bit_rate) break;
      if (renegotiates) {
        renegotiate(bits_.rate().bit_rate - 1);
      } else {
        train_again(OH_V34_CAUSE_LOST);
      }
      break;
    case LineMonitor::Advice::kHigher:
      renegotiate(0);
      break;
  }
}

void Modem::renegotiate(uint32_t max_bit_rate) {
  if (!live() || far_v32_ || only_v32_) return;
  first_ = true;
  far_known_ = false;
  const RateSet rates = static_cast<RateSet>(possible_rates() & up_to(max_bit_rate));
  begin_renegotiation(rates != 0 ? rates : RateSet{1});
}

void Modem::begin_renegotiation(RateSet rates) {
  ++renegotiations_;
  offered_ = rates;
  agreed_ = false;
  tx_.set_rates(signal_of(rates));
  send(Step::kRenegotiate, Signal::kPreamble);
}

void Modem::retrain() {
  if (live()) train_again(OH_V34_CAUSE_OWN);
}

void Modem::hang_up() {
  if (step_ == Step::kReleased || step_ == Step::kFailed || clearing_) return;
  if (!live() || far_v32_ || only_v32_) {
    enter(Step::kReleased);
    return;
  }
  clearing_ = true;
  far_known_ = false;
  begin_renegotiation(0);
}

void Modem::end_call() {
  if (!had_data_) nothing_in_common_ = true;
  enter(had_data_ || clearing_ ? Step::kReleased : Step::kFailed);
}

}  // namespace offhook::v32
