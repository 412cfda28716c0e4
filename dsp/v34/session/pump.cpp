// SPDX-License-Identifier: MIT
#include "dsp/v34/session/pump.h"

#include "dsp/blocks/hum_filter.h"
#include "dsp/blocks/level.h"
#include "dsp/blocks/renew.h"
#include "dsp/blocks/tone.h"
#include "dsp/pump/pump_type.h"
#include "dsp/qam/echo_canceller.h"
#include "dsp/qam/modulator.h"
#include "dsp/qam/receiver.h"
#include "dsp/v34/coding/pre_emphasis.h"
#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/session/bank.h"
#include "dsp/v34/session/call_memory.h"
#include "dsp/v34/session/handover.h"
#include "dsp/v34/session/session.h"
#include "dsp/v8/v8.h"

namespace offhook::v34 {
namespace {

constexpr uint32_t kRateHz = 8000;
constexpr uint64_t kGiveUp = 90 * kRateHz;  // without data mode
// Time in Phase 2 without the far end. During its own training it may be silent for 5.2 s (V.34 11.4.1: 4 s, and a
// round trip of 1.2 s) before it receives this end's tone. Its answer takes another round trip.
constexpr uint64_t kGone = 10 * kRateHz;
constexpr uint64_t kInstrumentsEvery = kRateHz / 10;

enum class Stage : uint8_t { kV8, kPhase2, kTraining, kReleased, kFailed };

Phase2Config phase2_config(const oh_pump_config& c) {
  Phase2Config p;
  p.role = c.role;
  p.tx_level_dbm0 = c.tx_level_dbm0;
  p.io_delay_samples = static_cast<uint16_t>(c.io_delay_samples);
  return p;
}

class Modem {
 public:
  static constexpr uint32_t kLeastBitRate = 4800;
  static constexpr uint32_t kLongestStep = 1000;

  explicit Modem(const oh_pump_config& c)
      : observer_(observer_of(c)),
        config_(c),
        v8_(v8::data_call(c, v8::kV34)),
        phase2_(phase2_config(c)),
        retrain_tone_(c.role == OH_PUMP_CALL ? kToneAHz : kToneBHz) {}

  int16_t process(int16_t rx) {
    ++samples_;
    return step(rx, false);
  }
  void lost() {
    ++samples_;
    ++filled_in_;
    step(0, true);
  }

  // In a bank: the memory that a block of data mode uses, and the memory that add_to() reads.
  void add_to(HotLines* hot) const;
  void add_heads_to(HotLines* hot) const;

  void begin() {
    stage_ = Stage::kPhase2;
    phase2_.start();
  }
  void begin_training(const Phase2Outcome& outcome) {
    phase2_.adopt(outcome);
    is_guest_ = true;
    begin_training();
  }
  Outcome handed_back() const { return handed_back_; }
  void want_auxiliary(const oh_bit_port& port) {
    wants_auxiliary_ = true;
    auxiliary_ = port;
  }
  void status(oh_pump_status* s) const;
  void instruments(oh_v34_instruments* i) const;
  Session* in_data() {
    return stage_ == Stage::kTraining && session_.state() == Session::State::kData ? &session_ : nullptr;
  }
  void retrain(oh_retrain_cause cause);
  void hang_up();
  void note_frames(uint32_t bad) {
    if (stage_ == Stage::kTraining) session_.note_bad_frames(bad);
  }

 private:
  int16_t step(int16_t rx, bool is_lost) {
    float tx = 0;
    if (hear(rx, is_lost, &tx)) tx = send(is_lost);
    return end_step(tx);
  }
  bool hear(float rx, bool is_lost, float* tx);
  bool train(float rx, bool is_lost);
  float send(bool is_lost);
  int16_t end_step(float tx);
  void fail();
  void begin_training();
  void receive(float rx, bool is_lost);
  const LineQuality* measure_noise();
  void follow_outcome();
  void leave_training(Stage next);
  void begin_phase2(Outcome why, oh_retrain_cause cause);
  void show_instruments() const;
  void show_taps();
  void show_progress();
  oh_start_up start_up() const;
  void show_cause() const;
  void show_training() const;

  Stage stage_ = Stage::kV8;
  uint64_t samples_ = 0, filled_in_ = 0, without_data_ = 0;
  uint64_t bits_sent_ = 0, bits_received_ = 0;  // of earlier data modes
  uint64_t live_samples_ = 0;                   // of this data mode
  uint64_t data_samples_ = 0;                   // of this training's data modes
  uint32_t retrains_ = 0;
  oh_retrain_cause cause_ = OH_RETRAIN_NONE;
  bool nothing_in_common_ = false;
  bool is_guest_ = false;  // another runs Phase 2
  Outcome handed_back_ = Outcome::kNone;
  bool wants_auxiliary_ = false;
  oh_bit_port auxiliary_{};
  float power_ = 0;  // of the line, mean square
  uint32_t order_version_ = 0;
  oh_pump_observer observer_;
  oh_start_up shown_start_up_ = OH_START_UP_NONE;
  uint32_t shown_slips_ = 0, slips_before_ = 0;  // before_: by receivers of earlier trainings
  oh_pump_config config_;

  v8::V8 v8_;
  SigCDetector sig_c_;
  Phase2 phase2_;
  RetrainDetector retrain_tone_;
  Session session_;
  SymbolReader reader_;
  LineQuality quality_;
  CallMemory memory_;
  HumFilter front_{kHighPassFrom220};
  qam::Modulator modulator_;
  qam::Receiver receiver_;
  qam::EchoCanceller echo_;
};

void Modem::add_heads_to(HotLines* hot) const {
  hot->add_up_to(this, &v8_);
  receiver_.add_heads_to(hot);
  modulator_.add_heads_to(hot);
  echo_.add_heads_to(hot);
}

// @return whether send() of Phases 3 and 4 gives the sent sample; otherwise it is *tx.
bool Modem::hear(float x, bool is_lost, float* tx) {
  power_ += (x * x - power_) * (1.f / 256);
  switch (stage_) {
    case Stage::kV8:
      if (v8_.step() == v8::V8::Step::kJm && sig_c_.put(x)) v8_.far_end_has_begun();
      *tx = v8_.process(x);
      if (v8_.state() == v8::State::kRunning) break;
      v8::show_menus(observer_, config_.role, v8_);
      if (v8_.state() == v8::State::kDone && v8_.result().modulation == v8::kV34) {
        begin();
      } else {
        nothing_in_common_ = true;
        stage_ = Stage::kFailed;
      }
      break;
    case Stage::kPhase2:
      if (is_guest_) break;
      *tx = phase2_.process(x);
      if (phase2_.done()) begin_training();
      break;
    case Stage::kTraining:
      return train(x, is_lost);
    default:
      break;
  }
  return false;
}

int16_t Modem::end_step(float tx) {
  if (stage_ == Stage::kReleased) return 0;
  const bool live = stage_ == Stage::kTraining && session_.live();
  without_data_ = live ? 0 : without_data_ + 1;
  data_samples_ += live;
  const bool gone = stage_ == Stage::kPhase2 && !is_guest_ && phase2_.unheard() > kGone;
  if (without_data_ > kGiveUp || gone) fail();
  if (observer_.instrument != nullptr && samples_ % kInstrumentsEvery == 0) {
    show_progress();
    show_instruments();
  }
  if (observer_.taps != nullptr) show_taps();
  return clip(tx);
}

void Modem::add_to(HotLines* hot) const {
  hot->add(config_.port.user, HotLines::kLine);  // its owner knows the part in use; this is the probable one
  if (stage_ != Stage::kTraining) return;
  receiver_.add_to(hot);
  hot->add(&retrain_tone_, sizeof retrain_tone_);
  session_.add_to(hot);
  reader_.add_to(hot);
  modulator_.add_to(hot);
  echo_.add_to(hot);
}

void Modem::show_instruments() const {
  if (stage_ != Stage::kTraining || !receiver_.trained()) return;
  oh_v34_instruments i;
  instruments(&i);
  const auto show = [this](oh_instrument what, float value) { observer_.instrument(observer_.user, what, value); };
  if (receiver_.snr() > 0) show(OH_INSTRUMENT_SNR, i.snr_db);
  show(OH_INSTRUMENT_CLOCK, i.clock_ppm);
  show(OH_INSTRUMENT_CARRIER, i.frequency_offset_hz);
  if (i.echo_return_loss_db > 0) show(OH_INSTRUMENT_ECHO_RETURN_LOSS, i.echo_return_loss_db);
  if (i.path_variance > 0) {
    show(OH_INSTRUMENT_PATH_METRIC, static_cast<float>(power_db(static_cast<double>(i.path_variance))));
  }
}

// When data mode begins, and every 10 s in it.
void Modem::show_taps() {
  const bool live = stage_ == Stage::kTraining && session_.live();
  if (live && live_samples_ % (10 * kRateHz) == 0) {
    observer_.taps(observer_.user, receiver_.tap_re(), receiver_.tap_im(), qam::Receiver::kTaps);
  }
  live_samples_ = live ? live_samples_ + 1 : 0;
}

oh_start_up Modem::start_up() const {
  using enum SessionState;
  if (stage_ == Stage::kV8) return v8::start_up(v8_);
  if (stage_ == Stage::kPhase2) return phase2_.has_far_info0() ? OH_START_UP_PROBING : OH_START_UP_INFO0;
  if (stage_ != Stage::kTraining) return OH_START_UP_NONE;
  switch (session_.state()) {
    case kFarS:
    case kFarMd:
      return OH_START_UP_FAR_S;
    case kFarTrn:
      return OH_START_UP_FAR_TRAINING;
    case kAnswerJ:
    case kTrainFar:
    case kSendJ:
      return OH_START_UP_OWN_TRAINING;
    case kFinal:
      return OH_START_UP_RATES;
    default:
      return OH_START_UP_NONE;
  }
}

// The awaited event; a slip of data mode.
void Modem::show_progress() {
  if (observer_.instrument == nullptr) return;
  const oh_start_up now = start_up();
  if (now != shown_start_up_ && now != OH_START_UP_NONE) {
    observer_.instrument(observer_.user, OH_INSTRUMENT_START_UP, static_cast<float>(now));
    if (now == OH_START_UP_MENUS) v8::show_menus(observer_, config_.role, v8_);
    if (now > OH_START_UP_INFO0 && shown_start_up_ <= OH_START_UP_INFO0 && !is_guest_) phase2_.show_info0(observer_);
  }
  shown_start_up_ = now;
  const uint32_t slips =
      stage_ == Stage::kTraining ? session_.slips() + slips_before_ + receiver_.slips() : shown_slips_;
  if (slips != shown_slips_) observer_.instrument(observer_.user, OH_INSTRUMENT_SLIPS, static_cast<float>(slips));
  shown_slips_ = slips;
}

void Modem::fail() {
  show_progress();
  stage_ = Stage::kFailed;
}

void Modem::show_cause() const {
  if (observer_.instrument != nullptr) {
    observer_.instrument(observer_.user, OH_INSTRUMENT_RETRAIN_CAUSE, static_cast<float>(cause_));
  }
}

// The results of Phase 2.
void Modem::show_training() const {
  if (observer_.instrument == nullptr) return;
  const Phase2Outcome& o = phase2_.outcome();
  const auto show = [this](oh_instrument what, double value) {
    observer_.instrument(observer_.user, what, static_cast<float>(value));
  };
  show(OH_INSTRUMENT_ROUND_TRIP, o.round_trip_samples * 1000. / kRateHz);
  show(OH_INSTRUMENT_TX_SYMBOL_RATE, symbol_rate_hz(o.tx_symbol_rate));
  show(OH_INSTRUMENT_RX_SYMBOL_RATE, symbol_rate_hz(o.rx_symbol_rate));
}

void Modem::begin_training() {
  const Phase2Outcome& o = phase2_.outcome();
  SessionConfig h;
  h.role = config_.role;
  h.tx_symbol_rate = o.tx_symbol_rate;
  h.rx_symbol_rate = o.rx_symbol_rate;
  h.round_trip_samples = o.round_trip_samples;
  h.io_delay_samples = config_.io_delay_samples;
  h.own_md_length = o.own_md_length;
  h.far_md_length = o.far_md_length;
  h.far_cme = o.far_info0.cme;
  h.points_1664 = o.own_info0.supports_1664_points && o.far_info0.supports_1664_points;
  h.elapsed = o.samples_since_info1a;
  // INFO1a has 70 bits at 600 bit/s, and began a round trip after the end of INFO1c at the terminals.
  h.since_info1c = o.samples_since_info1a + 70 * kRateHz / 600 + o.round_trip_samples + config_.io_delay_samples;
  h.max_bit_rate = config_.max_bit_rate;
  h.margin = kSnrMargin;
  h.aux = wants_auxiliary_;
  // Sixteen points need 22 dB, like a rate of five bits per symbol.
  const double bits = 2400.0 * o.rx_projected_rate / symbol_rate_hz(o.rx_symbol_rate);
  h.points = bits >= 5 && !memory_.missed_mp() ? TrainingPoints::k16 : TrainingPoints::k4;
  // On lines so good that the noise is that of G.711, it grows with the level.
  h.nonlinear = bits >= 9;
  h.memory = memory_.rates(samples_);
  data_samples_ = 0;
  front_.set(o.high_pass);
  const DataPort port{config_.port, auxiliary_};
  renew(session_, h, port);
  renew(reader_, h.role, port);
  order_version_ = 0;
  quality_ = {};
  const Band tx = band(o.tx_symbol_rate, o.tx_carrier);
  modulator_.init(tx, dbm0_to_rms(static_cast<double>(config_.tx_level_dbm0) - o.tx_power_reduction_db),
                  {pre_emphasis_db, o.tx_pre_emphasis});
  slips_before_ += receiver_.slips();
  receiver_.init(band(o.rx_symbol_rate, o.rx_carrier), {pp_symbol, kPpSymbols});
  receiver_.set_finds_slips(true);
  echo_.init(tx, static_cast<int>(config_.io_delay_samples), static_cast<int>(o.round_trip_samples));
  retrain_tone_.reset();
  stage_ = Stage::kTraining;
  show_training();
}

// @return whether it is still in training or in data mode.
bool Modem::train(float rx, bool is_lost) {
  if (echo_.training() != session_.far_end_silent()) echo_.set_training(!echo_.training());
  const float heard = front_.process(is_lost ? 0 : rx);
  const float x = is_lost ? 0 : echo_.process(heard);
  receive(x, is_lost);
  if (!is_lost && retrain_tone_.put(x)) retrain(OH_RETRAIN_FAR);
  if (stage_ != Stage::kTraining) return false;
  session_.tick();
  return true;
}

float Modem::send(bool is_lost) {
  if (modulator_.wants_symbol()) modulator_.put(session_.next_symbol());
  const float tx = modulator_.next();
  echo_.put(is_lost ? 0 : tx);
  follow_outcome();
  return tx;
}

// Passes the commands of Phases 3 and 4 to the receiver, and its reports to them.
void Modem::receive(float rx, bool is_lost) {
  const ReceiverOrder& order = session_.order();
  if (order.version != order_version_) {
    order_version_ = order.version;
    receiver_.set_format(order.format);
    reader_.init(order);
  }
  if (receiver_.task() != order.task) receiver_.set_task(order.task);
  const bool symbol = is_lost ? receiver_.process_lost() : receiver_.process(rx);
  const qam::Receiver::Event event = receiver_.take_event();
  if (!symbol && event == qam::Receiver::Event::kNone) return;
  Heard heard;
  heard.event = event;
  if (event == qam::Receiver::Event::kSBar) {
    heard.s_bar_age = receiver_.s_bar_age();
    heard.symbols_skipped = receiver_.symbols_skipped();
  } else if (symbol) {
    const Complex y = receiver_.symbol();
    const Complex sent = reader_.decide(y);
    if (!receiver_.erased()) receiver_.adapt(sent);
    reader_.put(y, order.deliver && event == qam::Receiver::Event::kNone, &heard);
    if (order.listen != ReceiverOrder::Listen::kData) heard.quality = measure_noise();
    heard.power = receiver_.signal_power();
    heard.uncertain = receiver_.erased() || receiver_.off_grid();
  }
  session_.put(heard);
  if (heard.symbol && observer_.symbol != nullptr) {
    const Complex y = 1 / square_root(session_.order().grid_energy) * receiver_.symbol();
    observer_.symbol(observer_.user, y.re, y.im);
  }
  for (int n = receiver_.take_missing(); n > 0; --n) receive(0, true);
}

// The line quality for MP, from the noise in TRN. @return null if unchanged
const LineQuality* Modem::measure_noise() {
  constexpr int kEvery = 128, kEnough = 1024;
  const qam::NoisePredictor& noise = receiver_.noise();
  if (noise.count() % kEvery != 0) return nullptr;
  quality_.snr = noise.count() < kEnough ? 0 : precoded_snr(noise, &quality_.precoder);
  return &quality_;
}

void Modem::follow_outcome() {
  switch (session_.outcome()) {
    case Outcome::kRetrain:
      return retrain(OH_RETRAIN_LOST);
    case Outcome::kRepeatInfo1:
    case Outcome::kRepeatInfo1WithMarks:
      return begin_phase2(session_.outcome(), OH_RETRAIN_TIMEOUT);
    case Outcome::kReleased:
      return leave_training(Stage::kReleased);
    case Outcome::kNone:
      return;
  }
}

void Modem::leave_training(Stage next) {
  if (stage_ == Stage::kTraining) {
    bits_sent_ += session_.data_transmitter().bits_sent();
    bits_received_ += reader_.data().bits_received();
  }
  stage_ = next;
}

void Modem::retrain(oh_retrain_cause cause) {
  begin_phase2(Outcome::kRetrain, cause);
}

void Modem::begin_phase2(Outcome why, oh_retrain_cause cause) {
  show_progress();
  ++retrains_;
  cause_ = cause;
  show_cause();
  if (stage_ == Stage::kTraining) {
    memory_.put({samples_, phase2_.outcome().rx_symbol_rate, session_.missed_far_training(), session_.missed_mp(),
                 data_samples_, session_.memory()});
    phase2_.avoid(memory_.avoided(samples_));
  }
  leave_training(Stage::kPhase2);
  if (is_guest_) {
    handed_back_ = why;
  } else {
    restart(&phase2_, why);
  }
}

void Modem::hang_up() {
  Session* h = in_data();
  if (h != nullptr && h->live()) {
    h->cleardown();
  } else {
    leave_training(Stage::kReleased);
  }
}

void Modem::status(oh_pump_status* s) const {
  *s = {};
  s->state = OH_PUMP_CONNECTING;
  if (stage_ == Stage::kFailed) s->state = OH_PUMP_FAILED;
  if (stage_ == Stage::kReleased) s->state = OH_PUMP_IDLE;
  if (stage_ == Stage::kTraining || (stage_ == Stage::kPhase2 && retrains_ > 0)) s->state = OH_PUMP_TRAINING;
  s->bits_sent = bits_sent_;
  s->bits_received = bits_received_;
  if (stage_ == Stage::kTraining) {
    s->bits_sent += session_.data_transmitter().bits_sent();
    s->bits_received += reader_.data().bits_received();
    if (session_.live()) {
      s->state = OH_PUMP_DATA;
      s->tx_bit_rate = session_.tx_parameters().bit_rate;
      s->rx_bit_rate = session_.rx_parameters().bit_rate;
    }
  }
  s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(static_cast<double>(power_)));
  s->samples = samples_;
  s->filled_in = filled_in_;
  s->retrains = retrains_ + phase2_.retrains();
  s->modulation = OH_MODULATION_V34;
  if (nothing_in_common_) s->failure = OH_PUMP_NOTHING_IN_COMMON;
}

void Modem::instruments(oh_v34_instruments* i) const {
  *i = {};
  i->cause = cause_;
  i->trainings_in_vain = memory_.in_vain();
  if (stage_ != Stage::kTraining) return;
  const Phase2Outcome& o = phase2_.outcome();
  i->tx_symbol_rate_hz = static_cast<float>(symbol_rate_hz(o.tx_symbol_rate));
  i->rx_symbol_rate_hz = static_cast<float>(symbol_rate_hz(o.rx_symbol_rate));
  i->tx_carrier_hz = static_cast<float>(carrier_hz(o.tx_symbol_rate, o.tx_carrier));
  i->rx_carrier_hz = static_cast<float>(carrier_hz(o.rx_symbol_rate, o.rx_carrier));
  i->tx_pre_emphasis = o.tx_pre_emphasis;
  i->rx_pre_emphasis = o.rx_pre_emphasis;
  i->tx_power_reduction_db = o.tx_power_reduction_db;
  i->rx_power_reduction_db = o.rx_power_reduction_db;
  i->high_pass = front_.removes();
  i->data_loss_db = static_cast<float>(power_db(session_.memory().loss));
  i->round_trip_samples = o.round_trip_samples;
  if (session_.live()) {
    const DataParameters& tx = session_.tx_parameters();
    const DataParameters& rx = session_.rx_parameters();
    i->tx_trellis_states = static_cast<uint8_t>(trellis_states(tx.coding.trellis));
    i->rx_trellis_states = static_cast<uint8_t>(trellis_states(rx.coding.trellis));
    i->tx_nonlinear = tx.nonlinear;
    i->rx_nonlinear = rx.nonlinear;
    i->tx_precoding = tx.precoding();
    i->rx_precoding = rx.precoding();
    i->auxiliary = rx.coding.framing.aux;
    i->path_variance = reader_.data().variance();
  }
  i->snr_db = static_cast<float>(power_db(static_cast<double>(receiver_.snr())));
  i->clock_ppm = receiver_.clock_ppm();
  i->frequency_offset_hz = receiver_.carrier_offset_hz();
  if (echo_.residual_power() > 0) {
    i->echo_return_loss_db =
        static_cast<float>(power_db(static_cast<double>(echo_.echo_power() / echo_.residual_power())));
  }
  i->renegotiations = session_.renegotiations();
  i->tap_re = receiver_.tap_re();
  i->tap_im = receiver_.tap_im();
  i->taps = qam::Receiver::kTaps;
}

using Type = ModemType<Modem>;

}  // namespace

void begin_training(void* self, const Phase2Outcome& outcome) {
  Type::of(self).begin_training(outcome);
}

Outcome handed_back(const void* self) {
  return static_cast<const Modem*>(self)->handed_back();
}

void restart(Phase2* phase2, Outcome why) {
  if (why == Outcome::kRetrain) {
    phase2->retrain();
  } else {
    phase2->repeat_info1(why == Outcome::kRepeatInfo1WithMarks);
  }
}

}  // namespace offhook::v34

const oh_pump_type* oh_v34_type() {
  static constexpr oh_pump_type kType = [] {
    oh_pump_type type = offhook::v34::Type::named("v34");
    type.advance = offhook::v34::advance_bank<offhook::v34::Modem>;
    type.note_frames = [](void* self, uint32_t, uint32_t bad) { offhook::v34::Type::of(self).note_frames(bad); };
    return type;
  }();
  return &kType;
}

void oh_v34_get_instruments(const void* self, oh_v34_instruments* instruments) {
  static_cast<const offhook::v34::Modem*>(self)->instruments(instruments);
}

void oh_v34_begin(void* self) {
  offhook::v34::Type::of(self).begin();
}

void oh_v34_want_auxiliary(void* self, const oh_bit_port* port) {
  offhook::v34::Type::of(self).want_auxiliary(*port);
}

void oh_v34_cleardown(void* self) {
  if (offhook::v34::Session* h = offhook::v34::Type::of(self).in_data()) h->cleardown();
}

void oh_v34_renegotiate(void* self) {
  if (offhook::v34::Session* h = offhook::v34::Type::of(self).in_data()) h->renegotiate();
}

void oh_v34_retrain(void* self) {
  if (offhook::v34::Type::of(self).in_data() != nullptr) offhook::v34::Type::of(self).retrain(OH_RETRAIN_OWN);
}
