// SPDX-License-Identifier: MIT
// Two LAPM ends and a bit channel between them with delay, random errors, bursts and slips.
#ifndef OFFHOOK_TESTS_UNIT_DSP_V42_LAPM_PAIR_H
#define OFFHOOK_TESTS_UNIT_DSP_V42_LAPM_PAIR_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "dsp/link/lapm.h"

namespace offhook::test {

struct Events {
  std::vector<oh_lapm_state> states;
  uint64_t retransmit = 0, bad_frames = 0, breaks = 0, breaks_done = 0, tests_done = 0;
  uint32_t last_break = 0;
  static void on(void* user, oh_lapm_event event, uint32_t argument) {
    auto& e = *static_cast<Events*>(user);
    switch (event) {
      case OH_LAPM_EVENT_STATE:
        e.states.push_back(oh_lapm_state(argument));
        break;
      case OH_LAPM_EVENT_RETRANSMIT:
        e.retransmit += argument;
        break;
      case OH_LAPM_EVENT_BAD_FRAME:
        ++e.bad_frames;
        break;
      case OH_LAPM_EVENT_BREAK:
        ++e.breaks, e.last_break = argument;
        break;
      case OH_LAPM_EVENT_BREAK_DONE:
        ++e.breaks_done;
        break;
      case OH_LAPM_EVENT_TEST_DONE:
        ++e.tests_done;
        break;
    }
  }
};

/// One LAPM in its own memory, with a byte stream to send and the received bytes.
struct End {
  explicit End(oh_lapm_config config) {
    config.event = Events::on;
    config.user = &events;
    memory.reset(std::aligned_alloc(64, oh_lapm_size(&config)));
    lapm = oh_lapm_init(memory.get(), &config);
    EXPECT_NE(lapm, nullptr);
    oh_lapm_port(lapm, &port);
  }
  oh_lapm_status status() const {
    oh_lapm_status s;
    oh_lapm_get_status(lapm, &s);
    return s;
  }
  void pump_bytes() {
    written += oh_lapm_write(lapm, to_send.data() + written, to_send.size() - written);
    uint8_t buffer[512];
    while (!hold) {
      const size_t n = oh_lapm_read(lapm, buffer, sizeof buffer);
      if (n == 0) break;
      received.insert(received.end(), buffer, buffer + n);
    }
  }
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  Events events;
  std::unique_ptr<void, Free> memory;
  oh_lapm* lapm = nullptr;
  oh_bit_port port{};
  std::vector<uint8_t> to_send, received;
  size_t written = 0;
  bool hold = false;  // does not read
};

struct Channel {
  uint32_t bit_rate = 2400;
  double delay_s = 0.02;  // each way
  double bit_error_rate = 0;
  double burst_per_bit = 0;  // chance that a burst of 40 random bits begins
  double slip_per_bit = 0;   // chance that a bit is lost or duplicated
  uint64_t seed = 1;
};

inline oh_lapm_config default_config(oh_pump_role role, uint32_t bit_rate) {
  oh_lapm_config c;
  oh_lapm_default_config(&c, role, bit_rate);
  return c;
}

inline std::vector<uint8_t> random_bytes(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(n);
  for (auto& b : bytes) b = uint8_t(random());
  return bytes;
}

class LapmPair {
 public:
  explicit LapmPair(
      Channel channel = {}, const std::function<void(oh_lapm_config&)>& change = [](oh_lapm_config&) {})
      : channel_(channel), random_(channel.seed) {
    for (int i : {0, 1}) {
      oh_lapm_config c = default_config(oh_pump_role(i), channel.bit_rate);
      change(c);
      ends_.push_back(std::make_unique<End>(c));
      line_[i].assign(size_t(channel.delay_s * channel.bit_rate) + 1, 1);
    }
  }
  End& operator[](int i) { return *ends_[size_t(i)]; }
  Channel& channel() { return channel_; }
  double seconds() const { return double(bits_) / channel_.bit_rate; }

  /// A function that changes single bits from end i; returns the bit to deliver, or -1 to drop it.
  std::function<int(int from, int bit)> filter;

  void step() {
    int bit[2];
    for (int i : {0, 1}) bit[i] = oh_port_get_bit(&ends_[size_t(i)]->port);
    for (int i : {0, 1}) {
      int b = filter ? filter(i, bit[i]) : bit[i];
      if (b >= 0) send(i, b);
      while (line_[i].size() > size_t(channel_.delay_s * channel_.bit_rate)) {
        End& to = *ends_[size_t(1 - i)];
        oh_port_put_bit(&to.port, line_[i].front());
        line_[i].pop_front();
      }
    }
    ++bits_;
    samples_ += 8000.0 / channel_.bit_rate;
    const auto n = uint32_t(samples_);
    samples_ -= n;
    for (auto& e : ends_) {
      if (n) oh_lapm_advance(e->lapm, n);
      if (bits_ % 16 == 0) e->pump_bytes();
    }
  }
  void run(double seconds) {
    for (auto n = uint64_t(seconds * channel_.bit_rate); n > 0; --n) step();
  }
  /// @return false if it did not become true within `seconds`
  bool run_until(const std::function<bool()>& done, double seconds) {
    for (auto n = uint64_t(seconds * channel_.bit_rate); n > 0; --n) {
      if (n % 64 == 0 && done()) return true;
      step();
    }
    return done();
  }
  bool connected() {
    return (*this)[0].status().state == OH_LAPM_CONNECTED && (*this)[1].status().state == OH_LAPM_CONNECTED;
  }
  bool connect() {
    return run_until([&] { return connected(); }, 10);
  }
  bool failed() { return (*this)[0].status().state > OH_LAPM_RELEASE || (*this)[1].status().state > OH_LAPM_RELEASE; }
  bool complete() {
    return (*this)[1].received.size() >= (*this)[0].to_send.size() &&
           (*this)[0].received.size() >= (*this)[1].to_send.size();
  }

 private:
  void send(int i, int b) {
    auto chance = [&](double p) { return p > 0 && std::uniform_real_distribution<>()(random_) < p; };
    if (chance(channel_.burst_per_bit)) burst_[i] = 40;
    if (burst_[i] > 0) --burst_[i], b = int(random_() & 1);
    if (chance(channel_.bit_error_rate)) b ^= 1;
    if (chance(channel_.slip_per_bit)) {
      if (random_() & 1) return;
      line_[i].push_back(b);
    }
    line_[i].push_back(b);
  }
  Channel channel_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<End>> ends_;
  std::deque<int> line_[2];
  int burst_[2] = {0, 0};
  uint64_t bits_ = 0;
  double samples_ = 0;
};

}  // namespace offhook::test
#endif
