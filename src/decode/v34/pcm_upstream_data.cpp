// SPDX-License-Identifier: MIT
#include "src/decode/v34/pcm_upstream_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dsp/blocks/history.h"
#include "dsp/blocks/scrambler.h"
#include "dsp/v34/coding/viterbi.h"
#include "dsp/v90/pcm/upstream_reader.h"
#include "dsp/v90/pcm/upstream_receiver.h"
#include "dsp/v90/pcm/upstream_signals.h"
#include "src/decode/v34/pcm_equaliser.h"

namespace offhook::decode {
namespace {

constexpr long kB1uSymbols = static_cast<long>(v90::kB1uFrames) * v90::kUpstreamIntervals;
// From a symbol to the bits of its data frame: the reader's filters, its trellis decoder, and the rest of the frame.
constexpr long kReaderDelay =
    v90::UpstreamReader::kBehind + 4 * (v34::ViterbiDecoder::kDelay + 1) + v90::kUpstreamIntervals;

// The levels of B1u at the exchange: scrambled ones, all memories at zero (V.92 8.7.1).
std::vector<float> b1u_levels(const v90::Cpd& cpd) {
  Scrambler scrambler(kGpa);
  v90::UpstreamModulus modulus(cpd.modulus, cpd.bits());
  const auto precoder = std::make_unique<v90::Precoder>(cpd);
  std::vector<float> levels;
  for (int frame = 0; frame < v90::kB1uFrames; ++frame) {
    v90::WideNumber bits;
    std::uint8_t digits[v90::kUpstreamIntervals];
    for (int k = 0; k < modulus.bits(); ++k)
      bits.limb[k / 32] |= static_cast<std::uint32_t>(scrambler.scramble(1)) << k % 32;
    modulus.encode(bits, digits);
    for (int i = 0; i < v90::kUpstreamIntervals; ++i) {
      precoder->put(digits[i]);
      levels.push_back(static_cast<float>(v90::upstream_level(cpd.point[cpd.interval[i % 6]], precoder->index())));
    }
  }
  return levels;
}

// The sample that is most like the first of the levels. The exchange's filters have the main tap of the training's
// channel there, or later.
long place_of(std::span<const float> x, long b1u, std::span<const float> levels) {
  long best = b1u;
  double most = 0;
  for (long at = b1u - v90::UpstreamReceiver::kChannelBefore; at <= b1u + v90::UpstreamReceiver::kMostAhead; ++at) {
    if (at < 0 || at + static_cast<long>(levels.size()) > static_cast<long>(x.size())) continue;
    double sum = 0, energy = 1e-9;
    for (std::size_t k = 0; k < levels.size(); ++k) {
      const double v = x[static_cast<std::size_t>(at) + k];
      sum += v * levels[k];
      energy += v * v;
    }
    if (sum * sum / energy > most) most = sum * sum / energy, best = at;
  }
  return best;
}

struct Fitted {
  PcmEqualiser equaliser;
  double left;  ///< of the levels' power
};

// An exchange's own samples need no equaliser, only a gain. The reader follows what two clocks change there, and an
// equaliser would keep its state at B1u. At another place many taps are needed, and leave far less.
std::optional<Fitted> fitted(std::span<const float> x, long first, std::span<const float> levels) {
  constexpr double kBetter = 0.25;
  std::optional<Fitted> best;
  for (const int taps : {2, 32, 96, PcmEqualiser::kTaps}) {
    Fitted tried{PcmEqualiser(x, {}, taps), 1};
    tried.left = tried.equaliser.fit(first, levels);
    if (!best || tried.left < kBetter * best->left) best = std::move(tried);
  }
  return best;
}

// Levels to bits, with their quality.
class UpstreamReading {
 public:
  UpstreamReading(const NetworkSamples& samples, const v90::Cpd& cpd, V34DataHeard& heard)
      : samples_(samples),
        reader_(std::make_unique<v90::UpstreamReader>(cpd)),
        bits_a_frame_(static_cast<std::size_t>(cpd.bits())),
        heard_(heard) {}

  // @param first  sample of the first symbol  @param to  sample behind the last
  void run(const PcmEqualiser& equaliser, long first, long to) {
    const oh_bit_port port{nullptr, put_bit, &heard_};
    constexpr int kAhead = v90::UpstreamReader::kAhead;
    History<v90::UpstreamReader::kTaps> levels;
    for (long n = -kAhead; n < to - first + kReaderDelay && !lost_; ++n) {
      const long newest = first + n + kAhead;
      const float level = newest < to ? equaliser.at(newest) : 0;
      levels.put(level);
      if (n < 0) continue;
      reader_->put(levels.oldest(), port, true);
      if (n >= v90::UpstreamReader::kBehind && n < to - first) take(first + n, level);
    }
    end(first, to);
  }

 private:
  static constexpr long kMark = kRateHz / 10;
  static constexpr int kLostMarks = 5;       // in a row
  static constexpr double kGuesses = 0.078;  // mean square in spacings; errors of no relation give 1/12
  static constexpr double kSilence = 0.05;   // of the mean power

  static void put_bit(void* user, int bit) { static_cast<V34DataHeard*>(user)->bits.push_back(bit != 0); }

  void take(long sample, float level) {
    errors_ += static_cast<double>(reader_->residual()) * reader_->residual();
    squares_ += static_cast<double>(level) * level;
    off_ += static_cast<double>(reader_->off()) * reader_->off();
    if (++marked_ < kMark) return;
    const double t = samples_.time_of(static_cast<double>(sample));
    heard_.times.emplace_back(t, heard_.bits.size());
    heard_.snr_track.emplace_back(t, 10 * std::log10(squares_ / std::max(errors_, 1e-9)));
    power_ = std::max(power_, squares_);
    const bool silent = squares_ < kSilence * power_;
    const bool guesses = silent || off_ > kGuesses * static_cast<double>(marked_);
    lost_marks_ = guesses ? lost_marks_ + 1 : 0;
    silent_marks_ = silent ? silent_marks_ + 1 : 0;
    lost_ = lost_marks_ == kLostMarks;
    errors_ = squares_ = off_ = 0;
    marked_ = 0;
  }

  // Without the bits of marks that were only guesses, and without those of symbols behind the end.
  void end(long first, long to) {
    const auto guessed = static_cast<std::size_t>(lost_marks_);
    std::size_t frames = static_cast<std::size_t>(std::max(0L, to - first - kB1uSymbols) / v90::kUpstreamIntervals);
    heard_.t1 = samples_.time_of(static_cast<double>(to));
    if (lost_) {
      heard_.lost = silent_marks_ == 0;
      heard_.silence_after = silent_marks_ > 0;
    }
    if (guessed > 0) {
      const std::size_t marks = heard_.times.size() - guessed;
      heard_.times.resize(marks);
      heard_.snr_track.resize(marks);
      heard_.t1 = marks > 0 ? heard_.times.back().first : heard_.t0;
      const auto read = static_cast<long>(samples_.sample_at(heard_.t1)) - first - kB1uSymbols;
      frames = std::min(frames, static_cast<std::size_t>(std::max(0L, read) / v90::kUpstreamIntervals));
    }
    if (heard_.bits.size() > frames * bits_a_frame_) heard_.bits.resize(frames * bits_a_frame_);
    std::vector<double> track;
    for (const auto& [t, snr] : heard_.snr_track) track.push_back(snr);
    heard_.snr_db = median(std::move(track));
  }

  const NetworkSamples& samples_;
  std::unique_ptr<v90::UpstreamReader> reader_;
  std::size_t bits_a_frame_;
  V34DataHeard& heard_;
  double errors_ = 0, squares_ = 0, off_ = 0, power_ = 0;
  long marked_ = 0;
  int lost_marks_ = 0, silent_marks_ = 0;  // in a row
  bool lost_ = false;
};

}  // namespace

V34DataHeard read_pcm_upstream_data(const NetworkSamples& samples, const v90::Cpd& cpd, long b1u, long to) {
  constexpr double kMostLeft = 0.1;  // of B1u's power; with wrong parameters it is 1
  V34DataHeard heard;
  heard.bit_rate = static_cast<std::uint32_t>((2 * cpd.rate_thirds() + 3) / 6);
  heard.decoder_delay_s = seconds(kReaderDelay);
  const std::span<const float> x = samples.x;
  to = std::min(to, static_cast<long>(x.size()));
  const std::vector<float> levels = b1u_levels(cpd);
  const long first = place_of(x, b1u, levels);
  heard.t0 = heard.t1 = heard.due_t = samples.time_of(static_cast<double>(first));
  if (first + kB1uSymbols > to) return heard;
  const std::optional<Fitted> fit = fitted(x, first, levels);
  heard.b1_match = std::max(0.0, 1 - fit->left);
  heard.b1_found = fit->left < kMostLeft;
  to = std::min(to, static_cast<long>(x.size()) - fit->equaliser.ahead());
  if (heard.b1_found) UpstreamReading(samples, cpd, heard).run(fit->equaliser, first, to);
  return heard;
}

}  // namespace offhook::decode
