// SPDX-License-Identifier: MIT
#include "driver/fax/terminal.h"

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace offhook::fax {
namespace {

// Bits of a page that are queued ahead of the modem: 0.3 s at 14 400 bit/s, in messages of 256.
constexpr std::size_t kBitMessagesAhead = 17;
constexpr std::int32_t kBitsPerMessage = 256;

Signal signal_of(int type) {
  switch (type) {
    case T30_MODEM_PAUSE:
      return Signal::kPause;
    case T30_MODEM_CED:
      return Signal::kCed;
    case T30_MODEM_CNG:
      return Signal::kCng;
    case T30_MODEM_V21:
      return Signal::kV21;
    case T30_MODEM_V27TER:
      return Signal::kV27ter;
    case T30_MODEM_V29:
      return Signal::kV29;
    case T30_MODEM_V17:
      return Signal::kV17;
    default:
      return Signal::kNone;
  }
}

}  // namespace

void Terminal::Free::operator()(t30_state_s* t30) const {
  t30_free(t30);
}

Terminal::Terminal(const Rings& rings, const TerminalConfig& config) : rings_(rings), watch_(config) {
  create(config);
  watch_.begin(t30_.get());
  clock_ = rings_.samples->load(std::memory_order_relaxed);
}

Terminal::~Terminal() = default;

void Terminal::create(const TerminalConfig& config) {
  const auto receiver = [](void* self, int type, int rate, int short_training, int frames) {
    static_cast<Terminal*>(self)->set_receiver(type, rate, short_training, frames);
  };
  const auto transmitter = [](void* self, int type, int rate, int short_training, int frames) {
    static_cast<Terminal*>(self)->set_transmitter(type, rate, short_training, frames);
  };
  const auto frame = [](void* self, const std::uint8_t* octets, int length) {
    static_cast<Terminal*>(self)->send_frame(octets, length);
  };
  t30_.reset(t30_init(nullptr, config.calls, receiver, this, transmitter, this, frame, this));
  if (!t30_) throw std::runtime_error("T.30 could not be started: no memory");
}

void Terminal::order(Kind kind, Signal signal, std::uint8_t turn, std::int32_t value, bool short_training,
                     bool frames) {
  Message& m = orders_.emplace_back();
  m.kind = kind;
  m.signal = signal;
  m.turn = turn;
  m.value = value;
  m.short_training = short_training;
  m.frames = frames;
  m.length = 0;
  watch_.note_signal(signal);
}

void Terminal::set_receiver(int type, int bit_rate, int short_training, int frames) {
  if (type == receiver_) return;
  receiver_ = type;
  if (by_v34_ && frames == 0 && is_page_signal(signal_of(type))) {
    receives_test_rate_ = bit_rate;
    return;
  }
  order(Kind::kReceive, signal_of(type), ++receive_turn_, bit_rate, short_training != 0, frames != 0);
}

// T.30 gives the length of a pause in the argument for the kind of training.
void Terminal::set_transmitter(int type, int bit_rate, int short_training, int frames) {
  if (type == transmitter_) return;
  transmitter_ = type;
  const Signal signal = signal_of(type);
  const bool data = signal >= Signal::kV21;
  sends_frames_ = data && frames != 0;
  sends_bits_ = data && frames == 0;
  if (by_v34_ && sends_bits_) {
    sends_test_ = true;
    sends_bits_ = false;
    return;
  }
  order(Kind::kSend, signal, ++send_turn_, signal == Signal::kPause ? short_training : bit_rate,
        data && short_training != 0, sends_frames_);
}

// A frame may arrive before the signal that carries it.
void Terminal::send_frame(const std::uint8_t* octets, int length) {
  if (length < 0) {
    frames_.clear();
    order(Kind::kDropFrames, Signal::kNone, ++send_turn_, 0, false, false);
    return;
  }
  Message& m = frames_.emplace_back();
  m.kind = length == 0 ? Kind::kEndOfFrames : Kind::kFrame;
  m.length = static_cast<std::uint16_t>(std::min<std::size_t>(static_cast<std::size_t>(length), Message::kMostOctets));
  std::copy_n(octets, m.length, m.octets.begin());
}

void Terminal::flush() {
  while (!orders_.empty()) {
    Message* slot = rings_.orders->free_slot();
    if (slot == nullptr) return;  // data follow their order
    *slot = orders_.front();
    rings_.orders->push();
    orders_.pop_front();
  }
  while (sends_frames_ && !frames_.empty()) {
    Message* slot = rings_.data->free_slot();
    if (slot == nullptr) return;
    *slot = frames_.front();
    slot->turn = send_turn_;
    rings_.data->push();
    frames_.pop_front();
  }
}

void Terminal::feed_bits() {
  while (sends_bits_ && orders_.empty() && rings_.data->size() < kBitMessagesAhead) {
    Message* slot = rings_.data->free_slot();
    if (slot == nullptr) return;
    slot->kind = Kind::kBits;
    slot->turn = send_turn_;
    std::int32_t n = 0;
    slot->octets.fill(0);
    while (n < kBitsPerMessage) {
      const int bit = t30_non_ecm_get_bit(t30_.get());
      if (bit < 0) {
        sends_bits_ = false;
        break;
      }
      slot->octets[static_cast<std::size_t>(n) / 8] |= static_cast<std::uint8_t>(bit << n % 8);
      ++n;
    }
    slot->value = n;
    if (n > 0) rings_.data->push();
    if (sends_bits_) continue;
    if (Message* end = rings_.data->free_slot()) {
      end->kind = Kind::kEndOfBits;
      end->turn = send_turn_;
      rings_.data->push();
    }
  }
}

// V.34 half duplex has no TCF, because MPh chooses the bit rate: T.30's test signal is not sent, and T.30 at the other
// end receives zeros from here. spandsp 0.0.6 cannot be told to leave it out: it ignores T30_IAF_MODE_NO_TCF when it
// receives DCS. A page without error correction would look the same to it, but V.34 carries none.
void Terminal::test_line() {
  if (!sends_test_ && receives_test_rate_ == 0) return;
  t30_stats_t stats;
  t30_get_transfer_statistics(t30_.get(), &stats);
  if (stats.error_correcting_mode == 0) {
    watch_.end_call("a fax over V.34 requires error correction at both ends");
    return;
  }
  const std::int32_t rate = std::exchange(receives_test_rate_, 0);
  if (std::exchange(sends_test_, false)) t30_front_end_status(t30_.get(), T30_FRONT_END_SEND_STEP_COMPLETE);
  if (rate == 0) return;
  t30_non_ecm_put_bit(t30_.get(), SIG_STATUS_TRAINING_SUCCEEDED);
  for (std::int32_t k = 0; k < rate * 3 / 2; ++k) t30_non_ecm_put_bit(t30_.get(), 0);
  t30_non_ecm_put_bit(t30_.get(), SIG_STATUS_CARRIER_DOWN);
}

// On V.34's control channel a frame may follow at once. T.30, if it is late, has then not changed its receiver yet.
void Terminal::take(const Message& r) {
  t30_state_t* t30 = t30_.get();
  const bool of_transmitter = r.kind == Kind::kTaken || r.kind == Kind::kSent;
  if (of_transmitter ? r.turn != send_turn_ : r.turn != receive_turn_ && !by_v34_ && r.kind != Kind::kV34) return;
  switch (r.kind) {
    case Kind::kTaken:
    case Kind::kSent:
      if (transmitter_ != T30_MODEM_NONE && transmitter_ != T30_MODEM_DONE)
        t30_front_end_status(t30, T30_FRONT_END_SEND_STEP_COMPLETE);
      break;
    case Kind::kFrame:
      t30_hdlc_accept(t30, r.octets.data(), r.length, r.value);
      break;
    case Kind::kV34:
      by_v34_ = true;
      watch_.note_v34(static_cast<std::uint32_t>(r.value));
      break;
    case Kind::kFrameStatus:
      t30_hdlc_accept(t30, nullptr, r.value, 1);
      // V.34 reports the end of every page. T2 would count until the first good frame.
      if (by_v34_ && r.value == SIG_STATUS_TRAINING_SUCCEEDED) t30_front_end_status(t30, T30_FRONT_END_SIGNAL_PRESENT);
      break;
    case Kind::kBitStatus:
      t30_non_ecm_put_bit(t30, r.value);
      break;
    case Kind::kBits:
      for (std::int32_t k = 0; k < r.value; ++k)
        t30_non_ecm_put_bit(t30, r.octets[static_cast<std::size_t>(k) / 8] >> k % 8 & 1);
      break;
    default:
      break;
  }
}

void Terminal::take_reports() {
  while (const Message* report = rings_.reports->front()) {
    take(*report);
    rings_.reports->pop();
    test_line();
  }
}

void Terminal::poll() {
  take_reports();
  const std::uint64_t now = rings_.samples->load(std::memory_order_relaxed);
  if (now > clock_) t30_timer_update(t30_.get(), static_cast<int>(now - clock_));
  clock_ = now;
  test_line();
  flush();
  feed_bits();
}

void Terminal::end_call() {
  watch_.end_call();
}

}  // namespace offhook::fax
