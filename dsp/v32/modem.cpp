// SPDX-License-Identifier: MIT
#include "dsp/v32/modem.h"

#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"

namespace offhook::v32 {
namespace {

using qam::Receiver;

constexpr uint32_t kRateHz = 8000;
constexpr int kAaHz = 1800, kAcHz = 600;    // AC also has 3000 Hz; 6.1, 6.2
constexpr uint64_t kGiveUp = 60 * kRateHz;  // without data mode
// Time after data mode without a far-end tone: it may be silent for its own training, 5 s, and 1.2 s of round trip.
constexpr uint64_t kGone = 10 * kRateHz;
constexpr uint64_t kLongLimit = 8 * kRateHz;  // Limit
constexpr uint64_t kShortLimit = 3 * kRateHz;

constexpr uint64_t kReversalPeriod = kRateHz * 45 / 100;  // V.25
constexpr float kSteadyBeforeReversalMs = 20;

// The far end's AA or AC: in data, more than 128 symbols with a share that data and S do not have. S has half of its
// power at 1800 Hz and a quarter at 600 Hz, AA has all, AC half; in ANS the far end's tone is mixed with our echo.
constexpr int kToneAlone = kRateHz * 60 / 1000;
constexpr int kToneAloneInTraining = kRateHz * 160 / 1000;
constexpr float kShareInData = 0.3f;
constexpr float kShareOfAa = 0.7f;
constexpr float kShareOfAc = 0.36f;
constexpr float kEarlyMs = 250;
constexpr float kEarlyOffsetHz = 10;  // a busy tone has 620 Hz

// Received power over the usual one: with lost data, this much is noise; and the limit when it has gone. In symbols.
constexpr float kNoise = 1.6f;
constexpr float kNoiseGone = 1.3f;
constexpr float kRight = 0.25f;  // below LineMonitor::kLostError: data are right, and the line has become louder
constexpr int kLongestNoise = 4 * 2400;
constexpr int kKeptEvery = 240;  // symbols: the older state is older than the time in which noise is noticed

constexpr uint64_t kInstrumentsEvery = kRateHz / 10;

// The four points of 4800 bit/s permit a turn of 26 degrees and more.
qam::Grid grid_of(const Rate& rate) {
  if (rate.count == 4) return qam::Grid::kUnknown;
  return ((rate.points[0].re + rate.points[0].im) & 1) != 0 ? qam::Grid::kOddSum : qam::Grid::kOdd;
}

}  // namespace

RateSet up_to(uint32_t max_bit_rate) {
  RateSet rates = 0;
  for (int k = 0; k < kRateCount; ++k) {
    if (max_bit_rate == 0 || max_bit_rate >= kRates[k].bit_rate) rates = static_cast<RateSet>(rates | 1 << k);
  }
  return rates;
}

Modem::Modem(const oh_pump_config& c)
    : config_(c),
      observer_(observer_of(c)),
      calls_(c.role == OH_PUMP_CALL),
      own_rates_(up_to(c.max_bit_rate)),
      v8_(v8::data_call(c, v8::kV32bis)),
      ans_peak_(static_cast<float>(dbm0_to_peak(static_cast<double>(c.tx_level_dbm0)))),
      tone_(calls_ ? kAcHz : kAaHz),
      tx_(c.role, c.port),
      bits_(c.role, c.port) {
  modulator_.init(kBand, dbm0_to_rms(static_cast<double>(c.tx_level_dbm0)), {}, qam::RollOff::k25Percent);
  receiver_.init(kBand);
  echo_.init(kBand, static_cast<int>(c.io_delay_samples), 0);
}

void Modem::only_v32(bool trellis) {
  only_v32_ = true;
  own_rates_ = static_cast<RateSet>(own_rates_ & kV32Rates & (trellis ? 0xff : ~(1u << 2)));
}

void Modem::listen() {
  receiver_.init(kBand);
  receiver_.set_format(qam::SymbolFormat{10});
  receiver_.set_task(Receiver::Task::kTrain);
  heard_ = Heard::kNothing;
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
  return {.v32bis = !v32(), .rates = static_cast<RateSet>(v32() ? rates & kV32Rates : rates)};
}

int16_t Modem::step(int16_t rx, bool is_lost) {
  ++samples_;
  const float x = rx;
  power_ += (x * x - power_) * (1.f / 256);
  float tx = 0;
  switch (info(step_).hears) {
    case Hears::kNothing:
      break;
    case Hears::kV8:
      tx = start_with_v8(x);
      break;
    case Hears::kAnswerTone:
      tx = start_with_answer_tone(x);
      break;
    default:
      tx = modem(x, is_lost);
      break;
  }
  if (ended()) return 0;
  if (live()) had_data_ = true;
  without_data_ = live() ? 0 : without_data_ + 1;
  const bool gone = had_data_ && info(step_).hears == Hears::kTones && samples_ - tone_at_ > kGone;
  if (without_data_ > kGiveUp || gone) fire(Event::kGiveUp);
  if (observer_.instrument != nullptr && samples_ % kInstrumentsEvery == 0) {
    show_progress();
    show_instruments();
  }
  if (observer_.taps != nullptr) show_taps();
  return clip(tx);
}

float Modem::start_with_v8(float rx) {
  const float tx = v8_.process(rx);
  if (v8_.state() != v8::State::kRunning) v8::show_menus(observer_, config_.role, v8_);
  if (v8_.state() == v8::State::kRunning) {
    listen_for_start(rx);
  } else if (v8_.state() == v8::State::kAnswerTone) {
    fire(Event::kV8None);
  } else {
    fire(v8_.result().modulation == v8::kV32bis ? Event::kBeginAfterV8 : Event::kV8Other);
  }
  return tx;
}

float Modem::start_with_answer_tone(float rx) {
  float tx = 0;
  if (calls_) {
    answer_tone_.put(rx);
  } else if (step_ == Step::kAnswerTone && age() >= kSilenceBeforeAns) {
    const bool turned = (age() - kSilenceBeforeAns) / kReversalPeriod % 2 != 0;
    tx = (turned ? -ans_peak_ : ans_peak_) * ans_.next().re;
  }
  if (!fire(Event::kSample) && step_ == Step::kAnswerTone) listen_for_start(rx);
  return tx;
}

// For a far end without a detected answer tone, or that does not wait for ours to end (6, Note 1; A.2.1.1, A.2.2).
void Modem::listen_for_start(float rx) {
  tone_.put(rx);
  const float offset = tone_.frequency_offset_hz();
  if (tone_.steady_ms() < kEarlyMs || tone_.share() < kShareInData || offset > kEarlyOffsetHz ||
      offset < -kEarlyOffsetHz) {
    return;
  }
  fire(Event::kFarTone);
}

void Modem::begin_tones() {
  tone_ = ToneDetector(calls_ ? kAcHz : kAaHz);
  tone_zero_ = now();
  tone_at_ = samples_;
  front_.search();
  far_v32_ = false;
  echo_.set_training(false);
  receiver_.set_task(Receiver::Task::kHold);
  heard_ = Heard::kNothing;
  bits_ = BitReceiver(config_.role, config_.port);
}

void Modem::train_again(oh_retrain_cause cause) {
  show_progress();
  ++retrains_;
  cause_ = cause;
  if (observer_.instrument != nullptr) {
    observer_.instrument(observer_.user, OH_INSTRUMENT_RETRAIN_CAUSE, static_cast<float>(cause_));
  }
  bits_before_ += bits_.bits_received();
  begin_tones();
}

float Modem::modem(float rx, bool is_lost) {
  const Hears hears = info(step_).hears;
  const float heard = front_.process(is_lost ? 0 : rx);
  if (hears == Hears::kTones) {
    follow_tone(heard, is_lost);
  } else {
    const bool train = hears == Hears::kOwnEcho;
    if (echo_.training() != train) echo_.set_training(train);
    const float x = is_lost ? 0 : echo_.process(heard);
    receive(x, is_lost);
    if (rates_heard()) far_v32_ = !bits_.rates().v32bis && bits_.rates().rates != 0;
    fire(Event::kReceived);
    if (!is_lost) follow_retrain_tone(x);
  }
  if (overdue()) fire(Event::kTimeout);
  if (ended()) return 0;
  if (modulator_.wants_symbol()) {
    fire(Event::kSymbol);
    modulator_.put(tx_.next());
  }
  const float sent = modulator_.next();
  if (hears != Hears::kTones) echo_.put(is_lost ? 0 : sent);
  return sent;
}

bool Modem::overdue() const {
  const Limit limit = info(step_).limit;
  if (limit == Limit::kNone) return false;
  const bool soon = limit == Limit::kShort || (limit == Limit::kShortForS && heard_ == Heard::kNothing);
  return age() > (soon ? kShortLimit : kLongLimit) + static_cast<uint64_t>(2 * round_trip_);
}

// The far end has begun a retrain. S may resemble it, but is detected earlier.
void Modem::follow_retrain_tone(float x) {
  const bool data = info(step_).hears == Hears::kDataOrRetrain;
  const bool training = info(step_).hears == Hears::kTraining && heard_ == Heard::kNothing &&
                        age() > static_cast<uint64_t>(round_trip_) + kToneAlone;  // the previous tones have ended
  if (!data && !training) return;
  tone_.put(x);
  const float least = data ? kShareInData : calls_ ? kShareOfAc : kShareOfAa;
  tone_alone_ = tone_.present() && tone_.share() > least ? tone_alone_ + 1 : 0;
  if (tone_alone_ > (data ? kToneAlone : kToneAloneInTraining)) fire(Event::kFarRetrains);
}

void Modem::follow_tone(float rx, bool is_lost) {
  const bool reversal = tone_.put(is_lost ? 0 : rx) == ToneEvent::kReversal;
  if (tone_.present()) tone_at_ = samples_;
  if (reversal && tone_.steady_before_reversal_ms() > kSteadyBeforeReversalMs) {
    reversal_at_ = tone_zero_ + tone_.reversal_time() - front_.delay_samples(calls_ ? kAcHz : kAaHz);
    fire(Event::kReversal);
  }
  fire(Event::kSample);
}

void Modem::receive(float rx, bool is_lost) {
  const bool symbol = is_lost ? receiver_.process_lost() : receiver_.process(rx);
  switch (receiver_.take_event()) {
    case Receiver::Event::kS:
      if (heard_ == Heard::kNothing) heard_ = Heard::kS;
      break;
    case Receiver::Event::kSBar:
      if (receiver_.task() == Receiver::Task::kTrain) {
        bits_.begin_trn();
        heard_ = Heard::kTrn;
      }
      return;
    case Receiver::Event::kNone:
      break;
  }
  if (!symbol || heard_ != Heard::kTrn) return;
  const BitReceiver::Stage before = bits_.stage();
  const float energy = bits_.energy();
  const Complex y = receiver_.symbol();
  const Complex sent = bits_.put(y);
  if (bits_.live()) look_for_noise();
  if (!receiver_.erased() && !bits_.doubtful()) noisy_ == 0 ? receiver_.adapt(sent) : receiver_.look_for_hit(sent);
  if (observer_.symbol != nullptr) {
    const float scale = 1 / square_root(energy);
    observer_.symbol(observer_.user, scale * y.re, scale * y.im);
  }
  symbol_received(before);
}

/// @param before  stage of bits_ before the newest symbol
void Modem::symbol_received(BitReceiver::Stage before) {
  const BitReceiver::Stage now = bits_.stage();
  if (now == before) {
    if (live() && bits_.symbols() % LineMonitor::kEvery == 0) follow_line();
  } else if (now == BitReceiver::Stage::kData) {
    qam::SymbolFormat format{bits_.energy()};
    format.grid = grid_of(bits_.rate());
    receiver_.set_format(format);
    receiver_.set_task(Receiver::Task::kFollow);
    monitor_.start(static_cast<int>(&bits_.rate() - kRates));
    usual_power_ = 0;
    noisy_ = 0;
    for (Receiver::Learnt& learnt : learnt_) receiver_.keep(&learnt);
  } else if (before == BitReceiver::Stage::kData) {
    receiver_.set_format(qam::SymbolFormat{bits_.energy()});
    fire(Event::kPreamble);
  }
}

// Noise so strong that data are lost usually does not last. A retrain would fail in it, and a far end that receives
// well may end the call meanwhile. So until the line has recovered, there is no adaptation and no decision. What the
// receiver learnt before the noise was noticed is then undone.
void Modem::look_for_noise() {
  const float power = receiver_.signal_power();
  if (usual_power_ <= 0) usual_power_ = power;
  const bool loud = power > kNoise * usual_power_ && bits_.data_error() > 0.5f * LineMonitor::kLostError;
  noisy_ = loud || noisy_ > 0 ? noisy_ + 1 : 0;
  if (noisy_ > 0 && power < kNoiseGone * usual_power_) {
    receiver_.go_back_to(learnt_[0]);
    noisy_ = 0;
  }
  if (noisy_ > 0 && bits_.data_error() < kRight * LineMonitor::kLostError) usual_power_ = power, noisy_ = 0;
  if (noisy_ > kLongestNoise) usual_power_ = power, noisy_ = 0;
  if (noisy_ > 0) return;
  usual_power_ += (power - usual_power_) * (1.f / 4096);
  if (bits_.symbols() % kKeptEvery != 0) return;
  learnt_[0] = learnt_[1];
  receiver_.keep(&learnt_[1]);
}

void Modem::follow_line() {
  if (noisy_ > 0) return;
  const double snr = power_db(static_cast<double>(receiver_.snr()));
  const RateSet all = static_cast<RateSet>(own_rates_ & far_rates_);
  int next = -1;
  for (int k = 0; k < kRateCount; ++k) {
    const bool faster = kRates[k].bit_rate > bits_.rate().bit_rate && all >> k & 1;
    if (faster && (next < 0 || kRates[k].bit_rate < kRates[next].bit_rate)) next = k;
  }
  const bool renegotiates = may_renegotiate_ && !v32();
  monitor_.put_far_share(bits_.far_share());
  switch (monitor_.put(bits_.data_error(), snr, renegotiates ? next : -1)) {
    case LineMonitor::Advice::kNone:
      break;
    case LineMonitor::Advice::kRetrain:
      fire(Event::kLost);
      break;
    case LineMonitor::Advice::kLower:
      if (bits_.rate().bit_rate <= kRates[0].bit_rate) break;
      if (renegotiates) {
        renegotiate(bits_.rate().bit_rate - 1);
      } else {
        fire(Event::kLost);
      }
      break;
    case LineMonitor::Advice::kHigher:
      renegotiate(0);
      break;
  }
}

void Modem::renegotiate(uint32_t max_bit_rate) {
  wanted_bit_rate_ = max_bit_rate;
  fire(Event::kRenegotiate);
}

void Modem::offer(RateSet rates) {
  ++renegotiations_;
  offered_ = rates;
  tx_.set_rates(signal_of(rates));
}

}  // namespace offhook::v32
