// SPDX-License-Identifier: MIT
#include "dsp/v90/session/analogue_v92.h"

#include "dsp/v90/pcm/near_echo.h"

namespace offhook::v90 {
namespace {

using Task = PcmReceiver::Task;

constexpr uint32_t kSilence = 8 * 70;  // 9.5.2.1.1
// From the start of Ja; 9.5.2.2.1 has no term for the round trip, and ours has.
constexpr uint32_t kWaitForSdMs = 1500;
constexpr uint32_t kWaitForJdMs = 4500;  // 9.5.2.2.2
constexpr int kTrn1uSymbols = 10800;     // both echo cancellers and the digital modem's first equaliser
constexpr int kSecondTrn1u = 9000;       // at the least: the digital modem's estimate of the channel
constexpr int kOnes = 24;                // before Ja and CPt
constexpr int64_t kMeasure = 8 * 320;    // of TRN2d
constexpr UpstreamRates kEveryRate = (1u << kMostUpstreamDrn) - 1;
static_assert(kTrn1uSymbols > NearEcho::kTraining + NearEcho::kTraining / 2);

// Bits of CPd: rates up to this.
UpstreamRates rates_up_to(uint32_t most) {
  UpstreamRates rates = kEveryRate;
  if (most == 0) return rates;
  for (int drn = 1; drn <= kMostUpstreamDrn; ++drn) {
    if (static_cast<uint32_t>(drn + 17) * 4000 > 3 * most) rates &= ~(1u << (drn - 1));
  }
  return rates;
}

}  // namespace

const AnalogueV92Procedure::Table& AnalogueV92Procedure::transitions() {
  using enum AnalogueV92State;
  using enum AnalogueV92Event;
  using P = AnalogueV92Procedure;
  // clang-format off
  static constexpr Transition kRows[] = {
      // Phase 3
      {in(kTrainFar), kSentSilence,   nullptr,           &P::send_ru,              kTrainFar, "9.5.2.1.1"},
      {in(kTrainFar), kSentRu,        nullptr,           &P::send_ru_bar,          kTrainFar, "9.5.2.1.1"},
      {in(kTrainFar), kSentRuBar,     nullptr,           &P::send_trn1u,           kTrainFar, "9.5.2.1.2"},
      {in(kTrainFar), kSentTrn1u,     nullptr,           &P::begin_ja,             kSendJa,   "9.5.2.1.3"},
      {in(kSendJa),   kSentTwoPoints, nullptr,           &P::send_ja,              kSendJa,   "9.5.2.1.3"},
      {in(kSendJa),   kFarSdBar,      nullptr,           &P::equalise,             kEqualise, "9.5.2.1.3, 9.5.2.1.4"},
      {in(kSendJa),   kTimeout,       nullptr,           &P::end_in_retrain,       kEnded,    "9.5.2.2.1"},
      {in(kEqualise), kSentTwoPoints, nullptr,           &P::silence,              kEqualise, "9.5.2.1.3"},
      {in(kEqualise), kFarJd,         &P::equalised,     &P::send_su,              kSendSu,   "9.5.2.1.6"},
      {in(kEqualise), kTimeout,       nullptr,           &P::end_in_retrain,       kEnded,    "9.5.2.2.2"},
      {in(kSendSu),   kSentSu,        nullptr,           &P::turn_su,              kSendSu,   "9.5.2.1.7"},
      {in(kSendSu),   kSentSuBar,     nullptr,           &P::send_su_on,           kAwaitJp,  "9.5.2.1.7"},
      {in(kAwaitJp),  kFarJp,         nullptr,           &P::end_su,               kEndSu,    "9.5.2.1.8"},
      {in(kEndSu),    kSentSu,        nullptr,           &P::turn_su,              kEndSu,    "9.5.2.1.8"},
      {in(kEndSu),    kSentSuBar,     nullptr,           &P::send_second_trn1u,    kDil,      "9.5.2.1.8, 9.5.2.1.9"},
      {in(kDil),      kFarJpPrime,    nullptr,           &P::begin_dil,            kDil,      "9.5.2.1.9"},
      {in(kDil),      kLearnt,        &P::carries_nothing, &P::end_for_v34,          kEnded,    "9.5.2"},
      {in(kDil),      kLearnt,        nullptr,           &P::choose,               kCpt,      "9.5.2.1.11"},
      {in(kDil),      kFarR,          &P::wants_no_dil,  &P::choose_unlearnt,      kCpt,      "9.5.2.1.10"},
      {in(kCpt),      kSentTrn1u,     nullptr,           &P::begin_cpt,            kCpt,      "9.5.2.1.10, 9.5.2.1.11"},
      {in(kCpt),      kFarR,          nullptr,           &P::note_ri,              kCpt,      "9.5.2.1.11"},
      {in(kCpt),      kSentTwoPoints, &P::heard_ri,      &P::send_e1u,             kCpt,      "9.5.2.1.10, 9.5.2.1.11"},
      {in(kCpt),      kSentTwoPoints, nullptr,           &P::send_cpt,             kCpt,      "9.5.2.1.11"},
      {in(kCpt),      kSentE1u,       nullptr,           &P::send_trn2u,           kFinal,    "9.6.2.1.1"},
      {in(kSendSu, kAwaitJp, kEndSu, kDil), kTimeout, nullptr, &P::end_in_retrain, kEnded,    "9.5.2.2"},
      // Phase 4, renegotiation, cleardown
      {in(kFinal),    kSentData,      nullptr,           &P::send_ru,              kFinal,    "9.8.2.1.1, 9.8.2.2.2"},
      {in(kFinal),    kSentRu,        nullptr,           &P::send_ru_bar,          kFinal,    "9.8.2.1.1, 9.8.2.2.2"},
      {in(kFinal),    kSentRuBar,     nullptr,           &P::begin_trn2u_again,    kFinal,    "9.8.2.1.2, 9.8.2.2.3"},
      {in(kFinal),    kFarRBar,       nullptr,           &P::follow_frames,        kFinal,    "9.6.2.1.1"},
      {in(kFinal),    kFarSuv,        &P::sends_trn2u,   &P::end_trn2u,            kFinal,    "9.6.2.1.1"},
      {in(kFinal),    kFarSuv,        nullptr,           &P::take_suv,             kFinal,    "9.6.2.1.2"},
      {in(kFinal),    kFarCpd,        nullptr,           &P::take_cpd,             kFinal,    "9.6.2.1.2"},
      {in(kFinal),    kSentTrn2u,     nullptr,           &P::send_suv,             kFinal,    "9.6.2.1.1"},
      {in(kFinal),    kSentSequence,  &P::released,      &P::release,              kEnded,    "9.11"},
      {in(kFinal),    kSentSequence,  &P::agreed,        &P::send_e2u,             kFinal,    "9.6.2.1.4"},
      {in(kFinal),    kSentSequence,  &P::owes_cp,       &P::send_cp,              kFinal,    "9.6.2.1.2, 9.6.2.1.3"},
      {in(kFinal),    kSentSequence,  nullptr,           &P::send_suv,             kFinal,    "9.6.2.1.2"},
      {in(kFinal),    kFarEd,         nullptr,           &P::receive_b1d,          kFinal,    "9.6.2.1.4, 9.6.2.1.6"},
      {in(kFinal),    kSentE2u,       nullptr,           &P::send_b1u,             kFinal,    "9.6.2.1.5"},
      {in(kFinal),    kSentB1u,       nullptr,           &P::send_data,            kFinal,    "9.6.2.1.5"},
      {in(kFinal),    kFarB1d,        nullptr,           &P::receive_data,         kFinal,    "9.6.2.1.6"},
      {in(kFinal),    kBothSendData,  nullptr,           nullptr,                  kData,     "9.6.2.1.6"},
      {in(kDil, kCpt, kFinal), kNoB1d, nullptr,          &P::end_in_retrain,       kEnded,    "9.6.2.2.1"},
      // data mode
      {in(kData),     kFarR,          nullptr,           &P::clamp,                kData,     "9.8.2.2.1"},
      {in(kData),     kFarRBar,       nullptr,           &P::answer_renegotiation, kFinal,    "9.8.2.2.2"},
      {in(kData),     kRenegotiate,   &P::is_live,       &P::begin_renegotiation,  kFinal,    "9.8.2.1"},
      {in(kData),     kCleardown,     &P::is_live,       &P::begin_cleardown,      kFinal,    "9.11"},
      {in(kData),     kLineLost,      nullptr,           &P::end_in_retrain,       kEnded,    "9.7.2.1"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

AnalogueV92Procedure::AnalogueV92Procedure(const AnalogueConfig& config, const oh_bit_port& port)
    : TableProcedure(State::kTrainFar), DownstreamTraining(config, port), port_(port) {
  reader_.set_v92();
  tx_.start(Signal::kSilence, kSilence);
  b1d_deadline_ = ms(20000) + 6 * config.round_trip_samples;  // 9.6.2.2.1
}

void AnalogueV92Procedure::end(Outcome outcome) {
  state_ = State::kEnded;
  outcome_ = outcome;
  task_ = Task::kHold;
  silence();
  tx_live_ = false;
  deliver(false);
}

void AnalogueV92Procedure::tick() {
  ++now_;
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
  if (is_due(now_, &b1d_deadline_)) handle(Event::kNoB1d);
}

// --- transmission

float AnalogueV92Procedure::next_symbol() {
  if (tx_.ended()) {
    if (tx_.signal() == Signal::kSequence && sends_prime_) ++primes_;
    static_assert(static_cast<int>(Event::kSentData) == static_cast<int>(Signal::kData));
    if (!handle(static_cast<Event>(tx_.signal()))) silence();
  }
  return tx_.next(port_, tx_live_);
}

void AnalogueV92Procedure::send_trn1u() {
  tx_.start(Signal::kTrn1u, kTrn1uSymbols);
}

void AnalogueV92Procedure::begin_ja() {
  task_ = Task::kSeek;
  deadline_ = now_ + ms(kWaitForSdMs) + config_.round_trip_samples;
  for (int k = 0; k < kOnes; ++k) bits_[k] = 1;
  bits_size_ = encode(dil_, rates_up_to(config_.max_bit_rate), bits_ + kOnes);
  tx_.start_two_points(bits_, kOnes + bits_size_);
}

void AnalogueV92Procedure::send_ja() {
  tx_.start_two_points(bits_ + kOnes, bits_size_);
}

void AnalogueV92Procedure::equalise() {
  tx_.end_at_frame();
  deadline_ = now_ + ms(kWaitForJdMs);
  begin_equaliser();
}

void AnalogueV92Procedure::send_su() {
  jd_ = reader_.jd();
  locked_ = true;
  deadline_ = now_ + ms(5000) + 2 * config_.round_trip_samples;
  tx_.start(Signal::kSu, kSuSymbols);
}

void AnalogueV92Procedure::send_su_on() {
  delay_ = 0.5;
  tx_.start(Signal::kSu);
}

void AnalogueV92Procedure::end_su() {
  deadline_ = now_ + ms(5000);  // 9.5.2.1.11, until CPt
  tx_.end_at_frame();
}

void AnalogueV92Procedure::send_second_trn1u() {
  jp_ = reader_.jp();
  delay_ = static_cast<double>(jp_.extension) / 65536;
  tx_.set_points(jp_.points8 ? 8 : 4);
  tx_.start(Signal::kTrn1u);
}

void AnalogueV92Procedure::choose() {
  deadline_ = 0;
  choose_training_points();
  const int64_t least = tx_.sent() < kSecondTrn1u ? kSecondTrn1u : tx_.sent();
  tx_.end_at_frame(least);
}

void AnalogueV92Procedure::choose_unlearnt() {
  reader_.assume_levels();
  choose_data_rate(noise_rms_);
  if (carries_nothing()) return end_for_v34();
  note_ri();
  choose();
}

void AnalogueV92Procedure::begin_cpt() {
  for (int k = 0; k < kOnes; ++k) bits_[k] = 1;
  bits_size_ = encode_v92(cpt_, bits_ + kOnes);
  while (bits_size_ % kUpstreamIntervals != 0) bits_[kOnes + bits_size_++] = 0;
  tx_.start_two_points(bits_, kOnes + bits_size_);
}

void AnalogueV92Procedure::send_cpt() {
  tx_.start_two_points(bits_ + kOnes, bits_size_);
}

void AnalogueV92Procedure::send_trn2u() {
  tx_.start(Signal::kTrn2u, kMostTrn2u);
}

void AnalogueV92Procedure::begin_trn2u_again() {
  tx_.set_points(jp_.points8_renegotiation ? 8 : 4);
  tx_.clear_sign();
  b1d_deadline_ = now_ + ms(10000) + 4 * config_.round_trip_samples;
  send_trn2u();
}

void AnalogueV92Procedure::take_suv() {
  suv_received_ = true;
  answered_ |= reader_.suv().acknowledge && cp_at_ != 0;
}

// The error of the data is that of TRN2d, which has several levels: it is measured first.
void AnalogueV92Procedure::end_trn2u() {
  if (now_ - frames_at_ < kMeasure) return;
  take_suv();
  tx_.end_at_frame();
}

void AnalogueV92Procedure::take_cpd() {
  cpd_received_ = true;
  answered_ |= reader_.cpd().acknowledge && cp_at_ != 0;
}

bool AnalogueV92Procedure::cp_is_late() const {
  return !answered_ && now_ - cp_at_ > static_cast<int64_t>(bits_size_ * 4 + ms(100) + config_.round_trip_samples);
}

void AnalogueV92Procedure::send_suv() {
  Suv suv{};
  suv.level = Suv::kNoLevel;
  suv.acknowledge = sends_prime_ = cpd_received_;
  bits_size_ = encode(suv, bits_);
  tx_.start_sequence(bits_, bits_size_);
}

void AnalogueV92Procedure::send_cp() {
  if (cp_at_ == 0 && procedure_ == Procedure::kStartUp) choose_data_rate(error_rms_);
  if (procedure_ == Procedure::kCleardown) {
    cp_.drn = 0;
  } else if (carries_nothing()) {  // a CPu without a rate would clear the call down
    return end_in_retrain();
  }
  cp_at_ = now_;
  cp_.acknowledge = sends_prime_ = cpd_received_;
  bits_size_ =
      only_rate_differs_ ? encode(ShortCp{cp_.drn, cp_.acknowledge}, bits_) : encode_v92(cp_, bits_);  // CPus, 8.7.3
  tx_.start_sequence(bits_, bits_size_);
}

void AnalogueV92Procedure::send_e2u() {
  cpd_ = reader_.cpd();
  if (!is_usable(cpd_)) return end_in_retrain();
  tx_.start(Signal::kE2u, cpd_.extend_e2u ? 1 : 0);
}

void AnalogueV92Procedure::send_b1u() {
  tx_.set_data(cpd_);
  tx_.start(Signal::kB1u);
}

void AnalogueV92Procedure::send_data() {
  tx_.start(Signal::kData);
  tx_live_ = true;
  advance_data();
}

// --- reception

void AnalogueV92Procedure::put(PcmReceiver::Event event) {
  if (event == PcmReceiver::Event::kSdBar) handle(Event::kFarSdBar);
  if (event == PcmReceiver::Event::kTrained) note_taps();
}

DownstreamReader::Result AnalogueV92Procedure::put(float level, int interval, float error_power, bool refitting) {
  using Found = DownstreamReader::Found;
  static constexpr struct {
    Found found;
    Event event;
  } kHeard[] = {
      {Found::kJd, Event::kFarJd},      {Found::kJp, Event::kFarJp},         {Found::kJdPrime, Event::kFarJpPrime},
      {Found::kLearnt, Event::kLearnt}, {Found::kR, Event::kFarR},           {Found::kRBar, Event::kFarRBar},
      {Found::kSuv, Event::kFarSuv},    {Found::kCpd, Event::kFarCpd},       {Found::kEd, Event::kFarEd},
      {Found::kB1d, Event::kFarB1d},    {Found::kPoor, Event::kRenegotiate}, {Found::kLost, Event::kLineLost},
  };
  const DownstreamReader::Result r = listen(level, interval, error_power, refitting, state_ == State::kEqualise);
  if (r.found != Found::kNone) {
    for (const auto& heard : kHeard) {
      if (heard.found == r.found) handle(heard.event);
    }
  }
  if (state_ == State::kData && rx_live_) act_on_line(follow_line(error_power, now_));
  return r;
}

void AnalogueV92Procedure::follow_frames() {
  if (procedure_ != Procedure::kStartUp) renew_training_points();
  frames_at_ = now_;
  reader_.begin_frames(training_frames_, reader_.levels(), false);
}

void AnalogueV92Procedure::receive_b1d() {
  answered_ = true;
  follow_data_frames();
}

void AnalogueV92Procedure::receive_data() {
  b1d_received_ = true;
  b1d_deadline_ = 0;
  deliver(true);
  advance_data();
}

void AnalogueV92Procedure::advance_data() {
  if (state_ == State::kFinal && tx_live_ && b1d_received_) handle(Event::kBothSendData);
}

// --- data mode

void AnalogueV92Procedure::act_on_line(LineAdvice advice) {
  if (advice == LineAdvice::kLost) handle(Event::kLineLost);
  if (advice == LineAdvice::kRenegotiate || advice == LineAdvice::kRenegotiateWithSilence) handle(Event::kRenegotiate);
}

void AnalogueV92Procedure::begin_procedure(Procedure procedure) {
  procedure_ = procedure;
  ++renegotiations_;
  suv_received_ = cpd_received_ = answered_ = b1d_received_ = sends_prime_ = false;
  primes_ = 0;
  cp_at_ = 0;
  tx_live_ = false;
  const Cp before = cp_;
  choose_next_rate();
  note_changes(before);
  if (carries_nothing() && procedure == Procedure::kRenegotiation) return end_in_retrain();
  tx_.end_at_frame();
}

// CPus is for a renegotiation that changes no parameter of the digital modem but the rate.
void AnalogueV92Procedure::note_changes(const Cp& before) {
  Cp same = before;
  same.drn = cp_.drn;
  same.acknowledge = cp_.acknowledge;
  only_rate_differs_ = same == cp_;
}

void AnalogueV92Procedure::begin_renegotiation() {
  deliver(false);
  begin_procedure(Procedure::kRenegotiation);
}

void AnalogueV92Procedure::begin_cleardown() {
  deliver(false);
  begin_procedure(Procedure::kCleardown);
}

void AnalogueV92Procedure::answer_renegotiation() {
  begin_procedure(Procedure::kRenegotiation);
  if (outcome_ == Outcome::kNone) follow_frames();
}

}  // namespace offhook::v90
