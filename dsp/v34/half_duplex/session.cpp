// SPDX-License-Identifier: MIT
#include "dsp/v34/half_duplex/session.h"

#include "dsp/blocks/level.h"
#include "dsp/blocks/renew.h"
#include "dsp/v34/coding/pre_emphasis.h"

namespace offhook::v34 {
namespace {

using Task = qam::Receiver::Task;

constexpr uint32_t ms(uint32_t t) {
  return t * 8;
}

constexpr int kSilenceMs = 70;           // before every signal of the source; 12.3.1.1, 12.4.1.1, 12.5.1, 12.6.1.1
constexpr int kFarSMs = 2000;            // 12.3.3
constexpr int kControlTimeoutMs = 3000;  // 12.4.3, 12.4.4, 12.6.1, 12.6.2
constexpr int kPrimaryOnesMs = 35;       // 12.5.3.1
constexpr int kControlSilence = kSilenceMs * kControlSymbolHz / 1000;
constexpr int kAltSymbols = 40;  // 16 to 120; 12.4.1.2, 12.4.2.3, 12.6.1.4, 12.6.2.2, 12.8
// Distance of TRN's points from the grid that only noise explains. 12.3.3 leaves the limit to the modem.
constexpr float kMostTrnError = 0.25f;
constexpr int kBetweenSBarAndData = kSBarSymbols + kPpSymbols;

}  // namespace

const HalfDuplexSession::Table& HalfDuplexSession::transitions() {
  using enum HalfDuplexState;
  using enum HalfDuplexEvent;
  using P = HalfDuplexSession;
  // clang-format off
  static constexpr Transition kRows[] = {
      // the primary channel: training, and resynchronization
      {in(kTrainFar),       kPrimarySilence, nullptr,           &P::send_s,          kTrainFar,       "12.3.1.1"},
      {in(kTrainFar),       kPrimaryS,       nullptr,           &P::send_s_bar,      kTrainFar,       "12.3.1.1"},
      {in(kTrainFar),       kPrimarySBar,    nullptr,           &P::send_pp,         kTrainFar,       "12.3.1.1"},
      {in(kTrainFar),       kPrimaryPp,      nullptr,           &P::send_trn,        kTrainFar,       "12.3.1.2"},
      {in(kTrainFar),       kPrimaryTrn,     nullptr,           &P::begin_control,   kSendPph,        "12.3.1.3, 12.4.1.1"},
      {in(kFarS),           kFarSBar,        nullptr,           &P::follow_training, kFarTrn,         "12.3.2.2"},
      {in(kFarS),           kTimeout,        nullptr,           &P::repeat_infoh,    kEnded,          "12.3.3"},
      {in(kFarTrn),         kFarTrnOver,     &P::trained_well,  &P::await_pph,       kAwaitPph,       "12.3.2.3, 12.4.2.1"},
      {in(kFarTrn),         kFarTrnOver,     nullptr,           &P::repeat_infoh,    kEnded,          "12.3.3"},
      {in(kPrimarySend),    kPrimarySilence, nullptr,           &P::send_s,          kPrimarySend,    "12.5.1"},
      {in(kPrimarySend),    kPrimaryS,       nullptr,           &P::send_s_bar,      kPrimarySend,    "12.5.1"},
      {in(kPrimarySend),    kPrimarySBar,    nullptr,           &P::send_pp,         kPrimarySend,    "12.5.1"},
      {in(kPrimarySend),    kPrimaryPp,      nullptr,           &P::send_b1,         kPrimarySend,    "12.5.1"},
      {in(kPrimarySend),    kTurn,           &P::is_live,       &P::end_primary,     kPrimaryOff,     "12.5.3.1"},
      {in(kPrimaryOff),     kPrimaryOnes,    &P::wants_change,  &P::begin_control,   kSendPph,        "12.6.1.1, 12.4.1.1"},
      {in(kPrimaryOff),     kPrimaryOnes,    nullptr,           &P::begin_sh,        kSendSh,         "12.6.1.1"},
      {in(kPrimaryWait),    kFarSBar,        nullptr,           &P::follow_primary,  kPrimaryReceive, "12.5.2"},
      {in(kPrimaryReceive), kFarPpOver,      nullptr,           &P::receive_primary, kPrimaryReceive, "12.5.2"},
      {in(kPrimaryWait, kPrimaryReceive), kTurn, nullptr,       &P::await_control,   kAwaitSh,        "12.5.3.2"},
      // the control channel: start-up
      {in(kSendPph),        kSentSilence,    nullptr,           &P::send_pph,        kSendPph,        "12.4.1.1"},
      {in(kSendPph),        kSentPph,        nullptr,           &P::await_far_pph,   kSendPph,        "12.4.1.1, 12.6.2.3, 12.8.2"},
      {in(kSendPph),        kFarPph,         nullptr,           &P::take_pph,        kExchange,       "12.4.1.2, 12.6.2.3, 12.8.2"},
      {in(kSendPph),        kFarTone,        &P::first_start_up, &P::repeat_infoh,   kEnded,          "12.4.3.1"},
      {in(kSendPph),        kTimeout,        nullptr,           &P::send_ac,         kAc,             "12.4.3.2"},
      {in(kAwaitPph),       kFarPph,         nullptr,           &P::answer_pph,      kExchange,       "12.4.2.1"},
      {in(kAwaitPph),       kTimeout,        nullptr,           &P::send_ac,         kAc,             "12.4.4.1"},
      {in(kExchange),       kSentPph,        nullptr,           &P::send_alt,        kExchange,       "12.4.2.2, 12.6.1.3, 12.8.1"},
      {in(kExchange),       kSentAlt,        nullptr,           &P::send_mph,        kExchange,       "12.4.1.2, 12.4.2.3"},
      {in(kExchange),       kFarMph,         nullptr,           &P::take_mph,        kExchange,       "12.4.1.3, 12.4.2.4"},
      {in(kExchange),       kSentMph,        &P::has_mph,       &P::send_e,          kExchange,       "12.4.1.3, 12.4.2.4"},
      {in(kExchange),       kSentMph,        nullptr,           &P::send_mph,        kExchange,       "12.4.1.3, 12.4.2.4"},
      {in(kExchange, kResync), kBothHaveE,   nullptr,           nullptr,             kControl,        "12.4.1.4, 12.4.2.5, 12.6.1.4, 12.6.2.2"},
      {in(kExchange),       kSentE,          nullptr,           &P::send_control_data, kExchange,     "12.4.1.4, 12.4.2.5"},
      {in(kExchange),       kFarE,           &P::has_mph,       &P::receive_control_data, kExchange,  "12.4.1.4, 12.4.2.5"},
      {in(kExchange),       kTimeout,        nullptr,           &P::send_ac,         kAc,             "12.4.3.3, 12.4.3.4, 12.4.4.2, 12.4.4.3"},
      // the control channel: resynchronization
      {in(kSendSh),         kSentSilence,    nullptr,           &P::send_sh,         kSendSh,         "12.6.1.1"},
      {in(kSendSh),         kSentSh,         nullptr,           &P::send_sh_bar,     kSendSh,         "12.6.1.1"},
      {in(kSendSh),         kSentShBar,      nullptr,           &P::await_far_sh,    kSendSh,         "12.6.1.2"},
      {in(kSendSh),         kFarPph,         nullptr,           &P::answer_pph,      kExchange,       "12.6.1.3"},
      {in(kSendSh),         kFarShBar,       nullptr,           &P::answer_sh_bar,   kResync,         "12.6.1.4"},
      {in(kSendSh),         kTimeout,        nullptr,           &P::send_ac,         kAc,             "12.6.1.5"},
      {in(kAwaitSh, kPrimaryReceive), kFarPph, nullptr,         &P::answer_pph,      kExchange,       "12.6.2.1"},
      {in(kAwaitSh, kPrimaryReceive), kFarShBar, &P::wants_change, &P::ask_for_change, kSendPph,      "12.6.2.3"},
      {in(kAwaitSh, kPrimaryReceive), kFarShBar, nullptr,       &P::answer_with_sh,  kResync,         "12.6.2.2"},
      {in(kAwaitSh),        kTimeout,        nullptr,           &P::send_ac,         kAc,             "12.6.2.4"},
      {in(kResync),         kSentSh,         nullptr,           &P::send_sh_bar,     kResync,         "12.6.2.2"},
      {in(kResync),         kSentShBar,      nullptr,           &P::send_resync_alt, kResync,         "12.6.2.2"},
      {in(kResync),         kSentAlt,        nullptr,           &P::send_e,          kResync,         "12.6.1.4, 12.6.2.2"},
      {in(kResync),         kSentE,          nullptr,           &P::send_control_data, kResync,       "12.6.1.4, 12.6.2.2"},
      {in(kResync),         kFarE,           nullptr,           &P::receive_control_data, kResync,    "12.6.1.4, 12.6.2.2"},
      {in(kResync),         kTimeout,        nullptr,           &P::send_ac,         kAc,             "12.6.1.6, 12.6.2.5"},
      // the control channel: data, turn-off, retrains
      {in(kControl),        kTurn,           nullptr,           &P::end_control,     kControlOff,     "12.6.3.1, 12.6.3.2"},
      {in(kControlOff),     kSentOnes,       &P::is_source,     &P::begin_primary,   kPrimarySend,    "12.6.3.1, 12.5.1"},
      {in(kControlOff),     kSentOnes,       nullptr,           &P::await_primary,   kPrimaryWait,    "12.6.3.2, 12.5.2"},
      {in(kControl),        kRetrainControl, nullptr,           &P::send_ac,         kAc,             "12.8.1"},
      {in(kAc),             kFarPph,         nullptr,           &P::answer_pph,      kExchange,       "12.8.1"},
      {in(kAc, kControl, kExchange, kResync, kSendPph), kFarAc, nullptr, &P::respond_to_ac, kSendPph, "12.8.1, 12.8.2"},
      {in(kAwaitPph, kAwaitSh, kSendSh, kPrimaryWait), kFarAc, nullptr, &P::respond_to_ac, kSendPph,  "12.8.2"},
      // the primary channel's retrain
      {~in(kEnded, kTrainFar, kFarS, kFarTrn), kFarTone, nullptr, &P::retrain,       kEnded,          "12.7.1.2, 12.7.2.2"},
      {~in(kEnded, kTrainFar, kFarS, kFarTrn), kRetrainPrimary, nullptr, &P::retrain, kEnded,         "12.7.1.1, 12.7.2.1"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

HalfDuplexSession::HalfDuplexSession(const HalfDuplexConfig& config, const oh_bit_port& primary,
                                     const oh_bit_port& control)
    : TableProcedure(State::kEnded),
      config_(config),
      primary_port_{primary, {}},
      control_port_(control),
      control_tx_(config.role, config.tx_level_dbm0),
      control_rx_(far_role(config.role)),
      control_reader_(scrambling_of(far_role(config.role))),
      retrain_tone_(config.role == OH_PUMP_CALL ? kToneAHz : kToneBHz),
      primary_tx_(scrambling_of(config.role)),
      reader_(config.role, primary_port_) {}

void HalfDuplexSession::begin(const Phase2Outcome& outcome) {
  phase2_ = outcome;
  outcome_ = HalfDuplexOutcome::kNone;
  had_control_ = data_tx_on_ = reads_control_ = monitored_ = wants_change_ = false;
  precoder_ = {};
  training_snr_ = 0;
  quality_ = {};
  receive_rate_ = {};
  most_rate_ = ReceiveRate::kNoLimit;
  retrain_tone_.reset();
  const Band b = band(outcome.tx_symbol_rate, outcome.tx_carrier);
  deadline_ = 0;
  if (config_.source) {
    modulator_.init(b, dbm0_to_rms(config_.tx_level_dbm0 - outcome.tx_power_reduction_db),
                    {pre_emphasis_db, outcome.tx_pre_emphasis});
    echo_.init(b, static_cast<int>(config_.io_delay_samples), static_cast<int>(outcome.round_trip_samples));
    state_ = State::kTrainFar;
    const uint32_t gone = outcome.samples_since_info1a;
    const uint32_t silence = ms(kSilenceMs) > gone ? ms(kSilenceMs) - gone : 0;
    primary_tx_.start(Signal::kSilence, symbols_in(outcome.tx_symbol_rate, silence));
  } else {
    receiver_.init(b, {pp_symbol, kPpSymbols});
    order_ = ReceiverOrder{};
    receiver_.set_task(Task::kTrain);
    state_ = State::kFarS;
    time_out_in(kFarSMs);
  }
}

void HalfDuplexSession::end(HalfDuplexOutcome outcome) {
  outcome_ = outcome;
  deadline_ = 0;
  data_tx_on_ = reads_control_ = false;
  control_tx_.start(ControlSignal::kSilence, ControlTransmitter::kForEver);
}

void HalfDuplexSession::change(uint32_t max_bit_rate, bool control_2400) {
  config_.max_bit_rate = max_bit_rate;
  config_.control_2400 = control_2400;
  wants_change_ = true;
}

bool HalfDuplexSession::in_primary() const {
  if (state_ == State::kPrimarySend) return data_tx_on_ && data_tx_.b1_sent();
  return state_ == State::kPrimaryReceive && monitored_;
}

uint32_t HalfDuplexSession::control_bit_rate(bool sent) const {
  return (sent ? rates_.tx_control_2400 : rates_.rx_control_2400) ? 2400 : 1200;
}

uint64_t HalfDuplexSession::primary_bits() const {
  return bits_before_ + (config_.source ? data_tx_.bits_sent() : reader_.data().bits_received());
}

float HalfDuplexSession::step(float rx, bool lost) {
  ++now_;
  float residual = rx;
  if (config_.source) {
    const bool trains = state_ == State::kTrainFar || state_ == State::kPrimarySend;
    const bool alone = trains && primary_tx_.signal() != Signal::kSilence;
    if (echo_.training() != alone) echo_.set_training(alone);
    residual = echo_.process(lost ? 0 : rx);
    if (!trains) residual = rx;
  }
  if (!lost && retrain_tone_.put(residual)) {
    handle(Event::kFarTone);
    retrain_tone_.reset();
  }
  hear_control(rx);
  if (!config_.source) hear_primary(rx, lost);
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
  const float tx = send();
  if (config_.source) echo_.put(lost ? 0 : tx);
  return tx;
}

// --- transmission

float HalfDuplexSession::send() {
  if (control_tx_.wants_symbol()) {
    if (control_tx_.ended() && state_ != State::kEnded) {
      handle(static_cast<Event>(control_tx_.signal()));
      if (sent_e_ && received_e_) handle(Event::kBothHaveE);
    }
    control_tx_.next_symbol(control_port_);
  }
  float tx = control_tx_.next();
  if (!config_.source) return tx;
  if (modulator_.wants_symbol()) modulator_.put(next_primary());
  return tx + modulator_.next();
}

Complex HalfDuplexSession::next_primary() {
  if (state_ == State::kPrimaryOff && data_tx_on_) end_ones();
  if (data_tx_on_) return data_tx_.next(primary_port_, state_ == State::kPrimarySend && data_tx_.b1_sent());
  const bool in_turn = state_ == State::kTrainFar || state_ == State::kPrimarySend;
  if (in_turn && primary_tx_.ended()) {
    constexpr auto kFirst = static_cast<uint8_t>(Event::kPrimarySilence);
    handle(static_cast<Event>(kFirst + static_cast<uint8_t>(primary_tx_.signal())));
    if (data_tx_on_) return data_tx_.next(primary_port_, false);
  }
  return primary_tx_.next();
}

// The ones follow the user's bits in the current mapping frame.
void HalfDuplexSession::end_ones() {
  if (ones_left_ < 0) {
    if (!data_tx_.frame_sent()) return;
    ones_left_ = symbols_in(phase2_.tx_symbol_rate, ms(kPrimaryOnesMs));
  }
  if (ones_left_-- > 0) return;
  bits_before_ += data_tx_.bits_sent();
  renew(data_tx_);
  data_tx_on_ = false;
  primary_tx_.start(Signal::kSilence);
  handle(Event::kPrimaryOnes);
}

void HalfDuplexSession::send_trn() {
  const auto points = phase2_.infoh.trn_16_points ? TrainingPoints::k16 : TrainingPoints::k4;
  const uint32_t samples = ms(kMdUnitMs) * phase2_.infoh.trn_length;
  primary_tx_.start_trn(points, symbols_in(phase2_.tx_symbol_rate, samples));
}

void HalfDuplexSession::begin_primary() {
  primary_tx_.start(Signal::kSilence, symbols_in(phase2_.tx_symbol_rate, ms(kSilenceMs)));
  control_tx_.start(ControlSignal::kSilence, ControlTransmitter::kForEver);
  control_rx_.rest();
  reads_control_ = false;
}

void HalfDuplexSession::send_b1() {
  renew(data_tx_, parameters_);
  data_tx_on_ = true;
}

void HalfDuplexSession::begin_control() {
  primary_tx_.start(Signal::kSilence);
  control_tx_.start(ControlSignal::kSilence, kControlSilence);
  seek_control();
}

void HalfDuplexSession::seek_control() {
  control_rx_.seek();
  control_reader_.begin();
  reads_control_ = false;
  far_mph_received_ = sent_e_ = received_e_ = false;
  deadline_ = 0;
}

void HalfDuplexSession::await_far_pph() {
  control_tx_.start(ControlSignal::kAlt, ControlTransmitter::kForEver);
  time_out_in(kControlTimeoutMs);
}

// This end's PPh was sent.
void HalfDuplexSession::take_pph() {
  reads_control_ = true;
  time_out_in(kControlTimeoutMs);
  control_tx_.end_alt(kAltSymbols);
}

void HalfDuplexSession::answer_pph() {
  stop_primary();
  far_mph_received_ = sent_e_ = received_e_ = false;
  reads_control_ = true;
  control_reader_.begin();
  send_pph();
  // 12.4.3.3: after receiving PPh; 12.4.4.2: after sending it.
  time_out_in(kControlTimeoutMs + (config_.source ? 0 : kPphSymbols * 1000 / kControlSymbolHz));
}

void HalfDuplexSession::ask_for_change() {
  stop_primary();
  seek_control();
  send_pph();
}

void HalfDuplexSession::send_alt() {
  control_tx_.start(ControlSignal::kAlt, kAltSymbols);
}

void HalfDuplexSession::send_mph() {
  if (control_tx_.signal() != ControlSignal::kMph) own_ = make_mph();
  control_tx_.start_mph(own_);
}

void HalfDuplexSession::take_mph() {
  if (!far_mph_received_) time_out_in(kControlTimeoutMs);
  far_ = control_reader_.mph();
  far_mph_received_ = true;
}

void HalfDuplexSession::send_control_data() {
  sent_e_ = true;
  agree();
  control_tx_.start_data(rates_.tx_control_2400);
}

void HalfDuplexSession::receive_control_data() {
  received_e_ = true;
  deadline_ = 0;
  agree();
  control_reader_.begin_data(rates_.rx_control_2400);
  control_rx_.decide(rates_.rx_control_2400 ? TrainingPoints::k16 : TrainingPoints::k4);
}

void HalfDuplexSession::send_ac() {
  ++control_retrains_;
  seek_control();
  control_tx_.start(ControlSignal::kAc, ControlTransmitter::kForEver);
}

void HalfDuplexSession::respond_to_ac() {
  ++control_retrains_;
  seek_control();
  send_pph();
}

void HalfDuplexSession::begin_sh() {
  seek_control();
  control_tx_.start(ControlSignal::kSilence, kControlSilence);
}

void HalfDuplexSession::await_far_sh() {
  control_tx_.start(ControlSignal::kAlt, ControlTransmitter::kForEver);
  time_out_in(kControlTimeoutMs);
}

void HalfDuplexSession::answer_sh_bar() {
  reads_control_ = true;
  control_tx_.end_alt(kAltSymbols);
}

void HalfDuplexSession::answer_with_sh() {
  stop_primary();
  reads_control_ = true;
  control_reader_.begin();
  sent_e_ = received_e_ = false;
  deadline_ = 0;
  send_sh();
}

void HalfDuplexSession::send_resync_alt() {
  send_alt();
  time_out_in(kControlTimeoutMs);
}

// --- reception

void HalfDuplexSession::hear_control(float rx) {
  const bool symbol = control_rx_.process(rx);
  switch (control_rx_.take_event()) {
    case ControlReceiver::Event::kPph:
      handle(Event::kFarPph);
      break;
    case ControlReceiver::Event::kShBar:
      handle(Event::kFarShBar);
      break;
    case ControlReceiver::Event::kAc:
      handle(Event::kFarAc);
      break;
    case ControlReceiver::Event::kNone:
      break;
  }
  if (!symbol || !reads_control_) return;
  switch (control_reader_.put(control_rx_.decision(), control_port_)) {
    case ControlReader::Found::kMph:
      handle(Event::kFarMph);
      break;
    case ControlReader::Found::kE:
      handle(Event::kFarE);
      if (sent_e_ && received_e_) handle(Event::kBothHaveE);
      break;
    case ControlReader::Found::kNone:
      break;
  }
}

void HalfDuplexSession::hear_primary(float rx, bool lost) {
  constexpr float kFast = 1.f / 32, kSlow = 1.f / 1024;
  fast_power_ += kFast * (rx * rx - fast_power_);
  if (fast_power_ > kSilentShare * slow_power_) slow_power_ += kSlow * (rx * rx - slow_power_);
  const bool symbol = lost ? receiver_.process_lost() : receiver_.process(rx);
  const qam::Receiver::Event event = receiver_.take_event();
  if (event == qam::Receiver::Event::kSBar) handle(Event::kFarSBar);
  if (symbol && event == qam::Receiver::Event::kNone && receiver_.task() == Task::kFollow) read_primary();
}

void HalfDuplexSession::read_primary() {
  if (after_pp_ == 0 && state_ == State::kPrimaryReceive && order_.listen == ReceiverOrder::Listen::kTraining)
    handle(Event::kFarPpOver);
  const Complex y = receiver_.symbol();
  const Complex sent = reader_.decide(y);
  // The silence after the page teaches nothing.
  const bool silent = fast_power_ < kSilentShare * slow_power_;
  if (!receiver_.erased() && !silent) receiver_.adapt(sent);
  Heard heard;
  reader_.put(y, order_.deliver, &heard);
  if (after_pp_ > 0) --after_pp_;
  if (heard.data != nullptr) {
    follow_line(heard);
    return;
  }
  training_ = heard.training;
  if (state_ != State::kFarTrn) return;
  measure_noise();
  const int length = symbols_in(phase2_.rx_symbol_rate, ms(kMdUnitMs) * phase2_.infoh.trn_length);
  if (reader_.training().trn_symbols() >= length) handle(Event::kFarTrnOver);
}

void HalfDuplexSession::measure_noise() {
  constexpr int kEvery = 128, kEnough = 1024;
  const qam::NoisePredictor& noise = receiver_.noise();
  if (noise.count() < kEnough || noise.count() % kEvery != 0) return;
  quality_.snr = precoded_snr(noise, &quality_.precoder);
}

void HalfDuplexSession::listen(bool pp, TrainingPoints points) {
  order_.listen = ReceiverOrder::Listen::kTraining;
  order_.next = receiver_.symbols_skipped();
  order_.pp = pp;
  order_.points = points;
  order_.known_trn = kMinTrnSymbols;
  order_.grid_energy = points_energy(points);
  order_.format = qam::SymbolFormat{order_.grid_energy};
  order_.deliver = false;
  receiver_.set_format(order_.format);
  receiver_.set_task(Task::kFollow);
  reader_.init(order_);
  training_ = {};
}

void HalfDuplexSession::follow_training() {
  deadline_ = 0;
  listen(true, phase2_.infoh.trn_16_points ? TrainingPoints::k16 : TrainingPoints::k4);
}

bool HalfDuplexSession::trained_well() const {
  return training_.error < kMostTrnError;
}

void HalfDuplexSession::await_pph() {
  training_snr_ = quality_.snr > 0 ? quality_.snr : 1 / static_cast<double>(training_.error);
  receiver_.set_task(Task::kHold);
  order_.listen = ReceiverOrder::Listen::kNothing;
  seek_control();
  time_out_in(kControlTimeoutMs);
}

void HalfDuplexSession::await_primary() {
  control_tx_.start(ControlSignal::kSilence, ControlTransmitter::kForEver);
  reads_control_ = false;
  receiver_.set_task(Task::kResume);
  control_rx_.rest();
}

void HalfDuplexSession::follow_primary() {
  listen(true, TrainingPoints::k4);
  const int left = kBetweenSBarAndData - order_.next;
  after_pp_ = left > 0 ? left : 0;
}

void HalfDuplexSession::receive_primary() {
  order_.listen = ReceiverOrder::Listen::kData;
  order_.data = parameters_;
  order_.format = parameters_.format();
  order_.format.grid = qam::Grid::kOdd;
  order_.grid_energy = parameters_.mean_energy();
  receiver_.set_format(order_.format);
  bits_before_ += reader_.data().bits_received();
  reader_.init(order_);
}

void HalfDuplexSession::stop_primary() {
  monitored_ = false;
  order_.deliver = false;
  order_.listen = ReceiverOrder::Listen::kNothing;
  receiver_.set_task(Task::kHold);
}

void HalfDuplexSession::await_control() {
  stop_primary();
  seek_control();
  time_out_in(kControlTimeoutMs);
}

void HalfDuplexSession::follow_line(const Heard& heard) {
  if (!monitored_) {
    if (!heard.data->b1_received()) return;
    monitored_ = true;
    order_.deliver = true;
    control_rx_.seek();  // the source may change direction before this end's owner knows
    receive_rate_.start(parameters_, limits(), own_.rate_mask & far_.rate_mask, far_.max_rate, training_snr_,
                        heard.data->b1_variance());
    return;
  }
  if (!heard.data->pair_completed() || fast_power_ < kSilentShare * slow_power_) return;
  const LineMonitor::Advice advice = receive_rate_.put(*heard.data, receiver_.erased() || receiver_.off_grid());
  if (advice != LineMonitor::Advice::kLower && advice != LineMonitor::Advice::kYield) return;
  most_rate_ = receive_rate_.limit_after(advice);
  wants_change_ = true;
}

// --- rates

RateLimits HalfDuplexSession::limits() const {
  RateLimits l{};
  l.symbol_rate = config_.source ? phase2_.tx_symbol_rate : phase2_.rx_symbol_rate;
  l.trellis = TrellisCode::k64;
  l.expanded = true;
  for (const auto& h : quality_.precoder.h) l.precoding |= h.re != 0 || h.im != 0;
  l.points_1664 = phase2_.own_info0.supports_1664_points && phase2_.far_info0.supports_1664_points;
  l.max_bit_rate = config_.max_bit_rate;
  return l;
}

Mph HalfDuplexSession::make_mph() {
  const RateLimits l = limits();
  Mph mph{};
  mph.control_2400 = config_.control_2400;
  mph.asymmetric_control = config_.asymmetric_control;
  mph.rate_mask = rate_mask(l, l);
  mph.max_rate = highest_rate(l);
  wants_change_ = false;
  if (config_.source) return mph;  // bits 29 to 32 are the recipient's
  mph.max_rate = receive_rate_.choose(l, training_snr_, config_.margin, had_control_, most_rate_);
  mph.trellis = l.trellis;
  mph.expanded = l.expanded;
  // On lines so good that the noise is that of G.711, it grows with the level.
  mph.nonlinear = 2400.0 * mph.max_rate / symbol_rate_hz(l.symbol_rate) >= 9;
  mph.type1 = l.precoding;
  if (mph.type1) mph.precoder = quality_.precoder;
  return mph;
}

void HalfDuplexSession::agree() {
  had_control_ = true;
  rates_ = resolve_rates(own_, far_);
  const Mph& asked = config_.source ? far_ : own_;
  if (asked.type1) precoder_ = asked.precoder;
  const SymbolRate s = limits().symbol_rate;
  const uint32_t bit_rate = uint32_t{rates_.primary} * 2400;
  if (!is_supported(s, bit_rate)) {
    retrain();
    state_ = State::kEnded;
    return;
  }
  const oh_pump_role source = config_.source ? config_.role : far_role(config_.role);
  parameters_ = {{make_framing(s, bit_rate, false, asked.expanded), scrambling_of(source), asked.trellis, precoder_},
                 asked.nonlinear,
                 bit_rate};
}

}  // namespace offhook::v34
