// SPDX-License-Identifier: MIT
#include "dsp/dmt/procedure.h"

namespace offhook::dmt {
namespace {

// Source: G.994.1, set A43 of 4.3125 kHz, as far as known.
constexpr int kRemoteTones[] = {9, 17, 25}, kCentralTones[] = {40, 56, 64};
constexpr int kToneCount = 3;

// Symbols of about 0.23 to 0.25 ms.
constexpr int kToneSymbols = 8;  // in a row, to decide that tones have begun or ended
constexpr int kQuietSymbols = 100;
constexpr int kReverbSymbols = 1024;  // after this, both ends can train
constexpr int kSegueSymbols = 10;
constexpr int kFillerSymbols = 16;
constexpr int kLostSymbols = 2000;  // longer than the far end needs to notice
// Parts of MEDLEY: first the equaliser settles, then each tone's filter is fitted. The rest measures the noise.
constexpr int kMedleySettle = 256, kFastMedleySettle = 64;
constexpr int kMedleyFit = 2048, kFastMedleyFit = 512;
constexpr int kRecoverSymbols = 64;
constexpr uint8_t kRecoverOctet = 0x66;  // no message has this value
constexpr uint32_t kSymbol = static_cast<uint32_t>(kLiteUp.symbol());
constexpr uint32_t kSecond = (kLiteUp.rate_hz() + kSymbol / 2) / kSymbol;

constexpr float kTonesShare = 0.5f, kNoTonesShare = 0.2f;
constexpr float kSegueLikeness = -0.5f, kMedleyLikeness = 0.8f, kRecoverLikeness = 0.6f;

}  // namespace

const Procedure::Table& Procedure::transitions() {
  using S = State;
  using E = Event;
  using P = Procedure;
  constexpr uint32_t kTraining =
      in(S::kTones, S::kQuiet, S::kReverb, S::kSegue, S::kMedley, S::kExchange, S::kMark, S::kRecover);
  constexpr uint32_t kAlive = kTraining | in(S::kIdle, S::kRequest, S::kShowtime, S::kLost);
  static constexpr Transition kRows[] = {
      {in(S::kIdle), E::kFarTones, nullptr, &P::send_tones, S::kTones, "R-TONES-REQ"},
      {in(S::kRequest), E::kFarTones, nullptr, &P::await_reverb, S::kQuiet, "C-TONES"},
      {in(S::kTones), E::kFarQuiet, nullptr, &P::be_quiet, S::kQuiet, "R-SILENT"},
      {in(S::kQuiet), E::kSent, &P::is_central, &P::begin_reverb, S::kReverb, "C-QUIET"},
      {in(S::kQuiet), E::kFarReverb, &P::is_remote, &P::send_reverb, S::kReverb, "C-REVERB"},
      {in(S::kReverb), E::kFarReverb, &P::is_central, &P::time_reverb, S::kReverb, "R-REVERB"},
      {in(S::kReverb), E::kSent, &P::is_trained, &P::send_segue, S::kSegue, "SEGUE"},
      {in(S::kReverb), E::kSent, nullptr, &P::wait_for_training, S::kReverb, "REVERB"},
      {in(S::kSegue), E::kSent, nullptr, &P::send_medley, S::kMedley, "MEDLEY"},
      {in(S::kMedley), E::kSent, nullptr, &P::send_message, S::kExchange, "B&G"},
      {in(S::kExchange), E::kSent, &P::may_start_data, &P::send_mark, S::kMark, "SEGUE 2"},
      {in(S::kExchange), E::kSent, nullptr, &P::send_message, S::kExchange, "B&G"},
      {in(S::kMark), E::kSent, nullptr, &P::send_data, S::kShowtime, "SHOWTIME"},
      {in(S::kShowtime), E::kMarginLost, nullptr, &P::begin_recover, S::kRecover, "margin lost"},
      {in(S::kShowtime), E::kFarRecover, nullptr, &P::answer_recover, S::kRecover, "far RECOV"},
      {in(S::kRecover), E::kSent, &P::far_recovers, &P::send_fast_segue, S::kSegue, "SEGUE"},
      {in(S::kRecover), E::kSent, nullptr, &P::send_recover, S::kRecover, "RECOV"},
      {kAlive, E::kHangUp, nullptr, &P::be_silent, S::kEnded, "release"},
      {in(S::kLost), E::kSent, &P::is_central, &P::be_idle, S::kIdle, "C-IDLE"},
      {in(S::kLost), E::kSent, &P::is_remote, &P::send_request, S::kRequest, "R-IDLE"},
      {kTraining | in(S::kShowtime), E::kDataLost, &P::may_try_again, &P::be_lost, S::kLost, "loss of frame"},
      {kTraining, E::kNothingToLoad, &P::may_try_again, &P::be_lost, S::kLost, "no tone carries bits"},
      {kTraining, E::kTimeout, &P::may_try_again, &P::be_lost, S::kLost, "time-out"},
      {kAlive, E::kDataLost, nullptr, &P::be_silent, S::kFailed, "given up"},
      {kAlive, E::kNothingToLoad, nullptr, &P::be_silent, S::kFailed, "given up"},
      {kAlive, E::kTimeout, nullptr, &P::be_silent, S::kFailed, "given up"},
  };
  return TransitionIndex<kRows>::kTable;
}

Procedure::Procedure(const ProcedureConfig& config)
    : TableProcedure(State::kIdle),
      config_(config),
      rx_band_(config.side == Side::kCentral ? config.up : config.down),
      tx_band_(config.side == Side::kCentral ? config.down : config.up),
      tx_medley_(tx_band_),
      rx_medley_(rx_band_),
      reader_(tx_band_),
      data_tx_(tx_band_),
      data_rx_(rx_band_) {
  reverb(rx_band_, rx_reverb_);
  reverb(tx_band_, tx_reverb_);
  octet_symbol(rx_band_, rx_reverb_, kRecoverOctet, rx_recover_);
  if (is_central()) {
    be_idle();
  } else {
    state_ = State::kRequest;
    send_request();
  }
}

void Procedure::send(Signal signal, int symbols) {
  signal_ = signal;
  left_ = symbols > 0 ? symbols + 1 : 0;  // kSent occurs when the symbol after the last one is requested
}

// --- transmission

bool Procedure::next(Complex* points, bool* prefix) {
  ++now_;
  if (is_due(now_, &deadline_)) handle(Event::kTimeout);
  // Every action of kSent sends at least one symbol, so this ends; without a row the signal continues.
  while (left_ == 1) {
    if (!handle(Event::kSent)) left_ = 0;
  }
  if (left_ > 0) --left_;
  *prefix = signal_ == Signal::kMedley || signal_ == Signal::kOctets || signal_ == Signal::kData;
  switch (signal_) {
    case Signal::kSilence:
      return false;
    case Signal::kTones:
      tones_symbol(tx_band_, is_central() ? kCentralTones : kRemoteTones, kToneCount, points);
      return true;
    case Signal::kReverb:
      octet_symbol(tx_band_, tx_reverb_, kReverbOctet, points);
      return true;
    case Signal::kSegue:
      octet_symbol(tx_band_, tx_reverb_, kSegueOctet, points);
      return true;
    case Signal::kMedley:
      tx_medley_.next(tx_band_, points);
      return true;
    case Signal::kOctets:
      octet_symbol(tx_band_, tx_reverb_, symbols_[symbol_at_++], points);
      return true;
    case Signal::kData:
      bits_sent_ +=
          static_cast<uint64_t>(data_tx_.symbol(config_.port, hearing_ == Hearing::kData, data_rx_.block_error(),
                                                hearing_ == Hearing::kData ? data_rx_.request() : nullptr, points));
      return true;
  }
  return false;
}

void Procedure::be_idle() {
  send(Signal::kSilence, 0);
  restart_ = true;
  tones_there_ = false;
  listen(Hearing::kTones);
  deadline_ = now_ + 60 * kSecond;
}

void Procedure::send_request() {
  be_idle();
  send(Signal::kTones, 0);
  deadline_ = now_ + 20 * kSecond;
}

void Procedure::send_tones() {
  send(Signal::kTones, 0);
  deadline_ = now_ + 2 * kSecond;
}

void Procedure::be_quiet() {
  send(Signal::kSilence, kQuietSymbols);
  deadline_ = now_ + 4 * kSecond;
}

void Procedure::await_reverb() {
  send(Signal::kSilence, 0);
  listen(Hearing::kTraining);
  restart_ = true;
  deadline_ = now_ + 4 * kSecond;
}

void Procedure::begin_reverb() {
  send(Signal::kReverb, 0);
  listen(Hearing::kTraining);
  restart_ = true;
  deadline_ = now_ + 4 * kSecond;
}

void Procedure::time_reverb() {
  send(Signal::kReverb, kReverbSymbols);
}

void Procedure::send_reverb() {
  send(Signal::kReverb, kReverbSymbols);
  deadline_ = now_ + 4 * kSecond;
}

void Procedure::wait_for_training() {
  send(Signal::kReverb, kFillerSymbols);
}

void Procedure::send_segue() {
  send(Signal::kSegue, kSegueSymbols);
}

void Procedure::send_medley() {
  tx_medley_.reset();
  send(Signal::kMedley, medley_length());
  deadline_ = now_ + static_cast<uint32_t>(medley_length()) + 4 * kSecond;
}

void Procedure::send_message() {
  symbol_at_ = 0;
  int count = kFillerSymbols;
  if (own_known_) {
    own_.acknowledge = far_read_;
    count = write_message(rx_band_, own_, symbols_);
  } else {
    for (int k = 0; k < kFillerSymbols; ++k) symbols_[k] = kReverbOctet;
  }
  send(Signal::kOctets, count);
}

// In the form of octets, because the signal has prefixes.
void Procedure::send_mark() {
  symbol_at_ = 0;
  for (int k = 0; k < kSegueSymbols; ++k) symbols_[k] = kSegueOctet;
  send(Signal::kOctets, kSegueSymbols);
}

void Procedure::send_data() {
  data_tx_.begin(far_.loading);
  send(Signal::kData, 0);
  deadline_ = now_ + 4 * kSecond;
  if (hearing_ == Hearing::kData) deadline_ = 0;
}

void Procedure::begin_recover() {
  fast_ = true;
  ++fast_retrains_;
  own_known_ = far_read_ = false;
  own_ = far_ = {};
  reader_.reset();
  deadline_ = now_ + kSecond;
  listen(Hearing::kRecover);
  send_recover();
}

void Procedure::answer_recover() {
  begin_recover();
  listen(Hearing::kSegue);
}

void Procedure::send_recover() {
  symbol_at_ = 0;
  for (int k = 0; k < kRecoverSymbols; ++k) symbols_[k] = kRecoverOctet;
  send(Signal::kOctets, kRecoverSymbols);
}

// With prefixes, as in all of a fast retrain.
void Procedure::send_fast_segue() {
  send_mark();
  deadline_ = now_ + 4 * kSecond;
}

void Procedure::be_lost() {
  ++failures_;
  listen(Hearing::kNothing);
  deadline_ = 0;
  send(Signal::kSilence, kLostSymbols);
}

void Procedure::be_silent() {
  listen(Hearing::kNothing);
  deadline_ = 0;
  send(Signal::kSilence, 0);
}

// --- reception

void Procedure::hear(Receiver* receiver) {
  if (restart_) {
    restart_ = false;
    trained_ = own_known_ = far_read_ = fast_ = false;
    own_ = far_ = {};
    reader_.reset();
    receiver->reset();
    if (hearing_ == Hearing::kTraining) {
      receiver->search();
      ++trainings_;
    }
    return;
  }
  switch (hearing_) {
    case Hearing::kNothing:
      break;
    case Hearing::kTones:
      hear_tones(*receiver);
      break;
    case Hearing::kTraining:
      if (receiver->stage() == Receiver::Stage::kSearch) break;
      if (heard_++ == 0) handle(Event::kFarReverb);
      if (receiver->stage() != Receiver::Stage::kReady) break;
      trained_ = true;
      listen(Hearing::kSegue);
      break;
    case Hearing::kSegue:
      hear_octet(receiver);
      if (!segue_ended(receiver)) break;
      if (!fast_) receiver->begin_prefix();
      rx_medley_.reset();
      medley_symbols_ = measured_ = 0;
      for (float& e : error_) e = 0;
      listen(Hearing::kMedley);
      break;
    case Hearing::kMedley:
      hear_medley(receiver);
      break;
    case Hearing::kMessages:
      hear_message(receiver);
      break;
    case Hearing::kData:
      hear_data(receiver);
      break;
    case Hearing::kRecover:
      hear_octet(receiver);
      if (recover_heard(*receiver)) listen(Hearing::kSegue);
      break;
  }
}

/// A symbol of REVERB in the form of an octet. @return the most likely octet
uint8_t Procedure::hear_octet(Receiver* receiver) {
  const uint8_t octet = receiver->octet(rx_reverb_);
  Complex sent[kMostTones];
  octet_symbol(rx_band_, rx_reverb_, octet, sent);
  receiver->follow(sent);
  return octet;
}

/// Whether this was true for kToneSymbols in a row.
bool Procedure::counted(bool is) {
  heard_ = is ? heard_ + 1 : 0;
  return heard_ >= kToneSymbols;
}

void Procedure::hear_tones(const Receiver& receiver) {
  const float share = receiver.share(is_central() ? kRemoteTones : kCentralTones, kToneCount);
  if (!counted(tones_there_ ? share < kNoTonesShare : share > kTonesShare)) return;
  heard_ = 0;
  tones_there_ = !tones_there_;
  handle(tones_there_ ? Event::kFarTones : Event::kFarQuiet);
}

/// Counts the symbols of SEGUE from the first. @return whether this was the last
bool Procedure::segue_ended(Receiver* receiver) {
  if (heard_ == 0 && (receiver->spoiled() || receiver->likeness(rx_reverb_) > kSegueLikeness)) return false;
  return ++heard_ == kSegueSymbols;
}

/// Whether RECOV has been heard for kToneSymbols in a row.
bool Procedure::recover_heard(const Receiver& receiver) {
  recovers_ = receiver.likeness(rx_recover_) > kRecoverLikeness ? recovers_ + 1 : 0;
  return recovers_ >= kToneSymbols;
}

void Procedure::learn_from_medley(Receiver* receiver, const Complex* sent) {
  if (medley_symbols_ <= (fast_ ? kFastMedleySettle : kMedleySettle)) {
    receiver->learn(sent, 0.02f);
    receiver->begin_fit();
    fitted_ = false;
  } else if (medley_symbols_ <= (fast_ ? kFastMedleyFit : kMedleyFit)) {
    receiver->add_to_fit(sent);
  } else if (!fitted_ && receiver->may_fit()) {
    fitted_ = receiver->fit();
    receiver->follow(sent);
  } else {
    ++measured_;
    for (int k = rx_band_.first; k <= rx_band_.last; ++k) error_[k] += norm(receiver->points()[k] - sent[k]);
    receiver->learn(sent, 0.002f);
  }
}

void Procedure::hear_medley(Receiver* receiver) {
  Complex sent[kMostTones];
  rx_medley_.next(rx_band_, sent);
  ++medley_symbols_;
  // A wrong symbol, or half of one, does not measure the
  // noise: a card that is served late plays old symbols.
  if (!receiver->spoiled() && receiver->likeness(sent) > kMedleyLikeness) learn_from_medley(receiver, sent);
  if (medley_symbols_ < medley_length()) return;
  listen(Hearing::kMessages);
  for (float& e : error_) e /= static_cast<float>(measured_ > 0 ? measured_ : 1);
  receiver->weigh_timing(error_);
  own_known_ = load(rx_band_, error_, config_.max_bit_rate, &own_.loading);
  if (!own_known_) handle(Event::kNothingToLoad);
}

void Procedure::hear_message(Receiver* receiver) {
  const uint8_t octet = hear_octet(receiver);
  if (segue_ended(receiver)) {
    data_rx_.begin(own_.loading, error_);
    listen(Hearing::kData);
    if (state_ == State::kShowtime) deadline_ = 0;
    return;
  }
  Message message;
  if (heard_ > 0 || !reader_.put(octet, &message)) return;
  far_ = message;
  far_read_ = true;
}

void Procedure::hear_data(Receiver* receiver) {
  bits_received_ += static_cast<uint64_t>(data_rx_.symbol(receiver, config_.port));
  if (heard_ < static_cast<int>(kSecond) && ++heard_ == static_cast<int>(kSecond)) failures_ = 0;
  if (SwapRequest request; state_ == State::kShowtime && data_rx_.take_far_request(&request)) data_tx_.swap(request);
  if (data_rx_.lost()) {
    handle(Event::kDataLost);
  } else if (data_rx_.margin_lost()) {
    handle(Event::kMarginLost);
  } else if (recover_heard(*receiver)) {
    handle(Event::kFarRecover);
  }
}

}  // namespace offhook::dmt
