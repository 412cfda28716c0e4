// SPDX-License-Identifier: MIT
//
// Two pumps, of V.34 if nothing else is said, under V.42 at the two ends of a hostsim line, each sending random bytes
// to the other all the time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "driver/user_modem/modem.h"
#include "dsp/blocks/level.h"
#include "dsp/v34/session/pump.h"
#include "hostsim/channel/line.h"
#include "hostsim/engine/random.h"

namespace offhook::test {

class V34Call : private hostsim::FarEnd {
 public:
  V34Call(const hostsim::LineConfig& config, std::uint64_t seed, std::uint32_t max_bit_rate = 0,
          const oh_pump_type* ops = oh_v34_type())
      : near_(config_of(ops, OH_PUMP_CALL, max_bit_rate)),
        far_(config_of(ops, OH_PUMP_ANSWER, max_bit_rate)),
        line_(config, seed, *this),
        random_(seed, 7),
        noise_(seed, 8) {
    near_.start();
    far_.start();
  }

  /// In line time. The near end loses `gap_samples` (a multiple of 8) in their middle.
  void run(double seconds, std::uint32_t gap_samples = 0) {
    constexpr std::size_t kBlock = hostsim::Line::kFarBlock;
    const std::uint64_t end = now_ + static_cast<std::uint64_t>(seconds * 8000);
    const std::uint64_t gap = now_ + (end - now_) / 2 / kBlock * kBlock;
    for (; now_ < end; now_ += kBlock) {
      std::int16_t sent[kBlock] = {};
      const std::int16_t* heard = played(kBlock);
      if (now_ >= gap && now_ < gap + gap_samples) {
        near_.report_gap(kBlock);
      } else {
        near_.process(heard, sent, kBlock);
      }
      line_.exchange(sent, heard_, kBlock);
      if (recorded_ != nullptr) {
        for (const std::int16_t x : sent) recorded_[0].push_back(x);
        for (const std::int16_t x : far_sent_) recorded_[1].push_back(x);
      }
      add_noise(heard_, heard_, kBlock);
      exchange(near_, &to_far_);
      exchange(far_, &to_near_);
      const bool both = near_.pump_status().state == OH_PUMP_DATA && far_.pump_status().state == OH_PUMP_DATA;
      if (both && connected_at_ == 0) connected_at_ = now_;
    }
  }
  /// @return whether both ends reached data mode within `seconds`
  bool connect(double seconds = 30) {
    for (const std::uint64_t end = now_ + static_cast<std::uint64_t>(seconds * 8000); now_ < end && !connected_at_;)
      run(0.05);
    return connected_at_ != 0;
  }

  /// @return whether both ends are in data mode at most `seconds` from now
  bool data(double seconds = 15) {
    const auto both = [this] {
      return near_.pump_status().state == OH_PUMP_DATA && far_.pump_status().state == OH_PUMP_DATA;
    };
    for (const double end = now_s() + seconds; now_s() < end && !both();) run(0.05);
    return both();
  }

  /// Nothing more is sent; data on their way arrive.
  void drain(double seconds) {
    sending_ = false;
    run(seconds);
  }
  /// Noise at both receivers from now on, in addition to that of the line; white, 0 to 4000 Hz.
  void add_noise(double dbm0) { noise_rms_ = dbm0_to_rms(dbm0); }
  /// A tone at both receivers from now on; -200: none.
  void add_tone(double hz, double dbm0) {
    tone_step_ = hz / 8000;
    tone_peak_ = dbm0 > -200 ? std::sqrt(2) * dbm0_to_rms(dbm0) : 0;
  }
  void no_noise() { noise_rms_ = 0; }
  /// Sets the depth of a playout buffer in front of the near end, at most kPlayout samples. A smaller depth loses
  /// samples; a larger one repeats the last ones.
  void set_playout(std::size_t samples) { behind_ = samples; }
  static constexpr std::size_t kPlayout = 400;
  /// Records the signals of the two ends: the caller's in [0], the answerer's in [1].
  void record(std::vector<float> (&sent)[2]) { recorded_ = sent; }
  /// Byte `n` of the data to the far end, or to the near end.
  std::uint8_t byte_to(bool far, std::uint64_t n) const { return byte(far ? to_far_ : to_near_, n); }
  /// Bytes given to V.42 that have not arrived, in both directions.
  std::uint64_t missing() const { return to_far_.sent + to_near_.sent - arrived(); }

  modem::Modem& near() { return near_; }
  modem::Modem& far() { return far_; }
  oh_v34_instruments near_instruments() { return instruments(near_); }
  oh_v34_instruments far_instruments() { return instruments(far_); }
  double connected_s() const { return static_cast<double>(connected_at_) / 8000; }
  double now_s() const { return static_cast<double>(now_) / 8000; }
  std::uint32_t retrains() const { return std::max(near_.pump_status().retrains, far_.pump_status().retrains); }
  /// Bytes that arrived in both directions, and whether all were correct.
  std::uint64_t arrived() const { return to_far_.received + to_near_.received; }
  bool intact() const { return to_far_.intact && to_near_.intact; }

 private:
  const std::int16_t* played(std::size_t n) {
    history_.insert(history_.end(), heard_, heard_ + n);
    history_.erase(history_.begin(), history_.end() - static_cast<long>(n + kPlayout));
    return history_.data() + (kPlayout - behind_);
  }
  struct Stream {
    std::uint64_t sent = 0, received = 0;
    bool intact = true;
  };

  static modem::Modem::Config config_of(const oh_pump_type* ops, oh_pump_role role, std::uint32_t max_bit_rate) {
    modem::Modem::Config c{};
    c.pump = ops;
    c.role = role;
    c.link.window = 64;
    c.max_bit_rate = max_bit_rate;
    return c;
  }
  static oh_v34_instruments instruments(modem::Modem& end) {
    oh_v34_instruments i;
    oh_v34_get_instruments(end.pump_memory(), &i);
    return i;
  }
  std::uint8_t byte(const Stream& s, std::uint64_t n) const {
    return static_cast<std::uint8_t>(random_.word((&s == &to_far_ ? std::uint64_t{1} << 40 : 0) + n));
  }
  // Data sent by `end` belong to `out`; received data belong to the other stream.
  void exchange(modem::Modem& end, Stream* out) {
    Stream& in = out == &to_far_ ? to_near_ : to_far_;
    std::uint8_t bytes[64];
    while (sending_) {
      for (std::size_t k = 0; k < sizeof bytes; ++k) bytes[k] = byte(*out, out->sent + k);
      const std::size_t taken = end.write(bytes, sizeof bytes);
      out->sent += taken;
      if (taken < sizeof bytes) break;
    }
    while (const std::size_t n = end.read(bytes, sizeof bytes)) {
      for (std::size_t k = 0; k < n; ++k) in.intact &= bytes[k] == byte(in, in.received + k);
      in.received += n;
    }
  }
  void add_noise(const std::int16_t* in, std::int16_t* out, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
      double x = in[k] + (noise_rms_ > 0 ? noise_rms_ * noise_.normal(noise_at_++) : 0);
      if (tone_peak_ > 0) x += tone_peak_ * std::sin(2 * std::numbers::pi * tone_step_ * static_cast<double>(now_ + k));
      out[k] = static_cast<std::int16_t>(std::lrint(std::clamp(x, -32768., 32767.)));
    }
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    std::int16_t noisy[hostsim::Line::kFarBlock]{};
    add_noise(rx, noisy, n);
    far_.process(noisy, tx, n);
    std::copy_n(tx, n, far_sent_);
  }

  modem::Modem near_, far_;
  hostsim::Line line_;
  hostsim::Random random_, noise_;
  std::uint64_t noise_at_ = 0;
  double noise_rms_ = 0;
  double tone_peak_ = 0, tone_step_ = 0;  // turns a sample
  Stream to_far_, to_near_;
  bool sending_ = true;
  std::int16_t heard_[hostsim::Line::kFarBlock]{}, far_sent_[hostsim::Line::kFarBlock]{};
  std::vector<std::int16_t> history_ = std::vector<std::int16_t>(kPlayout);
  std::size_t behind_ = 0;
  std::vector<float>* recorded_ = nullptr;
  std::uint64_t now_ = 0, connected_at_ = 0;
};

}  // namespace offhook::test
