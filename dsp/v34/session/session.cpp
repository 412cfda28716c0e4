// SPDX-License-Identifier: MIT
#include "dsp/v34/session/session.h"

#include "dsp/blocks/renew.h"

namespace offhook::v34 {
namespace {

using Task = qam::Receiver::Task;

constexpr uint32_t kSilenceMs = 70;        // before S; 11.3.1.2.1
constexpr uint32_t kMaxFinalTrnMs = 2000;  // 11.4.1.1.2, 11.4.1.2.2, 11.6.1
// J may be answered up to 500 ms after it was found (11.3.1.1.3, 11.3.1.2.6). A modem trains its far-echo canceller
// with its earlier signal, which returns a round trip later. Some real modems need silence from this end for that.
constexpr uint32_t kMaxAfterJMs = 400;
constexpr uint32_t kFalseSMs = 150;   // S lasts 128T, at most 53 ms
constexpr uint32_t kFarStopsMs = 60;  // S-bar, J up to its end, and the delay of receivers and filters
// The Recommendation permits 2500 ms and some round trips until E. The TRN of some real modems is too long for that:
// one call modem sends TRN for 1.8 s and 3.8 round trips. If the far end's TRN or MP has not ended by then, it gets
// kPatienceMs and two more round trips, once. Its points are recognised by their mean squared distance from the nearest
// of the grid: silence and noise of any level have 0.6 and more.
constexpr uint32_t kPatienceMs = 2000;
constexpr float kPointsDistance = 0.25f;
constexpr int kRenegotiationTrn = 256;  // at least: scrambler and equaliser settle
// 22 dB: in 999 of 1000 cases, all 47 symbols of an MP of sixteen points are correct.
constexpr float kSixteenPointsError = 1 / 160.f;
constexpr int kCleardownMpPrimes = 3;  // so that one is received

}  // namespace

const Session::Table& Session::transitions() {
  using enum SessionState;
  using enum SessionEvent;
  using P = Session;
  // clang-format off
  static constexpr Transition kRows[] = {
      // Phase 3, the far end's signals
      {in(kSendJ),    kFarSBar,      &P::calls,        &P::begin_phase4,           kFinal,    "11.4.1.1.1"},
      {in(kSendJ, kFarS), kFarSBar,  &P::expects_md,   &P::wait_out_md,            kFarMd,    "11.3.1.1.1, 11.3.1.2.4"},
      {in(kFarMd),    kWaitOver,     nullptr,          &P::listen_again,           kFarS,     "11.3.1.1.1, 11.3.1.2.4"},
      {in(kSendJ, kFarS), kFarSBar,  nullptr,          &P::follow_phase3,          kFarTrn,   "11.3.1.1.2, 11.3.1.2.5"},
      {in(kFarTrn),   kFarJ,         nullptr,          &P::await_answer_to_j,      kAnswerJ,    "11.3.1.1.3, 11.3.1.2.6"},
      {in(kAnswerJ),     kWaitOver,     &P::calls,        &P::send_s,                 kTrainFar, "11.3.1.1.3"},
      {in(kAnswerJ),     kWaitOver,     nullptr,          &P::send_s,                 kFinal,    "11.3.1.2.6, 11.4.1.2.1"},
      {in(kFarS, kFarMd, kFarTrn), kTimeout, nullptr,   &P::miss_far_training,     kEnded,    "11.3.2.1.1, 11.3.2.2.2"},
      // Phase 3, this end's signals
      {in(kTrainFar), kSentSilence,  nullptr,          &P::send_s,                 kTrainFar, "11.3.1.2.1"},
      {in(kTrainFar), kSentS,        nullptr,          &P::send_s_bar,             kTrainFar, "11.3.1.1.3, 11.3.1.2.1"},
      {in(kTrainFar), kSentSBar,     &P::owes_md,      &P::send_md,                kTrainFar, "11.3.1.1.4, 11.3.1.2.1"},
      {in(kTrainFar), kSentMd,       nullptr,          &P::send_s,                 kTrainFar, "11.3.1.1.4, 11.3.1.2.1"},
      {in(kTrainFar), kSentSBar,     nullptr,          &P::send_pp,                kTrainFar, "11.3.1.1.5, 11.3.1.2.2"},
      {in(kTrainFar), kSentPp,       nullptr,          &P::send_phase3_trn,        kTrainFar, "11.3.1.1.6, 11.3.1.2.3"},
      {in(kTrainFar), kSentTrn,      nullptr,          &P::begin_j,                kSendJ,    "11.3.1.1.7, 11.3.1.2.4"},
      {in(kSendJ),    kSentJ,        nullptr,          &P::send_j,                 kSendJ,    "11.3.1.1.7, 11.3.1.2.4"},
      {in(kFarMd),    kSentJ,        nullptr,          &P::end_j,                  kFarMd,    "11.3.1.2.4"},
      {in(kFarTrn),   kSentJ,        nullptr,          &P::end_j,                  kFarTrn,   "11.3.1.2.4"},
      {in(kSendJ),    kTimeout,      nullptr,          &P::end_with_marks,         kEnded,    "11.3.2.2.1, 11.4.2.1.1"},
      // Phase 4, renegotiation, cleardown
      {in(kFinal),    kSentJ,        nullptr,          &P::send_j_prime,           kFinal,    "11.4.1.1.1"},
      {in(kFinal),    kSentJPrime,   nullptr,          &P::send_phase4_trn,        kFinal,    "11.4.1.1.2"},
      {in(kFinal),    kSentS,        &P::starts_up,    &P::send_s_bar_in_time,     kFinal,    "11.4.1.2.1, 11.4.2.2.1"},
      {in(kFinal),    kSentS,        nullptr,          &P::send_s_bar,             kFinal,    "11.6.1.1.1, 11.6.1.2.1"},
      {in(kFinal),    kSentSBar,     &P::starts_up,    &P::send_phase4_trn,        kFinal,    "11.4.1.2.1"},
      {in(kFinal),    kSentSBar,     &P::clears_down,  &P::begin_cleardown_mp,     kFinal,    "11.7.1.1"},
      {in(kFinal),    kSentSBar,     nullptr,          &P::send_renegotiation_trn, kFinal,    "11.6.1.1.1, 11.6.1.2.1"},
      {in(kFinal),    kTimeout,      nullptr,          &P::end_without_info1,      kEnded,    "11.4.2.2.1"},
      {in(kFinal),    kFarJPrime,    &P::answers,      &P::follow_phase4,          kFinal,    "11.4.1.2.2"},
      {in(kFinal),    kFarSBar,      &P::expects_s,    &P::follow_renegotiation,   kFinal,    "11.6.1.1.1"},
      {in(kFinal),    kSentTrn,      &P::ready_for_mp, &P::send_mp,                kFinal,    "11.4.1.1.2, 11.4.1.2.2, 11.6.1"},
      {in(kFinal),    kFarMp,        nullptr,          &P::take_mp,                kFinal,    "11.4.1.1.3, 11.4.1.2.3, 11.6.1"},
      {in(kFinal),    kSentMp,       &P::cleared,      &P::release,                kEnded,    "11.7.1.4, 11.7.2.3"},
      {in(kFinal),    kSentMp,       &P::agreed,       &P::send_e,                 kFinal,    "11.4.1.1.3, 11.4.1.2.3, 11.6.1"},
      {in(kFinal),    kSentMp,       nullptr,          &P::send_mp,                kFinal,    "11.4.1.1.3, 11.4.1.2.3, 11.6.1"},
      {in(kFinal),    kFarE,         &P::expects_e,    &P::receive_data,           kFinal,    "11.4.1.1.5, 11.4.1.2.5, 11.6.1"},
      {in(kFinal),    kSentE,        nullptr,          &P::send_data,              kFinal,    "11.4.1.1.4, 11.4.1.2.4, 11.6.1"},
      {in(kFinal),    kBothSendData, nullptr,          nullptr,                    kData,     "11.4.1.1.5, 11.4.1.2.5, 11.6.1"},
      {in(kFinal),    kNoE,          &P::clears_down,  &P::release,                kEnded,    "11.7"},
      {in(kFinal),    kNoE,          &P::far_end_trains, &P::wait_for_e,           kFinal,    "11.4.2.1.2, 11.4.2.2.2"},
      {in(kFinal),    kNoE,          nullptr,          &P::end_in_retrain,         kEnded,    "11.4.2.1.2, 11.4.2.2.2, 11.6.2"},
      // data mode
      {in(kData),     kFarSBar,      nullptr,          &P::answer_renegotiation,   kFinal,    "11.6.1.2.1"},
      {in(kData),     kRenegotiate,  &P::live,         &P::begin_renegotiation,    kFinal,    "11.6.1.1.1"},
      {in(kData),     kCleardown,    &P::live,         &P::begin_cleardown,        kFinal,    "11.7.1.1"},
      {in(kData),     kLineLost,     nullptr,          &P::end_in_retrain,         kEnded,    "11.5.1.1, 11.5.2.1"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

Session::Session(const SessionConfig& config, const DataPort& port)
    : TableProcedure(State::kEnded),
      config_(config),
      port_(port),
      tx_(scrambling_of(config.role)),
      rx_points_(config.points) {
  receive_rate_.remember(config.memory);
  if (calls()) {
    state_ = State::kFarS;
    order_.task = Task::kTrain;
    tx_.start(Signal::kSilence);
    const uint32_t limit = ms(2800) + 2 * answer_delay();  // 11.3.2.1.1
    deadline_ = limit > config.since_info1c ? limit - config.since_info1c : 1;
  } else {
    state_ = State::kTrainFar;
    const uint32_t silence = ms(kSilenceMs) > config.elapsed ? ms(kSilenceMs) - config.elapsed : 0;
    tx_.start(Signal::kSilence, symbols_in(config.tx_symbol_rate, silence));
  }
}

void Session::end(Outcome outcome) {
  state_ = State::kEnded;
  outcome_ = outcome;
  order_.task = Task::kHold;
  order_.listen = ReceiverOrder::Listen::kNothing;
  wait_until_ = 0;
  tx_.start(Signal::kSilence);
  data_tx_on_ = false;
  tx_live_ = false;
  deliver(false, 0);
  circuit_109_ = false;
}

void Session::tick() {
  ++now_;
  if (is_due(now_, &wait_until_)) handle(Event::kWaitOver);
  if (clamped_at_ != 0 && now_ - clamped_at_ > ms(kFalseSMs)) deliver(rx_live_, 0);  // it was none
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
  if (is_due(now_, &e_deadline_)) handle(Event::kNoE);
}

bool Session::far_end_silent() const {
  return state_ == State::kTrainFar && (tx_.signal() == Signal::kPp || tx_.signal() == Signal::kTrn) &&
         now_ >= silent_at_;
}

// --- transmission

Complex Session::next_symbol() {
  if (!data_tx_on_ && tx_.ended()) {
    if (tx_.signal() == Signal::kMp && mp_.own.acknowledge) ++mp_.primes;
    static_assert(static_cast<int>(Event::kSentE) == static_cast<int>(Signal::kE));
    handle(static_cast<Event>(tx_.signal()));
  }
  if (!data_tx_on_) return tx_.next();
  const Complex s = data_tx_.next(port_, tx_live_);
  advance_data();
  return s;
}

void Session::send_s() {
  data_tx_on_ = false;
  tx_.start(Signal::kS);
}

void Session::send_s_bar() {
  tx_.start(Signal::kSBar);
  // The answer modem sends J until it receives this.
  silent_at_ = now_ + (calls() ? answer_delay() + ms(kFarStopsMs) : 0);
}

void Session::send_s_bar_in_time() {
  send_s_bar();
  deadline_ = now_ + ms(100) + answer_delay();
}

void Session::send_md() {
  const uint32_t samples = ms(kMdUnitMs) * config_.own_md_length;
  tx_.start(Signal::kMd, symbols_in(config_.tx_symbol_rate, samples));
  config_.own_md_length = 0;
  // From the start of MD to the end of TRN at most 2000 ms and a round trip (11.3.1.1.6, 11.3.1.2.3).
  const uint32_t trn = ms(config_.phase3_trn_ms);
  config_.phase3_trn_ms = samples < trn ? (trn - samples) / ms(1) : 0;
}

void Session::send_phase3_trn() {
  const uint32_t samples = ms(config_.phase3_trn_ms) + config_.round_trip_samples;
  tx_.start_trn(TrainingPoints::k4, kMinTrnSymbols + symbols_in(config_.tx_symbol_rate, samples));
}

void Session::begin_j() {
  send_j();
  deadline_ = now_ + ms(600) + answer_delay();
  order_.listen = ReceiverOrder::Listen::kNothing;
  order_.task = calls() ? Task::kResume : Task::kTrain;
}

void Session::end_j() {
  tx_.start(Signal::kSilence);
  deadline_ = now_ + ms(2600) + 2 * answer_delay();
}

uint32_t Session::e_timeout() const {
  if (config_.far_cme) return ms(30000);
  // 11.4.2.1.2, 11.4.2.2.2, 11.6.2
  const bool three = starts_up() ? answers() : !initiator_;
  return ms(2500) + (three ? 3 : 2) * answer_delay();
}

bool Session::far_end_trains() const {
  return starts_up() && !config_.far_cme && !waited_for_e_ && training_.error * order_.grid_energy < kPointsDistance;
}

void Session::wait_for_e() {
  waited_for_e_ = true;
  e_deadline_ = now_ + ms(kPatienceMs) + 2 * answer_delay();
}

void Session::send_phase4_trn() {
  e_deadline_ = now_ + e_timeout();
  tx_.start_trn(tx_points_, kMinTrnSymbols);
}

void Session::send_renegotiation_trn() {
  e_deadline_ = now_ + e_timeout();
  tx_.start_trn(TrainingPoints::k4, kRenegotiationTrn);
}

void Session::begin_cleardown_mp() {
  e_deadline_ = now_ + e_timeout();
  send_mp();
}

bool Session::ready_for_mp() const {
  // The limit applies to the whole TRN. The modem that may wait a round trip longer is the one that its partner must
  // receive first.
  const bool longer = starts_up() ? answers() : initiator_;
  const uint32_t limit = ms(kMaxFinalTrnMs) + (longer ? config_.round_trip_samples : 0);
  if (tx_.sent() >= symbols_in(config_.tx_symbol_rate, limit) - 1) return true;
  if (!far_trn_) return false;
  const int least = starts_up() ? symbols_in(config_.rx_symbol_rate, ms(config_.phase4_trn_ms)) : kRenegotiationTrn;
  return mp_.received || (training_.symbols >= least && training_.settled);
}

void Session::send_mp() {
  const bool released = mp_.far.max_call_to_answer == 0 && mp_.far.max_answer_to_call == 0;
  if (mp_.received && released && procedure_ == Procedure::kRenegotiation) {
    procedure_ = Procedure::kCleardown;  // the far end's
    initiator_ = false;
  }
  if (!mp_.sent) {
    mp_snr_ = training_snr();
    mp_.own = make_mp();
    mp_.sent = true;
  }
  mp_.own.acknowledge = mp_.received;
  tx_.start_mp(mp_.own);
}

bool Session::cleared() const {
  return clears_down() && mp_.answered && mp_.primes >= (initiator_ ? kCleardownMpPrimes : 1);
}

void Session::send_e() {
  agree();
  if (rates_.call_to_answer == 0 || rates_.answer_to_call == 0) {
    // A far end with errors may request 2400 bit/s at a symbol rate that has 4800 and more: another training can choose
    // another one.
    return starts_up() ? release() : end_in_retrain();
  }
  tx_.start(Signal::kE);
}

void Session::send_data() {
  renew(data_tx_, tx_parameters_);
  data_tx_on_ = true;
  advance_data();
}

// --- reception

void Session::put(const Heard& heard) {
  if (heard.event == qam::Receiver::Event::kS && rx_live_) deliver(true, now_ | 1);
  if (heard.event == qam::Receiver::Event::kSBar) {
    s_bar_age_ = heard.s_bar_age;
    next_ = heard.symbols_skipped;
    handle(Event::kFarSBar);
  }
  if (!heard.symbol) return;
  if (heard.data != nullptr) {
    b1_received_ = heard.data->b1_received();
    if (b1_received_) b1_variance_ = heard.data->b1_variance();
    advance_data();
    if (order_.deliver && heard.data->pair_completed()) follow_line(heard);
  } else {
    training_ = heard.training;
    constexpr Event kFound[] = {Event::kFarJ, Event::kFarJPrime, Event::kFarMp, Event::kFarE};
    const auto found = static_cast<unsigned>(training_.found);
    if (found > 0) handle(kFound[found - 1]);
  }
  if (order_.listen == ReceiverOrder::Listen::kData) {
    quality_.snr = 0;
  } else if (heard.quality != nullptr) {
    quality_ = *heard.quality;
  }
}

void Session::deliver(bool live, int64_t clamped_at) {
  rx_live_ = live;
  clamped_at_ = clamped_at;
  order_.deliver = live && clamped_at == 0;
}

void Session::listen(int next, bool pp, TrainingPoints points, int known_trn) {
  order_.task = Task::kFollow;
  order_.listen = ReceiverOrder::Listen::kTraining;
  ++order_.version;
  order_.next = next;
  order_.pp = pp;
  order_.points = points;
  order_.known_trn = known_trn;
  order_.grid_energy = points_energy(points);
  order_.format = qam::SymbolFormat{order_.grid_energy};
  training_ = {};
}

void Session::wait_out_md() {
  const uint32_t md = ms(kMdUnitMs) * config_.far_md_length;
  const auto gone = static_cast<uint32_t>(s_bar_age_ * 8000 / symbol_rate_hz(config_.rx_symbol_rate));
  config_.far_md_length = 0;
  wait_until_ = now_ + (md > gone ? md - gone : 1);
  order_.task = Task::kHold;
}

void Session::miss_far_training() {
  missed_far_training_ = true;
  end(calls() ? Outcome::kRepeatInfo1 : Outcome::kRepeatInfo1WithMarks);
}

void Session::await_answer_to_j() {
  deadline_ = 0;
  tx_points_ = training_.wanted_points;
  if (calls()) {
    if (training_.error > kSixteenPointsError) rx_points_ = TrainingPoints::k4;
    order_.task = Task::kHold;
    order_.listen = ReceiverOrder::Listen::kNothing;
  } else {
    circuit_107_ = true;
  }
  const uint32_t most = ms(kMaxAfterJMs);
  wait_until_ = now_ + 1 + (config_.round_trip_samples < most ? config_.round_trip_samples : most);
}

void Session::begin_phase4() {
  circuit_107_ = true;
  far_trn_ = true;
  listen(next_, false, rx_points_, kMinTrnSymbols);
}

void Session::follow_phase4() {
  deadline_ = 0;
  far_trn_ = true;
  listen(kSBarSymbols, false, rx_points_, kMinTrnSymbols);
}

void Session::take_mp() {
  mp_.far = *training_.mp;
  mp_.received = true;
  mp_.answered |= mp_.far.acknowledge;
}

void Session::receive_data() {
  mp_.answered = true;
  agree();
  if (rates_.call_to_answer == 0) return;  // this end's send_e() ends it
  mp_.e_received = true;
  e_deadline_ = 0;
  b1_received_ = false;
  order_.listen = ReceiverOrder::Listen::kData;
  ++order_.version;
  order_.data = rx_parameters_;
  order_.format = rx_parameters_.format();
  order_.format.grid = qam::Grid::kOdd;
  order_.grid_energy = rx_parameters_.mean_energy();
}

// --- data mode

// E was sent and received: data mode. The user's bits are sent after this end's B1 and delivered after the far end's.
// The far end receives them half a round trip later, and may wait for V.42 only for T400 from its data mode on. No bit
// is lost: the far end's E comes right after its MP', this end's E at the end of the current MP', within 47 or 94
// symbols, and B1 is longer than that.
void Session::advance_data() {
  if (data_tx_on_ && data_tx_.b1_sent()) tx_live_ = true;
  if (state_ == State::kFinal && data_tx_on_ && order_.listen == ReceiverOrder::Listen::kData) {
    handle(Event::kBothSendData);
  }
  if (state_ != State::kData || rx_live_) return;
  if (b1_received_) circuit_109_ = true;
  if (!b1_received_) return;
  deliver(true, 0);
  power_ = 0;
  begin_monitor();
}

void Session::follow_line(const Heard& heard) {
  if (power_ == 0) power_ = heard.power;
  const LineMonitor::Advice advice = receive_rate_.put(*heard.data, heard.uncertain);
  if (!config_.adapt_rate || !tx_live_ || advice == LineMonitor::Advice::kNone) return;
  // S is short, and a silent far end may miss it; the tone of a retrain lasts until the answer.
  if (heard.power < kSilentShare * power_ || advice == LineMonitor::Advice::kRetrain) {
    handle(Event::kLineLost);
  } else {
    renegotiate(receive_rate_.limit_after(advice));
  }
}

void Session::renegotiate(uint8_t max_rx_rate) {
  if (handle(Event::kRenegotiate)) max_rx_rate_ = max_rx_rate;
}

void Session::begin_procedure(Procedure procedure, bool initiator) {
  procedure_ = procedure;
  initiator_ = initiator;
  ++renegotiations_;
  mp_ = {};
  max_rx_rate_ = kMostRate;
  tx_points_ = TrainingPoints::k4;
  tx_live_ = false;
  far_trn_ = false;
  send_s();
}

void Session::answer_renegotiation() {
  begin_procedure(Procedure::kRenegotiation, false);
  follow_renegotiation();
}

void Session::follow_renegotiation() {
  deliver(false, 0);
  far_trn_ = true;
  listen(next_, false, TrainingPoints::k4, 0);  // TRN of any length, even none
}

}  // namespace offhook::v34
