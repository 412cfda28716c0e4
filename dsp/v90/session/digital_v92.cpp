// SPDX-License-Identifier: MIT
#include "dsp/v90/session/digital_v92.h"

#include "dsp/blocks/renew.h"
#include "dsp/v90/pcm/upstream_signals.h"

namespace offhook::v90 {
namespace {

constexpr uint32_t kFarStopsMs = 60;     // from Sd-bar to the analogue modem's silence, and the delay of receivers
constexpr uint32_t kJaMs = 4500;         // 9.5.1.2.1, from the end of INFO1a
constexpr int kMeasured = 96;            // samples of Su at 4000 Hz
constexpr float kLeastEdge = 1e-4f;      // of the power at 1333 Hz: less has no phase
constexpr float kMost = 1.15f;           // of the noise that the rate was chosen for, squared: renegotiate
constexpr float kLostVariance = 0.078f;  // levels and points of no relation give 1/12
constexpr int kWindow = 4096;            // symbols
constexpr int kNoisyWindows = 3;
constexpr int kForFilters = 3600;     // symbols of TRN1u before the filters for TRN2u are computed
constexpr int kRelearnt = 6000;       // symbols of TRN2u before the data mode's parameters are
constexpr int kRelearntAgain = 3000;  // the same in a renegotiation
constexpr float kEchoStep = 0.02f;    // of normalised LMS, in TRN1u and TRN2u
constexpr float kDataEchoStep = 0.01f;
constexpr int kEchoEvery = 4;  // symbols of data

}  // namespace

// --- sequences

void UpstreamSequences::begin(int points) {
  const bool negative = negative_;
  renew(*this);
  negative_ = negative;
  points_ = points;
}

void UpstreamSequences::find(int bit, int bits_a_symbol, Found* found) {
  int size = 0;
  if (points_ == 2 && dil_receiver_.put(bit, &dil_)) *found = Found::kDil;
  if (cp_receiver_.put(bit, &cp_)) *found = Found::kCp, size = cp_receiver_.size() + 1;
  if (points_ > 2 && short_cp_receiver_.put(bit, &short_cp_)) *found = Found::kShortCp, size = ShortCp::kBits;
  if (points_ > 2 && suv_receiver_.put(bit, &suv_)) *found = Found::kSuv, size = Suv::kBits;
  if (size == 0) return;
  const int a_frame = bits_a_symbol * kUpstreamIntervals;
  const int symbols = (size + a_frame - 1) / a_frame * kUpstreamIntervals;
  until_next_ = symbols - (size - 2) / bits_a_symbol;
  in_frame_ = -1;
}

UpstreamSequences::Found UpstreamSequences::put(bool negative, int magnitude) {
  const int n = points_ == 8 ? 3 : points_ == 4 ? 2 : 1;
  Found found = Found::kNone;
  if (until_next_ >= 0 && --until_next_ == 0) in_frame_ = ones_ = 0;
  for (int k = 0; k < n; ++k) {
    const int coded = k == 0 ? static_cast<int>(negative != negative_) : magnitude >> (n - 1 - k) & 1;
    const int bit = descrambler_.descramble(coded);
    ones_ += bit;
    find(bit, n, &found);
  }
  negative_ = negative;
  if (found != Found::kNone || in_frame_ < 0) return found;
  if (++in_frame_ < kUpstreamIntervals) return Found::kNone;
  in_frame_ = -1;
  return ones_ <= n ? Found::kE : Found::kNone;
}

// --- procedure

const DigitalV92Procedure::Table& DigitalV92Procedure::transitions() {
  using enum DigitalV92State;
  using enum DigitalV92Event;
  using P = DigitalV92Procedure;
  // clang-format off
  static constexpr Transition kRows[] = {
      // Phase 3
      {in(kAwaitRu), kFarReversal, &P::expects_md,      &P::wait_out_md,          kFarMd,  "9.5.1.1.1"},
      {in(kFarMd),   kWaitOver,    nullptr,             nullptr,                  kAwaitRu, "9.5.1.1.1"},
      {in(kAwaitRu), kFarReversal, nullptr,             &P::follow_trn1u,         kFarTrn, "9.5.1.1.2"},
      {in(kFarTrn),  kFarDil,      nullptr,             &P::send_sd,              kTrain,  "9.5.1.1.3"},
      {in(kAwaitRu, kFarMd, kFarTrn), kTimeout, nullptr, &P::end_in_retrain,      kEnded,  "9.5.1.2.1"},
      {in(kTrain),   kSentSilence, nullptr,             &P::begin_sd,             kTrain,  "8.3.6"},
      {in(kTrain),   kSentSd,      nullptr,             &P::send_sd_bar,          kTrain,  "9.5.1.1.3"},
      {in(kTrain),   kSentSdBar,   nullptr,             &P::send_trn1d,           kTrain,  "9.5.1.1.4"},
      {in(kTrain),   kSentTrn1d,   nullptr,             &P::begin_jd,             kTrain,  "9.5.1.1.4"},
      {in(kTrain),   kSentJd,      nullptr,             &P::send_jd,              kTrain,  "9.5.1.1.5"},
      {in(kPhase),   kSentJd,      nullptr,             &P::send_jd,              kPhase,  "9.5.1.1.5"},
      {in(kTrain),   kFarReversal, &P::has_sent_jd,     &P::note_phase,           kPhase,  "9.5.1.1.6, 9.5.1.1.7"},
      {in(kPhase),   kFarReversal, nullptr,             &P::turn_phase,           kPhase,  "9.5.1.1.7"},
      {in(kPhase),   kWaitOver,    nullptr,             &P::measure_phase,        kJp,     "9.5.1.1.8"},
      {in(kJp),      kSentJd,      nullptr,             &P::send_jp,              kJp,     "9.5.1.1.8"},
      {in(kJp),      kFarReversal, nullptr,             &P::follow_second_trn1u,  kDil,    "9.5.1.1.9, 9.5.1.1.10"},
      {in(kTrain, kPhase, kJp), kTimeout, nullptr,      &P::end_in_retrain,       kEnded,  "9.5.1.2.2"},
      {in(kDil),     kSentJd,      nullptr,             &P::send_jp_prime,        kDil,    "9.5.1.1.9"},
      {in(kDil),     kSentJdPrime, &P::wants_no_dil,    &P::send_scr,             kDil,    "9.5.1.1.11"},
      {in(kDil),     kSentJdPrime, nullptr,             &P::send_dil,             kDil,    "9.5.1.1.11"},
      {in(kDil),     kSentDil,     &P::cpt_has_come,    &P::send_ri,              kDil,    "9.5.1.1.12"},
      {in(kDil),     kSentDil,     &P::ends_scr,        &P::send_ri,              kDil,    "9.5.1.1.13"},
      {in(kDil),     kSentDil,     &P::wants_no_dil,    &P::send_scr,             kDil,    "9.5.1.1.11"},
      {in(kDil),     kSentDil,     nullptr,             &P::send_dil,             kDil,    "9.5.1.1.11"},
      {in(kDil),     kFarCp,       nullptr,             &P::take_cpt,             kDil,    "9.5.1.1.12"},
      {in(kDil),     kFarE,        &P::cpt_has_come,    &P::take_e1u,             kFinal,  "9.5.1.1.12"},
      // Phase 4, renegotiation, cleardown
      {in(kDil, kFinal), kSentR,   &P::ready_for_r_bar, &P::send_r_bar,           kFinal,  "9.5.1.1.12, 9.8.1.1.1"},
      {in(kDil),     kSentR,       nullptr,             &P::send_ri,              kDil,    "9.5.1.1.12"},
      {in(kFinal),   kSentDil,     nullptr,             &P::send_ri,              kFinal,  "9.5.1.1.12"},
      {in(kFinal),   kSentRBar,    nullptr,             &P::send_trn2d,           kFinal,  "9.6.1.1.1, 9.8.1.1.2"},
      {in(kFinal),   kSentTrn2d,   &P::is_designed,     &P::send_suv,             kFinal,  "9.6.1.1.1"},
      {in(kFinal),   kSentTrn2d,   nullptr,             &P::send_more_trn2d,      kFinal,  "9.6.1.1.1"},
      {in(kFinal),   kSentMp,      &P::released,        &P::release,              kEnded,  "9.11"},
      {in(kFinal),   kSentMp,      &P::agreed,          &P::send_ed,              kFinal,  "9.6.1.1.4"},
      {in(kFinal),   kSentMp,      &P::owes_cpd,        &P::send_cpd,             kFinal,  "9.6.1.1.2, 9.6.1.1.3"},
      {in(kFinal),   kSentMp,      nullptr,             &P::send_suv,             kFinal,  "9.6.1.1.2"},
      {in(kFinal),   kFarReversal, &P::expects_ru,      &P::follow_renegotiation, kFinal,  "9.8.1.1.1"},
      {in(kFinal),   kFarSuv,      nullptr,             &P::take_suv,             kFinal,  "9.6.1.1.2"},
      {in(kFinal),   kFarCp,       nullptr,             &P::take_cp,              kFinal,  "9.6.1.1.2"},
      {in(kFinal),   kFarShortCp,  &P::has_cp_of_data,  &P::take_short_cp,        kFinal,  "8.7.3, 9.8.1.1.2"},
      {in(kFinal),   kFarE,        &P::expects_e2,      &P::receive_b1u,          kFinal,  "9.6.1.1.4, 9.6.1.1.6"},
      {in(kFinal),   kSentEd,      nullptr,             &P::drain,                kFinal,  "9.6.1.1.5"},
      {in(kFinal),   kSentDrain,   &P::ed_was_sent,     &P::send_b1d,             kFinal,  "9.6.1.1.5"},
      {in(kFinal),   kSentDrain,   nullptr,             &P::send_rd,              kFinal,  "9.8.1.1.1, 9.8.1.2.2"},
      {in(kFinal),   kSentB1d,     nullptr,             &P::send_data,            kFinal,  "9.6.1.1.5"},
      {in(kFinal),   kBothSendData, nullptr,            nullptr,                  kData,   "9.6.1.1.6"},
      {in(kDil, kFinal), kNoB1u,   nullptr,             &P::end_in_retrain,       kEnded,  "9.6.1.2.1"},
      // data mode
      {in(kData),    kFarReversal, nullptr,             &P::answer_renegotiation, kFinal,  "9.8.1.2"},
      {in(kData),    kRenegotiate, &P::is_live,         &P::begin_renegotiation,  kFinal,  "9.8.1.1"},
      {in(kData),    kCleardown,   &P::is_live,         &P::begin_cleardown,      kFinal,  "9.11"},
      {in(kData),    kLineLost,    nullptr,             &P::end_in_retrain,       kEnded,  "9.7.1.1"},
  };
  // clang-format on
  return TransitionIndex<kRows>::kTable;
}

DigitalV92Procedure::DigitalV92Procedure(const DigitalConfig& config, const oh_bit_port& port)
    : TableProcedure(State::kAwaitRu), config_(config), port_(port), tx_(config.law) {
  receiver_.init(config.law);
  tx_.set_u_info(config.u_info);
  const auto from_info1a = [&config](uint32_t most) { return most > config.elapsed ? most - config.elapsed : 1; };
  deadline_ = from_info1a(ms(kJaMs) + config.round_trip_samples);
  b1u_deadline_ = from_info1a(ms(20000) + 6 * config.round_trip_samples);  // 9.6.1.2.1
}

void DigitalV92Procedure::end(Outcome outcome) {
  state_ = State::kEnded;
  outcome_ = outcome;
  tx_.start(Signal::kSilence);
  tx_live_ = rx_live_ = false;
  follows_ = reads_ = false;
}

void DigitalV92Procedure::put(float sample, float received, PcmEchoCanceller* echo) {
  ++now_;
  if (is_due(now_, &wait_until_)) handle(Event::kWaitOver);
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
  if (is_due(now_, &b1u_deadline_)) handle(Event::kNoB1u);
  receiver_.put(sample, received);
  if (receiver_.six().take_reversal()) handle(Event::kFarReversal);
  if (!design_.idle() && design_.work()) end_design();
  if (follows_) read_symbols(echo);
  if (reads_) read_data(echo);
}

bool DigitalV92Procedure::far_end_silent() const {
  return state_ == State::kTrain && tx_.signal() == Signal::kTrn1d && now_ >= silent_at_;
}

void DigitalV92Procedure::read_symbols(PcmEchoCanceller* echo) {
  using Found = UpstreamSequences::Found;
  UpstreamReceiver::Symbol symbol;
  for (int n = 0; n < 2 && follows_ && receiver_.next(&symbol); ++n) {
    if (echo != nullptr && symbol.weight > 0 && state_ == State::kFinal)
      echo->learn(symbol.residual, static_cast<int>(receiver_.now() - symbol.at), kEchoStep * symbol.weight);
    if (state_ == State::kDil && !has_filters_ && receiver_.measured() > kForFilters) begin_filters();
    if (design_at_ >= 0 && symbol.position >= design_at_) begin_design();
    switch (sequences_.put(symbol.negative, symbol.magnitude)) {
      case Found::kNone:
        break;
      case Found::kDil:
        handle(Event::kFarDil);
        break;
      case Found::kCp:
        handle(Event::kFarCp);
        break;
      case Found::kShortCp:
        handle(Event::kFarShortCp);
        break;
      case Found::kSuv:
        handle(Event::kFarSuv);
        break;
      case Found::kE:
        data_from_ = symbol.position + 1;
        handle(Event::kFarE);
        break;
    }
  }
}

void DigitalV92Procedure::read_data(PcmEchoCanceller* echo) {
  for (int n = 0; n < 2; ++n) {
    const int64_t newest = receiver_.sample_of(data_at_) + design_.delay() + UpstreamReader::kAhead;
    if (newest > receiver_.now()) break;
    static_assert(UpstreamReader::kTaps <= UpstreamReceiver::kMirrored);
    const float* window = receiver_.samples(newest, UpstreamReader::kTaps);
    reader_.put(window, port_, rx_live_ && !receiver_.six().present());  // 9.8.1.2.1
    if (reader_.certain()) learn_from_data(newest - UpstreamReader::kBehind, echo);
    ++data_at_;
    if (state_ == State::kData && rx_live_) follow_line();
    if (!reads_) return;
  }
  advance_data();
}

void DigitalV92Procedure::learn_from_data(int64_t at, PcmEchoCanceller* echo) {
  receiver_.note_offset(at, reader_.residual());
  if (echo == nullptr || data_at_ % kEchoEvery != 0) return;
  const float weight = receiver_.weight_of(receiver_.received(at));
  echo->learn(reader_.residual(), static_cast<int>(receiver_.now() - at), kDataEchoStep * weight);
}

void DigitalV92Procedure::follow_line() {
  if (++watched_ % kWindow != 0) return;
  const float expected = design_.variance();
  const float variance = reader_.variance();
  const float most = kMost * expected;
  noisy_ = variance > most ? noisy_ + 1 : 0;
  if (noisy_ < kNoisyWindows) return;
  noisy_ = 0;
  if (variance > kLostVariance) return static_cast<void>(handle(Event::kLineLost));
  noise_scale_ *= variance / expected > 1 ? variance / expected : 1;
  handle(Event::kRenegotiate);
}

// --- transmission

Pcm DigitalV92Procedure::next() {
  while (!tx_.ready(port_, tx_live_)) {
    if (tx_.signal() == Signal::kMp && sends_prime_) ++primes_;
    static_assert(static_cast<int>(Event::kSentB1d) == static_cast<int>(Signal::kB1d));
    if (!handle(static_cast<Event>(tx_.signal()))) tx_.start(Signal::kSilence);
  }
  ++codes_;
  return tx_.next();
}

void DigitalV92Procedure::wait_out_md() {
  constexpr uint32_t kUnit = 276;  // symbols; Table 18
  wait_until_ = now_ + kUnit * config_.far_md_length;
  config_.far_md_length = 0;
}

void DigitalV92Procedure::follow_trn1u() {
  sequences_.begin(2);
  receiver_.train(false);
  follows_ = true;
}

void DigitalV92Procedure::send_sd() {
  deadline_ = 0;
  follows_ = false;
  receiver_.stop();
  dil_ = sequences_.dil();
  rates_ = sequences_.rates();
  const int wait = config_.aligned < 0 ? 0 : (config_.aligned + 6 - static_cast<int>(codes_ % 6)) % 6;
  if (wait > 0) {
    tx_.wait(wait);
  } else {
    begin_sd();
  }
}

void DigitalV92Procedure::send_trn1d() {
  tx_.start(Signal::kTrn1d, kLeastTrn1d + static_cast<int>(ms(config_.trn1d_ms)));
  silent_at_ = now_ + config_.round_trip_samples + ms(kFarStopsMs);
  deadline_ = now_ + ms(5100) + config_.round_trip_samples;  // 9.5.1.2.2
}

void DigitalV92Procedure::begin_jd() {
  jd_ = {rates_of_jd(config_.max_bit_rate), false, false, config_.look_ahead};
  jd_sent_ = true;
  send_jd();
}

// The part of Su at 4000 Hz, which every symbol has with the other sign.
float DigitalV92Procedure::band_edge(int64_t newest) const {
  float sum = 0;
  for (int k = 0; k < kMeasured; ++k) {
    const int64_t at = newest - k;
    sum += (at & 1) != 0 ? -receiver_.sample(at) : receiver_.sample(at);
  }
  return sum / kMeasured;
}

void DigitalV92Procedure::note_phase() {
  deadline_ = now_ + ms(5100) + 2 * config_.round_trip_samples;  // the text has no limit for the next reversals
  edge_ = band_edge(receiver_.now() - 2 * SixDetector::kReversalAge);
}

// Su after half a symbol more has lasted for kMeasured symbols when the wait is over.
void DigitalV92Procedure::turn_phase() {
  wait_until_ = now_ + kMeasured + 2 * SixDetector::kReversalAge;
}

// Before the half symbol the part was A cos(pi t), after it A sin(pi t), t the place of the sampling instants between
// the symbols. It is the greatest when t is whole.
void DigitalV92Procedure::measure_phase() {
  const float after = band_edge(receiver_.now());
  float power = 0;
  for (int k = 0; k < kMeasured; ++k)
    power += receiver_.sample(receiver_.now() - k) * receiver_.sample(receiver_.now() - k);
  jp_ = {};
  if (edge_ * edge_ + after * after > kLeastEdge * power / kMeasured) {
    const float turns = 2 * angle_turns({edge_, after}) - 0.5f;  // symbols
    jp_.extension = static_cast<uint16_t>(static_cast<int32_t>(turns * 65536));
  }
}

void DigitalV92Procedure::follow_second_trn1u() {
  deadline_ = 0;
  has_filters_ = false;
  sequences_.begin(2);
  receiver_.train(true);
  follows_ = true;
}

void DigitalV92Procedure::send_dil() {
  if (tx_.signal() == Signal::kDil) segment_ = segment_ + 1 == dil_.segments ? 0 : segment_ + 1;
  tx_.start_dil(dil_, segment_);
}

void DigitalV92Procedure::send_ri() {
  uint8_t r[kFrameIntervals];
  for (uint8_t& u : r) u = config_.u_info;
  tx_.start_r(r, tx_.signal() == Signal::kR ? kFrameIntervals : kLeastRi);
}

void DigitalV92Procedure::send_r_bar() {
  if (procedure_ != Procedure::kStartUp) b1u_deadline_ = now_ + ms(10000) + 4 * config_.round_trip_samples;
  tx_.start(Signal::kRBar);
}

void DigitalV92Procedure::send_trn2d() {
  tx_.begin_frames(training_frames_);
  tx_.start(Signal::kTrn2d, kLeastTrn2d + static_cast<int>(ms(config_.trn2d_ms)));
}

void DigitalV92Procedure::send_suv() {
  Suv suv{};
  suv.acknowledge = sends_prime_ = cp_received_;
  tx_.start_sequence(bits_, encode(suv, bits_));
}

bool DigitalV92Procedure::cpd_is_late() const {
  return !answered_ &&
         now_ - cpd_at_ > static_cast<int64_t>(cpd_symbols_ + ms(100) + 2 * config_.round_trip_samples + ms(100));
}

void DigitalV92Procedure::send_cpd() {
  cpd_at_ = now_;
  cpd_.acknowledge = sends_prime_ = cp_received_;
  if (procedure_ == Procedure::kCleardown) cpd_.drn = 0;
  const int size = encode(cpd_, bits_);
  cpd_symbols_ = size / training_frames_.bits() * kFrameIntervals;
  tx_.start_sequence(bits_, size);
}

void DigitalV92Procedure::send_ed() {
  ed_sent_ = true;
  tx_.start(Signal::kEd);
}

void DigitalV92Procedure::send_b1d() {
  tx_.begin_frames(data_frames_);
  tx_.start(Signal::kB1d);
}

void DigitalV92Procedure::send_data() {
  tx_.start(Signal::kData);
  tx_live_ = true;
  advance_data();
}

// --- reception

void DigitalV92Procedure::take_cpt() {
  if (!frame_parameters(sequences_.cp(), config_.law, &training_frames_)) return;
  cpt_ = sequences_.cp();
  cpt_received_ = true;
}

void DigitalV92Procedure::take_e1u() {
  e1_received_ = true;
  const int points = jp_.points8 ? 8 : 4;
  sequences_.begin(points);
  receiver_.set_points(points);
  receiver_.measure_again();
  design_at_ = data_from_ + kRelearnt;
}

UpstreamLine DigitalV92Procedure::line() const {
  return {config_.law, receiver_.channel(), receiver_.noise(), noise_scale_, receiver_.echo_power()};
}

void DigitalV92Procedure::begin_filters() {
  has_filters_ = true;
  design_.begin_filters(line());
}

void DigitalV92Procedure::begin_design() {
  design_at_ = -1;
  UpstreamRates rates = rates_;
  for (int drn = 1; drn <= kMostUpstreamDrn && config_.max_bit_rate > 0; ++drn) {
    if (static_cast<uint32_t>(drn + 17) * 4000 > 3 * config_.max_bit_rate) rates &= ~(1u << (drn - 1));
  }
  design_.begin(line(), rates, config_.trellis, UpstreamDesign::kLeastDistance);
}

void DigitalV92Procedure::end_design() {
  if (follows_) receiver_.install(design_.forward(), design_.feedback(), design_.delay());
  if (design_.filters_only()) return;
  designed_ = true;
  cpd_ = design_.cpd();
  refuses_ = cpd_.drn == 0;
  if (refuses_) end_in_retrain();
}

void DigitalV92Procedure::take_suv() {
  suv_received_ = true;
  answered_ |= sequences_.suv().acknowledge && cpd_at_ != 0;
}

void DigitalV92Procedure::take_cp() {
  if (sequences_.cp().data_mode) take(sequences_.cp());
}

void DigitalV92Procedure::take_short_cp() {
  Cp cp = cp_;
  cp.drn = sequences_.short_cp().drn;
  cp.acknowledge = sequences_.short_cp().acknowledge;
  take(cp);
}

void DigitalV92Procedure::take(const Cp& cp) {
  if (cp.drn != 0 && !frame_parameters(cp, config_.law, &data_frames_)) return;
  cp_ = cp;
  cp_received_ = true;
  answered_ |= cp.acknowledge && cpd_at_ != 0;
}

void DigitalV92Procedure::receive_b1u() {
  answered_ = true;
  if (cpd_.drn == 0) return;
  follows_ = false;
  bits_received_ += reader_.bits_received();
  renew(reader_, cpd_);
  reads_ = true;
  data_at_ = data_from_;
}

// E2u and B1u were received and B1d was sent: data mode.
void DigitalV92Procedure::advance_data() {
  if (state_ == State::kFinal && tx_live_ && reads_) handle(Event::kBothSendData);
  if (state_ != State::kData || rx_live_ || !reader_.b1_received()) return;
  b1u_deadline_ = 0;
  rx_live_ = true;
  watched_ = noisy_ = 0;
}

// --- renegotiation

void DigitalV92Procedure::begin_procedure(Procedure procedure) {
  procedure_ = procedure;
  ++renegotiations_;
  cp_received_ = suv_received_ = answered_ = ed_sent_ = sends_prime_ = follows_ = false;
  primes_ = 0;
  cpd_at_ = 0;
  tx_live_ = rx_live_ = false;
  // 8.6 of V.90: the points of the training, the shaping of the data that ran.
  training_frames_.shaping_bits = data_frames_.shaping_bits;
  training_frames_.look_ahead = data_frames_.look_ahead;
  training_frames_.filter = data_frames_.filter;
  designed_ = false;
  if (procedure == Procedure::kCleardown) begin_design();
  drain();
}

void DigitalV92Procedure::begin_renegotiation() {
  begin_procedure(Procedure::kRenegotiation);
}

void DigitalV92Procedure::begin_cleardown() {
  begin_procedure(Procedure::kCleardown);
}

void DigitalV92Procedure::answer_renegotiation() {
  begin_procedure(Procedure::kRenegotiation);
  follow_renegotiation();
}

// Ru-bar has begun, at the start of a data frame; TRN2u follows it.
void DigitalV92Procedure::follow_renegotiation() {
  reads_ = false;
  follows_ = true;
  const int points = jp_.points8_renegotiation ? 8 : 4;
  sequences_.begin(points);
  sequences_.set_sign(false);
  receiver_.set_points(points);
  const int64_t first = receiver_.resume();
  if (procedure_ != Procedure::kCleardown) design_at_ = first + kRelearntAgain;
}

void DigitalV92Procedure::send_rd() {
  uint8_t r[kFrameIntervals];
  for (int i = 0; i < kFrameIntervals; ++i) r[i] = data_frames_.points.ucode[i][0];
  tx_.start_r(r, kRSymbols);
}

}  // namespace offhook::v90
