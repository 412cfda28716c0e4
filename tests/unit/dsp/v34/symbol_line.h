// SPDX-License-Identifier: MIT
//
// Two ends of Phases 3 and 4 joined by a line of symbols: delay and white noise, and a receiver that needs no training.
// It sees S and S-bar by their points, undoes the non-linear encoder and applies the whitening filter, as receiver.h
// does on a real line.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "dsp/v34/session/session.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {

/// One modem and its receiver.
class SymbolEnd {
 public:
  SymbolEnd(const SessionConfig& c, uint32_t seed)
      : config(c), data(seed, 10), session(c, port()), reader(c.role, port()) {}
  SymbolEnd(const SymbolEnd&) = delete;
  SymbolEnd& operator=(const SymbolEnd&) = delete;

  void receive(Complex s) {
    follow_order();
    track_s(s);
    if (session.order().task == qam::Receiver::Task::kHold ||
        session.order().listen == ReceiverOrder::Listen::kNothing) {
      return;
    }
    const qam::SymbolFormat& format = session.order().format;
    Complex y = std::sqrt(format.energy) * s;
    if (format.warp > 0) y = qam::NonlinearEncoder::decode(y, format.warp);
    const Complex x = y;
    for (int k = 0; k < 3; ++k) y += format.whitening[k] * tail[k];
    tail[2] = tail[1];
    tail[1] = tail[0];
    tail[0] = x;
    const Complex e = y - reader.decide(y);
    squared_error += norm(e);
    ++symbols;
    Heard heard;
    reader.put(y, session.order().deliver, &heard);
    if (quality) heard.quality = &*quality;
    heard.power = power;
    session.put(heard);
  }

  SessionConfig config;
  Random data;
  std::vector<uint8_t> sent, received, aux_sent, aux_received;
  Session session;
  SymbolReader reader;
  std::optional<LineQuality> quality;  ///< what the receiver reports about the line
  float power = 1;                     ///< the same
  std::vector<Signal> signals;         ///< each change of its sent signal
  std::vector<Complex>* tap = nullptr;
  double squared_error = 0;
  long symbols = 0;

 private:
  DataPort port() { return {{get, put, this}, {get_aux, put_aux, this}}; }
  static int get(void* u) {
    auto& e = *static_cast<SymbolEnd*>(u);
    e.sent.push_back(static_cast<uint8_t>(e.data.bit()));
    return e.sent.back();
  }
  static void put(void* u, int bit) { static_cast<SymbolEnd*>(u)->received.push_back(static_cast<uint8_t>(bit)); }
  static int get_aux(void* u) {
    auto& e = *static_cast<SymbolEnd*>(u);
    e.aux_sent.push_back(static_cast<uint8_t>(e.data.bit()));
    return e.aux_sent.back();
  }
  static void put_aux(void* u, int bit) {
    static_cast<SymbolEnd*>(u)->aux_received.push_back(static_cast<uint8_t>(bit));
  }

  void follow_order() {
    if (session.order().version == version) return;
    version = session.order().version;
    reader.init(session.order());
    for (Complex& t : tail) t = {};
  }

  // S alternates between two points; its first symbol turned by half a turn begins S-bar.
  void track_s(Complex s) {
    const auto near = [s](Point p) { return norm(s) > 0.2f && s.re * float(p.re) > 0 && s.im * float(p.im) > 0; };
    if (near(s_symbol(run))) {
      ++run;
      if (run == 48) tell(qam::Receiver::Event::kS);
    } else {
      if (run >= 48 && run % 2 == 0 && near(s_bar_symbol(0))) {
        tell(qam::Receiver::Event::kSBar);
        follow_order();
      }
      run = near(s_symbol(0)) ? 1 : 0;
    }
  }

  void tell(qam::Receiver::Event event) {
    if (session.order().task == qam::Receiver::Task::kHold) return;
    Heard heard;
    heard.event = event;
    session.put(heard);
  }

  uint32_t version = 0;
  Complex tail[3]{};
  int run = 0;
};

class SymbolLine {
 public:
  /// @return whether `condition` became true within `ms`
  SymbolLine(SessionConfig call, SessionConfig answer, uint32_t delay, double snr_db, uint32_t seed)
      : delay_(delay), sigma_(std::sqrt(0.5 / std::pow(10, snr_db / 10))), noise_{{seed, 1}, {seed, 2}} {
    call.role = OH_PUMP_CALL;
    answer.role = OH_PUMP_ANSWER;
    for (SessionConfig* c : {&call, &answer}) c->round_trip_samples = 2 * delay;
    answer.rx_symbol_rate = call.tx_symbol_rate;
    answer.tx_symbol_rate = call.rx_symbol_rate;
    end_[0] = std::make_unique<SymbolEnd>(call, seed);
    end_[1] = std::make_unique<SymbolEnd>(answer, seed + 1);
  }

  SymbolEnd& call() { return *end_[0]; }
  SymbolEnd& answer() { return *end_[1]; }
  Session& c() { return end_[0]->session; }
  Session& a() { return end_[1]->session; }

  void step() {
    ++now_;
    for (int k = 0; k < 2; ++k) {
      SymbolEnd& e = *end_[k];
      e.session.tick();
      phase_[k] += symbol_rate_hz(e.config.tx_symbol_rate) / 8000;
      if (phase_[k] >= 1) {
        phase_[k] -= 1;
        Complex s = e.session.next_symbol();
        const Signal sig = e.session.signal();
        if (e.signals.empty() || e.signals.back() != sig) e.signals.push_back(sig);
        if (e.tap != nullptr) e.tap->push_back(s);
        if (cut[k]) s = {};
        s += Complex{float(sigma_ * noise_[k].gaussian()), float(sigma_ * noise_[k].gaussian())};
        flight_[k].push_back({now_ + delay_, s});
      }
    }
    for (int k = 0; k < 2; ++k) {
      while (!flight_[k].empty() && flight_[k].front().at <= now_) {
        end_[1 - k]->receive(flight_[k].front().s);
        flight_[k].pop_front();
      }
    }
  }
  void run_ms(double ms) {
    for (const uint64_t until = now_ + static_cast<uint64_t>(ms * 8); now_ < until;) step();
  }
  /// One symbol on its way from end k is lost, as by a slip of the receiver's clock.
  template <class Condition>
  bool run_until(Condition condition, double ms) {
    for (const uint64_t until = now_ + static_cast<uint64_t>(ms * 8); now_ < until;) {
      if (condition()) return true;
      step();
    }
    return condition();
  }
  bool connect(double ms = 20000) {
    return run_until([&] { return c().live() && a().live(); }, ms);
  }
  double now_ms() const { return static_cast<double>(now_) / 8; }

  void set_snr(double snr_db) { sigma_ = std::sqrt(0.5 / std::pow(10, snr_db / 10)); }
  /// the signal of this end is lost
  void drop_symbol(int k) { flight_[k].pop_front(); }

  bool cut[2] = {false, false};  ///< what this end sends is lost

 private:
  struct Flying {
    uint64_t at;
    Complex s;
  };
  uint64_t now_ = 0;
  uint64_t delay_;
  double sigma_;
  Random noise_[2];
  std::unique_ptr<SymbolEnd> end_[2];
  double phase_[2] = {0, 0};
  std::deque<Flying> flight_[2];
};

// Each end has the other's bits, except
// this many at the beginning.
inline size_t errors_of(const std::vector<uint8_t>& sent, const std::vector<uint8_t>& received, size_t from = 0) {
  constexpr size_t kKey = 64;
  if (sent.size() < kKey + from || received.size() < kKey) return SIZE_MAX;
  const auto at = std::search(received.begin(), received.end(), sent.begin() + from, sent.begin() + from + kKey);
  const size_t n = static_cast<size_t>(received.end() - at);
  if (n < 1000 || n > sent.size() - from) return SIZE_MAX;
  size_t errors = 0;
  for (size_t k = 0; k < n; ++k) errors += at[k] != sent[from + k];
  return errors;
}

/// Each end has the other's bits, but for so many at the beginning.
inline void expect_intact(SymbolLine& line, size_t from_call = 0, size_t from_answer = 0) {
  EXPECT_EQ(errors_of(line.call().sent, line.answer().received, from_call), 0u);
  EXPECT_EQ(errors_of(line.answer().sent, line.call().received, from_answer), 0u);
}

/// @return ms until h has ended, or `most_ms`
inline double time_to_end(SymbolLine& line, Session& h, double most_ms) {
  const double from = line.now_ms();
  line.run_until([&] { return h.state() == Session::State::kEnded; }, most_ms);
  return line.now_ms() - from;
}

}  // namespace offhook::v34
