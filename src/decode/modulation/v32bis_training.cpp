// SPDX-License-Identifier: MIT
#include "src/decode/modulation/v32bis_training.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "dsp/v32/transmitter.h"
#include "dsp/v32/viterbi.h"
#include "src/decode/line/recording.h"
#include "src/decode/line/side_by_side.h"

namespace offhook::decode {
namespace {

constexpr std::size_t kTwoPoints = v32::kTrnTwoPoints;
constexpr std::size_t kLeastTrn = v32::kLeastTrn;
constexpr std::size_t kMostTrn = 8192;
constexpr int kMostRateSymbols = 8 * 2400;  // R2 lasts as long as S, TRN and R3 of the far end, and a round trip
constexpr double kLeastLikeness = 0.35;     // of the 256 with what is heard, squared correlation
constexpr double kGoodFit = 0.1;            // mean square error of the equaliser, of the signal
constexpr double kMostMissed = 3;           // rate sequences
constexpr int kOvershot = 3;                // symbols unlike TRN that end it

// The power of data differs from that of training by some percent, which the equaliser would need seconds to learn. The
// first symbols show it. Decisions at 5 % off are still right.
constexpr int kGainSymbols = 120;
constexpr double kMostGain = 0.05;

// Data as a preamble, or a retrain's tone, would be: one symbol, or one and its opposite in turn.
constexpr int kDoubtful = 4;  // symbols alike: nothing to adapt to
constexpr int kPreamble = 24;
constexpr int kMostByChance = 6;
constexpr int kMostPreamble = 60;  // of 56: if there is more, it is the tone of a retrain
constexpr std::size_t kRing = 64;

// Mean square error, of the signal, times the number of points: random symbols have 1 to the nearest point and some 2
// to the point of the best path.
constexpr double kLostUncoded = 0.6, kLostTrellis = 1.2;
constexpr int kLostSymbols = 2 * 2400;  // so long without data before they count as over

Cf point(v32::Point p) {
  return {static_cast<float>(p.re), static_cast<float>(p.im)};
}

Scrambling scrambling(bool answer) {
  return answer ? kGpa : kGpc;
}

// Labels Y1 Y2 of TRN.
std::vector<int> trn_labels(bool answer, std::size_t n) {
  v32::Trn trn(scrambling(answer));
  std::vector<int> labels(n);
  for (int& label : labels) label = trn.next();
  return labels;
}

int nearest(const v32::Rate& rate, Cf y) {
  int best = 0;
  float least = 1e30f;
  for (int label = 0; label < rate.count; ++label) {
    const float d = std::norm(y - point(rate.points[label]));
    if (d < least) least = d, best = label;
  }
  return best;
}

// Bits to rate signals: two equal sequences in a row, then E at a whole number of sequences after them.
class RateReader {
 public:
  /// @return whether *heard has a new rate signal, or one more sequence of the last, or E
  enum class Found { kNothing, kNew, kAgain, kE };
  Found put(int bit) {
    word_ = word_ >> 1 | static_cast<std::uint32_t>(bit) << 31;
    ++since_;
    const auto now = static_cast<std::uint16_t>(word_ >> 16);
    v32::RateSignal r;
    if (++bits_ < 32 || !v32::RateSignal::decode(now, &r)) return Found::kNothing;
    if (r.end) {
      if (count_ == 0 || since_ % 16 != 0 || !may_end(r)) return Found::kNothing;
      signal_ = r;
      sequence_ = now;
      return Found::kE;
    }
    // A sequence may resemble one at another place as well: only a repetition 16 bits later counts.
    if (now != static_cast<std::uint16_t>(word_) || (count_ > 0 && since_ < 16)) return Found::kNothing;
    const bool again = count_ > 0 && since_ == 16 && now == sequence_;
    count_ = again ? count_ + 1 : 2;
    since_ = 0;
    signal_ = r;
    sequence_ = now;
    return again ? Found::kAgain : Found::kNew;
  }
  const v32::RateSignal& signal() const { return signal_; }
  std::uint16_t sequence() const { return sequence_; }
  int count() const { return count_; }

 private:
  // One rate or none, of those that the rate signal before it has.
  bool may_end(const v32::RateSignal& e) const {
    const unsigned rates = rates_of(e);
    return std::popcount(rates) <= 1 && (rates == 0 || (rates & rates_of(signal_)) != 0);
  }
  // 9600 bit/s with and without trellis coding count as one.
  static unsigned rates_of(const v32::RateSignal& r) {
    return (r.rates & 31u) | (r.rates >> v32::kPlain9600 & 1u) << 2;
  }
  std::uint32_t word_ = 0;
  int bits_ = 0, since_ = 0, count_ = 0;
  std::uint16_t sequence_ = 0;
  v32::RateSignal signal_;
};

// The ratio of signal to decision errors, by 100 ms. A short disturbance does not count for the whole.
class SnrMeter {
 public:
  explicit SnrMeter(double power) : power_(power) {}
  void put(double squared) {
    squared_ += squared;
    ++count_;
  }
  /// Ends a stretch. @return its SNR in dB, if there is anything of it
  std::optional<double> mark() {
    if (count_ == 0) return {};
    const double snr = 10 * std::log10(power_ * count_ / std::max(squared_, 1e-9));
    squared_ = count_ = 0;
    track_.push_back(snr);
    return snr;
  }
  double snr_db() {
    if (track_.empty()) mark();
    return track_.empty() ? 0 : median(track_);
  }

 private:
  double power_, squared_ = 0, count_ = 0;
  std::vector<double> track_;
};

// The labels of data symbols to bits.
class LabelReader {
 public:
  /// @param label  of the symbol before  @param b1_symbols  the first symbols are B1, ones
  LabelReader(const v32::Rate& rate, const Descrambler& descrambler, int label, int b1_symbols, DataHeard& data)
      : rate_(rate), descrambler_(descrambler), before_(label), b1_(b1_symbols), data_(data) {}

  /// Whether the bits at the place of B1 are ones.
  bool begins_with_b1() const { return kMostB1Errors * b1_bits_ >= data_.b1_errors; }

  void put(int label) {
    const int uncoded = rate_.bits - 2, now = label >> uncoded & 3;
    const int q = v32::undo(rate_.trellis ? v32::differential : v32::differential_4800, now, before_);
    before_ = now;
    const int value = q << uncoded | (label & ((1 << uncoded) - 1));
    for (int b = rate_.bits - 1; b >= 0; --b) {
      const int bit = descrambler_.descramble(value >> b & 1);
      if (b1_ > 0) {
        data_.b1_errors += bit == 0;
        ++b1_bits_;
      } else {
        data_.bits.push_back(static_cast<std::uint8_t>(bit));
      }
    }
    b1_ -= b1_ > 0;
  }
  // The bits still in the decoder, when the last symbols were none.
  void end(const v32::ViterbiDecoder& decoder, int no_symbols) {
    if (rate_.trellis) {
      int rest[v32::ViterbiDecoder::kDepth];
      const int left = decoder.finish(rest);
      for (int k = no_symbols; k < left; ++k) put(rest[k]);
    } else {
      const int too_many = no_symbols * rate_.bits;
      data_.bits.resize(data_.bits.size() - std::min(data_.bits.size(), static_cast<std::size_t>(too_many)));
    }
  }

 private:
  const v32::Rate& rate_;
  static constexpr double kMostB1Errors = 0.25;  // of its bits; half of any others are none

  Descrambler descrambler_;
  int before_, b1_, b1_bits_ = 0;
  DataHeard& data_;
};

/// The level of the first symbols of data against that of their points.
struct StartGain {
  double sent = 0, received = 0;
  /// @return factor for the receiver; 0: none
  float put(std::size_t n, Cf y, Cf decided) {
    if (n < kGainSymbols) {
      sent += std::norm(decided);
      received += times_conj(y, decided).real();
    }
    return n == kGainSymbols && std::abs(received / sent - 1) < kMostGain ? static_cast<float>(sent / received) : 0;
  }
};

/// Decides the Nth symbol and reads the labels that are certain. @return its label, as far as known now
int decide(const v32::Rate& rate, Cf y, std::size_t n, std::vector<v32::ViterbiDecoder>& decoders,
           LabelReader& labels) {
  if (!rate.trellis) {
    const int label = nearest(rate, y);
    labels.put(label);
    return label;
  }
  v32::ViterbiDecoder& decoder = decoders[n % kRing];
  decoder = decoders[(n + kRing - 1) % kRing];
  const int label = decoder.put({y.real(), y.imag()});
  if (label >= 0) labels.put(label);
  return decoder.newest();
}

// Half symbols, and their likeness to the first symbols of TRN: of every second one, so that neighbours share all
// symbols but two.
class TrnInput {
 public:
  TrnInput(const std::vector<Cf>& y, std::size_t parity) {
    for (std::size_t k = parity; k < y.size(); k += 2) {
      re_.push_back(y[k].real());
      im_.push_back(y[k].imag());
    }
    if (re_.size() < kTwoPoints) return;
    power_.resize(re_.size() - kTwoPoints + 1);
    for (std::size_t k = 0; k < kTwoPoints; ++k) power_[0] += squared(k);
    for (std::size_t k = 1; k < power_.size(); ++k)
      power_[k] = power_[k - 1] + squared(k + kTwoPoints - 1) - squared(k - 1);
    for (std::vector<float>* x : {&re_, &im_}) x->resize(x->size() + kAtOnce);  // likeness() reads beyond the last
  }
  /// From each symbol on, kTwoPoints of them.
  const std::vector<double>& power() const { return power_; }
  /// @return of each of these, the likeness to `sign`; its share of the power is at most 1
  std::vector<double> likeness(const std::array<float, kTwoPoints>& sign) const {
    std::vector<double> like(power_.size());
    for (std::size_t at = 0; at < like.size(); at += kAtOnce) {
      const std::size_t n = std::min(kAtOnce, like.size() - at);
      for (std::size_t piece = 0; piece < kTwoPoints; piece += kPiece) {
        SumsSideBySide re, im;
        re.filter(&sign[piece], kPiece, &re_[at + piece]);
        im.filter(&sign[piece], kPiece, &im_[at + piece]);
        for (std::size_t j = 0; j < n; ++j)
          like[at + j] += (re[j] * re[j] + im[j] * im[j]) / static_cast<double>(kPiece);
      }
    }
    return like;
  }

 private:
  static constexpr std::size_t kPiece = 64;  // symbols, short enough for any carrier offset
  static constexpr std::size_t kAtOnce = SumsSideBySide::kSize;
  double squared(std::size_t k) const {
    return static_cast<double>(re_[k]) * re_[k] + static_cast<double>(im_[k]) * im_[k];
  }

  std::vector<float> re_, im_;
  std::vector<double> power_;
};

// One direction's TRN.
class TrnSearch {
 public:
  explicit TrnSearch(bool answer) {
    const std::vector<int> labels = trn_labels(answer, kTwoPoints);
    for (std::size_t i = 0; i < kTwoPoints; ++i) sign_[i] = labels[i] != 0 ? 1.f : -1.f;
  }
  /// @param first  half symbols before those of `y`  @param count  of those that are to be searched
  void look(const TrnInput (&y)[2], std::size_t first, std::size_t count) {
    const std::vector<double> likeness[2] = {y[0].likeness(sign_), y[1].likeness(sign_)};
    for (std::size_t i = 0; i < count; ++i) {
      const double like = likeness[i % 2][i / 2], power = y[i % 2].power()[i / 2];
      if (power < 10 * kTwoPoints || like < kLeastLikeness * power) continue;
      const TrnHeard t{static_cast<double>(first + i) * kV32Step / 2, like / power, power / kTwoPoints};
      if (!found_.empty() && t.t - found_.back().t < kRateHz / 2.0) {
        if (t.likeness > found_.back().likeness) found_.back() = t;
      } else {
        found_.push_back(t);
      }
    }
  }
  std::vector<TrnHeard> found() && { return std::move(found_); }

 private:
  std::array<float, kTwoPoints> sign_{};
  std::vector<TrnHeard> found_;
};

}  // namespace

TrnsHeard find_trn(const Baseband& line) {
  const auto half_symbols = static_cast<std::size_t>(static_cast<double>(line.size()) / (kV32Step / 2));
  constexpr std::size_t kAtOnce = 65536;
  TrnSearch call(false), answer(true);
  for (std::size_t first = 0; first + 2 * kTwoPoints < half_symbols; first += kAtOnce) {
    const std::size_t end = std::min(half_symbols, first + kAtOnce + 2 * kTwoPoints);
    std::vector<Cf> y;
    for (std::size_t k = first; k < end; ++k) y.push_back(line.at(static_cast<double>(k) * kV32Step / 2));
    const TrnInput every_second[2] = {{y, 0}, {y, 1}};
    for (TrnSearch* search : {&call, &answer}) search->look(every_second, first, end - first - 2 * kTwoPoints);
  }
  return {std::move(call).found(), std::move(answer).found()};
}

TrainingReader::TrainingReader(const Baseband& line, const Baseband* other, bool answer, double end)
    : receiver_(line, other, kV32SymbolRateHz, 700), answer_(answer), end_(end), descrambler_(scrambling(answer)) {}

bool TrainingReader::fit(double t) {
  std::vector<Cf> known;
  for (const int label : trn_labels(answer_, kLeastTrn)) known.push_back(point(v32::kPoints4800[label]));
  t_trn_ = t;
  return receiver_.fit(t, known) < kGoodFit;
}

void TrainingReader::follow(Connection::Side& side) {
  if (!read_training()) return;
  side.clock_ppm = (kV32Step / receiver_.state.step - 1) * 1e6;
  side.frequency_offset_hz = receiver_.state.turn * kV32SymbolRateHz / (2 * std::numbers::pi);
  const std::size_t trn = side.signals.size(), first = side.rate_signals.size();
  side.signals.push_back({seconds(t_trn_), seconds(t_trn_end_), "TRN"});
  int b1 = v32::kB1Symbols;
  for (bool after_data = false; read_rate_signals(after_data, side); after_data = true) {
    const std::size_t known = side.data.size(), e = side.rate_signals.size() - 1;
    const bool again = read_data(rate_, b1, side);
    // The end of a rate signal may equal E by chance: then it is a single sequence without B1 behind it.
    if (side.data.size() == known && e > 0 &&
        side.rate_signals[e].signal.v32bis != side.rate_signals[e - 1].signal.v32bis)
      side.rate_signals.pop_back();
    if (!again) break;
    b1 = v32::kB1AgainSymbols;
  }
  // The rate signal's first symbols may be as TRN would have been.
  if (first < side.rate_signals.size() && std::abs(side.rate_signals[first].t0 - side.signals[trn].t1) < 0.004)
    side.signals[trn].t1 = side.rate_signals[first].t0;
}

// TRN to its end, the start of the rate signal. @return whether there was one
bool TrainingReader::read_training() {
  const std::vector<int> trn = trn_labels(answer_, kMostTrn + 64);
  std::vector<ReceiverState> before;  // of the symbols since the last that was TRN's
  std::vector<int> labels;
  for (std::size_t symbol = 0; receiver_.state.t < end_ && symbol < trn.size(); ++symbol) {
    const Cf y = receiver_.equalise();
    const int label = symbol < kLeastTrn ? trn[symbol] : nearest(v32::kRates[0], y);
    labels.push_back(label);
    if (label == trn[symbol]) before.clear();
    before.push_back(receiver_.state);
    receiver_.decided(point(v32::kPoints4800[label]), 0.002f);
    // The rate signal shares dibits with TRN by chance: some in a row that differ are its beginning.
    if (before.size() <= kOvershot) continue;
    receiver_.state = before[1];
    labels.resize(labels.size() - kOvershot);
    break;
  }
  t_trn_end_ = receiver_.state.t;
  if (labels.size() < kLeastTrn) return false;
  // The descrambler needs the last 23 bits.
  for (std::size_t k = labels.size() - 16; k < labels.size(); ++k) {
    descrambler_.descramble(labels[k] >> 1);
    descrambler_.descramble(labels[k] & 1);
  }
  label_ = labels.back();
  return true;
}

// @return whether E came, with a rate
bool TrainingReader::read_rate_signals(bool after_data, Connection::Side& side) {
  const int inside = static_cast<int>(v32::kSequenceSymbols);
  RateReader reader;
  const double began = receiver_.state.t;
  const std::size_t already = side.rate_signals.size();
  double error = 0;
  bool ended = false;  // E without a rate is repeated
  for (int symbol = 0; receiver_.state.t < end_ && symbol < kMostRateSymbols; ++symbol) {
    const Cf y = receiver_.equalise();
    const int label = nearest(v32::kRates[0], y);
    const Cf decided = point(v32::kPoints4800[label]);
    error += 0.02 * (std::norm(y - decided) / 10 - error);
    receiver_.decided(decided, 0.002f);
    if (error > 0.4) return false;  // silence, or another signal
    const int q = v32::undo(v32::differential_4800, label, label_);
    label_ = label;
    const double t1 = receiver_.state.t;
    for (int k = 1; k >= 0; --k) {
      const RateReader::Found found = reader.put(descrambler_.descramble(q >> k & 1));
      if (found == RateReader::Found::kNothing) continue;
      const v32::RateSignal& r = reader.signal();
      v32bis_ = v32bis_ || r.v32bis;
      auto& all = side.rate_signals;
      if (found == RateReader::Found::kNew) {
        double t0 = t1 - 2 * inside * kV32Step;
        // It began a whole number of sequences before, when the descrambler had wrong bits yet.
        const double missed = std::ceil((t0 - began) / (inside * kV32Step) - 0.5 / inside);
        if (all.size() == already && missed <= kMostMissed) t0 -= missed * inside * kV32Step;
        all.push_back({seconds(t0), seconds(t1), {}, reader.sequence(), r, 2, after_data});
      } else if (found == RateReader::Found::kAgain) {
        all.back().t1 = seconds(t1);
        all.back().count = reader.count();
      } else if (!ended) {
        all.push_back({seconds(t1 - inside * kV32Step), seconds(t1), "E", reader.sequence(), r, 1, after_data});
        rate_ = v32::highest(r.rates);
        if (rate_ >= 0) return true;
        ended = true;
      } else {
        all.back().t1 = seconds(t1);
        ++all.back().count;
      }
    }
  }
  return false;
}

// @return whether it ended with a renegotiation's preamble, after which a rate signal comes
bool TrainingReader::read_data(int index, int b1_symbols, Connection::Side& side) {
  const v32::Rate& rate = v32::kRates[index];
  receiver_.scale(rate.scale);
  DataHeard d;
  d.bit_rate = rate.bit_rate;
  if (rate.trellis) d.decoder_delay_s = v32::ViterbiDecoder::kDepth / kV32SymbolRateHz;
  d.t0 = seconds(receiver_.state.t);
  LabelReader labels(rate, descrambler_, label_, b1_symbols, d);
  const double power = 10.0 * rate.scale * rate.scale;
  const double lost_error = (rate.trellis ? kLostTrellis : kLostUncoded) / rate.count;
  // One state per recent symbol, because the closing tone is recognised only 25 symbols after its start.
  std::vector<v32::ViterbiDecoder> decoders(kRing, v32::ViterbiDecoder(rate.trellis ? rate : v32::kRates[4]));
  SnrMeter snr(power);
  StartGain gain;
  double error = 0;
  Cf last{};
  int alike = 0, lost = 0;
  std::size_t bits_at_loss = 0, n = 0;
  for (; receiver_.state.t < end_ && alike < kPreamble; ++n) {
    const Cf y = receiver_.equalise();
    const Cf decided = point(rate.points[decide(rate, y, n, decoders, labels)]);
    alike = std::norm(answer_ ? y + last : y - last) < 0.5 * power && std::norm(y) > 0.3 * power ? alike + 1 : 0;
    last = y;
    if (alike < kDoubtful) error += 0.01 * (std::norm(y - decided) / power - error);
    if (n % 240 == 0) {
      d.times.emplace_back(seconds(receiver_.state.t), d.bits.size());
      if (const auto stretch = snr.mark()) d.snr_track.emplace_back(seconds(receiver_.state.t), *stretch);
    }
    // A lost signal may return, as after a burst of noise: until then nothing is adapted to.
    const bool is_lost = n > 240 && error > lost_error;
    if (is_lost && lost == 0) bits_at_loss = d.bits.size();
    lost = is_lost ? lost + 1 : 0;
    if (lost > kLostSymbols) break;
    if (!is_lost) {
      if (n > kGainSymbols) snr.put(std::norm(y - decided));
      if (n % 16 == 0 && d.constellation.size() < 4000) d.constellation.push_back(y);
    }
    const bool adapts = !is_lost && alike < kDoubtful;
    receiver_.decided(adapts ? decided : y, adapts ? 0.001f : 0.f);
    if (const float by = gain.put(n, y, decided); by > 0) receiver_.scale(by);
  }
  d.t1 = seconds(receiver_.state.t - lost * kV32Step);
  d.snr_db = snr.snr_db();
  receiver_.scale(1 / rate.scale);
  const bool tone = alike >= kPreamble;
  const std::optional<int> preamble = tone ? read_preamble(side) : std::nullopt;
  if (lost > 0 && !tone) {
    d.bits.resize(bits_at_loss);
  } else {
    const int passed = preamble ? *preamble : tone ? kPreamble + 1 : 0;  // symbols of the tone that were taken for data
    if (tone) d.t1 = seconds(tone_t_ - passed * kV32Step);
    labels.end(decoders[(n + 2 * kRing - 1 - static_cast<std::size_t>(passed)) % kRing], passed);
  }
  if (!preamble && !labels.begins_with_b1()) return false;
  side.links.push_back(read_link(d, side.links.empty() ? nullptr : &side.links.back()));
  side.data.push_back(std::move(d));
  return preamble.has_value();
}

// 56 symbols of AA or AC, 8 of CC or CA. A retrain's tone has no such end. @return how many of them had passed before,
// if a rate signal follows
std::optional<int> TrainingReader::read_preamble(Connection::Side& side) {
  tone_t_ = receiver_.state.t;
  Cf tone{};  // its first symbol
  int upright = 0, turned = 0;
  while (upright < kMostPreamble && receiver_.state.t < end_) {
    const Cf y = receiver_.equalise();
    const Cf first = answer_ && (upright + turned) % 2 == 1 ? -y : y;
    const bool is_turned = upright > 0 && (first * std::conj(tone)).real() < 0;
    ++(is_turned ? turned : upright);
    if (!is_turned) tone += first;
    label_ = nearest(v32::kRates[0], y);
    receiver_.decided(point(v32::kPoints4800[label_]), 0.f);
    if (turned < v32::kPreambleTurned) continue;
    // Data just before it may be alike by chance. A preamble longer than in the text: from the place where it was
    // certain.
    const int exactly = v32::kPreambleSymbols - upright;
    const int passed = exactly > kPreamble - kMostByChance ? exactly : kPreamble + 1;
    side.signals.push_back(
        {seconds(tone_t_ - passed * kV32Step), seconds(receiver_.state.t), "preamble", answer_ ? "AC, CA" : "AA, CC"});
    descrambler_.reset();
    return passed;
  }
  return {};
}

}  // namespace offhook::decode
