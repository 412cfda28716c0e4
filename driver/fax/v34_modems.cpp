// SPDX-License-Identifier: MIT
#include "driver/fax/v34_modems.h"

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "dsp/pump/pump_type.h"
#include "offhook/v34_half_duplex.h"

namespace offhook::fax {

class V34Modems::Line {
 public:
  explicit Line(const V34Config& c);

  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n);
  void report_gap(std::size_t n);
  Rings rings() { return {rings_.orders, rings_.data, rings_.reports, &samples_}; }
  Counters counters() const;
  oh_pump_status status() const;
  oh_v34_half_duplex_status line() const;

 private:
  static constexpr std::size_t kSamplesAtATime = 40;  // 5 ms: the turns are made between them
  static constexpr int kTurnOnes = 40;                // that are understood as a request or an answer
  static constexpr int kAnswerOnes = 80;
  static constexpr std::int64_t kAskSamples = 5 * 8000;    // then the source turns without an answer
  static constexpr std::int64_t kQuietSamples = 2 * 8000;  // after which a page has no carrier
  static constexpr float kQuietDb = 8;                     // below the page's level
  static constexpr int kPreambleFlags = 8;                 // on the control channel
  // Before the frames of a page, as in modems.cpp: 200 ms, in which the receiver settles.
  static constexpr int kPagePreamblesPerSecond = 5;
  static constexpr int kFlagsBetween = 2;
  static constexpr int kFlagsBeforeFrames = 2;  // in a row, before a receiver reports frames
  static constexpr int kCheck = 2;              // octets behind a frame

  enum class Carrier : std::uint8_t { kV34, kOrdinary, kFailed };
  enum class Task : std::uint8_t { kNone, kPause, kAnswerTone, kFrames, kPage };
  enum class Page : std::uint8_t { kAsk, kTurn, kSend, kReturn, kDrop };

  static Line& of(void* self) { return *static_cast<Line*>(self); }

  // Orders
  void take_orders();
  void begin_sending(const Message& order);
  void begin_receiving(const Message& order);
  void sent();
  void drop_data();

  // The bits of both channels
  int control_bit();
  int page_bit();
  void put_control_bit(int bit);
  void put_page_bit(int bit);
  void offer_frame(hdlc_tx_state_t* hdlc);
  void on_frame(const std::uint8_t* octets, int length, bool good);
  Message* report(Kind kind, std::uint8_t turn, std::int32_t value);
  void report_page(int status);

  // After each 5 ms
  void follow(std::size_t n);
  void follow_channel();
  void on_control(const oh_v34_half_duplex_status& line);
  void on_primary();
  void send_on(bool control, std::size_t n);
  void ask_for_page(bool control, std::size_t n);
  void expect_page(bool control);
  void turn_to_page();
  void follow_carrier(float dbm0, std::size_t n);
  void fall_back();

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  struct Free {
    void operator()(void* p) const { std::free(p); }
  };

  const bool source_;
  OwnPump ordinary_;
  Rings rings_;
  const oh_pump_type* type_;
  std::unique_ptr<void, Free> v34_;
  Carrier carrier_ = Carrier::kV34;
  std::atomic<std::uint64_t> samples_{0}, lost_reports_{0}, trained_{0};
  std::int32_t reported_rate_ = 0;
  oh_v34_channel channel_ = OH_V34_CHANNEL_NONE;

  // Transmit direction
  Message last_send_{}, last_receive_{};
  Task task_ = Task::kNone;
  Page page_ = Page::kAsk;
  std::uint8_t send_turn_ = 0, receive_turn_ = 0;
  bool frame_in_hdlc_ = false, frames_ended_ = false;
  std::int64_t left_ = 0;  // samples of the pause, or of the request
  int answer_ones_ = 0;    // that are left to send
  hdlc_tx_state_t control_tx_, page_tx_;

  // Receive direction
  bool expects_page_ = false, answers_ = false, turned_ = false, turns_back_ = false, in_page_ = false;
  bool frame_in_page_ = false, retrain_is_due_ = false;
  float page_dbm0_ = 0;     // the highest level of the page
  std::int64_t quiet_ = 0;  // samples
  int ones_ = 0;            // received in a row on the control channel
  hdlc_rx_state_t control_rx_, page_rx_;
};

V34Modems::Line::Line(const V34Config& c)
    : source_(c.source),
      ordinary_(make_pump(c.role)),
      rings_(rings_of(ordinary_.get())),
      type_(c.source ? oh_v34_source_type() : oh_v34_recipient_type()) {
  const auto refill = [](void* self) {
    Line& line = of(self);
    line.frame_in_hdlc_ = false;
    line.offer_frame(line.task_ == Task::kPage ? &line.page_tx_ : &line.control_tx_);
  };
  const auto put = [](void* self, const std::uint8_t* octets, int length, int good) {
    of(self).on_frame(octets, length, good != 0);
  };
  hdlc_tx_init(&control_tx_, 0, kFlagsBetween, 0, refill, this);
  hdlc_tx_init(&page_tx_, 0, kFlagsBetween, 0, refill, this);
  hdlc_rx_init(&control_rx_, 0, 1, kFlagsBeforeFrames, put, this);
  hdlc_rx_init(&page_rx_, 0, 1, kFlagsBeforeFrames, put, this);

  oh_pump_config config{};
  config.struct_size = sizeof config;
  config.format = kLinear8000;
  config.role = c.role;
  config.max_bit_rate = c.max_bit_rate;
  config.tx_level_dbm0 = kTxLevelDbm0;
  config.port = {[](void* self) { return of(self).page_bit(); },
                 [](void* self, int bit) { of(self).put_page_bit(bit); }, this, nullptr, nullptr};
  v34_.reset(std::aligned_alloc(64, (type_->size(&config) + 63) / 64 * 64));
  if (!v34_ || type_->init(v34_.get(), &config) != 0) throw std::bad_alloc();  // nothing else can fail
  const oh_bit_port control = {[](void* self) { return of(self).control_bit(); },
                               [](void* self, int bit) { of(self).put_control_bit(bit); }, this, nullptr, nullptr};
  oh_v34_half_duplex_set_control_port(v34_.get(), &control);
}

// ---- Orders

void V34Modems::Line::take_orders() {
  while (const Message* order = rings_.orders->front()) {
    if (order->kind == Kind::kReceive) {
      begin_receiving(*order);
    } else if (order->kind == Kind::kSend) {
      begin_sending(*order);
    } else {
      send_turn_ = order->turn;
      hdlc_tx_restart(&control_tx_);
      frame_in_hdlc_ = frames_ended_ = false;
    }
    rings_.orders->pop();
  }
}

void V34Modems::Line::begin_sending(const Message& order) {
  last_send_ = order;
  send_turn_ = order.turn;
  frame_in_hdlc_ = frames_ended_ = false;
  task_ = Task::kNone;
  switch (order.signal) {
    case Signal::kNone:
    case Signal::kCng:
      break;
    case Signal::kPause:
      task_ = Task::kPause;
      left_ = std::int64_t{order.value} * 8;
      break;
    case Signal::kCed:
      task_ = Task::kAnswerTone;
      break;
    case Signal::kV21:
      task_ = Task::kFrames;
      break;
    default:
      task_ = Task::kPage;
      page_ = Page::kAsk;
      left_ = kAskSamples;
      ones_ = 0;
  }
}

void V34Modems::Line::begin_receiving(const Message& order) {
  last_receive_ = order;
  receive_turn_ = order.turn;
  expects_page_ = !source_ && is_page_signal(order.signal);
}

void V34Modems::Line::sent() {
  task_ = Task::kNone;
  if (report(Kind::kSent, send_turn_, 0) != nullptr) rings_.reports->push();
}

/// The frames of the present signal find no channel: T.30 believes them sent.
void V34Modems::Line::drop_data() {
  while (const Message* m = data_of_turn(*rings_.data, send_turn_)) {
    frames_ended_ |= m->kind == Kind::kEndOfFrames;
    rings_.data->pop();
    if (!frames_ended_ && report(Kind::kTaken, send_turn_, 0) != nullptr) rings_.reports->push();
  }
}

// ---- The bits of both channels

int V34Modems::Line::control_bit() {
  if (answer_ones_ > 0) {
    --answer_ones_;
    return 1;
  }
  if (answers_ || (task_ == Task::kPage && page_ <= Page::kTurn)) return 1;
  return hdlc_tx_get_bit(&control_tx_);
}

int V34Modems::Line::page_bit() {
  return hdlc_tx_get_bit(&page_tx_);
}

void V34Modems::Line::put_control_bit(int bit) {
  ones_ = bit != 0 ? ones_ + 1 : 0;
  hdlc_rx_put_bit(&control_rx_, bit);
}

void V34Modems::Line::put_page_bit(int bit) {
  hdlc_rx_put_bit(&page_rx_, bit);
}

void V34Modems::Line::offer_frame(hdlc_tx_state_t* hdlc) {
  if (frame_in_hdlc_ || frames_ended_ || (task_ != Task::kFrames && task_ != Task::kPage)) return;
  const Message* m = data_of_turn(*rings_.data, send_turn_);
  if (m == nullptr) return;
  if (m->kind == Kind::kFrame) {
    frame_in_hdlc_ = hdlc_tx_frame(hdlc, m->octets.data(), m->length) == 0;
    if (report(Kind::kTaken, send_turn_, 0) != nullptr) rings_.reports->push();
  } else {
    frames_ended_ = true;
  }
  rings_.data->pop();
}

// A negative length is a status of spandsp's HDLC. The carrier of the control channel does not end between frames, so
// T.30 is told of frames only.
void V34Modems::Line::on_frame(const std::uint8_t* octets, int length, bool good) {
  if (length < 0) return;
  frame_in_page_ |= good;
  Message* m = report(Kind::kFrame, receive_turn_, good ? 1 : 0);
  if (m == nullptr) return;
  m->length = static_cast<std::uint16_t>(std::min<std::size_t>(static_cast<std::size_t>(length), Message::kMostOctets));
  std::copy_n(octets, m->length + kCheck, m->octets.begin());
  rings_.reports->push();
}

Message* V34Modems::Line::report(Kind kind, std::uint8_t turn, std::int32_t value) {
  Message* m = new_report(*rings_.reports, kind, turn, value);
  if (m == nullptr) add(lost_reports_, 1);
  return m;
}

void V34Modems::Line::report_page(int status) {
  if (report(Kind::kFrameStatus, receive_turn_, status) != nullptr) rings_.reports->push();
}

// ---- After each 5 ms

void V34Modems::Line::follow(std::size_t n) {
  add(samples_, n);
  oh_pump_status s{};
  type_->status(v34_.get(), &s);
  if (s.state == OH_PUMP_FAILED) {
    if (s.failure == OH_PUMP_NOTHING_IN_COMMON) {
      fall_back();
      return;
    }
    if (turned_) report_page(SIG_STATUS_CARRIER_DOWN);
    turned_ = in_page_ = false;
    carrier_ = Carrier::kFailed;
  }
  follow_channel();
  follow_carrier(s.rx_level_dbm0, n);
  const bool control = channel_ == OH_V34_CHANNEL_CONTROL;
  send_on(control, n);
  expect_page(control);
}

void V34Modems::Line::follow_channel() {
  const oh_v34_half_duplex_status now = line();
  if (now.channel == channel_) return;
  channel_ = now.channel;
  if (channel_ == OH_V34_CHANNEL_CONTROL) on_control(now);
  if (channel_ == OH_V34_CHANNEL_PRIMARY) on_primary();
}

void V34Modems::Line::on_control(const oh_v34_half_duplex_status& now) {
  hdlc_rx_restart(&control_rx_);
  ones_ = answer_ones_ = 0;
  hdlc_tx_flags(&control_tx_, kPreambleFlags);
  if (const auto rate = static_cast<std::int32_t>(now.primary_bit_rate); rate != reported_rate_) {
    if (report(Kind::kV34, 0, rate) != nullptr) {
      reported_rate_ = rate;
      rings_.reports->push();
    }
  }
  if (turned_) {
    report_page(SIG_STATUS_CARRIER_DOWN);
    retrain_is_due_ = !frame_in_page_;
  }
  answers_ = turned_ = turns_back_ = in_page_ = false;
  if (task_ == Task::kAnswerTone) sent();
  if (task_ != Task::kPage) return;
  if (page_ == Page::kReturn) sent();
  if (page_ == Page::kSend) page_ = Page::kDrop;
  if (page_ == Page::kTurn) {
    page_ = Page::kAsk;
    left_ = kAskSamples;
  }
}

void V34Modems::Line::on_primary() {
  if (source_) {
    hdlc_tx_restart(&page_tx_);
    hdlc_tx_flags(&page_tx_, reported_rate_ / (8 * kPagePreamblesPerSecond));
    if (task_ == Task::kPage) page_ = Page::kSend;
    return;
  }
  hdlc_rx_restart(&page_rx_);
  in_page_ = true;
  page_dbm0_ = -100;
  quiet_ = 0;
  add(trained_, 1);
}

void V34Modems::Line::send_on(bool control, std::size_t n) {
  if (carrier_ == Carrier::kFailed && task_ != Task::kNone && task_ != Task::kPause) {
    drop_data();
    if (frames_ended_ || task_ == Task::kAnswerTone) sent();
    return;
  }
  switch (task_) {
    case Task::kNone:
    case Task::kAnswerTone:
      break;
    case Task::kPause:
      if ((left_ -= static_cast<std::int64_t>(n)) <= 0) sent();
      break;
    case Task::kFrames:
      if (control) offer_frame(&control_tx_);
      if (frames_ended_ && !frame_in_hdlc_) sent();
      break;
    case Task::kPage:
      ask_for_page(control, n);
      if (page_ == Page::kSend) offer_frame(&page_tx_);
      if (page_ == Page::kSend && frames_ended_ && !frame_in_hdlc_ && oh_v34_half_duplex_turn(v34_.get()) == 0)
        page_ = Page::kReturn;
      if (page_ == Page::kDrop) drop_data();
      if (page_ == Page::kDrop && frames_ended_) sent();
      break;
  }
}

void V34Modems::Line::ask_for_page(bool control, std::size_t n) {
  if (page_ != Page::kAsk || !control) return;
  left_ -= static_cast<std::int64_t>(n);
  if ((ones_ >= kTurnOnes || left_ <= 0) && oh_v34_half_duplex_turn(v34_.get()) == 0) page_ = Page::kTurn;
}

void V34Modems::Line::expect_page(bool control) {
  if (control && expects_page_ && !answers_ && ones_ >= kTurnOnes) {
    // The training is of no use any more if a whole page had no good frame.
    if (std::exchange(retrain_is_due_, false)) return oh_v34_half_duplex_retrain_primary(v34_.get());
    answers_ = true;
    answer_ones_ = kAnswerOnes;
  } else if (control && answers_ && answer_ones_ == 0 && !turned_) {
    turn_to_page();
  } else if (!control && turned_ && !turns_back_ && task_ == Task::kFrames) {
    // T.30 no longer waits for the page.
    turns_back_ = oh_v34_half_duplex_turn(v34_.get()) == 0;
  }
}

/// From here on, T.30 waits until the page ends, with or without frames: on_control(), or the pump's failure.
void V34Modems::Line::turn_to_page() {
  if (oh_v34_half_duplex_turn(v34_.get()) != 0) return;
  turned_ = true;
  frame_in_page_ = false;
  quiet_ = 0;
  report_page(SIG_STATUS_TRAINING_SUCCEEDED);
}

/// The pump waits without a limit for the beginning of a page, and for its end.
void V34Modems::Line::follow_carrier(float dbm0, std::size_t n) {
  if (!turned_ || turns_back_) return;
  if (in_page_) page_dbm0_ = std::max(page_dbm0_, dbm0);
  const bool quiet = !in_page_ || dbm0 < page_dbm0_ - kQuietDb;
  quiet_ = quiet ? quiet_ + static_cast<std::int64_t>(n) : 0;
  if (quiet_ >= kQuietSamples) turns_back_ = oh_v34_half_duplex_turn(v34_.get()) == 0;
}

/// V.8's answer tone was CED's. A caller continues to listen, and sends CNG.
void V34Modems::Line::fall_back() {
  carrier_ = Carrier::kOrdinary;
  give_order(ordinary_.get(), last_receive_);
  if (task_ == Task::kAnswerTone) {
    sent();
  } else {
    give_order(ordinary_.get(), last_send_);
  }
}

// ---- The pump

void V34Modems::Line::process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
  for (std::size_t done = 0; done < n;) {
    if (carrier_ == Carrier::kOrdinary) {
      pump_type()->process(ordinary_.get(), rx + done, tx + done, n - done);
      add(samples_, n - done);
      return;
    }
    take_orders();
    const std::size_t now = std::min(kSamplesAtATime, n - done);
    type_->process(v34_.get(), rx + done, tx + done, now);
    follow(now);
    done += now;
  }
}

void V34Modems::Line::report_gap(std::size_t n) {
  for (std::size_t done = 0; done < n;) {
    if (carrier_ == Carrier::kOrdinary) {
      pump_type()->report_gap(ordinary_.get(), n - done);
      add(samples_, n - done);
      return;
    }
    take_orders();
    const std::size_t now = std::min(kSamplesAtATime, n - done);
    type_->report_gap(v34_.get(), now);
    follow(now);
    done += now;
  }
}

Counters V34Modems::Line::counters() const {
  const Counters ordinary = counters_of(ordinary_.get());
  return {.samples = samples_.load(std::memory_order_relaxed),
          .starved_bits = ordinary.starved_bits,
          .lost_reports = lost_reports_.load(std::memory_order_relaxed) + ordinary.lost_reports,
          .trained = trained_.load(std::memory_order_relaxed) + ordinary.trained,
          .failed = ordinary.failed};
}

oh_pump_status V34Modems::Line::status() const {
  oh_pump_status s{};
  if (carrier_ == Carrier::kOrdinary) {
    pump_type()->status(ordinary_.get(), &s);
    return s;
  }
  type_->status(v34_.get(), &s);
  if (channel_ == OH_V34_CHANNEL_CONTROL) {
    s.state = OH_PUMP_TRAINING;
    s.tx_bit_rate = s.rx_bit_rate = 0;
  }
  return s;
}

oh_v34_half_duplex_status V34Modems::Line::line() const {
  oh_v34_half_duplex_status s{};
  s.struct_size = sizeof s;
  oh_v34_half_duplex_get_status(v34_.get(), &s);
  return s;
}

V34Modems::V34Modems(const V34Config& config) : line_(std::make_unique<Line>(config)) {}

V34Modems::~V34Modems() = default;

oh_pump V34Modems::pump() const {
  return {[](void* self, const void* rx, void* tx, std::size_t n) {
            static_cast<Line*>(self)->process(static_cast<const std::int16_t*>(rx), static_cast<std::int16_t*>(tx), n);
          },
          [](void* self, std::size_t n) { static_cast<Line*>(self)->report_gap(n); }, line_.get()};
}

Rings V34Modems::rings() const {
  return line_->rings();
}

Counters V34Modems::counters() const {
  return line_->counters();
}

oh_pump_status V34Modems::status() const {
  return line_->status();
}

oh_v34_half_duplex_status V34Modems::line() const {
  return line_->line();
}

}  // namespace offhook::fax
