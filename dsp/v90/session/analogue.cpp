// SPDX-License-Identifier: MIT
#include "dsp/v90/session/analogue.h"

#include "dsp/blocks/renew.h"
#include "dsp/v90/pcm/near_echo.h"

namespace offhook::v90 {
namespace {

using Task = PcmReceiver::Task;
using v34::Signal;
using v34::TrainingPoints;

constexpr uint32_t kSilenceMs = 70;      // 9.3.2.1
constexpr uint32_t kWaitForJdMs = 4500;  // 9.3.2.6
// The 1500 ms of 9.3.2.4 from the start of Ja, to which the round trip is added; the text has no term for it.
constexpr uint32_t kWaitForSdMs = 1500;

constexpr uint32_t kMeasureMs = 320;                       // of TRN2d, which has 550 ms and is as late as the line
constexpr uint32_t kSilentScrMs = 800, kMostScrMs = 1000;  // 9.6.2.1.6: at most 1000
static_assert(kSilentScrMs * 8 > NearEcho::kTraining);

}  // namespace

const AnalogueProcedure::Table& AnalogueProcedure::transitions() {
  using enum AnalogueState;
  using enum AnalogueEvent;
  using P = AnalogueProcedure;
  // clang-format off
  static constexpr Transition kRows[] = {
      // Phase 3
      {in(kTrainFar), kSentSilence,  nullptr,            &P::send_s,               kTrainFar, "9.3.2.1"},
      {in(kTrainFar), kSentS,        nullptr,            &P::send_s_bar,           kTrainFar, "9.3.2.1"},
      {in(kTrainFar), kSentSBar,     &P::owes_md,        &P::send_md,              kTrainFar, "9.3.2.1"},
      {in(kTrainFar), kSentMd,       nullptr,            &P::send_s,               kTrainFar, "9.3.2.1"},
      {in(kTrainFar), kSentSBar,     nullptr,            &P::send_pp,              kTrainFar, "9.3.2.2"},
      {in(kTrainFar), kSentPp,       nullptr,            &P::send_trn,             kTrainFar, "9.3.2.3"},
      {in(kTrainFar), kSentTrn,      nullptr,            &P::begin_ja,             kSendJa,   "9.3.2.4"},
      {in(kSendJa),   kSentSequence, nullptr,            &P::send_ja,              kSendJa,   "9.3.2.4"},
      {in(kSendJa),   kFarSdBar,     nullptr,            &P::equalise,             kEqualise, "9.3.2.4, 9.3.2.5"},
      {in(kSendJa),   kTimeout,      nullptr,            &P::end_in_retrain,       kEnded,    "9.3.2.4"},
      {in(kEqualise), kFarJd,        &P::equalised,      &P::await_jd_prime,       kSendS,    "9.3.2.6, 9.3.2.7"},
      {in(kEqualise), kTimeout,      nullptr,            &P::end_in_retrain,       kEnded,    "9.3.2.7"},
      {in(kSendS),    kSentS,        nullptr,            &P::send_s,               kSendS,    "9.3.2.7"},
      {in(kSendS),    kFarJdPrime,   nullptr,            &P::end_s,                kDil,      "9.3.2.8"},
      {in(kDil),      kSentS,        nullptr,            &P::send_s_bar,           kDil,      "9.3.2.8"},
      {in(kDil),      kSentSBar,     &P::wants_no_dil,   &P::end_unlearnt,         kCpt,      "9.3.2.8"},
      {in(kDil),      kSentSBar,     nullptr,            &P::silence,              kDil,      "9.3.2.9"},
      {in(kDil),      kLearnt,       &P::carries_nothing, &P::end_for_v34,         kEnded,    "9.2"},
      {in(kDil),      kLearnt,       nullptr,            &P::choose,               kEndDil,   "9.3.2.10"},
      {in(kSendS, kDil), kTimeout,   nullptr,            &P::end_in_retrain,       kEnded,    "9.3.2"},
      {in(kEndDil),   kSentS,        nullptr,            &P::send_s_bar,           kEndDil,   "9.3.2.10"},
      {in(kEndDil),   kSentSBar,     nullptr,            &P::begin_cpt,            kCpt,      "9.4.2.1"},
      // Phase 4, renegotiation, cleardown
      {in(kCpt),      kFarRBar,      nullptr,            &P::follow_frames,        kFinal,    "9.4.2.2"},
      {in(kCpt),      kSentSequence, nullptr,            &P::send_cpt,             kCpt,      "9.4.2.1"},
      {in(kFinal),    kSentS,        nullptr,            &P::send_s_bar,           kFinal,    "9.6.2.1.1, 9.6.2.2"},
      {in(kFinal),    kSentSBar,     nullptr,            &P::begin_cp,             kFinal,    "9.6.2.1.3, 9.6.2.2"},
      {in(kFinal),    kFarRBar,      nullptr,            &P::follow_frames,        kFinal,    "9.6.2.1.4"},
      {in(kFinal),    kFarMp,        nullptr,            &P::take_mp,              kFinal,    "9.4.2.3"},
      {in(kFinal),    kSentSequence, &P::owes_cp,        &P::send_scr,             kFinal,    "9.4.2.2"},
      {in(kFinal),    kSentScr,      &P::renegotiates,   &P::send_cp,              kFinal,    "9.6.2.1.3"},
      {in(kFinal),    kSentScr,      nullptr,            &P::choose_again,         kFinal,    "9.4.2.2, 9.4.2.3"},
      {in(kFinal),    kSentSequence, &P::released_after_prime, &P::release,        kEnded,    "9.7"},
      {in(kFinal),    kSentSequence, &P::silence_has_begun, &P::use_silence,       kFinal,    "9.6.2.1.3"},
      {in(kFinal),    kSentSequence, &P::agreed,         &P::send_e,               kFinal,    "9.4.2.4"},
      {in(kFinal),    kSentSequence, nullptr,            &P::send_cp,              kFinal,    "9.4.2.3, 9.4.2.4"},
      {in(kFinal),    kFarEd,        &P::asks_silence,   &P::await_silence,        kFinal,    "9.6.2.1.3"},
      {in(kFinal),    kFarEd,        nullptr,            &P::receive_b1d,          kFinal,    "9.4.2.4, 9.4.2.6"},
      {in(kFinal),    kSentE,        nullptr,            &P::send_data,            kFinal,    "9.4.2.5"},
      {in(kFinal),    kFarB1d,       nullptr,            &P::receive_data,         kFinal,    "9.4.2.6"},
      {in(kFinal),    kBothSendData, nullptr,            nullptr,                  kData,     "9.4.2.6"},
      {in(kDil, kEndDil, kCpt, kFinal), kNoEd, nullptr,  &P::end_in_retrain,       kEnded,    "9.4.2, 9.6.2"},
      // data mode
      {in(kData),     kFarR,         nullptr,            &P::clamp,                kData,     "9.6.2.2"},
      {in(kData),     kFarRBar,      nullptr,            &P::answer_renegotiation, kFinal,    "9.6.2.2"},
      {in(kData),     kRenegotiate,  &P::is_live,        &P::begin_renegotiation,  kFinal,    "9.6.2.1"},
      {in(kData),     kCleardown,    &P::is_live,        &P::begin_cleardown,      kFinal,    "9.7"},
      {in(kData),     kLineLost,     nullptr,            &P::end_in_retrain,       kEnded,    "9.5.2.1"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

AnalogueProcedure::AnalogueProcedure(const AnalogueConfig& config, const oh_bit_port& port)
    : TableProcedure(State::kTrainFar), DownstreamTraining(config, port), port_(port), tx_(kGpa) {
  tx_.start(Signal::kSilence, v34::symbols_in(config.symbol_rate, ms(kSilenceMs)));
  ed_deadline_ = ms(15000) + 5 * config.round_trip_samples;  // 9.4.2
}

void AnalogueProcedure::end(Outcome outcome) {
  state_ = State::kEnded;
  outcome_ = outcome;
  task_ = Task::kHold;
  tx_.start(Signal::kSilence);
  data_tx_on_ = tx_live_ = false;
  deliver(false);
}

void AnalogueProcedure::tick() {
  ++now_;
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
  if (is_due(now_, &ed_deadline_)) handle(Event::kNoEd);
}

bool AnalogueProcedure::far_end_silent() const {
  if (silent_) return tx_.signal() == Signal::kScr;
  return state_ == State::kTrainFar && (tx_.signal() == Signal::kPp || tx_.signal() == Signal::kTrn);
}

// --- transmission

Complex AnalogueProcedure::next_symbol() {
  // S ends on the second of its two points.
  if (s_ends_ && tx_.signal() == Signal::kS && tx_.sent() % 2 == 0) {
    handle(Event::kSentS);
  }
  if (!data_tx_on_ && tx_.ended()) {
    if (tx_.signal() == Signal::kSequence && cp_begun_ && cp_.acknowledge) ++primes_;
    static_assert(static_cast<int>(Event::kSentSequence) == static_cast<int>(Signal::kSequence));
    handle(static_cast<Event>(tx_.signal()));
  }
  if (!data_tx_on_) return tx_.next();
  const Complex s = data_tx_.next({port_, {}}, tx_live_);
  advance_data();
  return s;
}

void AnalogueProcedure::send_s() {
  data_tx_on_ = false;
  tx_.start(Signal::kS);
}

// 9.6.2: the time for Ed counts from here.
void AnalogueProcedure::send_s_bar() {
  s_ends_ = false;
  if (state_ == State::kFinal) ed_deadline_ = now_ + ms(5000) + 2 * config_.round_trip_samples;
  tx_.start(Signal::kSBar);
}

void AnalogueProcedure::send_md() {
  tx_.start(Signal::kMd, v34::symbols_in(config_.symbol_rate, ms(v34::kMdUnitMs) * config_.own_md_length));
  config_.own_md_length = 0;
}

void AnalogueProcedure::send_trn() {
  tx_.start_trn(TrainingPoints::k4, v34::kMinTrnSymbols + v34::symbols_in(config_.symbol_rate, ms(config_.trn_ms)));
}

void AnalogueProcedure::begin_ja() {
  task_ = Task::kSeek;
  deadline_ = now_ + ms(kWaitForSdMs) + config_.round_trip_samples;
  bits_size_ = encode(dil_, bits_);
  send_ja();
}

void AnalogueProcedure::send_ja() {
  tx_.start_sequence(bits_, bits_size_);
}

void AnalogueProcedure::equalise() {
  silence();
  deadline_ = now_ + ms(kWaitForJdMs);
  begin_equaliser();
}

void AnalogueProcedure::await_jd_prime() {
  jd_ = reader_.jd();
  deadline_ = now_ + ms(2000) + 2 * config_.round_trip_samples;
  send_s();
}

void AnalogueProcedure::end_s() {
  s_ends_ = true;
  reader_.begin_dil(dil_);
  deadline_ = now_ + ms(5000);  // 9.3.2.10
}

void AnalogueProcedure::choose() {
  deadline_ = 0;
  choose_training_points();
  send_s();
}

void AnalogueProcedure::end_unlearnt() {
  reader_.assume_levels();
  choose_data_rate(noise_rms_);
  if (carries_nothing()) return end_for_v34();
  deadline_ = 0;
  choose_training_points();
  begin_cpt();
}

void AnalogueProcedure::begin_cpt() {
  tx_.begin_sequences(jd_.points16 ? TrainingPoints::k16 : TrainingPoints::k4);
  bits_size_ = encode(cpt_, bits_);
  tx_.start_sequence(bits_, bits_size_);
}

void AnalogueProcedure::send_cpt() {
  tx_.start_sequence(bits_, bits_size_);
}

// TRN2d comes: its error is that of the data, since it has several levels.
void AnalogueProcedure::send_scr() {
  tx_.start(Signal::kScr, v34::symbols_in(config_.symbol_rate, ms(kMeasureMs)));
}

void AnalogueProcedure::choose_again() {
  choose_data_rate(error_rms_);
  if (carries_nothing()) return end_in_retrain();  // a CP without a rate would clear the call down
  send_cp();
}

void AnalogueProcedure::begin_cp() {
  tx_.begin_sequences(jd_.points16_renegotiation ? TrainingPoints::k16 : TrainingPoints::k4);
  send_cp();
}

void AnalogueProcedure::send_cp() {
  cp_begun_ = true;
  cp_.acknowledge = mp_received_;
  if (procedure_ == Procedure::kCleardown) cp_.drn = 0;
  bits_size_ = encode(cp_, bits_);
  tx_.start_sequence(bits_, bits_size_);
}

// Ed of CPs was received: silence follows. The text has one time limit for both Ed; here the second has its own.
void AnalogueProcedure::await_silence() {
  silent_ = true;
  mp_received_ = answered_ = false;
  ed_deadline_ = now_ + ms(5000) + 2 * config_.round_trip_samples;
  reader_.begin_silence();
}

// SCR, in which the digital modem is not heard, and then the CP that ends the silence.
void AnalogueProcedure::use_silence() {
  cp_.silence = false;
  primes_ = 0;
  const uint32_t wanted = ms(kSilentScrMs) + config_.echo_delay_samples, most = ms(kMostScrMs);
  tx_.start(Signal::kScr, v34::symbols_in(config_.symbol_rate, wanted < most ? wanted : most));
}

void AnalogueProcedure::send_e() {
  const int rate = upstream_rate(cp_.upstream_mask, far_mp_);
  if (rate == 0 || cp_.drn == 0) return release();
  const uint32_t bit_rate = static_cast<uint32_t>(rate) * 2400;
  const v34::PrecoderCoefficients h = far_mp_.type1 ? far_mp_.precoder : tx_parameters_.coding.precoder;
  tx_parameters_ = {
      {v34::make_framing(config_.symbol_rate, bit_rate, false, far_mp_.expanded), kGpa, far_mp_.trellis, h},
      far_mp_.nonlinear,
      bit_rate};
  tx_.start(Signal::kE);
}

void AnalogueProcedure::send_data() {
  renew(data_tx_, tx_parameters_);
  data_tx_on_ = true;
  advance_data();
}

// --- reception

void AnalogueProcedure::put(PcmReceiver::Event event) {
  if (event == PcmReceiver::Event::kSdBar) handle(Event::kFarSdBar);
  if (event == PcmReceiver::Event::kTrained) note_taps();
}

DownstreamReader::Result AnalogueProcedure::put(float level, int interval, float error_power, bool refitting) {
  using Found = DownstreamReader::Found;
  static constexpr struct {
    Found found;
    Event event;
  } kHeard[] = {
      {Found::kJd, Event::kFarJd},      {Found::kJdPrime, Event::kFarJdPrime}, {Found::kLearnt, Event::kLearnt},
      {Found::kR, Event::kFarR},        {Found::kRBar, Event::kFarRBar},       {Found::kMp, Event::kFarMp},
      {Found::kEd, Event::kFarEd},      {Found::kB1d, Event::kFarB1d},         {Found::kPoor, Event::kRenegotiate},
      {Found::kLost, Event::kLineLost},
  };
  const DownstreamReader::Result r = listen(level, interval, error_power, refitting, state_ == State::kEqualise);
  for (const auto& heard : kHeard) {
    if (heard.found == r.found) handle(heard.event);
  }
  if (state_ == State::kData && rx_live_) act_on_line(follow_line(error_power, now_));
  return r;
}

void AnalogueProcedure::follow_frames() {
  if (procedure_ != Procedure::kStartUp) renew_training_points();
  silent_ = false;
  reader_.begin_frames(training_frames_, reader_.levels(), false);
}

void AnalogueProcedure::take_mp() {
  far_mp_ = reader_.mp();
  mp_received_ = true;
  answered_ |= far_mp_.acknowledge;
}

void AnalogueProcedure::receive_b1d() {
  answered_ = true;
  if (procedure_ != Procedure::kStartUp) ed_deadline_ = 0;
  follow_data_frames();
}

void AnalogueProcedure::receive_data() {
  b1d_received_ = true;
  ed_deadline_ = 0;
  deliver(true);
  advance_data();
}

// B1 was sent and B1d received: data mode.
void AnalogueProcedure::advance_data() {
  if (data_tx_on_ && data_tx_.b1_sent()) tx_live_ = true;
  if (state_ == State::kFinal && tx_live_ && b1d_received_) handle(Event::kBothSendData);
}

}  // namespace offhook::v90
