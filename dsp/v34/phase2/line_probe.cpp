// SPDX-License-Identifier: MIT
#include "dsp/v34/phase2/line_probe.h"

#include "dsp/blocks/fft.h"
#include "dsp/blocks/level.h"
#include "dsp/blocks/preemption_point.h"
#include "dsp/v34/coding/pre_emphasis.h"

namespace offhook::v34 {
namespace {

constexpr double kBinHz = 8000. / LineProbe::kWindow;
constexpr double kToneBins = 5;     // on each side of a tone: main lobe of the window and 7 Hz of offset
constexpr double kNoiseBins = 9.6;  // half-way to the next tone
constexpr int kOffsetToneHz = 1050;
// DC, the mains' fundamental and its second harmonic; the window's main lobe around the 150 Hz tone begins above them.
constexpr int kHumBins = static_cast<int>(110 / kBinHz);
constexpr double kLeastHum = 1e-4, kHumOverNoise = 8;
// The steep high-pass costs about one step of 2400 bit/s. Harmonics 20 dB below the signal cost nothing, and those
// 14 dB below it more than one step (docs/results/2026-12-01-lines.md).
constexpr double kLeastHarmonics = 0.02;
constexpr double kSteepEdgeHz = 400;  // kHighPassFrom450 loses 7 dB

// The distance of a real receiver from capacity. Trellis code and shaping of V.34 leave 3 dB at the target error rate.
// 3 dB are reserved for effects that probing does not measure (equaliser, echo canceller, timing). Only a first
// estimate, because MP negotiates the rate.
constexpr double kGap = 3.98;  // 6 dB

constexpr float kSteep = 1.6e-3f;  // 28 dB of power between neighbouring tones
constexpr int kPoints = 24;        // evaluated points of a band

constexpr bool has_tone(int band) {
  const int multiple = band + 1;
  for (const ProbingTone& tone : kProbingTone) {
    if (tone.multiple == multiple) return true;
  }
  return false;
}

}  // namespace

LineProbe::LineProbe() : offset_mixer_(kOffsetToneHz) {
  oh_fft_radix2()->init(fft_, kWindow);
  // Blackman-Harris, four terms: side lobes at -92 dB.
  for (int n = 0; n < kWindow; ++n) {
    oh_preemption_point();
    const double u = static_cast<double>(n) / kWindow;
    window_[n] = static_cast<float>(0.35875 - 0.48829 * sincos_turns(u).cos + 0.14128 * sincos_turns(2 * u).cos -
                                    0.01168 * sincos_turns(3 * u).cos);
  }
}

void LineProbe::start() {
  filled_ = windows_ = analysed_ = in_block_ = blocks_ = 0;
  for (float& v : spectrum_) v = 0;
  block_ = {};
  offset_known_ = false;
  offset_hz_ = 0;
}

void LineProbe::put_quiet(float x, bool quiet) {
  if (quiet != was_quiet_) filled_ = 0;
  was_quiet_ = quiet;
  if (!quiet || !fill(x)) return;
  const oh_complex* const w = transform();
  for (int k = 0; k < kQuietBins; ++k) quiet_[k] = w[k].re * w[k].re + w[k].im * w[k].im;
  end_window();
}

void LineProbe::put(float x) {
  if (fill(x)) {
    const oh_complex* const w = transform();
    for (int k = 0; k < kBins; ++k) spectrum_[k] += w[k].re * w[k].re + w[k].im * w[k].im;
    ++windows_;
    end_window();
  }
  block_ += x * conj(offset_mixer_.next());
  if (++in_block_ < kBlock) return;
  if (blocks_ < kMaxBlocks) blocks_of_tone_[blocks_++] = block_;
  block_ = {};
  in_block_ = 0;
}

// @return whether the window is complete
bool LineProbe::fill(float x) {
  input_[filled_++] = x;
  return filled_ == kWindow;
}

const oh_complex* LineProbe::transform() {
  oh_complex* const x = work_;
  for (int n = 0; n < kWindow; ++n) x[n] = {input_[n] * window_[n], 0};
  oh_fft_radix2()->forward(fft_, x, x);
  return x;
}

void LineProbe::end_window() {
  for (int n = 0; n < kWindow - kHop; ++n) input_[n] = input_[n + kHop];
  filled_ = kWindow - kHop;
}

void LineProbe::analyse() {
  analysed_ = windows_;
  double energy = 0;  // of the window
  for (const float w : window_) energy += static_cast<double>(w) * w;
  const double scale = 1 / (energy * windows_);
  for (int band = 0; band < kBands; ++band) {
    oh_preemption_point();
    const double centre = (band + 1) * kProbingSpacingHz / kBinHz;
    double noise = 0, tone = 0;
    int noise_bins = 0, tone_bins = 0;
    for (int k = static_cast<int>(centre - kNoiseBins); k < kBins && k <= centre + kNoiseBins; ++k) {
      const double away = k > centre ? k - centre : centre - k;
      if (away > kNoiseBins) continue;
      // At a frequency without a tone, the whole band is noise; elsewhere the middle bins contain the spread tone.
      if (away > kToneBins || !has_tone(band)) {
        noise += static_cast<double>(spectrum_[k]);
        ++noise_bins;
      } else {
        tone += static_cast<double>(spectrum_[k]);
        ++tone_bins;
      }
    }
    const double floor = noise_bins > 0 ? noise / noise_bins : 0;
    noise_[band] = static_cast<float>(floor * scale * kProbingSpacingHz / 4000) + 1e-6f;
    const double power = 2. / kWindow * scale * (tone - floor * tone_bins);
    tone_[band] = power > 0 ? static_cast<float>(power) : 0;
  }
  for (int band = 1; band + 1 < kBands; ++band) {
    if (!has_tone(band)) tone_[band] = 0.5f * (tone_[band - 1] + tone_[band + 1]);
  }
  for (int band = 0; band < kBands; ++band) {
    oh_preemption_point();
    snr_db_[band] =
        static_cast<float>(power_db((static_cast<double>(tone_[band]) + 1e-9) / static_cast<double>(noise_[band])));
  }
  choose_high_pass(scale);
  find_edges();
  measure_offset();
}

// A steep edge: an equaliser of 48 symbols cannot restore the missing part of the band, even on a quiet line.
void LineProbe::find_edges() {
  const double filter_edge_hz = high_pass_ == &kHighPassFrom450 ? kSteepEdgeHz : 0;
  const int first = static_cast<int>(filter_edge_hz / kProbingSpacingHz);
  int loudest = first;
  for (int band = first; band < kBands; ++band) {
    if (tone_[band] > tone_[loudest]) loudest = band;
  }
  int low = loudest, high = loudest;
  while (low > first && tone_[low - 1] > kSteep * tone_[low]) --low;
  while (high + 1 < kBands && tone_[high + 1] > kSteep * tone_[high]) ++high;
  lower_edge_hz_ = low == first ? filter_edge_hz : (low + 0.5) * kProbingSpacingHz;
  upper_edge_hz_ = high + 1 == kBands ? 4000 : (high + 1.5) * kProbingSpacingHz;
}

// `scale` converts to power density of a bin: white noise of mean square 1 gives 1 in each.
void LineProbe::choose_high_pass(double scale) {
  constexpr int kToneless = 1200 / kProbingSpacingHz - 1;
  double low = 0, all = 0;
  for (int k = 0; k < kBins; ++k) {
    all += static_cast<double>(spectrum_[k]);
    if (k < kHumBins) low = all;
  }
  const double noise = static_cast<double>(noise_[kToneless]) * kHumBins * kBinHz / kProbingSpacingHz;
  const double hum = 2 * scale / kWindow * low;
  const bool is_below = low > kLeastHum * all && hum > kHumOverNoise * noise;
  double left = 0;
  for (int k = kHumBins; k < kQuietBins; ++k) {
    oh_preemption_point();
    left += static_cast<double>(quiet_[k]) * power_gain(kHighPassFrom220, k * kBinHz);
  }
  const bool has_harmonics = left * windows_ > kLeastHarmonics * all;
  high_pass_ = has_harmonics ? &kHighPassFrom450 : is_below ? &kHighPassFrom220 : nullptr;
}

// The mixer's phase continues from block to block, so any turn is the offset alone. It is estimated first from the mean
// turn, then from a straight line through the remaining phases.
void LineProbe::measure_offset() {
  Complex turn;
  for (int k = 1; k < blocks_; ++k) turn += blocks_of_tone_[k] * conj(blocks_of_tone_[k - 1]);
  offset_known_ = blocks_ > 4 && norm(turn) > 0 && snr_db(kOffsetToneHz / kProbingSpacingHz - 1) > 3;
  offset_hz_ = 0;
  if (!offset_known_) return;
  const float turns = angle_turns(turn);
  const auto derotated = [&](int k) {
    const SinCos w = sincos_turns(-static_cast<double>(turns) * k);
    return blocks_of_tone_[k] * Complex{static_cast<float>(w.cos), static_cast<float>(w.sin)};
  };
  Complex mean;
  for (int k = 0; k < blocks_; ++k) mean += derotated(k);
  double slope = 0, weight = 0;
  for (int k = 0; k < blocks_; ++k) {
    oh_preemption_point();
    const double from_middle = k - (blocks_ - 1) * 0.5;
    slope += from_middle * static_cast<double>(angle_turns(derotated(k) * conj(mean)));
    weight += from_middle * from_middle;
  }
  offset_hz_ = (turns + static_cast<float>(slope / weight)) * (8000.f / kBlock);
}

// SNR per Hz at `hz` of a signal with the probing signal's power. The 21 tones together have the power that the data
// spread over S.
double LineProbe::snr(SymbolRate s, int pre_emphasis, double hz) const {
  const double at = hz / kProbingSpacingHz - 1;
  int band = at < 0 ? 0 : static_cast<int>(at);
  if (band > kBands - 2) band = kBands - 2;
  double part = at - band;
  part = part < 0 ? 0 : part > 1 ? 1 : part;
  if (hz < lower_edge_hz_ || hz > upper_edge_hz_) return 0;
  // A straight line in dB.
  const double db = (1 - part) * static_cast<double>(snr_db_[band]) + part * static_cast<double>(snr_db_[band + 1]);
  const double rate = symbol_rate_hz(s);
  const double amplitude = db_to_gain(db + pre_emphasis_db(pre_emphasis, hz / rate));
  return amplitude * amplitude * kProbingTones * kProbingSpacingHz / rate;
}

namespace {

// The remaining noise of this spectrum after prediction with three coefficients, as a mean over the band. Source:
// Levinson's recursion over the complex autocorrelation.
double predicted_noise(const double (&spectrum)[kPoints]) {
  constexpr int kOrder = 3;
  struct Value {
    double re = 0, im = 0;
  } r[kOrder + 1], a[kOrder + 1];
  for (int lag = 0; lag <= kOrder; ++lag) {
    oh_preemption_point();
    for (int k = 0; k < kPoints; ++k) {
      const double turns = lag * (k + 0.5) / kPoints;
      const SinCos w = sincos_turns(turns - static_cast<int>(turns));
      r[lag].re += spectrum[k] * w.cos / kPoints;
      r[lag].im += spectrum[k] * w.sin / kPoints;
    }
  }
  double left = r[0].re;
  for (int n = 1; n <= kOrder && left > 0; ++n) {
    Value sum = r[n];
    for (int k = 1; k < n; ++k) {
      sum.re += a[k].re * r[n - k].re - a[k].im * r[n - k].im;
      sum.im += a[k].re * r[n - k].im + a[k].im * r[n - k].re;
    }
    const Value reflection{-sum.re / left, -sum.im / left};
    Value next[kOrder + 1];
    for (int k = 1; k < n; ++k) {
      const Value& back = a[n - k];
      next[k].re = a[k].re + reflection.re * back.re + reflection.im * back.im;
      next[k].im = a[k].im + reflection.im * back.re - reflection.re * back.im;
    }
    next[n] = reflection;
    for (int k = 1; k <= n; ++k) a[k] = next[k];
    left *= 1 - (reflection.re * reflection.re + reflection.im * reflection.im);
  }
  return left;
}

}  // namespace

double LineProbe::projected_rate(SymbolRate s, Carrier c, int pre_emphasis) const {
  const double rate = symbol_rate_hz(s), centre = carrier_hz(s, c);
  // The template raises part of the band; the transmitter's power is unchanged.
  double lift = 0;
  for (int k = 0; k < kPoints; ++k) {
    const double f = centre + rate * ((k + 0.5) / kPoints - 0.5);
    const double g = db_to_gain(pre_emphasis_db(pre_emphasis, f / rate));
    lift += g * g / kPoints;
  }
  // A linear equaliser achieves the harmonic mean of 1 + SNR over the band, decision feedback the geometric mean. Three
  // coefficients of a precoder gain about half of the difference.
  double bits = 0, inverse = 0;
  double noise[kPoints];
  for (int k = 0; k < kPoints; ++k) {
    const double f = centre + rate * ((k + 0.5) / kPoints - 0.5);
    const double ratio = 1 + snr(s, pre_emphasis, f) / lift;
    bits += log_2(ratio) / kPoints;
    noise[k] = 1 / ratio;
    inverse += noise[k] / kPoints;
  }
  constexpr double kDbABit = 6.02059991327962390;
  const double amplitude = db_to_gain(kDbABit / 2 * 0.5 * (bits - log_2(inverse)));
  double equalised = amplitude * amplitude - 1;
  // That is wrong if the band has a hole, where a linear equaliser loses more than 10 dB. Then compute the gain.
  constexpr double kHole = 10 / (kDbABit / 2);
  if (bits + log_2(inverse) > kHole) {
    const double predicted = 1 / predicted_noise(noise) - 1;
    if (predicted < equalised) equalised = predicted;
  }
  return rate * log_2(1 + equalised / kGap);
}

bool LineProbe::step(SymbolRate s, const Info0& far, Search* search) const {
  constexpr int kAll = 2 * kPreEmphasisFilters;
  while (search->tried < kAll) {
    const bool low = search->tried < kPreEmphasisFilters;
    const int p = search->tried++ % kPreEmphasisFilters;
    if (s == SymbolRate::k3000 && !(low ? far.low_carrier_3000 : far.high_carrier_3000)) continue;
    if (s == SymbolRate::k3200 && !(low ? far.low_carrier_3200 : far.high_carrier_3200)) continue;
    if (s == SymbolRate::k3429 && (!low || !far.may_transmit_3429)) continue;
    oh_preemption_point();
    // Unnecessary pre-emphasis costs more than this estimate shows, so it has to gain at least 0.5 %.
    const Carrier c = low ? Carrier::kLow : Carrier::kHigh;
    const double rate = projected_rate(s, c, p);
    if (rate > search->rate * (p == 0 ? 1 : 1.005)) {
      search->rate = rate;
      search->carrier = c;
      search->pre_emphasis = static_cast<uint8_t>(p);
    }
    break;
  }
  return search->tried < kAll;
}

ProbingResult LineProbe::result(SymbolRate s, const Search& search, bool allow_1664) {
  const SymbolRateTraits& t = traits(s);
  ProbingResult result{search.carrier, search.pre_emphasis, 0};
  int steps = static_cast<int>(search.rate / 2400);
  if (steps > t.max_bit_rate / 2400) steps = t.max_bit_rate / 2400;
  if (steps > 12 && !allow_1664) steps = 12;
  if (steps < t.min_bit_rate / 2400) steps = 0;
  result.max_rate = static_cast<uint8_t>(steps);
  return result;
}

int16_t LineProbe::offset_field() const {
  if (!offset_known_) return kOffsetUnknown;
  const float steps = offset_hz_ * 50;
  const int field = static_cast<int>(steps < 0 ? steps - 0.5f : steps + 0.5f);
  return field < -511 || field > 511 ? kOffsetUnknown : static_cast<int16_t>(field);
}

}  // namespace offhook::v34
