// SPDX-License-Identifier: MIT
#include "driver/fax/class1.h"

#include <spandsp.h>

#include <algorithm>
#include <array>
#include <utility>

namespace offhook::fax {
namespace {

constexpr std::uint64_t kSamplesPerMs = 8;
constexpr std::uint64_t kPatience = 5000 * kSamplesPerMs;  // for a program that sends nothing
// The carrier of a last frame ends after some flags. Wait for it, because a page receiver that starts before its end
// would report frames instead of a page.
constexpr std::uint64_t kLastCarrier = 400 * kSamplesPerMs;
constexpr char kFinalBit = 0x10;  // of the control octet, T.30 5.3.5
constexpr std::size_t kControlOctet = 1, kLeastFrame = 2;
// Octets of a page that are queued ahead of the pump: 0.57 s at 14 400 bit/s in the ring, and the same before it.
constexpr std::size_t kOctetsPerMessage = 64, kMessagesAhead = 16, kPageRoom = 1024;
constexpr std::size_t kMostReceived = 16;  // frames for which the program has not asked

constexpr std::array<PageModulation, 12> kPageModulations = {{{24, Signal::kV27ter, 2400, false},
                                                              {48, Signal::kV27ter, 4800, false},
                                                              {72, Signal::kV29, 7200, false},
                                                              {73, Signal::kV17, 7200, false},
                                                              {74, Signal::kV17, 7200, true},
                                                              {96, Signal::kV29, 9600, false},
                                                              {97, Signal::kV17, 9600, false},
                                                              {98, Signal::kV17, 9600, true},
                                                              {121, Signal::kV17, 12'000, false},
                                                              {122, Signal::kV17, 12'000, true},
                                                              {145, Signal::kV17, 14'400, false},
                                                              {146, Signal::kV17, 14'400, true}}};

}  // namespace

std::span<const PageModulation> page_modulations() {
  return kPageModulations;
}

const PageModulation* page_modulation(int code) {
  const auto row = std::find_if(kPageModulations.begin(), kPageModulations.end(),
                                [code](const PageModulation& m) { return m.code == code; });
  return row == kPageModulations.end() ? nullptr : &*row;
}

Class1::Class1(void* pump) : pump_(pump), rings_(rings_of(pump)), lost_reports_(counters_of(pump).lost_reports) {}

// ---- Operations

void Class1::begin(Operation operation) {
  operation_ = operation;
  connected_ = ending_ = end_queued_ = false;
  unstuffer_.reset();
  frame_.clear();
  deadline_.reset();
  ok_at_.reset();
  active_at_ = now();
}

void Class1::order_sending(Signal signal, std::int32_t value, bool frames, bool at_once, bool short_training) {
  Message& m = orders_.emplace_back();
  m.kind = Kind::kSend;
  m.signal = signal;
  m.turn = ++send_turn_;
  m.value = value;
  m.frames = frames;
  m.at_once = at_once;
  m.ones_first = true;
  m.short_training = short_training;
  page_.clear();
  frames_.clear();
}

void Class1::order_receiving(Signal signal, std::int32_t value, bool short_training) {
  Message& m = orders_.emplace_back();
  m.kind = Kind::kReceive;
  m.signal = signal;
  m.turn = ++receive_turn_;
  m.value = value;
  m.short_training = short_training;
  hears_frames_ = signal == Signal::kV21;
  framing_ = carrier_ = false;
  received_.clear();
  octet_ = octet_bits_ = 0;
}

void Class1::call() {
  begin(Operation::kCall);
  order_sending(Signal::kCng, 0);
  order_receiving(Signal::kV21);
  flush();
}

void Class1::answer() {
  begin(Operation::kAnswer);
  order_receiving(Signal::kNone);
  order_sending(Signal::kCed, 0);
  flush();
}

void Class1::send_frames() {
  begin(Operation::kSendFrames);
  order_receiving(Signal::kNone);
  order_sending(Signal::kV21, 300, true);
  flush();
  result(Outcome::kConnect);
}

void Class1::receive_frames(int wait_s) {
  begin(Operation::kReceiveFrames);
  deadline_ = now() + 1000 * kSamplesPerMs * static_cast<std::uint64_t>(wait_s);
  if (!hears_frames_) order_receiving(Signal::kV21);
  flush();
  if (!received_.empty() || framing_) result(Outcome::kConnect);
  if (!received_.empty()) deliver_frame();
}

bool Class1::send_page(int code) {
  const PageModulation* m = page_modulation(code);
  if (m == nullptr) return false;
  begin(Operation::kSendPage);
  order_receiving(Signal::kNone);
  order_sending(m->signal, m->bit_rate, false, true, m->short_training);
  flush();
  result(Outcome::kConnect);
  return true;
}

bool Class1::receive_page(int code, int wait_s, bool adaptive) {
  const PageModulation* m = page_modulation(code);
  if (m == nullptr) return false;
  begin(Operation::kReceivePage);
  adaptive_ = adaptive;
  deadline_ = now() + 1000 * kSamplesPerMs * static_cast<std::uint64_t>(wait_s);
  order_receiving(m->signal, m->bit_rate, m->short_training);
  flush();
  return true;
}

void Class1::send_silence(int ms) {
  begin(Operation::kSendSilence);
  order_sending(Signal::kPause, std::max(ms, 1));
  flush();
}

void Class1::await_silence(int ms) {
  begin(Operation::kAwaitSilence);
  order_receiving(Signal::kPause, ms);
  flush();
}

// ---- To the program

void Class1::result(Outcome outcome) {
  say(outcome);
  deadline_.reset();
  if (outcome == Outcome::kFramesInstead) return;
  if (outcome == Outcome::kConnect) {
    connected_ = true;
  } else {
    operation_ = Operation::kNone;
    ok_at_.reset();
  }
}

// ---- From the program

std::size_t Class1::room() const {
  if (operation_ != Operation::kSendPage || ending_) return kPageRoom;
  return kPageRoom - std::min(kPageRoom, page_.size());
}

void Class1::put(std::string_view octets) {
  if (!octets.empty()) active_at_ = now();
  for (const char c : octets) {
    switch (operation_) {
      case Operation::kSendFrames:
        put_frame_octet(c);
        break;
      case Operation::kSendPage:
        put_page_octet(c);
        break;
      case Operation::kReceiveFrames:
      case Operation::kReceivePage:
      case Operation::kAwaitSilence:
        end_reception(Outcome::kOk);
        break;
      default:
        break;
    }
  }
  flush();
}

/// The octets of the program end the operation. The pump continues to receive frames, because the next command may use
/// them.
void Class1::end_reception(Outcome outcome) {
  if (connected_ && !ok_at_) say(kEndOfData);
  if (operation_ == Operation::kReceivePage && outcome != Outcome::kOtherCarrier) order_receiving(Signal::kNone);
  result(outcome);
}

void Class1::put_frame_octet(char c) {
  if (ending_) return;
  if (unstuffer_.put(c, frame_) == kEtx) end_frame();
  if (frame_.size() > Message::kMostOctets) finish_sending(Outcome::kError);
}

void Class1::end_frame() {
  if (frame_.empty()) {
    finish_sending(Outcome::kOk);
    return;
  }
  const bool last = frame_.size() > kControlOctet && (frame_[kControlOctet] & kFinalBit) != 0;
  Message& m = frames_.emplace_back();
  m.kind = Kind::kFrame;
  m.length = static_cast<std::uint16_t>(frame_.size());
  std::copy(frame_.begin(), frame_.end(), m.octets.begin());
  frame_.clear();
  if (last) {
    finish_sending(Outcome::kOk);
  } else {
    result(Outcome::kConnect);
  }
}

void Class1::put_page_octet(char c) {
  if (!ending_ && unstuffer_.put(c, page_) == kEtx) finish_sending(Outcome::kOk);
}

/// The signal ends after the queued data.
void Class1::finish_sending(Outcome outcome) {
  ending_ = true;
  at_end_ = outcome;
}

void Class1::flush() {
  while (!orders_.empty()) {
    Message* slot = rings_.orders->free_slot();
    if (slot == nullptr) return;  // data follow their order
    *slot = orders_.front();
    rings_.orders->push();
    orders_.pop_front();
  }
  while (!frames_.empty()) {
    Message* slot = rings_.data->free_slot();
    if (slot == nullptr) return;
    *slot = frames_.front();
    slot->turn = send_turn_;
    rings_.data->push();
    frames_.pop_front();
  }
  while (!page_.empty() && rings_.data->size() < kMessagesAhead) {
    Message* slot = rings_.data->free_slot();
    if (slot == nullptr) return;
    const std::size_t n = std::min(page_.size(), kOctetsPerMessage);
    slot->kind = Kind::kBits;
    slot->turn = send_turn_;
    slot->value = static_cast<std::int32_t>(8 * n);
    std::copy_n(page_.begin(), n, slot->octets.begin());
    rings_.data->push();
    page_.erase(0, n);
  }
  if (!sends() || !ending_ || end_queued_ || !page_.empty()) return;
  Message* slot = rings_.data->free_slot();
  if (slot == nullptr) return;
  slot->kind = operation_ == Operation::kSendPage ? Kind::kEndOfBits : Kind::kEndOfFrames;
  slot->turn = send_turn_;
  rings_.data->push();
  end_queued_ = true;
}

// ---- Reports of the pump

void Class1::take(const Message& r) {
  const bool of_transmitter = r.kind == Kind::kTaken || r.kind == Kind::kSent;
  if (r.turn != (of_transmitter ? send_turn_ : receive_turn_)) return;
  switch (r.kind) {
    case Kind::kSent:
      sending_ended();
      break;
    case Kind::kFrame:
      take_frame(r);
      break;
    case Kind::kFrameStatus:
      take_frame_status(r.value);
      break;
    case Kind::kBits:
      take_bits(r);
      break;
    case Kind::kBitStatus:
      take_bit_status(r.value);
      break;
    case Kind::kSilent:
      if (operation_ == Operation::kAwaitSilence) result(Outcome::kOk);
      break;
    default:
      break;
  }
}

void Class1::sending_ended() {
  if (operation_ == Operation::kAnswer) {
    begin(Operation::kSendFrames);
    order_sending(Signal::kV21, 300, true, false);
    result(Outcome::kConnect);
  } else if (operation_ == Operation::kSendSilence) {
    result(Outcome::kOk);
  } else if (sends()) {
    result(at_end_);
  }
}

/// V.21 is heard: flags, or a frame.
void Class1::take_frame_status(int status) {
  if (status == SIG_STATUS_CARRIER_UP) carrier_ = true;
  if (status == SIG_STATUS_CARRIER_DOWN) {
    carrier_ = framing_ = false;
    if (operation_ != Operation::kReceiveFrames || !connected_) return;
    if (ok_at_) {
      result(Outcome::kOk);
    } else {
      end_reception(Outcome::kNoCarrier);
    }
  }
  if (status != SIG_STATUS_FRAMING_OK) return;
  if (operation_ == Operation::kReceivePage && !connected_) {
    hears_frames_ = framing_ = true;
    if (!adaptive_) return end_reception(Outcome::kOtherCarrier);
    begin(Operation::kReceiveFrames);
    result(Outcome::kFramesInstead);
    result(Outcome::kConnect);
  } else if (operation_ == Operation::kCall) {
    begin(Operation::kReceiveFrames);
    order_sending(Signal::kNone, 0);
    result(Outcome::kConnect);
  } else if (operation_ == Operation::kReceiveFrames && !connected_) {
    result(Outcome::kConnect);
  } else {
    framing_ = true;
  }
}

void Class1::take_frame(const Message& r) {
  if (r.length < kLeastFrame) return;  // noise between flags
  if (operation_ == Operation::kReceivePage && connected_) return;
  if (!framing_ && !connected_) take_frame_status(SIG_STATUS_FRAMING_OK);
  framing_ = false;
  if (received_.size() == kMostReceived) return;
  received_.push_back({{reinterpret_cast<const char*>(r.octets.data()), r.length + 2u}, r.value != 0});
  if (operation_ == Operation::kReceiveFrames && !ok_at_) deliver_frame();
}

/// @pre connected_, and a frame was received
void Class1::deliver_frame() {
  const Frame frame = received_.front();
  received_.pop_front();
  say(stuffed(frame.octets));
  say(kEndOfData);
  const bool last = (frame.octets[kControlOctet] & kFinalBit) != 0;
  if (frame.good && last && carrier_) {
    ok_at_ = now() + kLastCarrier;
  } else {
    result(frame.good ? Outcome::kOk : Outcome::kError);
  }
}

void Class1::take_bits(const Message& r) {
  if (operation_ != Operation::kReceivePage || !connected_) return;
  for (std::int32_t k = 0; k < r.value; ++k) {
    octet_ |= (r.octets[static_cast<std::size_t>(k) / 8] >> k % 8 & 1) << octet_bits_;
    if (++octet_bits_ < 8) continue;
    const char octet = static_cast<char>(octet_);
    say(stuffed({&octet, 1}));
    octet_ = octet_bits_ = 0;
  }
}

void Class1::take_bit_status(int status) {
  if (operation_ != Operation::kReceivePage) return;
  if (status == SIG_STATUS_TRAINING_SUCCEEDED && !connected_) result(Outcome::kConnect);
  if (status == SIG_STATUS_CARRIER_DOWN && connected_) end_reception(Outcome::kNoCarrier);
}

// ---- Time

void Class1::follow_time() {
  const std::uint64_t time = now();
  if (ok_at_ && time >= *ok_at_) result(Outcome::kOk);
  if (deadline_ && time >= *deadline_) end_reception(Outcome::kNoCarrier);
  if (!sends()) return;
  if (rings_.data->size() > 0 || !frames_.empty() || !page_.empty()) active_at_ = time;
  if (!ending_ && time - active_at_ > kPatience) finish_sending(Outcome::kError);
}

void Class1::poll() {
  while (const Message* report = rings_.reports->front()) {
    take(*report);
    rings_.reports->pop();
  }
  // A lost report may have been the end of the signal.
  const std::uint64_t lost = counters_of(pump_).lost_reports;
  if (lost != lost_reports_ && ending_ && sends()) result(Outcome::kError);
  lost_reports_ = lost;
  follow_time();
  flush();
}

}  // namespace offhook::fax
