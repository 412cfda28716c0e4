// SPDX-License-Identifier: MIT
#include "driver/session/call.h"

#include <algorithm>
#include <array>

namespace offhook::modem {

namespace {
constexpr std::size_t kAtOnce = 256;  // bytes moved per block and direction; 33,600 bit/s deliver 53
}  // namespace

Call::Call(const CallConfig& config, const oh_pump_format& format, std::uint32_t io_delay_samples, oh_event_log* log,
           std::uint64_t (*now_ns)(void*), void* clock)
    : conversion_(format),
      plain_(same_format(format, kLinear8000)),
      converts_(!takes(*config.pump, format)),
      dialler_(config.digits, config.plan, kLinear8000.tx.rate_hz),
      detector_(kLinear8000.rx.rate_hz),
      bare_type_(config.pump),
      loops_(config.loops),
      v92_(config.v92),
      digits_only_(config.digits_only) {
  if (config.pump == fax::pump_type() && config.pump_memory == nullptr) fax_ = fax::make_pump(config.role);
  if (void* const self = config.pump_memory != nullptr ? config.pump_memory : fax_.get()) {
    bare_ = oh_pump_at(config.pump, self);
  } else {
    modem_.emplace(Modem::Config{.pump = config.pump,
                                 .role = config.role,
                                 .format = converts_ ? kLinear8000 : format,
                                 .link = config.link,
                                 .max_bit_rate = config.max_bit_rate,
                                 .min_bit_rate = config.min_bit_rate,
                                 .modulations = config.modulations,
                                 .io_delay_samples = io_delay_samples + (converts_ ? conversion_.delay() : 0),
                                 .answer_delay_ms = config.answer_delay_ms,
                                 .hold_timeout = config.hold_timeout,
                                 .log = log,
                                 .now_ns = now_ns,
                                 .clock = clock,
                                 .log_symbols = 1});
    choose(config);
    modem_->start();
    if (config.seek_fax) fax_caller_.emplace();
  }
  publish();  // so that the digits never seem to have ended
}

// Before the pump's first sample. A pump that has no V.90 on this card refuses.
void Call::choose(const CallConfig& config) {
  if (v92_ == nullptr) return;
  if (config.pcm_upstream) v92_->allow_pcm_upstream(modem_->pump_memory());
  if (config.short_phases != 0)
    v92_->prepare_quick_connect(modem_->pump_memory(), &config.profile, config.short_phases);
}

void Call::process(const void* rx, void* tx, std::size_t n) {
  if (plain_) {
    piece(rx, tx, n);
    return;
  }
  const auto* in = static_cast<const std::uint8_t*>(rx);
  auto* out = static_cast<std::uint8_t*>(tx);
  for (std::size_t k = 0; n > 0; n -= k) {
    piece(in, out, k = std::min(n, kPiece));
    in += k * conversion_.rx_octets();
    out += k * conversion_.tx_octets();
  }
}

void Call::piece(const void* rx, void* tx, std::size_t n) {
  for (std::size_t i = 0; !plain_ && i < n; ++i) heard_[i] = conversion_.received(rx, i);
  const std::int16_t* heard = plain_ ? static_cast<const std::int16_t*>(rx) : heard_.data();
  std::int16_t* said = plain_ ? static_cast<std::int16_t*>(tx) : said_.data();
  const bool dials = !dialler_.done();
  if (dials) {
    dialler_.process(heard, said, n);
  } else {
    if (listening()) detector_.process(heard, n);
    if (fax_caller_ && !had_data_) fax_caller_->process(heard, n);
    if (digits_only_) {
      std::fill_n(said, n, std::int16_t{0});
    } else if (is_bare()) {
      bare_.process(bare_.self, converts_ ? heard : rx, converts_ ? said : tx, n);
    } else {
      run_modem(converts_ ? heard : rx, converts_ ? said : tx, n);
    }
  }
  if (!plain_ && (dials || digits_only_ || converts_))
    for (std::size_t i = 0; i < n; ++i) conversion_.send(said[i], tx, i);
  publish();
}

bool Call::obey(Order order) {
  if (order.to == Order::To::kHold) return modem_->hold(static_cast<oh_hold_order>(order.what));
  return loops_->order(modem_->pump_memory(), static_cast<oh_loop_order>(order.what)) == 0;
}

void Call::run_modem(const void* rx, void* tx, std::size_t n) {
  if (releasing_.load(std::memory_order_relaxed) && !asked_) {
    asked_ = true;
    modem_->hang_up();
  }
  const Order order = order_.load(std::memory_order_acquire);
  if (order.to != Order::To::kNobody) {
    status_.order = obey(order) ? OrderStatus::kNone : OrderStatus::kRefused;
  }
  std::array<std::uint8_t, kAtOnce> bytes;
  const std::size_t waiting = to_far_.peek(bytes.data(), std::min(bytes.size(), modem_->writable()));
  to_far_.drop(modem_->write(bytes.data(), waiting));
  modem_->process(rx, tx, n);
  const std::size_t room = std::min(bytes.size(), from_far_.space());
  from_far_.write(bytes.data(), modem_->read(bytes.data(), room));
  if (order.to == Order::To::kNobody) return;
  publish();  // the result is visible before the next order may arrive
  order_.store({}, std::memory_order_release);
}

// Reads the order first: the status then includes the effect of an order that was begun.
CallStatus Call::status() const {
  const bool pending = order_.load(std::memory_order_acquire).to != Order::To::kNobody;
  CallStatus status = shown_.load();
  if (pending) status.order = OrderStatus::kPending;
  return status;
}

// Report the loss to the part that has the line.
void Call::report_gap(std::size_t n) {
  for (std::size_t i = 0; i < std::min(n, kPiece); ++i) conversion_.lose();
  if (!dialler_.done()) {
    dialler_.report_gap(n);
  } else {
    if (listening()) detector_.report_gap(n);
    if (!digits_only_ && is_bare()) bare_.report_gap(bare_.self, n);
    if (!digits_only_ && modem_) modem_->report_gap(n);
  }
  publish();
}

std::size_t Call::read(std::uint8_t* bytes, std::size_t n) {
  n = from_far_.peek(bytes, n);
  from_far_.drop(n);
  return n;
}

// Until the far modem is heard, and again after data mode: the exchange's tones may show that it has left. Sound on
// hold is the subscriber's other call.
bool Call::listening() const {
  const oh_pump_state state = status_.pump.state;
  if (status_.pump.hold != OH_HOLD_NONE && status_.pump.hold != OH_HOLD_DENIED) return false;
  return state == OH_PUMP_IDLE || state == OH_PUMP_CONNECTING || (state == OH_PUMP_TRAINING && had_data_);
}

void Call::publish() {
  if (modem_) static_cast<oh_modem_end_status&>(status_) = modem_->status();
  if (is_bare()) bare_type_->status(bare_.self, &status_.pump);
  if (modem_ && loops_ != nullptr) status_.loop = loops_->state(modem_->pump_memory());
  if (status_.pump.state == OH_PUMP_DATA) {
    if (modem_ && v92_ != nullptr && v92_->profile(modem_->pump_memory(), &status_.profile) == 0)
      status_.quick_connect = v92_->was_quick(modem_->pump_memory()) != 0;
    if (!had_data_ || detector_.progress() != Progress::kNothing) detector_.reset();
    had_data_ = true;
  }
  status_.dialling = !dialler_.done() && !dialler_.failed();
  const bool fax_calls = fax_caller_ && !had_data_ && fax_caller_->found();
  status_.progress = dialler_.failed() ? Progress::kNoDialTone
                     : fax_calls       ? Progress::kFaxCaller
                                       : detector_.progress();
  released_.store(status_.released != 0, std::memory_order_relaxed);
  shown_.store(status_);
}

}  // namespace offhook::modem
