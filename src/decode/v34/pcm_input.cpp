// SPDX-License-Identifier: MIT
#include "src/decode/v34/pcm_input.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dsp/blocks/scrambler.h"
#include "dsp/v90/pcm/downstream.h"
#include "src/decode/line/recording.h"
#include "src/decode/v34/pcm_echo.h"
#include "src/decode/v34/pcm_equaliser.h"

namespace offhook::decode {
namespace {

using Trust = v90::PcmReceiver::Trust;

constexpr double kLeastLikeness = 0.7;  // of TRN1d, over a line that is not equalised: 0.89 to 0.99 were seen
constexpr double kLeastFit = 0.1;       // of TRN1d's power, left by the equaliser: more is no fit
constexpr std::size_t kBatch = 4096;    // symbols that the taps are fitted to again

// The signs of TRN1d (8.4.6): ones through the scrambler, from zero.
std::vector<float> trn1d(std::size_t n) {
  std::vector<float> signs(n);
  Scrambler scrambler(kGpc);
  for (float& s : signs) s = scrambler.scramble(1) != 0 ? 1.f : -1.f;
  return signs;
}

// Sample at which TRN1d begins, to a few; -1: it is not there.
long find_trn1d(std::span<const float> x, double from_s, double to_s) {
  constexpr std::size_t kHead = 256;
  const std::vector<float> signs = trn1d(kHead);
  const auto from = static_cast<std::size_t>(std::max(0.0, from_s) * kRateHz);
  const std::size_t to = std::min(x.size(), static_cast<std::size_t>(std::max(0.0, to_s) * kRateHz));
  double best = kLeastLikeness * kLeastLikeness;
  long at = -1;
  for (std::size_t k = from; k + kHead <= to; ++k) {
    float sum = 0, energy = 1;
    for (std::size_t i = 0; i < kHead; ++i) {
      sum += x[k + i] * signs[i];
      energy += x[k + i] * x[k + i];
    }
    const double share = static_cast<double>(sum) * sum / (static_cast<double>(energy) * kHead);
    if (share > best) best = share, at = static_cast<long>(k);
  }
  return at;
}

class AtSamples : public PcmInput {
 public:
  explicit AtSamples(const PcmLine& line) : own_(line.own), equaliser_(line.own, line.other) {}

  const char* begin(double from_s, double to_s, float level) override {
    first_ = find_trn1d(own_, from_s, to_s);
    if (first_ < 0) return "TRN1d was not found";
    std::vector<float> levels = trn1d(v90::kLeastTrn1d);
    for (float& l : levels) l *= level;
    const double left = equaliser_.fit(first_, levels);
    training_db_ = 10 * std::log10(std::max(left, 1e-12));
    // The equaliser needs later samples.
    const long last = static_cast<long>(own_.size()) - PcmEqualiser::kTaps / 2;
    end_ = std::min(last, static_cast<long>(to_s * kRateHz));
    now_ = first_ - 1;
    return left < kLeastFit ? nullptr : "TRN1d could not be equalised at the samples of the recording";
  }

  std::optional<float> next() override {
    if (now_ + 1 >= end_) return std::nullopt;
    return equaliser_.at(++now_);
  }

  void begin_frames() override {
    in_frames_ = true;
    batch_.clear();
    trusted_.clear();
  }

  void sent(float reference, Trust trust) override {
    if (!in_frames_) return;
    // Decisions are collected until there are enough to fit the taps to.
    batch_.push_back(reference);
    trusted_.push_back(trust == Trust::kAll);
    if (batch_.size() < kBatch) return;
    const long first = now_ + 1 - static_cast<long>(kBatch);
    if (!equaliser_.has_echo()) equaliser_.find_echo(first, batch_);
    equaliser_.fit(first, batch_, trusted_);
    batch_.clear();
    trusted_.clear();
  }

  long position() const override { return now_ - first_; }
  double t(long later) const override { return seconds(now_ + later); }
  double t_trn1d() const override { return first_ < 0 ? 0 : seconds(first_); }
  double training_db() const override { return training_db_; }

 private:
  std::span<const float> own_;
  PcmEqualiser equaliser_;
  long first_ = -1, now_ = 0, end_ = 0;
  double training_db_ = 0;
  bool in_frames_ = false;
  std::vector<float> batch_;
  std::vector<char> trusted_;
};

class OnAnyClock : public PcmInput {
 public:
  explicit OnAnyClock(const PcmLine& line)
      : wide_(line.wide),
        echo_(line.wide, line.band_limited ? std::span<const float>() : line.other, line.train_s, line.train_end_s),
        band_limited_(line.band_limited) {
    double sum = 0;
    for (const std::int16_t v : wide_) sum += v;
    mean_ = static_cast<float>(sum / static_cast<double>(std::max<std::size_t>(1, wide_.size())));
    receiver_.init();
  }

  const char* begin(double from_s, double to_s, float level) override {
    level_ = level;
    at_ = static_cast<std::size_t>(std::max(0.0, from_s) * kWideRateHz);
    end_ = std::min(wide_.size(), static_cast<std::size_t>(std::max(0.0, to_s) * kWideRateHz));
    receiver_.set_task(v90::PcmReceiver::Task::kSeek, level);
    bool seen = false;
    while (at_ < end_) {
      receiver_.process(sample());
      const auto event = receiver_.take_event();
      seen |= event == v90::PcmReceiver::Event::kSdBar;
      if (event != v90::PcmReceiver::Event::kTrained) continue;
      receiver_.set_task(v90::PcmReceiver::Task::kFollow);
      t_trn1d_ = t(-receiver_.position());
      return nullptr;
    }
    return seen ? "the recording ends in TRN1d" : "Sd was not found";
  }

  std::optional<float> next() override {
    while (at_ < end_) {
      if (receiver_.process(sample())) return receiver_.symbol();
    }
    return std::nullopt;
  }

  void sent(float reference, Trust trust) override {
    receiver_.adapt(reference, trust);
    if (!in_frames_ && trust == Trust::kAll && !receiver_.refitting()) training_power_ = receiver_.error_power();
  }

  bool wants_levels() const override { return true; }
  bool feeds_back_much() const override { return band_limited_; }
  void refit() override { receiver_.refit(); }
  void begin_frames() override { in_frames_ = true; }

  long position() const override { return static_cast<long>(receiver_.position()); }
  double t(long later) const override { return static_cast<double>(at_) / kWideRateHz + seconds(later - kDelay); }
  double t_trn1d() const override { return t_trn1d_; }
  double training_db() const override {
    return training_power_ > 0 ? 10 * std::log10(static_cast<double>(training_power_) / (level_ * level_)) : 0;
  }
  std::optional<double> clock_ppm() const override { return receiver_.clock_ppm(); }

 private:
  // Symbols from the middle of the newest one to the newest sample.
  static constexpr long kDelay = (v90::PcmReceiver::kForward / 2 + v90::Timebase::kTaps / 2) / 2;

  float sample() {
    const float x = static_cast<float>(wide_[at_]) - mean_ - echo_.at(at_);
    ++at_;
    return x;
  }
  std::span<const std::int16_t> wide_;
  PcmEcho echo_;
  bool band_limited_;
  v90::PcmReceiver receiver_;
  float mean_ = 0, level_ = 1;
  std::size_t at_ = 0, end_ = 0;
  bool in_frames_ = false;
  double t_trn1d_ = 0;
  float training_power_ = 0;
};

}  // namespace

std::unique_ptr<PcmInput> on_the_networks_clock(const PcmLine& line) {
  return std::make_unique<AtSamples>(line);
}

std::unique_ptr<PcmInput> on_any_clock(const PcmLine& line) {
  return std::make_unique<OnAnyClock>(line);
}

}  // namespace offhook::decode
