// SPDX-License-Identifier: MIT
#include "src/decode/modulation/fsk.h"

#include <spandsp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "driver/user_modem/bell103.h"
#include "driver/user_modem/v21.h"
#include "driver/user_modem/v23.h"
#include "dsp/blocks/sincos.h"
#include "src/decode/line/samples.h"
#include "src/decode/line/spectrum.h"

namespace offhook::decode {
namespace {

struct Band {
  const char* modulation;
  int spandsp;  // index of preset_fsk_specs
  bool calling;
  bool one_band = false;  // either station sends in it, in turn
};
constexpr const char* kBell202 = "Bell 202";
constexpr Band kBands[] = {{kV21.title, FSK_V21CH1, true},         {kV21.title, FSK_V21CH2, false},
                           {kBell103.title, FSK_BELL103CH2, true}, {kBell103.title, FSK_BELL103CH1, false},
                           {kV23.title, FSK_V23CH2, true},         {kV23.title, FSK_V23CH1, false},
                           {kBell202, FSK_BELL202, false, true}};
const fsk_spec_t& spec_of(const Band& band) {
  return preset_fsk_specs[band.spandsp];
}

constexpr double kBlockS = 0.05, kBlockBits = 8;  // the longer one
constexpr double kSteady = 0.2;       // variance of the power over its squared mean: noise has 1, two equal tones 0.5
constexpr double kOnFrequency = 0.6;  // share of the samples that are near one of the two; the rest is between bits
constexpr double kNear = 0.5;         // of half the shift
constexpr float kResting = 0.05F;     // change of the frequency from sample to sample, of half the shift
constexpr double kGapS = 0.15;
constexpr double kLeastS = 0.5;
constexpr int kLeastChanges = 20;
constexpr double kLeastMatch = 0.6;
constexpr double kMostOffHz = 60;      // half of what V.23 and Bell 202 are apart, and a recorder's clock 0.5 % off
constexpr double kMostOffRate = 0.05;  // of the bit rate: a tape is 1 % off, and filters move changes a little
constexpr double kLeastPower = 25;

constexpr std::size_t kFft = 8192;

/// The spectrum of kFft samples of a channel: of `samples` new ones, and of `margin` before them and behind them.
struct Piece {
  const Fft& fft;
  std::vector<oh_complex> spectrum;
  std::size_t margin, samples;
};

// A band of a channel without its image: its two frequencies are at +-1 of `deviation`. drop_before() removes old
// samples.
class Tuner {
 public:
  Tuner(const Fft& fft, double middle_hz, double half_shift_hz, double baud)
      : to_middle_(std::polar(1.0, -2 * kPi * middle_hz / kRateHz)), half_shift_hz_(half_shift_hz), response_(kFft) {
    // Sharp: V.23's other direction may be as loud, a quarter of the cut-off beyond it.
    const double cutoff = half_shift_hz + 0.5 * baud;
    half_ = static_cast<int>(6 * kRateHz / cutoff);
    for (int k = -half_; k <= half_; ++k) {
      const double u = 2 * cutoff / kRateHz * k, window = 0.5 + 0.5 * std::cos(kPi * k / (half_ + 1));
      const double low_pass = 2 * cutoff / kRateHz * (k == 0 ? 1 : std::sin(kPi * u) / (kPi * u)) * window;
      const Cd tap = 2 * low_pass * std::polar(1.0, 2 * kPi * std::fmod(middle_hz * k / kRateHz, 1.0));
      response_[static_cast<std::size_t>(k) % kFft] = {static_cast<float>(tap.real()), static_cast<float>(tap.imag())};
    }
    fft.forward(response_);
  }

  /// Samples that the filter needs before and behind one.
  std::size_t reach() const { return static_cast<std::size_t>(half_); }
  std::size_t end() const { return begin_ + z_.size(); }  ///< the samples before it are there
  /// @pre piece.margin >= reach()
  void add(const Piece& piece) {
    product_.resize(kFft);
    for (std::size_t k = 0; k < kFft; ++k) {
      const oh_complex x = piece.spectrum[k], h = response_[k];
      product_[k] = {x.re * h.re - x.im * h.im, x.re * h.im + x.im * h.re};
    }
    piece.fft.inverse(product_);
    for (std::size_t k = piece.margin; k < piece.margin + piece.samples; ++k)
      z_.emplace_back(product_[k].re, product_[k].im);
  }
  void drop_before(std::size_t sample) {
    z_.erase(z_.begin(), z_.begin() + static_cast<std::ptrdiff_t>(sample - begin_));
    begin_ = sample;
  }
  float power(std::size_t sample) const { return std::norm(z_[sample - begin_]); }  ///< of the envelope, peak squared
  /// In units of half the shift. The band decides whether mark is positive or negative.
  float deviation(std::size_t sample) const {
    const std::size_t k = sample - begin_;
    const double turn = std::arg(times(times_conj(z_[k], k > 0 ? z_[k - 1] : Cf{}), to_middle_));
    return static_cast<float>(turn * kRateHz / (2 * kPi) / half_shift_hz_);
  }

 private:
  Cf to_middle_;  // turn of a sample
  double half_shift_hz_;
  int half_ = 0;
  std::vector<oh_complex> response_, product_;
  std::vector<Cf> z_;
  std::size_t begin_ = 0;  // sample of z_[0]
};

// Whether a block holds nothing but the two frequencies.
bool is_fsk(const Tuner& t, std::size_t from, std::size_t to) {
  double mean = 0, square = 0;
  for (std::size_t i = from; i < to; ++i) {
    mean += t.power(i);
    square += static_cast<double>(t.power(i)) * t.power(i);
  }
  const auto n = static_cast<double>(to - from);
  mean /= n;
  if (mean <= kLeastPower || square / n >= (1 + kSteady) * mean * mean) return false;
  int near = 0;
  for (std::size_t i = from; i < to; ++i) near += std::abs(std::abs(t.deviation(i)) - 1) < kNear;
  return near > kOnFrequency * n;
}

// Distinguishes data from a tone: the changes of frequency, their fit to a grid, and whether both are reached.
class Bits {
 public:
  /// @param one  the sign that the deviation of a one has
  Bits(std::size_t from, double bit_samples, int one, double half_shift_hz)
      : from_(from), next_(from), bit_samples_(bit_samples), one_(one), half_shift_hz_(half_shift_hz) {}

  std::size_t next() const { return next_; }  ///< the first sample that has not been read
  void read_to(const Tuner& t, std::size_t end) {
    for (; next_ < end; ++next_) {
      const float b = t.deviation(next_);
      const int side = b > 0 ? 1 : 0;
      ones_.push_back((b > 0) == (one_ > 0));
      ++samples_[side];
      near_[side] += std::abs(std::abs(b) - 1) < kNear;
      const float a = std::exchange(before_, b);
      if (next_ == from_) continue;
      power_ += t.power(next_);
      if (next_ > from_ + 1 && std::abs(b - a) < kResting) distance_.push_back(b);
      if ((a > 0) == (b > 0)) continue;
      const double at = static_cast<double>(next_ - 1) + a / (a - b);
      // A character that ends in ones may be followed by a pause of any length.
      const bool goes_on = last_ >= 0 && at - last_ < 9.5 * bit_samples_;
      follow(at, goes_on);
      if (goes_on) {
        for (std::size_t k = 0; k < grids_.size(); ++k)
          grids_[k] += std::polar(1.0, 2 * kPi * (at - last_) / bit_samples_ / static_cast<double>(k + 1));
        ++changes_;
      }
      last_ = at;
    }
  }

  const std::vector<bool>& ones() const { return ones_; }  ///< by sample

  /// @return whether it is data, not a tone
  bool fill_in(FskHeard& f) {
    f.changes = changes_;
    f.amplitude = std::sqrt(power_ / static_cast<double>(std::max<std::size_t>(1, next_ - from_)));
    f.step_match = changes_ > 0 ? std::abs(grids_[0]) / changes_ : 0;
    if (!distance_.empty()) f.shift_error = std::abs(middle_of(distance_.begin(), distance_.end()) - 1);
    const bool data = changes_ >= kLeastChanges && f.step_match > kLeastMatch && grids_[0].real() > 0 && !is_slower() &&
                      both_reached();
    f.nominal = data && fits_frequencies() && has_bit_rate();
    return data;
  }

 private:
  // Adds the distance of a change from the one kApart changes before, without a long pause in between.
  void follow(double at, bool goes_on) {
    if (!goes_on) recent_.clear();
    recent_.push_back(at);
    if (recent_.size() <= kApart) return;
    apart_.push_back(static_cast<float>((at - recent_.front()) / bit_samples_));
    recent_.erase(recent_.begin());
  }

  // Whether no other bit rate fits the changes better. Those some changes apart show the rate: the filter moves a
  // change by up to a tenth of a bit, depending on its neighbours.
  bool has_bit_rate() const {
    constexpr int kMostPercent = 20;
    double best = 0, most = -1;
    for (int percent = -kMostPercent; percent <= kMostPercent; ++percent) {
      const double rate = 1 + percent / 100.0;
      Cd sum;
      for (const float bits : apart_) sum += std::polar(1.0, 2 * kPi * rate * static_cast<double>(bits));
      if (std::abs(sum) > most) most = std::abs(sum), best = rate;
    }
    return apart_.empty() || std::abs(best - 1) <= kMostOffRate;
  }

  using Distance = std::vector<float>::iterator;
  // The median distance from the middle.
  static double middle_of(Distance from, Distance to) {
    const auto middle = from + (to - from) / 2;
    std::nth_element(from, middle, to, [](float a, float b) { return std::abs(a) < std::abs(b); });
    return std::abs(*middle);
  }

  // Whether each frequency, where it rests, is the nominal one.
  bool fits_frequencies() {
    const auto sides = std::partition(distance_.begin(), distance_.end(), [](float b) { return b > 0; });
    const auto fits = [&](Distance from, Distance to) {
      return to - from < kLeastChanges || std::abs(middle_of(from, to) - 1) * half_shift_hz_ < kMostOffHz;
    };
    return fits(distance_.begin(), sides) && fits(sides, distance_.end());
  }

  // Whether the changes lie on a grid of two bits, or more, as well: a modem of a half, a third ... of the bit rate.
  bool is_slower() const {
    constexpr double kSame = 0.8;
    return std::any_of(grids_.begin() + 1, grids_.end(),
                       [&](const Cd& grid) { return grid.real() > kSame * grids_[0].real(); });
  }

  // Whether the signal gets to either frequency when it is on its side of the middle: a tone on one side, which noise
  // draws across now and then, does not.
  bool both_reached() const {
    constexpr double kLeastShare = 0.2;
    return near_[0] > kLeastShare * samples_[0] && near_[1] > kLeastShare * samples_[1];
  }

  std::size_t from_, next_;
  double bit_samples_, last_ = -1, power_ = 0;
  float before_ = 0;  // deviation
  int samples_[2]{}, near_[2]{}, changes_ = 0;
  static constexpr std::size_t kSlower = 6;
  std::array<Cd, kSlower> grids_{};  // of one bit, two ...
  int one_;
  std::vector<bool> ones_;
  double half_shift_hz_;
  std::vector<float> distance_;  // from the middle, while the frequency is constant
  static constexpr std::size_t kApart = 4;
  std::vector<double> recent_;  // changes, samples
  std::vector<float> apart_;    // bits between changes that are kApart apart
};

// The search in one band of a channel.
class BandSearch {
 public:
  BandSearch(const Fft& fft, const Band& band, int channel)
      : band_(band),
        channel_(channel),
        baud_(spec_of(band).baud_rate / 100.0),
        block_(static_cast<std::size_t>(std::max(kBlockS, kBlockBits / baud_) * kRateHz)),
        tuned_(fft, (spec_of(band).freq_one + spec_of(band).freq_zero) / 2.0,
               std::abs(spec_of(band).freq_one - spec_of(band).freq_zero) / 2.0, baud_) {}

  std::size_t reach() const { return tuned_.reach(); }
  void look(const Piece& piece) {
    tuned_.add(piece);
    for (; at_ + block_ <= tuned_.end(); at_ += block_) look_at_block();
    const std::size_t next = bits_ ? bits_->next() : at_;
    tuned_.drop_before(next - std::min<std::size_t>(next, 1));  // a deviation is the turn since the sample before
  }
  std::vector<FskHeard> finish() {
    close();
    return std::move(found_);
  }

 private:
  void look_at_block() {
    if (is_fsk(tuned_, at_, at_ + block_)) {
      if (since_ < 0) {
        since_ = seconds(at_);
        const int shift = spec_of(band_).freq_one - spec_of(band_).freq_zero;
        bits_.emplace(at_, kRateHz / baud_, shift > 0 ? 1 : -1, std::abs(shift) / 2.0);
      }
      last_ = seconds(at_ + block_);
      bits_->read_to(tuned_, at_ + block_);
    } else if (seconds(at_) - last_ > kGapS) {
      close();
    }
  }
  void close() {
    if (since_ >= 0 && last_ - since_ >= kLeastS) {
      FskHeard f{.modulation = band_.modulation,
                 .channel = channel_,
                 .calling = band_.calling,
                 .one_band = band_.one_band,
                 .bit_rate = static_cast<int>(baud_),
                 .t0 = since_,
                 .t1 = last_};
      if (bits_->fill_in(f)) {
        f.text = read_start_stop(bits_->ones(), kRateHz / baud_);
        found_.push_back(std::move(f));
      }
    }
    since_ = -1;
    bits_.reset();
  }

  const Band& band_;
  int channel_;
  double baud_;
  std::size_t block_, at_ = 0;  // samples; the next block
  Tuner tuned_;
  double since_ = -1, last_ = -1;
  std::optional<Bits> bits_;  // from `since_` to `last_`
  std::vector<FskHeard> found_;
};

// All bands filter the same spectra.
void find_in(std::span<const float> x, int channel, std::vector<FskHeard>& found) {
  const Fft fft(kFft);
  std::vector<BandSearch> searches;
  std::size_t margin = 0;
  for (const Band& band : kBands) margin = std::max(margin, searches.emplace_back(fft, band, channel).reach());
  Piece piece{fft, std::vector<oh_complex>(kFft), margin, 0};
  for (std::size_t from = 0; from < x.size(); from += piece.samples) {
    piece.samples = std::min(kFft - 2 * margin, x.size() - from);
    for (std::size_t k = 0; k < kFft; ++k) {
      const std::size_t sample = from + k - margin;  // before the recording a large number
      piece.spectrum[k] = {sample < x.size() ? x[sample] : 0, 0};
    }
    fft.forward(piece.spectrum);
    for (BandSearch& search : searches) search.look(piece);
  }
  for (BandSearch& search : searches) {
    for (FskHeard& f : search.finish()) found.push_back(std::move(f));
  }
}

// With the same bits for two modulations, the one whose frequencies fit; else the one whose grid of bits fits.
bool fits_better(const FskHeard& a, const FskHeard& b) {
  return a.bit_rate == b.bit_rate ? a.shift_error < b.shift_error : a.step_match > b.step_match;
}

// Of the other modulations in the same channel at the same time, the one with the most evidence.
void find_rival(const std::vector<FskHeard>& heard, FskHeard& f) {
  for (const FskHeard& o : heard) {
    const double both = std::min(f.t1, o.t1) - std::max(f.t0, o.t0);
    if (o.channel != f.channel || o.modulation == f.modulation || both < 0.5 * (f.t1 - f.t0)) continue;
    if (f.rival != nullptr && bits_of(o) <= f.rival_bits) continue;
    f.rival = o.modulation;
    f.rival_bits = bits_of(o);
  }
}

}  // namespace

double bits_of(const FskHeard& heard) {
  return heard.changes * heard.step_match * heard.step_match * std::max(0.0, 1 - heard.shift_error);
}

const char* nearest_modulation(const FskHeard& heard) {
  const auto own = std::find_if(std::begin(kBands), std::end(kBands), [&](const Band& b) {
    return b.modulation == heard.modulation && b.calling == heard.calling;
  });
  const auto apart = [&](const Band& b) {
    const fsk_spec_t &x = spec_of(*own), &y = spec_of(b);
    const int other_rate = x.baud_rate != y.baud_rate;
    return std::pair(other_rate, std::abs(x.freq_one - y.freq_one) + std::abs(x.freq_zero - y.freq_zero));
  };
  const Band* nearest = nullptr;
  for (const Band& b : kBands) {
    if (b.modulation != heard.modulation && (nearest == nullptr || apart(b) < apart(*nearest))) nearest = &b;
  }
  return nearest->modulation;
}

std::vector<FskHeard> find_fsk(const Recording& r) {
  std::vector<FskHeard> all;
  for (std::size_t c = 0; c < r.channel.size(); ++c) find_in(r.channel[c], static_cast<int>(c), all);
  const std::vector<FskHeard> heard = all;
  // Drops the quieter of two equal bands in two channels; of two modulations at one time, the better fit stays.
  std::erase_if(all, [&](const FskHeard& f) {
    return std::any_of(heard.begin(), heard.end(), [&](const FskHeard& o) {
      const double both = std::min(f.t1, o.t1) - std::max(f.t0, o.t0);
      if (both < 0.5 * (f.t1 - f.t0)) return false;
      if (o.channel != f.channel)
        return o.modulation == f.modulation && o.calling == f.calling && o.amplitude > 2 * f.amplitude;
      return o.modulation != f.modulation && o.calling == f.calling && o.nominal && fits_better(o, f);
    });
  });
  std::erase_if(all, [](const FskHeard& f) { return !f.nominal; });
  for (FskHeard& f : all) find_rival(heard, f);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
  return all;
}

}  // namespace offhook::decode
