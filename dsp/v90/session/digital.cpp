// SPDX-License-Identifier: MIT
#include "dsp/v90/session/digital.h"

#include "dsp/blocks/renew.h"

namespace offhook::v90 {
namespace {

using Task = qam::Receiver::Task;
using Signal = Downstream::Signal;
using v34::TrainingPoints;

constexpr uint32_t kFarStopsMs = 60;  // from Sd-bar to the analogue modem's silence, and the delay of receivers
// 22 dB: all 47 symbols of a sequence of sixteen points are correct in all but one of a thousand.
constexpr float kSixteenPointsError = 1 / 160.f;
constexpr uint32_t kPhase3Ms = 9000;       // for S, TRN of 4 s and Ja; the text has no limit but that of B1
constexpr uint32_t kFalseSMs = 150;        // S lasts 128T
constexpr uint32_t kSdSamples = 384 + 48;  // Sd and Sd-bar; 9.3.1.3
constexpr int kLeastUpstream = 2;          // in 2400 bit/s
constexpr int kMostUpstream = 14;

}  // namespace

uint32_t rates_of_jd(uint32_t max_bit_rate) {
  uint32_t rates = 0;
  for (int drn = 1; drn <= Cp::kMaxDrn; ++drn) {
    const bool allowed = max_bit_rate == 0 || static_cast<uint32_t>(drn + 20) * 4000 <= 3 * max_bit_rate;
    rates |= allowed ? 1u << (drn - 1) : 0u;
  }
  return rates;
}

uint32_t sd_after_ja(const Dil& dil, v34::SymbolRate rate) {
  const double ja = dil.bits() * 8000. / (v34::symbol_rate_hz(rate) * v34::training_bits(TrainingPoints::k4));
  return static_cast<uint32_t>(ja) + kSdSamples;
}

const DigitalProcedure::Table& DigitalProcedure::transitions() {
  using enum DigitalState;
  using enum DigitalEvent;
  using P = DigitalProcedure;
  // clang-format off
  static constexpr Transition kRows[] = {
      // Phase 3
      {in(kAwaitS), kFarSBar,     &P::expects_md,      &P::wait_out_md,          kFarMd,  "9.3.1.1"},
      {in(kFarMd),  kWaitOver,    nullptr,             &P::listen_again,         kAwaitS,  "9.3.1.1"},
      {in(kAwaitS), kFarSBar,     nullptr,             &P::follow_phase3,        kFarTrn, "9.3.1.2"},
      {in(kFarTrn), kFarDil,      nullptr,             &P::send_sd,              kTrain,  "9.3.1.3"},
      {in(kAwaitS, kFarMd, kFarTrn), kTimeout, nullptr,  &P::end_in_retrain,       kEnded,  "9.3.1"},
      {in(kTrain),  kSentSilence, nullptr,             &P::begin_sd,             kTrain,  "V.92 8.3.6"},
      {in(kTrain),  kSentSd,      nullptr,             &P::send_sd_bar,          kTrain,  "9.3.1.3"},
      {in(kTrain),  kSentSdBar,   nullptr,             &P::send_trn1d,           kTrain,  "9.3.1.4"},
      {in(kTrain),  kSentTrn1d,   nullptr,             &P::begin_jd,             kTrain,  "9.3.1.4"},
      {in(kTrain),  kFarS,        nullptr,             &P::note_s,               kTrain,  "9.3.1.5"},
      {in(kTrain, kDil), kFarSBar, &P::first_s_bar,    &P::await_second_s,       kDil,    "9.3.1.6, note"},
      {in(kTrain, kDil), kSentJd, &P::s_has_come,      &P::send_jd_prime,        kTrain,  "9.3.1.5"},
      {in(kTrain),  kSentJd,      nullptr,             &P::send_jd,              kTrain,  "9.3.1.5"},
      {in(kTrain, kDil), kSentJdPrime, &P::wants_no_dil, &P::begin_ri,           kFinal,  "9.3.1.5"},
      {in(kTrain, kDil), kSentJdPrime, nullptr,        &P::send_dil,             kDil,    "9.3.1.6"},
      {in(kTrain),  kTimeout,     nullptr,             &P::end_in_retrain,       kEnded,  "9.3.1.5"},
      {in(kDil),    kFarSBar,     nullptr,             &P::end_dil,              kDil,    "9.3.1.6"},
      {in(kDil),    kSentDil,     &P::dil_is_over,     &P::begin_ri,             kFinal,  "9.3.1.6"},
      {in(kDil),    kSentDil,     nullptr,             &P::send_dil,             kDil,    "9.3.1.6"},
      {in(kDil),    kNoE,         nullptr,             &P::end_in_retrain,       kEnded,  "9.4.1"},
      // Phase 4, renegotiation, cleardown
      {in(kFinal),  kFarSBar,     &P::first_s_bar,     &P::end_dil,              kFinal,  "9.3.2.8"},
      {in(kFinal),  kFarSBar,     &P::expects_s,       &P::follow_renegotiation, kFinal,  "9.6.1.1"},
      {in(kFinal),  kSentR,       &P::ready_for_r_bar, &P::send_r_bar,           kFinal,  "9.4.1.2, 9.6.1"},
      {in(kFinal),  kSentR,       nullptr,             &P::send_ri,              kFinal,  "9.4.1.1"},
      {in(kFinal),  kFarCp,       &P::is_cpt,          &P::take_cpt,             kFinal,  "9.4.1.2"},
      {in(kFinal),  kFarCp,       nullptr,             &P::take_cp,              kFinal,  "9.4.1.3, 9.6.1.2.3"},
      {in(kFinal),  kSentRBar,    &P::is_silent,       &P::end_silence,          kFinal,  "9.6.1.2.3"},
      {in(kFinal),  kSentRBar,    nullptr,             &P::send_trn2d,           kFinal,  "9.4.1.2, 9.6.1"},
      {in(kFinal),  kSentTrn2d,   nullptr,             &P::send_mp,              kFinal,  "9.4.1.3"},
      {in(kFinal),  kSentMp,      &P::released_after_prime, &P::release,         kEnded,  "9.7"},
      {in(kFinal),  kSentMp,      &P::agreed,          &P::send_ed,              kFinal,  "9.4.1.4"},
      {in(kFinal),  kSentMp,      nullptr,             &P::send_mp,              kFinal,  "9.4.1.3, 9.4.1.4"},
      {in(kFinal),  kSentEd,      nullptr,             &P::drain,                kFinal,  "9.4.1.5"},
      {in(kFinal),  kSentDrain,   &P::owes_silence,    &P::begin_silence,        kFinal,  "9.6.1.2.3"},
      {in(kFinal),  kSentSilence, &P::silence_is_over, &P::send_rt,              kFinal,  "9.6.1.2.3"},
      {in(kFinal),  kSentSilence, &P::is_silent,       &P::go_on_silent,         kFinal,  "9.6.1.2.3"},
      {in(kFinal),  kSentDrain,   &P::ed_was_sent,     &P::send_b1d,             kFinal,  "9.4.1.5"},
      {in(kFinal),  kSentDrain,   nullptr,             &P::send_rd,              kFinal,  "9.6.1"},
      {in(kFinal, kData), kSentB1d, nullptr,           &P::send_data,            kFinal,  "9.4.1.5"},
      {in(kFinal),  kFarE,        &P::expects_e,       &P::receive_data,         kFinal,  "9.4.1.6"},
      {in(kFinal),  kBothSendData, nullptr,            nullptr,                  kData,   "9.4.1.6"},
      {in(kFinal),  kNoE,         &P::cleared,         &P::release,              kEnded,  "9.7"},
      {in(kFinal),  kNoE,         nullptr,             &P::end_in_retrain,       kEnded,  "9.4.1, 9.6.1"},
      // data mode
      {in(kData),   kFarSBar,     nullptr,             &P::answer_renegotiation, kFinal,  "9.6.1.2"},
      {in(kData),   kRenegotiate, &P::is_live,         &P::begin_renegotiation,  kFinal,  "9.6.1.1"},
      {in(kData),   kCleardown,   &P::is_live,         &P::begin_cleardown,      kFinal,  "9.7"},
      {in(kData),   kLineLost,    nullptr,             &P::end_in_retrain,       kEnded,  "9.5.1.1"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

DigitalProcedure::DigitalProcedure(const DigitalConfig& config, const oh_bit_port& port)
    : TableProcedure(State::kAwaitS), config_(config), port_(port), tx_(config.law) {
  order_.task = Task::kTrain;
  tx_.set_u_info(config.u_info);
  deadline_ = ms(kPhase3Ms) + 2 * config.round_trip_samples;
  const uint32_t most = ms(15000) + 5 * config.round_trip_samples;  // 9.4.1
  e_deadline_ = most > config.elapsed ? most - config.elapsed : 1;
}

void DigitalProcedure::end(Outcome outcome) {
  state_ = State::kEnded;
  outcome_ = outcome;
  order_.task = Task::kHold;
  order_.listen = v34::ReceiverOrder::Listen::kNothing;
  tx_.start(Signal::kSilence);
  tx_live_ = false;
  deliver(false);
}

void DigitalProcedure::tick() {
  ++now_;
  if (clamped_at_ != 0 && now_ - clamped_at_ > ms(kFalseSMs)) deliver(rx_live_);  // it was none
  if (is_due(now_, &wait_until_)) handle(Event::kWaitOver);
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
  if (is_due(now_, &e_deadline_)) handle(Event::kNoE);
}

bool DigitalProcedure::far_end_silent() const {
  return state_ == State::kTrain && tx_.signal() == Signal::kTrn1d && now_ >= silent_at_;
}

// --- transmission

Pcm DigitalProcedure::next() {
  while (!tx_.ready(port_, tx_live_)) {
    if (tx_.signal() == Signal::kMp && own_.acknowledge) ++primes_;
    static_assert(static_cast<int>(Event::kSentB1d) == static_cast<int>(Signal::kB1d));
    if (!handle(static_cast<Event>(tx_.signal()))) tx_.start(Signal::kSilence);
  }
  ++codes_;
  return tx_.next();
}

void DigitalProcedure::send_sd() {
  deadline_ = 0;
  order_.task = Task::kHold;
  order_.listen = v34::ReceiverOrder::Listen::kNothing;
  const int align = config_.aligned < 0 ? 0 : (config_.aligned + 6 - static_cast<int>(codes_ % 6)) % 6;
  const int wait = align + wait_after_ja();
  if (wait > 0) {
    tx_.wait(wait);
  } else {
    begin_sd();
  }
}

// Ja may be answered up to 500 ms after it was received (9.3.1.3). As in V.34 (dsp/v34/session/session.cpp), the far
// echo of the analogue modem's signal returns a round trip later, and its canceller needs silence for that. Of a trip
// no longer than Ja, it has had enough. In whole data frames, and so that 9.3.2.4's time suffices.
int DigitalProcedure::wait_after_ja() const {
  const uint32_t trip = config_.round_trip_samples, sd = sd_after_ja(dil_, config_.symbol_rate);
  if (trip + kSdSamples <= sd || trip + sd >= kSdAwaited) return 0;
  const uint32_t left = kSdAwaited - trip - sd;
  uint32_t wait = trip < ms(500) ? trip : ms(500);
  if (wait > left) wait = left;
  return static_cast<int>(wait) / 6 * 6;
}

void DigitalProcedure::send_trn1d() {
  tx_.start(Signal::kTrn1d, kLeastTrn1d + static_cast<int>(ms(config_.trn1d_ms)));
  silent_at_ = now_ + config_.round_trip_samples + ms(kFarStopsMs);
  deadline_ = now_ + ms(5100) + config_.round_trip_samples;  // 9.3.1.5
}

void DigitalProcedure::begin_jd() {
  const bool sixteen = training_.error < kSixteenPointsError;
  jd_ = {rates_of_jd(config_.max_bit_rate), sixteen, sixteen, config_.look_ahead};
  order_.task = Task::kResume;
  send_jd();
}

void DigitalProcedure::note_s() {
  s_heard_ = true;
  deadline_ = 0;
}

// The answer to Jd'. The S that ends the DIL follows.
void DigitalProcedure::await_second_s() {
  s_bar_heard_ = true;
  order_.task = Task::kResume;
}

void DigitalProcedure::send_dil() {
  if (tx_.signal() == Signal::kDil) segment_ = segment_ + 1 == dil_.segments ? 0 : segment_ + 1;
  tx_.start_dil(dil_, segment_);
}

void DigitalProcedure::end_dil() {
  s_bar_heard_ = true;
  dil_over_ = true;
  listen(next_, false, jd_.points16 ? TrainingPoints::k16 : TrainingPoints::k4, 0);
}

void DigitalProcedure::begin_ri() {
  send_ri();
  if (wants_no_dil()) dil_over_ = true;
}

void DigitalProcedure::send_ri() {
  uint8_t r[kFrameIntervals];
  for (uint8_t& u : r) u = config_.u_info;
  // A frame at a time, so that it can end on any; but the first are as many as it has at the least.
  tx_.start_r(r, tx_.signal() == Signal::kR ? kFrameIntervals : kLeastRi);
}

bool DigitalProcedure::ready_for_r_bar() const {
  return procedure_ != Procedure::kStartUp || cpt_received_;
}

// 9.6.1: the time for E counts from here. A requested silence has its own time limit.
void DigitalProcedure::send_r_bar() {
  if (procedure_ != Procedure::kStartUp && !silent_) e_deadline_ = now_ + ms(5000) + 2 * config_.round_trip_samples;
  tx_.start(Signal::kRBar);
}

void DigitalProcedure::send_trn2d() {
  tx_.begin_frames(training_frames_);
  tx_.start(Signal::kTrn2d, kLeastTrn2d + static_cast<int>(ms(config_.trn2d_ms)));
}

void DigitalProcedure::send_mp() {
  if (!own_sent_) own_ = make_mp();
  own_sent_ = true;
  own_.acknowledge = cp_received_;
  tx_.start_mp(own_);
}

void DigitalProcedure::send_ed() {
  ed_sent_ = true;
  tx_.start(Signal::kEd);
}

void DigitalProcedure::send_b1d() {
  tx_.begin_frames(data_frames_);
  tx_.start(Signal::kB1d);
}

void DigitalProcedure::send_data() {
  tx_.start(Signal::kData);
  tx_live_ = true;
  advance_data();
}

// --- reception

void DigitalProcedure::put(const v34::Heard& heard, const uint8_t* bits) {
  if (heard.event == qam::Receiver::Event::kS) {
    if (rx_live_) {
      order_.deliver = false;
      clamped_at_ = now_ | 1;
    }
    handle(Event::kFarS);
  }
  if (heard.event == qam::Receiver::Event::kSBar) {
    s_bar_age_ = heard.s_bar_age;
    next_ = heard.symbols_skipped;
    handle(Event::kFarSBar);
  }
  if (!heard.symbol) return;
  if (heard.data != nullptr) {
    b1_received_ = heard.data->b1_received();
    advance_data();
    if (!order_.deliver || !heard.data->pair_completed()) return;
    follow_line(heard);
    return;
  }
  training_ = heard.training;
  if (heard.quality != nullptr) quality_ = *heard.quality;
  if (bits != nullptr && order_.listen == v34::ReceiverOrder::Listen::kTraining) read(bits);
}

// As V.34's: lower if there are too many errors, higher if the noise of the data has long allowed it.
void DigitalProcedure::follow_line(const v34::Heard& heard) {
  if (power_ == 0) power_ = heard.power;
  const v34::LineMonitor::Advice advice = receive_rate_.put(*heard.data, heard.uncertain);
  if (advice == v34::LineMonitor::Advice::kNone) return;
  // A silent far end cannot answer a renegotiation; a retrain waits for it.
  if (is_gone(heard.power) || advice == v34::LineMonitor::Advice::kRetrain)
    return static_cast<void>(handle(Event::kLineLost));
  most_rate_ = receive_rate_.limit_after(advice);
  handle(Event::kRenegotiate);
}

void DigitalProcedure::read(const uint8_t* bits) {
  const int n = v34::training_bits(order_.points);
  for (int k = 0; k < n; ++k) {
    ones_ = bits[k] == 1 ? ones_ + 1 : 0;
    if (state_ == State::kFarTrn) {
      if (dil_receiver_.put(bits[k], &dil_)) return static_cast<void>(handle(Event::kFarDil));
      continue;
    }
    if (cp_receiver_.put(bits[k], &far_.heard)) handle(Event::kFarCp);
    if (ones_ == v34::kSequenceEBits && k == n - 1) return static_cast<void>(handle(Event::kFarE));
  }
}

void DigitalProcedure::listen(int next, bool pp, TrainingPoints points, int known_trn) {
  order_.task = Task::kFollow;
  order_.listen = v34::ReceiverOrder::Listen::kTraining;
  ++order_.version;
  order_.next = next;
  order_.pp = pp;
  order_.points = points;
  order_.known_trn = known_trn;
  order_.grid_energy = v34::points_energy(points);
  order_.format = qam::SymbolFormat{order_.grid_energy};
  training_ = {};
  renew(cp_receiver_);
  renew(dil_receiver_);
  ones_ = 0;
}

void DigitalProcedure::wait_out_md() {
  const uint32_t md = ms(v34::kMdUnitMs) * config_.far_md_length;
  const auto gone = static_cast<uint32_t>(s_bar_age_ * 8000 / v34::symbol_rate_hz(config_.symbol_rate));
  config_.far_md_length = 0;
  wait_until_ = now_ + (md > gone ? md - gone : 1);
  order_.task = Task::kHold;
}

void DigitalProcedure::follow_phase3() {
  listen(next_, true, TrainingPoints::k4, v34::kMinTrnSymbols);
}

void DigitalProcedure::take_cpt() {
  // A renegotiation has none. A CP that cannot be sent is ignored, and the next one is awaited (5.4.3).
  if (procedure_ != Procedure::kStartUp || !frame_parameters(far_.heard, config_.law, &training_frames_)) return;
  far_.cpt = far_.heard;
  cpt_received_ = true;
}

void DigitalProcedure::take_cp() {
  if (procedure_ == Procedure::kStartUp && !cpt_received_) return;
  // CPs: its constellations are ignored. One more of them comes while the silence begins.
  if (far_.heard.silence && procedure_ == Procedure::kRenegotiation) {
    if (silent_) return;
    silence_asked_ = cp_received_ = true;
    answered_ |= far_.heard.acknowledge;
    return;
  }
  if (far_.heard.drn != 0 && !frame_parameters(far_.heard, config_.law, &data_frames_)) return;
  far_.cp = far_.heard;
  cp_received_ = true;
  answered_ |= far_.cp.acknowledge;
}

void DigitalProcedure::receive_data() {
  answered_ = true;
  const int rate = upstream_rate(far_.cp.upstream_mask, own_);
  const uint32_t bit_rate = static_cast<uint32_t>(rate) * 2400;
  if (far_.cp.drn == 0 || rate == 0 || !v34::is_supported(config_.symbol_rate, bit_rate)) return;
  e_received_ = true;
  b1_received_ = false;
  rx_parameters_ = {{v34::make_framing(config_.symbol_rate, bit_rate, false, own_.expanded), kGpa, own_.trellis,
                     own_.type1 ? own_.precoder : rx_parameters_.coding.precoder},
                    own_.nonlinear,
                    bit_rate};
  order_.listen = v34::ReceiverOrder::Listen::kData;
  ++order_.version;
  order_.data = rx_parameters_;
  order_.format = rx_parameters_.format();
  order_.grid_energy = rx_parameters_.mean_energy();
}

// E was received and B1d was sent: data mode. When B1 was also received, received bits are delivered.
void DigitalProcedure::advance_data() {
  if (state_ == State::kFinal && tx_live_ && e_received_) handle(Event::kBothSendData);
  if (state_ != State::kData || rx_live_ || !b1_received_) return;
  e_deadline_ = 0;
  deliver(true);
  power_ = 0;
  // Both masks begin with 4800 bit/s.
  const auto mask = static_cast<uint16_t>((far_.cp.upstream_mask & own_.rate_mask) << (kLeastUpstream - 1));
  receive_rate_.start(rx_parameters_, limits(), mask, kMostUpstream);
}

void DigitalProcedure::deliver(bool live) {
  rx_live_ = live;
  order_.deliver = live;
  clamped_at_ = 0;
}

// --- rates

v34::RateLimits DigitalProcedure::limits() const {
  v34::RateLimits l{};
  l.symbol_rate = config_.symbol_rate;
  l.trellis = config_.trellis;
  l.expanded = config_.expanded;
  for (const auto& h : quality_.precoder.h) l.precoding |= h.re != 0 || h.im != 0;
  l.points_1664 = config_.points_1664;
  l.max_bit_rate = config_.max_bit_rate;
  return l;
}

Mp DigitalProcedure::make_mp() const {
  Mp mp{};
  mp.trellis = config_.trellis;
  if (procedure_ == Procedure::kCleardown) return mp;
  const v34::RateLimits l = limits();
  const double snr = quality_.snr > 0 ? quality_.snr : 1 / static_cast<double>(training_.error);
  const int rate = receive_rate_.choose(l, snr, config_.margin, procedure_ == Procedure::kRenegotiation, most_rate_);
  mp.drn = static_cast<uint8_t>(rate < kLeastUpstream ? kLeastUpstream : rate);
  mp.type1 = l.precoding;
  mp.nonlinear = config_.nonlinear;
  mp.expanded = config_.expanded;
  for (int r = kLeastUpstream; r <= kMostUpstream; ++r) {
    const bool can = v34::is_supported(l.symbol_rate, static_cast<uint32_t>(r) * 2400) && r <= v34::highest_rate(l);
    mp.rate_mask = static_cast<uint16_t>(mp.rate_mask | (can ? 1u << (r - kLeastUpstream) : 0u));
  }
  if (mp.type1) mp.precoder = quality_.precoder;
  return mp;
}

// --- renegotiation

void DigitalProcedure::begin_procedure(Procedure procedure) {
  procedure_ = procedure;
  ++renegotiations_;
  cp_received_ = answered_ = own_sent_ = ed_sent_ = e_received_ = b1_received_ = false;
  silence_asked_ = silent_ = false;
  primes_ = 0;
  tx_live_ = false;
  // 8.6: the points of the training, the shaping of the data that ran, which the CP to come may change.
  training_frames_.shaping_bits = data_frames_.shaping_bits;
  training_frames_.look_ahead = data_frames_.look_ahead;
  training_frames_.filter = data_frames_.filter;
  drain();  // to the end of the data frame, as 9.6 demands
}

void DigitalProcedure::begin_renegotiation() {
  begin_procedure(Procedure::kRenegotiation);
}

void DigitalProcedure::begin_cleardown() {
  begin_procedure(Procedure::kCleardown);
}

void DigitalProcedure::answer_renegotiation() {
  begin_procedure(Procedure::kRenegotiation);
  follow_renegotiation();
}

void DigitalProcedure::follow_renegotiation() {
  deliver(false);
  listen(next_, false, jd_.points16_renegotiation ? TrainingPoints::k16 : TrainingPoints::k4, 0);
}

void DigitalProcedure::send_r(const FrameParameters& frames) {
  uint8_t r[kFrameIntervals];
  for (int i = 0; i < kFrameIntervals; ++i) r[i] = frames.points.ucode[i][0];
  tx_.start_r(r, kRSymbols);
}

// The analogue modem requested it by CPs, and ends it by a CP. The text has one time limit for both Ed; here the
// second Ed has a separate one.
void DigitalProcedure::begin_silence() {
  silence_asked_ = false;
  silent_ = true;
  cp_received_ = answered_ = own_sent_ = ed_sent_ = false;
  primes_ = 0;
  e_deadline_ = now_ + ms(5000) + 2 * config_.round_trip_samples;  // 9.6.1
  go_on_silent();
}

void DigitalProcedure::end_silence() {
  silent_ = false;
  tx_.begin_frames(training_frames_);
  send_mp();
}

}  // namespace offhook::v90
