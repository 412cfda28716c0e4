// SPDX-License-Identifier: MIT
#include "dsp/v34/phase34/handshake.h"

#include "dsp/blocks/renew.h"

namespace offhook::v34 {
namespace {

constexpr uint32_t kSilenceMs = 70;        // before S; 11.3.1.2.1
constexpr uint32_t kMdUnitMs = 35;         // Tables 15 and 16
constexpr uint32_t kMaxFinalTrnMs = 2000;  // 11.4.1.1.2, 11.4.1.2.2, 11.6.1
// J may be answered up to 500 ms after it was found (11.3.1.1.3, 11.3.1.2.6). A modem trains its far echo on what it
// has sent before, which comes back a round trip later; live ones were met that need our silence for it.
constexpr uint32_t kMaxAfterJMs = 400;
constexpr uint32_t kFalseSMs = 150;   // S lasts 128T, 53 ms at the most
constexpr uint32_t kFarStopsMs = 60;  // S-bar, J to its end, and what receivers and filters hold
// Beyond the 2500 ms of the text: live modems were met whose TRN, at 200 ms of round trip, leaves E no time within it.
constexpr uint32_t kPatienceMs = 2000;
constexpr int kRenegotiationTrn = 256;  // at the least: scrambler and equaliser settle
// 22 dB: 47 symbols of an MP of sixteen points are right but for one MP in a thousand.
constexpr float kSixteenPointsError = 1 / 160.f;
constexpr int kCleardownMpPrimes = 3;  // so that one gets through

Scrambling own_scrambling(oh_pump_role role) {
  return role == OH_PUMP_CALL ? kGpc : kGpa;
}
Scrambling far_scrambling(oh_pump_role role) {
  return role == OH_PUMP_CALL ? kGpa : kGpc;
}

constexpr float points_energy(TrainingPoints points) {
  return points == TrainingPoints::k4 ? 2 : 10;
}

int symbols_in(SymbolRate s, uint32_t samples) {
  return static_cast<int>(samples * symbol_rate_hz(s) / 8000 + 0.5);
}

}  // namespace

Handshake::Handshake(const HandshakeConfig& config, const DataPort& port)
    : config_(config),
      port_(port),
      tx_(own_scrambling(config.role)),
      own_md_due_(config.own_md_length > 0),
      far_md_due_(config.far_md_length > 0),
      rx_points_(config.points),
      signals_(far_scrambling(config.role)) {
  if (calls()) {
    stage_ = Stage::kTrainReceiver;
    task_ = ReceiverTask::kTrain;
    tx_.start(Signal::kSilence);
    const uint32_t limit = ms(2800) + 2 * config.round_trip_samples;  // 11.3.2.1.1
    deadline_ = limit > config.since_info1c ? limit - config.since_info1c : 1;
  } else {
    stage_ = Stage::kTrainFar;
    const uint32_t silence = ms(kSilenceMs) > config.elapsed ? ms(kSilenceMs) - config.elapsed : 0;
    tx_.start(Signal::kSilence, symbols_in(config.tx_symbol_rate, silence));
  }
}

void Handshake::end(Outcome outcome) {
  stage_ = Stage::kEnded;
  outcome_ = outcome;
  task_ = ReceiverTask::kFreeze;
  s_at_ = 0;
  tx_.start(Signal::kSilence);
  data_tx_on_ = false;
  in_data_rx_ = false;
  tx_live_ = rx_live_ = false;
  following_ = false;
  circuit_109_ = false;
}

uint32_t Handshake::final_timeout() const {
  if (config_.far_cme) return ms(30000);
  // 11.4.2.1.2, 11.4.2.2.2, 11.6.2
  const bool start_up = procedure_ == Procedure::kStartUp;
  const bool three = start_up ? !calls() : !initiator_;
  return ms(2500 + (start_up ? kPatienceMs : 0)) + (three ? 3 : 2) * config_.round_trip_samples;
}

void Handshake::tick() {
  ++now_;
  if (listen_at_ != 0 && now_ >= listen_at_) {
    listen_at_ = 0;
    task_ = ReceiverTask::kTrain;
  }
  if (s_at_ != 0 && now_ >= s_at_) {
    s_at_ = 0;
    send_s(calls() ? Stage::kTrainFar : Stage::kFinal);
  }
  if (clamped_at_ != 0 && now_ - clamped_at_ > ms(kFalseSMs)) clamped_at_ = 0;  // it was none
  if (deadline_ != 0 && now_ >= deadline_) {
    deadline_ = 0;
    switch (stage_) {
      case Stage::kTrainReceiver:  // 11.3.2.1.1, 11.3.2.2.2
        end(calls() ? Outcome::kRepeatInfo1 : Outcome::kRepeatInfo1WithMarks);
        break;
      case Stage::kSendJ:  // 11.3.2.2.1, 11.4.2.1.1
        end(Outcome::kRepeatInfo1WithMarks);
        break;
      case Stage::kFinal:  // no J': 11.4.2.2.1
        end(Outcome::kRepeatInfo1);
        break;
      default:
        break;
    }
  }
  if (e_deadline_ != 0 && now_ >= e_deadline_) {
    e_deadline_ = 0;
    end(procedure_ == Procedure::kCleardown ? Outcome::kReleased : Outcome::kRetrain);
  }
}

bool Handshake::far_end_silent() const {
  return stage_ == Stage::kTrainFar && (tx_.signal() == Signal::kPp || tx_.signal() == Signal::kTrn) &&
         now_ >= silent_at_;
}

// --- transmitter

Complex Handshake::next_symbol() {
  if (!data_tx_on_ && tx_.ended()) next_signal();
  if (!data_tx_on_) return tx_.next();
  const Complex s = data_tx_.next(port_, tx_live_);
  enter_data();
  return s;
}

void Handshake::send_s(Stage stage) {
  stage_ = stage;
  data_tx_on_ = false;
  tx_.start(Signal::kS);
}

// What follows the signal that has come to its end.
void Handshake::next_signal() {
  switch (tx_.signal()) {
    case Signal::kSilence:
      if (stage_ == Stage::kTrainFar) tx_.start(Signal::kS);
      break;
    case Signal::kS:
      tx_.start(Signal::kSBar);
      // The answer modem sends J until it hears this.
      silent_at_ = now_ + (calls() ? config_.round_trip_samples + ms(kFarStopsMs) : 0);
      if (stage_ == Stage::kFinal && procedure_ == Procedure::kStartUp) {  // the answer modem; 11.4.2.2.1
        deadline_ = now_ + ms(100) + config_.round_trip_samples;
      }
      break;
    case Signal::kSBar:
      if (stage_ == Stage::kTrainFar) {
        if (own_md_due_) {
          own_md_due_ = false;
          tx_.start(Signal::kMd, symbols_in(config_.tx_symbol_rate, ms(kMdUnitMs) * config_.own_md_length));
        } else {
          tx_.start(Signal::kPp);
        }
        break;
      }
      e_deadline_ = now_ + final_timeout();
      if (procedure_ == Procedure::kCleardown) {
        next_mp();
      } else if (procedure_ == Procedure::kRenegotiation) {
        tx_.start_trn(TrainingPoints::k4, kRenegotiationTrn);
      } else {
        tx_.start_trn(tx_points_, kMinTrnSymbols);
      }
      break;
    case Signal::kMd:
      tx_.start(Signal::kS);
      break;
    case Signal::kPp:
      tx_.start_trn(
          TrainingPoints::k4,
          kMinTrnSymbols + symbols_in(config_.tx_symbol_rate, ms(config_.phase3_trn_ms) + config_.round_trip_samples));
      break;
    case Signal::kTrn:
      if (stage_ == Stage::kTrainFar) {
        stage_ = Stage::kSendJ;
        tx_.start_j(rx_points_);
        deadline_ = now_ + ms(600) + config_.round_trip_samples;
        following_ = false;
        task_ = calls() ? ReceiverTask::kResume : ReceiverTask::kTrain;
      } else if (ready_for_mp()) {
        next_mp();
      }
      break;
    case Signal::kJ:
      if (stage_ == Stage::kSendJ) {
        tx_.start_j(rx_points_);
      } else if (stage_ == Stage::kFinal) {
        tx_.start(Signal::kJPrime);
      } else {
        tx_.start(Signal::kSilence);
        if (stage_ == Stage::kTrainReceiver) deadline_ = now_ + ms(2600) + 2 * config_.round_trip_samples;
      }
      break;
    case Signal::kJPrime:
      e_deadline_ = now_ + final_timeout();
      tx_.start_trn(tx_points_, kMinTrnSymbols);
      break;
    case Signal::kMp:
      next_mp();
      break;
    case Signal::kE:
      begin_transmitting_data();
      break;
  }
}

bool Handshake::ready_for_mp() const {
  // The limit is of the whole TRN, and the modem that may wait a round trip longer is the one whose partner must first
  // hear it.
  const bool longer = procedure_ == Procedure::kStartUp ? !calls() : initiator_;
  const uint32_t limit = ms(kMaxFinalTrnMs) + (longer ? config_.round_trip_samples : 0);
  if (tx_.sent() >= symbols_in(config_.tx_symbol_rate, limit) - 1) return true;
  if (!final_trn_) return false;
  const int least = procedure_ == Procedure::kStartUp ? symbols_in(config_.rx_symbol_rate, ms(config_.phase4_trn_ms))
                                                      : kRenegotiationTrn;
  return mp_received_ || (signals_.trn_symbols() >= least && signals_.settled());
}

RateLimits Handshake::limits(bool receive) const {
  RateLimits l{};
  l.symbol_rate = receive ? config_.rx_symbol_rate : config_.tx_symbol_rate;
  l.trellis = config_.trellis;
  l.expanded = config_.expanded;
  for (const auto& h : quality_.precoder.h) l.precoding |= h.re != 0 || h.im != 0;
  l.aux = config_.aux;
  l.points_1664 = config_.points_1664;
  l.max_bit_rate = config_.max_bit_rate;
  return l;
}

Mp Handshake::make_mp() const {
  Mp mp{};
  if (procedure_ == Procedure::kCleardown && initiator_) {
    mp.trellis = config_.trellis;
    mp.acknowledge = mp_received_;
    return mp;
  }
  const RateLimits rx = limits(true), tx = limits(false);
  double snr = quality_.snr > 0 ? quality_.snr : 1 / static_cast<double>(signals_.error());
  // After seconds of data their noise is better known than from a short TRN, while the receiver finds itself again. A
  // line that has become worse has max_rx_rate_ for it.
  if (procedure_ == Procedure::kRenegotiation && data_variance_ > 0) {
    const double in_data =
        static_cast<double>(rx_parameters_.mean_energy()) / (2 * static_cast<double>(data_variance_));
    if (in_data > snr) snr = in_data;
  }
  uint8_t receive = choose_rate(rx, snr / config_.margin);
  if (receive > max_rx_rate_) receive = max_rx_rate_;
  if (receive > monitor_.most()) receive = monitor_.most();
  const uint8_t transmit = highest_rate(tx);
  mp.type1 = rx.precoding;
  mp.max_call_to_answer = calls() ? transmit : receive;
  mp.max_answer_to_call = calls() ? receive : transmit;
  mp.aux = config_.aux;
  mp.trellis = config_.trellis;
  mp.nonlinear = config_.nonlinear;
  mp.expanded = config_.expanded;
  mp.acknowledge = mp_received_;
  mp.rate_mask = rate_mask(tx, rx);
  mp.asymmetric = config_.asymmetric;
  if (mp.type1) mp.precoder = quality_.precoder;
  return mp;
}

void Handshake::next_mp() {
  if (tx_.signal() == Signal::kMp && own_mp_.acknowledge) ++mp_primes_;
  const bool released = far_mp_.max_call_to_answer == 0 && far_mp_.max_answer_to_call == 0;
  if (procedure_ == Procedure::kCleardown) {
    // 11.7.1.4, 11.7.2.3
    if (mp_prime_or_e_received_ && mp_primes_ >= (initiator_ ? kCleardownMpPrimes : 1)) return end(Outcome::kReleased);
  } else if (mp_primes_ > 0 && mp_prime_or_e_received_) {
    agree();
    if (rates_.call_to_answer == 0 || rates_.answer_to_call == 0) return end(Outcome::kReleased);
    return tx_.start(Signal::kE);
  }
  if (mp_received_ && released && procedure_ == Procedure::kRenegotiation) {
    procedure_ = Procedure::kCleardown;  // the far end's
    initiator_ = false;
  }
  if (!mp_sent_) {
    own_mp_ = make_mp();
    mp_sent_ = true;
  }
  own_mp_.acknowledge = mp_received_;
  tx_.start_mp(own_mp_);
}

// What both MP say together. The far end's choices are for our transmitter, ours for its.
void Handshake::agree() {
  rates_ = resolve_rates(own_mp_, far_mp_);
  if (far_mp_.type1) own_precoder_ = far_mp_.precoder;
  if (own_mp_.type1) far_precoder_ = own_mp_.precoder;
  const bool aux = own_mp_.aux && far_mp_.aux;
  const auto parameters = [&](SymbolRate s, uint8_t rate, const Mp& wish, const PrecoderCoefficients& h,
                              Scrambling sc) {
    const uint32_t bit_rate = static_cast<uint32_t>(rate) * 2400;
    if (!is_supported(s, bit_rate)) return DataParameters{};
    return DataParameters{
        {make_framing(s, bit_rate, aux, wish.expanded), sc, wish.trellis, h}, wish.nonlinear, bit_rate};
  };
  const uint8_t tx_rate = calls() ? rates_.call_to_answer : rates_.answer_to_call;
  const uint8_t rx_rate = calls() ? rates_.answer_to_call : rates_.call_to_answer;
  tx_parameters_ = parameters(config_.tx_symbol_rate, tx_rate, far_mp_, own_precoder_, own_scrambling(config_.role));
  rx_parameters_ = parameters(config_.rx_symbol_rate, rx_rate, own_mp_, far_precoder_, far_scrambling(config_.role));
  if (tx_parameters_.bit_rate == 0 || rx_parameters_.bit_rate == 0) rates_ = {};
}

void Handshake::begin_transmitting_data() {
  renew(data_tx_, tx_parameters_);
  data_tx_on_ = true;
  enter_data();
}

// --- receiver

void Handshake::set_grid(float energy) {
  grid_energy_ = energy;
  ++epoch_;
}

void Handshake::far_s() {
  if (!rx_live_) return;
  clamped_at_ = now_ | 1;
}

void Handshake::far_s_bar(int passed, int next) {
  switch (stage_) {
    case Stage::kSendJ:
      deadline_ = 0;
      if (calls()) {  // 11.4.1.1.1: J' follows at the end of this J
        stage_ = Stage::kFinal;
        procedure_ = Procedure::kStartUp;
        circuit_107_ = true;
        signals_.begin(next, false, rx_points_, kMinTrnSymbols);
        final_trn_ = following_ = true;
        task_ = ReceiverTask::kFollow;
        set_grid(points_energy(rx_points_));
        break;
      }
      stage_ = Stage::kTrainReceiver;
      [[fallthrough]];
    case Stage::kTrainReceiver:
      if (following_) break;
      if (far_md_due_) {
        far_md_due_ = false;
        const uint32_t md = ms(kMdUnitMs) * config_.far_md_length;
        const uint32_t gone = static_cast<uint32_t>(passed * 8000 / symbol_rate_hz(config_.rx_symbol_rate));
        listen_at_ = now_ + (md > gone ? md - gone : 1);
        task_ = ReceiverTask::kFreeze;
        break;
      }
      signals_.begin(next, true, TrainingPoints::k4, kMinTrnSymbols);
      following_ = true;
      task_ = ReceiverTask::kFollow;
      set_grid(points_energy(TrainingPoints::k4));
      break;
    case Stage::kData:
    case Stage::kFinal: {
      const bool answers = stage_ == Stage::kData;
      if (!answers && procedure_ == Procedure::kStartUp) break;
      if (answers) {
        procedure_ = Procedure::kRenegotiation;
        initiator_ = false;
        ++renegotiations_;
        mp_sent_ = mp_received_ = mp_prime_or_e_received_ = e_received_ = false;
        mp_primes_ = 0;
        max_rx_rate_ = 14;
        tx_points_ = TrainingPoints::k4;
        tx_live_ = false;
        send_s(Stage::kFinal);
      } else if (e_received_) {
        break;
      }
      rx_live_ = false;
      signals_.begin(next, false, TrainingPoints::k4, 0);  // TRN of any length, also none
      final_trn_ = following_ = true;
      in_data_rx_ = false;
      clamped_at_ = 0;
      set_grid(points_energy(TrainingPoints::k4));
      break;
    }
    default:
      break;
  }
}

void Handshake::symbol(Complex y) {
  if (in_data_rx_) {
    data_rx_.put(port_, rx_live_ && clamped_at_ == 0);
    enter_data();
    if (rx_live_ && clamped_at_ == 0 && data_rx_.pair_completed()) follow_line();
    return;
  }
  if (!following_) return;
  switch (signals_.put(y)) {
    case ReceiveSignals::Found::kJ:
      if (stage_ != Stage::kTrainReceiver || s_at_ != 0) break;
      deadline_ = 0;
      tx_points_ = signals_.wanted_points();
      if (calls()) {
        if (signals_.error() > kSixteenPointsError) rx_points_ = TrainingPoints::k4;
        task_ = ReceiverTask::kFreeze;
        following_ = false;
      } else {
        procedure_ = Procedure::kStartUp;
        circuit_107_ = true;
      }
      s_at_ =
          now_ + 1 + (config_.round_trip_samples < ms(kMaxAfterJMs) ? config_.round_trip_samples : ms(kMaxAfterJMs));
      break;
    case ReceiveSignals::Found::kJPrime:
      if (stage_ != Stage::kFinal || calls()) break;
      deadline_ = 0;
      signals_.begin_trn(rx_points_, kMinTrnSymbols);
      final_trn_ = true;
      set_grid(points_energy(rx_points_));
      break;
    case ReceiveSignals::Found::kMp:
      if (stage_ != Stage::kFinal) break;
      far_mp_ = signals_.mp();
      mp_received_ = true;
      mp_prime_or_e_received_ |= far_mp_.acknowledge;
      break;
    case ReceiveSignals::Found::kE:
      if (stage_ != Stage::kFinal || !mp_sent_ || procedure_ == Procedure::kCleardown) break;
      mp_prime_or_e_received_ = true;
      begin_receiving_data();
      break;
    default:
      break;
  }
}

void Handshake::begin_receiving_data() {
  agree();
  if (rates_.call_to_answer == 0) return;  // our own next_mp() ends it
  e_received_ = true;
  e_deadline_ = 0;
  renew(data_rx_, rx_parameters_);
  in_data_rx_ = true;
  set_grid(rx_parameters_.mean_energy());
}

// E has gone and come: data mode; and when B1 has, too, the user's bits flow.
void Handshake::enter_data() {
  if (stage_ == Stage::kFinal && data_tx_on_ && in_data_rx_) {
    stage_ = Stage::kData;
  }
  if (stage_ != Stage::kData || rx_live_) return;
  if (in_data_rx_ && data_rx_.b1_received()) circuit_109_ = true;
  if (!data_tx_.b1_sent() || !data_rx_.b1_received()) return;
  tx_live_ = rx_live_ = true;
  const uint8_t rate = calls() ? rates_.answer_to_call : rates_.call_to_answer;
  uint8_t next = rate + 1;
  while (next <= highest_rate(limits(true)) && !(own_mp_.rate_mask & far_mp_.rate_mask & 1 << (next - 1))) ++next;
  double required = 0;
  if (next <= highest_rate(limits(true)) &&
      next <= (calls() ? far_mp_.max_answer_to_call : far_mp_.max_call_to_answer)) {
    const RateLimits l = limits(true);
    required = required_snr(l.trellis, make_framing(l.symbol_rate, next * 2400u, l.aux, l.expanded), l.precoding);
  }
  uint8_t lowest = 1;
  while (lowest < rate && !(own_mp_.rate_mask & far_mp_.rate_mask & 1 << (lowest - 1))) ++lowest;
  monitor_.begin(rx_parameters_, required, lowest);
}

void Handshake::follow_line() {
  const uint8_t rate = calls() ? rates_.answer_to_call : rates_.call_to_answer;
  const LineMonitor::Advice advice = monitor_.put(data_rx_);
  if (monitor_.settled()) data_variance_ = monitor_.variance();
  if (!config_.adapt_rate || !tx_live_) return;
  switch (advice) {
    case LineMonitor::Advice::kNone:
      break;
    case LineMonitor::Advice::kResynchronise:
      renegotiate(rate);
      break;
    case LineMonitor::Advice::kLower:
      renegotiate(rate > 1 ? static_cast<uint8_t>(rate - 1) : rate);
      break;
    case LineMonitor::Advice::kMove:
    case LineMonitor::Advice::kHigher:
      renegotiate();
      break;
    case LineMonitor::Advice::kRetrain:
      end(Outcome::kRetrain);
      break;
  }
}

// --- what this end begins

void Handshake::renegotiate(uint8_t max_rx_rate) {
  if (stage_ != Stage::kData || !rx_live_) return;
  procedure_ = Procedure::kRenegotiation;
  initiator_ = true;
  ++renegotiations_;
  mp_sent_ = mp_received_ = mp_prime_or_e_received_ = e_received_ = false;
  mp_primes_ = 0;
  max_rx_rate_ = max_rx_rate;
  tx_points_ = TrainingPoints::k4;
  tx_live_ = false;
  final_trn_ = following_ = false;
  send_s(Stage::kFinal);
}

void Handshake::cleardown() {
  if (stage_ != Stage::kData || !rx_live_) return;
  renegotiate();
  procedure_ = Procedure::kCleardown;
}

}  // namespace offhook::v34
