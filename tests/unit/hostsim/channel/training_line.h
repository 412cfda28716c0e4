// SPDX-License-Identifier: MIT
//
// One direction of a loop under the start-up's signals: REVERB, ten SEGUE, then MEDLEY with prefixes, into a receiver.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "dsp/dmt/modulator.h"
#include "dsp/dmt/receiver.h"
#include "dsp/dmt/training_signals.h"
#include "hostsim/channel/loop.h"

namespace offhook::test {

class TrainingLine {
 public:
  static constexpr int kReverbSymbols = 1200, kSegueSymbols = 10;

  TrainingLine(hostsim::LoopConfig config, hostsim::Direction direction, const dmt::Band& band)
      : band_(band),
        ratio_(direction == hostsim::Direction::kDown ? config.downstream_hz / hostsim::kUpstreamHz : 1),
        other_ratio_(direction == hostsim::Direction::kDown ? 1 : config.downstream_hz / hostsim::kUpstreamHz),
        modulator_(band),
        medley_(band),
        receiver_(std::make_unique<dmt::Receiver>(band)) {
    config.near_is_exchange = direction == hostsim::Direction::kUp;
    config.front_end.full_scale_volts = static_cast<double>(band.full_scale_volts);
    dmt::reverb(band_, reverb_);
    loop_ = std::make_unique<hostsim::Loop>(config, 11, oh_pump{send, [](void*, std::size_t) {}, this});
    receiver_->search();
  }

  /// Runs until the receiver is ready and SEGUE is over, then for `symbols` of MEDLEY. @return false if it failed
  bool run(int symbols) {
    int segue = 0;
    bool in_medley = false;
    dmt::Medley expected(band_);
    Complex sent[dmt::kMostTones];
    error_.assign(band_.tones(), 0);
    const long most = static_cast<long>((kReverbSymbols + kSegueSymbols + symbols) * band_.symbol() / ratio_) + 4000;
    std::vector<std::int16_t> played(other_ratio_, 0), captured(ratio_);
    for (long period = 0; period < most; ++period) {
      loop_->exchange(played.data(), captured.data(), 1);
      for (const std::int16_t s : captured) {
        if (!receiver_->put(s) || receiver_->stage() != dmt::Receiver::Stage::kReady) continue;
        if (ready_at_ == 0) ready_at_ = sent_symbols_;
        if (!in_medley) {
          segue += segue > 0 || receiver_->likeness(reverb_) < -0.5f;
          if (segue == kSegueSymbols) {
            receiver_->begin_prefix();
            in_medley = true;
          }
          continue;
        }
        expected.next(band_, sent);
        ++medley_symbols_;
        if (medley_symbols_ > kSettle) {
          for (int k = band_.first; k <= band_.last; ++k) error_[k] += norm(receiver_->points()[k] - sent[k]);
        }
        receiver_->learn(sent, medley_symbols_ < kSettle ? 0.02f : 0.002f);
        if (medley_symbols_ == symbols) return true;
      }
    }
    return false;
  }

  double snr_db(int tone) const { return -10 * std::log10(error_[tone] / (medley_symbols_ - kSettle)); }
  /// The limit of loop and noise alone.
  double loop_snr_db(int tone) const {
    const auto d = ratio_ > 1 ? hostsim::Direction::kDown : hostsim::Direction::kUp;
    const double hz = tone * 4312.5;
    return 10 * std::log10(std::norm(loop_->gain(d, hz)) * modulator_.tone_rms() * modulator_.tone_rms() /
                           (loop_->noise_psd(d, hz) * 4312.5));
  }
  const dmt::Receiver& receiver() const { return *receiver_; }
  int ready_at() const { return ready_at_; }

 private:
  static constexpr int kSettle = 256;

  static void send(void* self, const void*, void* tx, std::size_t n) {
    auto& t = *static_cast<TrainingLine*>(self);
    auto* out = static_cast<std::int16_t*>(tx);
    for (std::size_t k = 0; k < n * t.ratio_; ++k) {
      if (t.at_ == t.length_) t.next();
      out[k] = t.samples_[t.at_++];
    }
  }
  void next() {
    Complex points[dmt::kMostTones];
    const bool training = sent_symbols_ < kReverbSymbols + kSegueSymbols;
    if (training) {
      dmt::octet_symbol(band_, reverb_, sent_symbols_ < kReverbSymbols ? dmt::kReverbOctet : dmt::kSegueOctet, points);
    } else {
      medley_.next(band_, points);
    }
    modulator_.symbol(points, !training, samples_);
    length_ = training ? band_.points : band_.symbol();
    at_ = 0;
    ++sent_symbols_;
  }

  const dmt::Band band_;
  const std::size_t ratio_, other_ratio_;
  dmt::Modulator modulator_;
  dmt::Medley medley_;
  std::unique_ptr<dmt::Receiver> receiver_;
  std::unique_ptr<hostsim::Loop> loop_;
  Complex reverb_[dmt::kMostTones];
  std::int16_t samples_[2 * dmt::kMostTones + 32];
  int at_ = 0, length_ = 0, sent_symbols_ = 0, ready_at_ = 0, medley_symbols_ = 0;
  std::vector<double> error_;
};

}  // namespace offhook::test
