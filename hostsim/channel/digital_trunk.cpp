// SPDX-License-Identifier: MIT
#include "hostsim/channel/digital_trunk.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"
#include "hostsim/channel/g711.h"
#include "hostsim/channel/line_config.h"
#include "hostsim/channel/noise.h"
#include "hostsim/channel/resampler.h"
#include "offhook/stream.h"

namespace offhook::hostsim {
namespace {

enum Stream : std::uint64_t { kNearNoise = 0x7631, kCardNoise, kDownPath, kUpPath };

struct Law {
  std::uint8_t (*encode)(std::int16_t);
  std::int16_t (*decode)(std::uint8_t);
};

Law law_of(const std::string& name, const char* field) {
  if (name == "mu-law") return {mu_law_encode, mu_law_decode};
  if (name == "a-law") return {a_law_encode, a_law_decode};
  std::string message("trunk.");
  message.append(field).append(" is \"").append(name).append("\"; expected mu-law or a-law");
  throw std::invalid_argument(message);
}

void expect(bool good, const char* what) {
  if (!good) throw std::invalid_argument(what);
}

std::int16_t to_int16(float x) {
  const float rounded = std::floor(x + 0.5f);
  return static_cast<std::int16_t>(std::clamp(rounded, -32768.f, 32767.f));
}

/// The line card's D/A converter with its filter, and the loop, as one symmetric pulse.
class Pulse {
 public:
  static constexpr int kSpan = 48;     // symbols
  static constexpr int kPhases = 256;  // of a symbol

  explicit Pulse(double slope_db) {
    // The spectrum in steps of 10 Hz, up to its end. A cosine is indexed by frequency times time in table steps, with
    // kTurn steps per turn.
    constexpr int kStepHz = 10, kEndHz = 4600;
    constexpr int kTurn = static_cast<int>(kLineRateHz) * kPhases / kStepHz;
    std::vector<double> cosine(kTurn);
    for (int k = 0; k < kTurn; ++k)
      cosine[static_cast<std::size_t>(k)] = sincos_turns(static_cast<double>(k) / kTurn).cos;
    std::vector<double> gain(kEndHz / kStepHz + 1);
    for (std::size_t k = 0; k < gain.size(); ++k) {
      const double hz = static_cast<double>(k) * kStepHz;
      gain[k] = filter(hz) * db_to_gain(-slope_db * hz / 3400);
    }
    for (int t = 0; t <= kSpan * kPhases; ++t) {
      constexpr int kMiddle = kSpan * kPhases / 2;
      const int at = t - kMiddle;
      double sum = gain[0];
      for (std::size_t k = 1; k < gain.size(); ++k) {
        const auto angle = static_cast<std::size_t>(std::int64_t{std::abs(at)} * static_cast<std::int64_t>(k) % kTurn);
        sum += 2 * gain[k] * cosine[angle];
      }
      const double inside = static_cast<double>(at) / kMiddle;
      const double window = (1 + sincos_turns(inside / 2).cos) / 2;
      tap_[static_cast<std::size_t>(t)] = static_cast<float>(sum * kStepHz / kLineRateHz * window);
    }
  }

  /// Value at `from_middle` symbols, within half the span.
  float at(double from_middle) const {
    const double position = (from_middle + kSpan / 2.) * kPhases;
    const auto whole = static_cast<std::size_t>(position);
    const float fraction = static_cast<float>(position - static_cast<double>(whole));
    return tap_[whole] + fraction * (tap_[whole + 1] - tap_[whole]);
  }

 private:
  // Flat to 3200 Hz, -14 dB at 4000 Hz, nothing from 4600 Hz on: inside the mask of ITU-T G.712 for a half channel.
  static double filter(double hz) {
    constexpr double kFlat = 3200, kMiddle = 4000, kEnd = 4600, kMiddleGain = 0.1995;
    if (hz <= kFlat) return 1;
    if (hz <= kMiddle)
      return kMiddleGain + (1 - kMiddleGain) * (1 + sincos_turns((hz - kFlat) / (kMiddle - kFlat) / 2).cos) / 2;
    if (hz <= kEnd) return kMiddleGain * (1 + sincos_turns((hz - kMiddle) / (kEnd - kMiddle) / 2).cos) / 2;
    return 0;
  }

  std::array<float, kSpan * kPhases + 2> tap_{};
};

/// Pad, law and robbed bits of one direction through the network.
class Digits {
 public:
  Digits(Law from, Law to, bool converts, const DigitalTrunkConfig& c)
      : from_(from),
        to_(to),
        converts_(converts),
        gain_(db_to_gain(-c.pad_db)),
        robbed_(c.robbed_bits),
        value_(c.robbed_value) {}

  std::uint8_t operator()(std::uint8_t octet) {
    if (gain_ < 1) octet = from_.encode(to_int16(static_cast<float>(gain_ * from_.decode(octet))));
    if (converts_) octet = to_.encode(from_.decode(octet));
    if (robbed_ >> interval_ & 1) octet = static_cast<std::uint8_t>((octet & ~1) | value_);
    interval_ = (interval_ + 1) % kFrameIntervals;
    return octet;
  }

 private:
  Law from_, to_;
  bool converts_;
  double gain_;
  std::uint32_t robbed_;
  bool value_;
  std::size_t interval_ = 0;
};

/// A pair of converters whose filter removes the upper end of the band.
class Converters {
 public:
  explicit Converters(Law law) : law_(law) {}
  std::uint8_t operator()(std::uint8_t octet) {
    for (std::size_t k = 2; k > 0; --k) last_[k] = last_[k - 1];
    last_[0] = law_.decode(octet);
    return law_.encode(static_cast<std::int16_t>((last_[0] + 2 * last_[1] + last_[2]) / 4));
  }

 private:
  Law law_;
  std::array<int, 3> last_{};
};

/// A first-order high-pass at 16000 Hz.
class HighPass {
 public:
  explicit HighPass(double hz)
      : share_(static_cast<float>(hz * 2 * kPi / (kLineRateHz * DigitalTrunk::kReceivedRatio))) {}
  float put(float x) {
    low_ += share_ * (x - low_);
    return x - low_;
  }

 private:
  float share_;
  float low_ = 0;
};

}  // namespace

struct DigitalTrunk::Impl {
  static std::size_t delay_of(const DigitalTrunkConfig& c) {
    return static_cast<std::size_t>(c.delay_ms * kLineRateHz / 1000 + 0.5);
  }
  static std::uint8_t silence_of(const DigitalTrunkConfig& c) {
    return oh_silence(c.law == "a-law" ? OH_ALAW : OH_MULAW);
  }
  static constexpr std::size_t kHistory = 256;  // symbols, a power of two
  static constexpr std::uint64_t kPpmParts = 1'000'000'000;

  Impl(const DigitalTrunkConfig& c, std::uint64_t seed, DigitalEnd& e)
      : end(e),
        law(law_of(c.law, "law")),
        codec(law_of(c.codec, "codec")),
        pulse(c.slope_db),
        down(law, codec, c.law != c.codec, c),
        up(codec, law, c.law != c.codec, c),
        resampler(kPpmParts, kPpmParts + static_cast<std::uint64_t>(static_cast<std::int64_t>(c.clock_ppm * 1000))),
        near_noise(Random(seed, kNearNoise), c.noise_dbm0 + 10 * 0.30103),  // over 8000 Hz
        card_noise(Random(seed, kCardNoise), c.noise_dbm0),
        high_pass(c.high_pass_hz),
        loss(static_cast<float>(db_to_gain(-c.loss_db))),
        near_echo(static_cast<float>(db_to_gain(-c.near_echo_db))),
        card_echo(static_cast<float>(db_to_gain(-c.card_echo_db))),
        symbols_a_half(0.5 * (1 + c.clock_ppm * 1e-6)),
        down_path(c.network, delay_of(c), silence_of(c), Random(seed, kDownPath), 0),
        up_path(c.network, delay_of(c), silence_of(c), Random(seed, kUpPath), 0.5) {
    if (c.converters) converters.emplace(law);
  }

  // One sample period of the network.
  void tick(float from_loop) {
    // The hybrid's leakage of the card's last samples: two taps.
    const float leak = card_echo * (0.8f * symbol(symbols - 2) - 0.45f * symbol(symbols - 3));
    const float heard = loss * from_loop + leak + card_noise.next();
    const std::uint8_t received = up_path.put(up(codec.encode(to_int16(heard))));
    std::uint8_t octet = end.process(received);
    if (converters) octet = (*converters)(octet);
    const std::uint8_t sent = down_path.put(octet);
    history[symbols++ % kHistory] = codec.decode(down(sent));
  }
  float symbol(std::uint64_t n) const { return n < symbols ? history[n % kHistory] : 0; }

  float received() {
    // The middle of the pulse is delayed relative to the network so that all its symbols are available.
    constexpr double kBehind = Pulse::kSpan / 2. + 34;
    const double now = static_cast<double>(halves) * symbols_a_half - kBehind;
    ++halves;
    float sum = 0;
    if (now >= Pulse::kSpan) {
      const auto newest = static_cast<std::uint64_t>(now + Pulse::kSpan / 2. - 1e-9);
      for (std::uint64_t n = newest; n + Pulse::kSpan > newest; --n) {
        const double t = now - static_cast<double>(n);
        if (t < -Pulse::kSpan / 2. || t > Pulse::kSpan / 2.) continue;
        sum += symbol(n) * pulse.at(t);
      }
    }
    return loss * sum;
  }

  // Two reflections of the sent signal, which are half a sample apart.
  float echo(int half) const {
    float sum = 0;
    for (int k = 0; k < kEchoSpan; ++k) {
      const int whole = k - kEchoSpan / 2;
      const double t = whole + half * 0.5;
      const float x = played[(played_at + kEchoSpan * 2 - static_cast<std::size_t>(k)) % played.size()];
      const float late = played[(played_at + kEchoSpan * 2 - static_cast<std::size_t>(k) - 3) % played.size()];
      sum += pulse.at(t) * (x - 0.3f * late);
    }
    return near_echo * sum;
  }

  static constexpr int kEchoSpan = 32;

  DigitalEnd& end;
  Law law, codec;
  Pulse pulse;
  Digits down, up;
  std::optional<Converters> converters;
  Resampler resampler;
  WhiteNoise near_noise, card_noise;
  HighPass high_pass;
  float loss, near_echo, card_echo;
  double symbols_a_half;
  NetworkPath down_path, up_path;
  std::array<float, kHistory> history{};
  std::uint64_t symbols = 0;
  std::uint64_t halves = 0;
  std::array<float, 2 * kEchoSpan> played{};
  std::size_t played_at = 0;
};

DigitalTrunk::DigitalTrunk(const DigitalTrunkConfig& c, std::uint64_t seed, DigitalEnd& end) {
  expect(c.pad_db >= 0 && c.pad_db <= 20, "trunk.pad_db: expected 0 to 20");
  expect(c.robbed_bits < 1u << kFrameIntervals, "trunk.robbed_bits: expected a set of six intervals, 0 to 63");
  expect(c.loss_db >= 0 && c.loss_db <= 40, "trunk.loss_db: expected 0 to 40");
  expect(c.slope_db >= 0 && c.slope_db <= 30, "trunk.slope_db: expected 0 to 30");
  expect(c.high_pass_hz >= 0 && c.high_pass_hz <= 300, "trunk.high_pass_hz: expected 0 to 300");
  expect(c.delay_ms >= 0 && c.delay_ms <= 1000, "trunk.delay_ms: expected 0 to 1000");
  expect(c.clock_ppm >= -1000 && c.clock_ppm <= 1000, "trunk.clock_ppm: expected -1000 to 1000");
  impl_ = std::make_unique<Impl>(c, seed, end);
}

DigitalTrunk::DigitalTrunk(const DigitalTrunk& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}

DigitalTrunk::~DigitalTrunk() = default;

void DigitalTrunk::exchange(std::int16_t played, std::int16_t* captured) {
  Impl& i = *impl_;
  i.played_at = (i.played_at + 1) % i.played.size();
  i.played[i.played_at] = played;
  i.resampler.push(played);
  while (i.resampler.ready()) i.tick(i.resampler.pull());
  for (std::size_t k = 0; k < kReceivedRatio; ++k) {
    const float line = i.high_pass.put(i.received() + i.echo(static_cast<int>(k)));
    captured[k] = to_int16(line + i.near_noise.next());
  }
}

}  // namespace offhook::hostsim
