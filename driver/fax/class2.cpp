// SPDX-License-Identifier: MIT
#include "driver/fax/class2.h"

#include <fmt/format.h>
#include <spandsp.h>

#include <algorithm>
#include <utility>

namespace offhook::fax {
namespace {

constexpr double kSampleRate = 8000;
constexpr int kPauseMs = 75;     // before each signal
constexpr int kReplyS = 3;       // T4
constexpr int kPageS = 6;        // T2
constexpr double kAnswerS = 35;  // T1
constexpr int kTries = 3;
constexpr double kFreshS = 1.5;  // a message can be replied to: the far end waits for 3 s
constexpr std::size_t kPageAhead = 4096;
constexpr std::size_t kFed = 256;      // octets given to the modem at once
constexpr std::size_t kServed = 8192;  // and to the program
constexpr char kCan = 0x18;
constexpr int kSender = 1;  // bit of the facsimile control field of the station that has received DIS

// Post-page messages by the octet behind DLE.
constexpr char kMps = 0x2C, kEom = 0x3B, kEop = 0x2E;

/// A field of spandsp without the sender's bit.
constexpr int plain(int field) {
  return field & 0xFE;
}
int post_page_of(char c) {
  return c == kMps ? plain(T30_MPS) : c == kEom ? plain(T30_EOM) : c == kEop ? plain(T30_EOP) : 0;
}
/// @return MPS, EOM or EOP, also for those that request an operator; 0: another field
int post_page_command(int field) {
  if (field == plain(T30_MPS) || field == plain(T30_PRI_MPS)) return plain(T30_MPS);
  if (field == plain(T30_EOM) || field == plain(T30_PRI_EOM)) return plain(T30_EOM);
  if (field == plain(T30_EOP) || field == plain(T30_PRI_EOP)) return plain(T30_EOP);
  return 0;
}

std::string reversed(std::string octets) {
  for (char& c : octets) {
    auto x = static_cast<unsigned char>(c);
    x = static_cast<unsigned char>((x & 0xF0) >> 4 | (x & 0x0F) << 4);
    x = static_cast<unsigned char>((x & 0xCC) >> 2 | (x & 0x33) << 2);
    c = static_cast<char>((x & 0xAA) >> 1 | (x & 0x55) << 1);
  }
  return octets;
}

}  // namespace

Class2::Class2(void* pump, Class2Config config) : pump_(pump), modem_(pump), config_(std::move(config)) {}

double Class2::seconds_since(std::uint64_t when) const {
  return static_cast<double>(counters_of(pump_).samples - when) / kSampleRate;
}

// ---- Results

void Class2::say_line(const std::string& text) {
  say("\r\n" + text + "\r\n");
}

void Class2::finish(Outcome outcome) {
  say(outcome);
  connected_ = outcome == Outcome::kConnect;
  if (!connected_) busy_ = false;
}

/// The call is over. It is told at once if the program waits, otherwise with its next operation.
void Class2::end_call(End end) {
  if (step_ == Step::kOver) return;
  enter(Step::kOver);
  sending_.reset();
  after_pause_ = nullptr;
  end_ = end;
}

/// The same after DCN.
void Class2::leave(End end) {
  send({frame_of(plain(T30_DCN) | (calls_ ? kSender : 0), true)}, [this, end] { end_call(end); });
}

// ---- Operations

void Class2::call() {
  busy_ = calls_ = true;
  began_at_ = counters_of(pump_).samples;
  enter(Step::kAwaitDis);
  modem_.call();
}

void Class2::answer() {
  busy_ = true;
  calls_ = false;
  began_at_ = counters_of(pump_).samples;
  enter(Step::kAwaitCommand);
  modem_.answer();  // CED; then frames can be sent
  sending_ =
      Pending{{frame_of(plain(T30_DIS), true, dis_of(config_.own))}, [this] { await(Step::kAwaitCommand, kReplyS); }};
  if (!config_.ident.empty())
    sending_->frames.push_back(frame_of(plain(T30_CSI), false, ident_information(config_.ident)));
}

void Class2::send_page() {
  busy_ = true;
  connected_ = false;
  if (step_ == Step::kReady && seconds_since(heard_at_) > kFreshS) {
    await(Step::kAwaitNextDis, kPageS);
  } else if (step_ == Step::kReady || (step_ == Step::kConfirmed && trains_)) {
    tries_ = 0;
    train();
  } else if (step_ == Step::kConfirmed) {
    pause_then([this] { begin_page(); });
  } else if (step_ != Step::kOver) {
    finish(Outcome::kError);
  }
}

void Class2::receive_page() {
  busy_ = true;
  connected_ = false;
  if (step_ == Step::kPageHeld && told_) {
    if (seconds_since(heard_at_) > kFreshS) {
      await(Step::kRepeated, kPageS);
    } else {
      reply();
    }
  } else if (calls_ && step_ != Step::kOver) {
    finish(Outcome::kError);
  }
}

void Class2::hang_up() {
  busy_ = true;
  connected_ = false;
  if (step_ == Step::kOver) return;
  if (modem_.busy()) {
    end_call(End::kAborted);
  } else {
    leave(End::kAborted);
  }
}

// ---- Frames

void Class2::pause_then(std::function<void()> then) {
  after_pause_ = std::move(then);
  modem_.send_silence(kPauseMs);
}

/// @param frames  the last one is final
void Class2::send(std::vector<std::string> frames, std::function<void()> then) {
  std::reverse(frames.begin(), frames.end());
  pause_then([this, frames = std::move(frames), then = std::move(then)]() mutable {
    sending_ = Pending{std::move(frames), std::move(then)};
    modem_.send_frames();
  });
}

void Class2::send_next_frame() {
  if (sending_->frames.empty()) return;
  const std::string frame = std::move(sending_->frames.back());
  sending_->frames.pop_back();
  modem_.put(stuffed(frame) + std::string(kEndOfData));
}

void Class2::await(Step step, int wait_s) {
  enter(step);
  received_.clear();
  frame_.clear();
  unstuffer_.reset();
  modem_.receive_frames(wait_s);
}

/// More frames of the same carrier.
void Class2::await_again() {
  frame_.clear();
  unstuffer_.reset();
  modem_.receive_frames(kReplyS);
}

void Class2::take_frame() {
  constexpr std::size_t kCheck = 2, kLeast = 3;
  const std::string octets = std::exchange(frame_, {});
  if (octets.size() < kLeast + kCheck) return;
  received_.push_back({octets.substr(0, octets.size() - kCheck)});
}

/// A message is complete with its last frame.
void Class2::take_message(const T30Frame& last) {
  heard_at_ = counters_of(pump_).samples;
  for (const T30Frame& f : received_)
    if (f.field() == plain(T30_CSI) || f.field() == plain(T30_TSI)) far_ident_ = ident_of(f.information());
  const int field = last.field();
  if (field == plain(T30_DCN)) return end_call(command_ == plain(T30_EOP) ? End::kNormal : End::kRefused);
  switch (step_) {
    case Step::kAwaitDis:
    case Step::kAwaitNextDis:
      take_dis(last);
      break;
    case Step::kAwaitCfr:
    case Step::kAwaitReply:
      on_reply(last);
      break;
    case Step::kAwaitCommand:
    case Step::kRepeated:
      on_command(last);
      break;
    default:
      break;
  }
}

/// After the last try, ends the call.
bool Class2::may_try_again(End end) {
  if (++tries_ < kTries) return true;
  leave(end);
  return false;
}

/// T4 or T2 has passed without a message.
void Class2::on_silence() {
  switch (step_) {
    case Step::kAwaitDis:
      await_again();
      break;
    case Step::kAwaitNextDis:
      end_call(End::kNotAFax);
      break;
    case Step::kAwaitCfr:
      if (may_try_again(End::kNoReplyToDcs)) train();
      break;
    case Step::kAwaitReply:
      if (may_try_again(End::kNoReplyToPage)) send_post_page();
      break;
    case Step::kAwaitCommand:
      if (command_ == plain(T30_EOP)) {
        end_call(End::kNormal);
      } else if (!trains_) {
        leave(page_over_ ? End::kNoCommand : End::kNoPage);
      } else if (seconds_since(began_at_) < kAnswerS) {
        send_dis();
      } else {
        leave(End::kNoAnswer);
      }
      break;
    case Step::kRepeated:
      reply();
      break;
    default:
      leave(End::kNoPage);
      break;
  }
}

// ---- Calling

void Class2::take_dis(const T30Frame& dis) {
  if (dis.field() != plain(T30_DIS)) return await_again();
  const SessionParameters far = parameters_of_dis(dis.information(), &modulations_);
  session_ = agreed(config_.own, far);
  if (step_ == Step::kAwaitNextDis) {
    tries_ = 0;
    return train();
  }
  enter(Step::kReady);
  say_line("+FCO");
  if (config_.tells_ident && !far_ident_.empty()) say_line(fmt::format("+FCI:\"{}\"", far_ident_));
  if (config_.tells_far) say_line("+FIS:" + far.text());
  finish(Outcome::kOk);
}

void Class2::train() {
  carrier_ = carrier_of(session_.bit_rate, modulations_);
  std::vector<std::string> frames;
  if (!config_.ident.empty())
    frames.push_back(frame_of(plain(T30_TSI) | kSender, false, ident_information(config_.ident)));
  frames.push_back(frame_of(plain(T30_DCS) | kSender, true, dcs_of(session_, carrier_)));
  send(std::move(frames), [this] { pause_then([this] { send_test(); }); });
}

/// TCF: zeros for 1.5 s.
void Class2::send_test() {
  enter(Step::kTest);
  page_.assign(session_.rate() * 3 / 16, 0);
  fed_ = false;
  page_complete_ = true;
  modem_.send_page(carrier_.test_code);
}

void Class2::begin_page() {
  enter(Step::kPage);
  page_.clear();
  page_complete_ = fed_ = false;
  page_unstuffer_.reset();
  lines_.begin(session_.rate() * static_cast<std::uint32_t>(session_.scan_time_ms()) / 1000, session_.format != 0);
  modem_.send_page(carrier_.page_code);
}

std::size_t Class2::room() const {
  return page_.size() < kPageAhead ? kPageAhead - page_.size() : 0;
}

void Class2::put(std::string_view octets) {
  if (!sends()) {
    if (octets.find(kCan) != std::string_view::npos) hang_up();
    return;
  }
  for (const char c : octets) {
    std::string data;
    const char code = page_unstuffer_.put(c, data);
    lines_.put(config_.reversed ? reversed(std::move(data)) : data);
    if (code == kCan) return hang_up();
    if (code != 0 && post_page_of(code) != 0) {
      post_page_ = post_page_of(code);
      page_complete_ = true;
      lines_.end();
      break;
    }
  }
  page_ += lines_.take();
  feed();
}

void Class2::feed() {
  if ((step_ != Step::kPage && step_ != Step::kTest) || !modem_.sends()) return;
  while (!page_.empty() && modem_.room() > 2 * kFed) {
    const std::size_t n = std::min(page_.size(), kFed);
    modem_.put(stuffed(std::string_view(page_).substr(0, n)));
    page_.erase(0, n);
  }
  if (!page_.empty() || !page_complete_ || fed_) return;
  fed_ = true;
  modem_.put(kEndOfData);
}

void Class2::send_post_page() {
  send({frame_of(post_page_ | kSender, true)}, [this] { await(Step::kAwaitReply, kReplyS); });
}

bool Class2::lower_rate() {
  if (session_.bit_rate == 0) return false;
  --session_.bit_rate;
  return true;
}

void Class2::on_reply(const T30Frame& reply) {
  const int field = reply.field();
  const bool to_page = step_ == Step::kAwaitReply;
  if (!to_page && field == plain(T30_CFR)) {
    tries_ = 0;
    trains_ = false;
    pause_then([this] { begin_page(); });
  } else if (!to_page && field == plain(T30_FTT)) {
    tries_ = 0;
    if (lower_rate()) {
      train();
    } else {
      leave(End::kNoTraining);
    }
  } else if (to_page && (field == plain(T30_MCF) || field == plain(T30_RTP) || field == plain(T30_PIP))) {
    trains_ = field == plain(T30_RTP) || post_page_ == plain(T30_EOM);
    if (post_page_ == plain(T30_EOP)) return leave(End::kNormal);
    enter(post_page_ == plain(T30_EOM) ? Step::kReady : Step::kConfirmed);
    heard_at_ = 0;  // after EOM, DIS comes again
    finish(Outcome::kOk);
  } else if (to_page && (field == plain(T30_RTN) || field == plain(T30_PIN))) {
    trains_ = true;
    enter(Step::kConfirmed);
    lower_rate();
    finish(Outcome::kError);
  } else if (field == plain(T30_CRP) || (!to_page && field == plain(T30_DIS))) {
    on_silence();  // the far end has not understood
  } else {
    await_again();
  }
}

// ---- Answering

void Class2::send_dis() {
  std::vector<std::string> frames;
  if (!config_.ident.empty()) frames.push_back(frame_of(plain(T30_CSI), false, ident_information(config_.ident)));
  frames.push_back(frame_of(plain(T30_DIS), true, dis_of(config_.own)));
  send(std::move(frames), [this] { await(Step::kAwaitCommand, kReplyS); });
}

void Class2::take_dcs(const T30Frame& dcs) {
  const auto session = parameters_of_dcs(dcs.information(), &carrier_);
  if (!session) return await_again();
  session_ = *session;
  command_ = 0;
  trains_ = true;
  carrier_up_ = page_begun_ = page_over_ = false;
  enter(Step::kAwaitTest);
  test_zeros_ = longest_zeros_ = 0;
  modem_.receive_page(carrier_.test_code, kPageS);
}

/// A second of zeros in a row.
void Class2::judge_test() {
  if (longest_zeros_ < session_.rate())
    return send({frame_of(plain(T30_FTT), true)}, [this] { await(Step::kAwaitCommand, kPageS); });
  trains_ = false;
  send({frame_of(plain(T30_CFR), true)}, [this] { await_page(); });
  if (!busy_ || told_) return;  // otherwise the program waits for the call
  say_line("+FCO");
  if (config_.tells_ident && !far_ident_.empty()) say_line(fmt::format("+FTI:\"{}\"", far_ident_));
  if (config_.tells_session) say_line("+FCS:" + session_.text());
  finish(Outcome::kOk);
}

void Class2::await_page() {
  enter(Step::kAwaitPage);
  got_.clear();
  carrier_up_ = page_begun_ = page_over_ = told_ = refuses_ = false;
  command_ = 0;
  modem_.receive_page(carrier_.page_code, kPageS);
}

void Class2::on_command(const T30Frame& command) {
  const int field = command.field();
  if (field == plain(T30_DCS)) return take_dcs(command);
  const int post_page = post_page_command(field);
  if (post_page == 0) return await_again();
  command_ = post_page;
  // A command without a page before it is repeated: the reply was not heard.
  if (step_ == Step::kRepeated || !page_over_) return reply();
  enter(Step::kPageHeld);
}

/// Gives the page, and how it ended, to a program that has asked for it.
void Class2::serve_page() {
  if (!busy_ || calls_ || !page_begun_ || told_) return;
  if (!connected_) finish(Outcome::kConnect);
  if (octets().size() < kServed) {
    say(std::string_view(got_).substr(0, kServed));
    got_.erase(0, kServed);
  }
  if (!got_.empty() || step_ != Step::kPageHeld) return;
  say(kEndOfData);
  say_line("+FPS:1");
  say_line(fmt::format("+FET:{}", command_ == plain(T30_MPS) ? 0 : command_ == plain(T30_EOM) ? 1 : 2));
  told_ = true;
  finish(Outcome::kOk);
}

void Class2::reply() {
  const int field = plain(refuses_ ? T30_RTN : T30_MCF);
  send({frame_of(field, true)}, [this] {
    if (command_ == plain(T30_MPS) && !refuses_) return await_page();
    if (command_ == plain(T30_EOM)) {
      trains_ = true;
      began_at_ = counters_of(pump_).samples;
      return send_dis();
    }
    await(Step::kAwaitCommand, kPageS);  // DCS after RTN, DCN after EOP
  });
}

// ---- Results of class 1

void Class2::take_octets(const std::string& octets) {
  std::string data;
  for (const char c : octets) {
    const char code = unstuffer_.put(c, carrier_up_ ? data : frame_);
    if (code == kEtx && !carrier_up_) take_frame();
  }
  if (!carrier_up_) return;
  if (step_ == Step::kAwaitPage) {
    got_ += stuffed(config_.reversed ? reversed(std::move(data)) : data);
    return;
  }
  for (const char c : data)
    for (int k = 0; k < 8; ++k) {
      test_zeros_ = (static_cast<unsigned char>(c) >> k & 1) != 0 ? 0 : test_zeros_ + 1;
      longest_zeros_ = std::max(longest_zeros_, test_zeros_);
    }
}

void Class2::take(Outcome outcome) {
  if (step_ == Step::kOver) return;
  if (after_pause_ && outcome == Outcome::kOk) return std::exchange(after_pause_, nullptr)();
  if (sending_) {
    if (outcome == Outcome::kConnect) return send_next_frame();
    const auto then = std::move(sending_->then);
    sending_.reset();
    return outcome == Outcome::kOk ? then() : end_call(End::kNoData);
  }
  switch (step_) {
    case Step::kPage:
      if (outcome == Outcome::kConnect) {
        if (config_.tells_session) say_line("+FCS:" + session_.text());
        finish(Outcome::kConnect);
      } else if (outcome == Outcome::kOk && page_complete_) {
        tries_ = 0;
        send_post_page();
      } else {
        leave(End::kNoData);
      }
      break;
    case Step::kTest:
      if (outcome == Outcome::kOk) await(Step::kAwaitCfr, kReplyS);
      break;
    case Step::kAwaitTest:
    case Step::kAwaitPage:
      take_page_result(outcome);
      break;
    default:
      if (outcome == Outcome::kConnect) break;
      if (outcome == Outcome::kNoCarrier) return on_silence();
      if (outcome == Outcome::kError && !received_.empty()) received_.pop_back();  // its check was wrong
      if (outcome == Outcome::kOk && !received_.empty() && received_.back().is_final()) {
        const T30Frame last = received_.back();
        take_message(last);
        received_.clear();
      } else {
        await_again();
      }
      break;
  }
}

/// Of class 1, when a test signal or a page is received.
void Class2::take_page_result(Outcome outcome) {
  if (outcome == Outcome::kConnect) {
    carrier_up_ = true;
    page_begun_ = step_ == Step::kAwaitPage;
    unstuffer_.reset();
    return;
  }
  carrier_up_ = false;
  if (step_ == Step::kAwaitTest && outcome != Outcome::kOtherCarrier) return judge_test();
  page_over_ = page_begun_;
  await(Step::kAwaitCommand, kPageS);
}

void Class2::poll() {
  modem_.poll();
  for (;;) {
    const std::string octets(modem_.octets());
    modem_.drop(octets.size());
    if (!octets.empty()) take_octets(octets);
    const std::optional<Outcome> outcome = modem_.take_outcome();
    if (!outcome) break;
    take(*outcome);
  }
  if (step_ == Step::kAwaitDis && seconds_since(began_at_) > kAnswerS) end_call(End::kNoAnswer);
  feed();
  serve_page();
  if (step_ != Step::kOver || !busy_) return;
  say_line(fmt::format("+FHS:{:02}", static_cast<int>(end_)));
  finish(Outcome::kOver);
}

std::string_view reason_of(Class2::End end) {
  switch (end) {
    case Class2::End::kNormal:
      return "normal end";
    case Class2::End::kAborted:
      return "ended by the program";
    case Class2::End::kNoAnswer:
      return "no fax machine for 35 s";
    case Class2::End::kNotAFax:
      return "DIS did not come again";
    case Class2::End::kNoReplyToDcs:
      return "no reply to three DCS";
    case Class2::End::kNoTraining:
      return "the test of the line failed at 2400 bit/s";
    case Class2::End::kNoData:
      return "the program sent nothing for 5 s";
    case Class2::End::kNoReplyToPage:
      return "no reply to three messages behind a page";
    case Class2::End::kRefused:
      return "the far end disconnected";
    case Class2::End::kNoCommand:
      return "no message behind a page";
    case Class2::End::kNoPage:
      return "no page";
  }
  return "";
}

}  // namespace offhook::fax
