// SPDX-License-Identifier: MIT
#include "hostsim/channel/loop.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "dsp/blocks/sincos.h"
#include "hostsim/channel/gaussian_noise.h"
#include "hostsim/channel/path.h"
#include "hostsim/engine/random.h"

namespace offhook::hostsim {
namespace {

constexpr double kLatencyS = 150e-6;  // of the split filters, whose response before it is at least 50 dB lower
constexpr double kSquareVolts = 1e-3 * kLoopOhms;  // of 1 mW

/// The streams of the loop's random numbers, different from those of all other modules.
enum Stream : std::uint64_t {
  kNearNoise = 0x6c6f6f70'00000000,  // "loop"
  kFarNoise,
  kNearImpulses,
  kFarImpulses
};

double norm2(std::complex<double> z) {
  return z.real() * z.real() + z.imag() * z.imag();
}

/// Transmitted power of a transceiver, mW/Hz, from which the receivers' gains are set.
double nominal_psd(Direction d, double rate_hz, double hz) {
  if (d == Direction::kUp) return transmit_psd(Service::kAdslUp, hz);
  return hz < rate_hz / 2 - kAdslToneHz / 2 ? transmit_psd(Service::kAdslDown, hz) : 0;
}

void check(bool good, const char* field, const char* expected) {
  if (!good) throw std::invalid_argument(std::string(field) + ": expected " + expected);
}

void check(const LoopConfig& c) {
  check(c.downstream_hz == 1'104'000 || c.downstream_hz == 2'208'000, "loop.downstream_hz", "1104000 or 2208000");
  check(c.noise_dbm_hz >= -250 && c.noise_dbm_hz <= -60, "loop.noise_dbm_hz", "-250 to -60");
  check(c.disturbers_from_s >= 0 && c.disturbers_from_s <= 1e6, "loop.disturbers_from_s", "0 to 1000000");
  check(c.impulse_rate_hz >= 0 && c.impulse_rate_hz <= 1000, "loop.impulse_rate_hz", "0 to 1000");
  check(c.impulse_volts >= 0 && c.impulse_volts <= 10, "loop.impulse_volts", "0 to 10");
  check(std::abs(c.clock_ppm) <= 1000, "loop.clock_ppm", "-1000 to 1000");
  check(c.cable.size() <= 32, "loop.cable", "at most 32 sections");
  const FrontEnd& f = c.front_end;
  check(f.split_hz > 0 && f.split_hz < 276e3, "loop.split_hz", "more than 0, less than 276000");
  check(f.split_width_hz >= 500 && f.split_width_hz <= 50e3, "loop.split_width_hz", "500 to 50000");
  check(f.top_width_hz >= 500 && f.top_width_hz <= 50e3, "loop.top_width_hz", "500 to 50000");
  check(f.coupling_hz >= 0 && f.coupling_hz <= 100e3, "loop.coupling_hz", "0 to 100000");
  check(f.hybrid_loss_db >= 0, "loop.hybrid_loss_db", "0 or more");
  check(f.bits >= 4 && f.bits <= 16, "loop.bits", "4 to 16");
  check(f.full_scale_volts > 0.1 && f.full_scale_volts <= 100, "loop.full_scale_volts", "0.1 to 100");
  check(f.receive_rms_dbfs >= -60 && f.receive_rms_dbfs <= 0, "loop.receive_rms_dbfs", "-60 to 0");
}

/// Whole steps of a converter of fewer than 16 bits.
class Converter {
 public:
  explicit Converter(int bits) : step_(static_cast<float>(1 << (16 - bits))) {}
  std::int16_t operator()(float x) const {
    const float steps = std::nearbyint(std::clamp(x, -32768.f, 32767.f) / step_) * step_;
    return static_cast<std::int16_t>(std::min(steps, 32768.f - step_));
  }

 private:
  float step_;
};

}  // namespace

struct Loop::Impl {
  /// The received signal of one transceiver, in its own samples.
  struct Receiver {
    double gain;  // sample values per volt
    Path from_far;
    std::optional<Path> echo;
    std::optional<GaussianNoise> quiet;  // time until the disturbers begin
    GaussianNoise noise;
    RadioIngress ingress;
    std::uint64_t until_disturbed;  // samples
    LoopImpulses impulses;
    Converter converter;

    std::int16_t next() {
      const float e = echo ? echo->pull() : 0.f;
      float disturbed = 0;
      if (until_disturbed > 0) {
        --until_disturbed;
        disturbed = quiet->next();
      } else {
        disturbed = noise.next() + ingress.next();
      }
      return converter(from_far.pull() + e + disturbed + impulses.next());
    }
  };

  Impl(const LoopConfig& c, std::uint64_t seed, const oh_pump& other)
      : config((check(c), c)),
        ratio(c.downstream_hz / kUpstreamHz),
        near_direction(c.near_is_exchange ? Direction::kUp : Direction::kDown),
        far_direction(c.near_is_exchange ? Direction::kDown : Direction::kUp),
        far(other),
        converter(c.front_end.bits),
        near(receiver(near_direction, clock(), kBillion, Random(seed, kNearNoise), Random(seed, kNearImpulses))),
        at_far(receiver(far_direction, kBillion, clock(), Random(seed, kFarNoise), Random(seed, kFarImpulses))),
        near_rx(near_direction == Direction::kDown ? ratio : 1),
        far_rx(far_direction == Direction::kDown ? ratio : 1),
        heard(kFarBlock * far_rx),
        sent(kFarBlock * near_rx) {
    send_far_block();  // silence until the far end has received a block
  }

  static constexpr std::uint64_t kBillion = 1'000'000'000;
  std::uint64_t clock() const {
    return kBillion + static_cast<std::uint64_t>(static_cast<std::int64_t>(config.clock_ppm * 1000));
  }
  double rate_hz(Direction d) const { return d == Direction::kDown ? config.downstream_hz : kUpstreamHz; }
  double filter(Direction d, double hz) const { return split_filter(config.front_end, d, config.downstream_hz, hz); }
  bool hears_itself() const { return config.front_end.hybrid_loss_db < 200; }

  /// Volts after the receiver's gain from volts at the transmitter.
  std::complex<double> response(Direction d, double hz) const {
    const double filters = filter(d, hz) * filter(d, hz);
    if (filters < 1e-12) return 0;
    const auto c = coupling(config.front_end, hz);
    return filters * c * c * insertion_gain(config.cable, hz);
  }
  std::complex<double> echo_response(Direction heard_by, double hz) const {
    const Direction own = heard_by == Direction::kDown ? Direction::kUp : Direction::kDown;
    const double filters = filter(own, hz) * filter(heard_by, hz);
    if (filters < 1e-12) return 0;
    return filters * power(10, -config.front_end.hybrid_loss_db / 20) * coupling(config.front_end, hz);
  }
  /// Square volts per Hz after the receiver's gain.
  double unfolded_noise_psd(Direction d, double hz, bool disturbed) const {
    const double f = filter(d, hz);
    if (f < 1e-6) return 0;
    double psd = power(10, config.noise_dbm_hz / 10);
    if (disturbed) {
      for (const Disturbers& one : config.disturbers) psd += crosstalk_psd(one, config.cable, hz);
    }
    return psd * f * f * kSquareVolts;
  }
  double noise_psd(Direction d, double hz, bool disturbed = true) const {
    const double rate = rate_hz(d);
    return unfolded_noise_psd(d, hz, disturbed) + unfolded_noise_psd(d, rate - hz, disturbed) +
           unfolded_noise_psd(d, rate + hz, disturbed);
  }
  double square_volts(Direction d, const RadioCarrier& c) const {
    return kSquareVolts * power(10, c.dbm / 10) * filter(d, c.hz) * filter(d, c.hz);
  }
  /// Square volts of everything that the receiver receives.
  double received_power(Direction d) const {
    const Direction own = d == Direction::kDown ? Direction::kUp : Direction::kDown;
    double sum = 0;
    constexpr double kStep = kAdslToneHz / 2;
    const int steps = static_cast<int>(std::ceil(1.2 * rate_hz(d) / kStep - 0.5));
    for (int k = 0; k < steps; ++k) {
      const double hz = (k + 0.5) * kStep;
      sum += kStep * (kSquareVolts * nominal_psd(d, config.downstream_hz, hz) * norm2(response(d, hz)) +
                      unfolded_noise_psd(d, hz, true));
      if (hears_itself())
        sum += kStep * kSquareVolts * nominal_psd(own, config.downstream_hz, hz) * norm2(echo_response(d, hz));
    }
    for (const RadioCarrier& c : config.ingress) sum += square_volts(d, c);
    return sum;
  }

  Receiver receiver(Direction d, std::uint64_t numerator, std::uint64_t denominator, const Random& noise,
                    const Random& impulses) const {
    const FrontEnd& f = config.front_end;
    const double volts = f.full_scale_volts / 32768;
    const double gain = 32768 * power(10, f.receive_rms_dbfs / 20) / std::sqrt(received_power(d));
    const double rate = rate_hz(d);
    const auto late = [](double hz) {
      const SinCos w = sincos_turns(-hz * kLatencyS);
      return std::complex<double>(w.cos, w.sin);
    };
    // Its last inputs are about 0.5 ms old, upstream 1 ms.
    const std::size_t taps = d == Direction::kUp ? 256 : 512 * (config.downstream_hz / 1'104'000);
    std::optional<Path> echo;
    if (hears_itself()) {
      const auto sees = [&](double hz) { return volts * gain * echo_response(d, hz) * late(hz); };
      if (d == Direction::kDown) {
        echo.emplace(sees, kUpstreamHz, 128, 1, ratio);
      } else {
        echo.emplace(sees, config.downstream_hz, 512 * (config.downstream_hz / 1'104'000), ratio, 1);
      }
    }
    const auto until_disturbed = static_cast<std::uint64_t>(std::llround(config.disturbers_from_s * rate));
    std::optional<GaussianNoise> quiet;
    if (until_disturbed > 0)
      quiet.emplace(noise, rate, [&](double hz) { return gain * gain * noise_psd(d, hz, false); });
    return {
        gain,
        Path([&](double hz) { return volts * gain * response(d, hz) * late(hz); }, rate, taps, numerator, denominator),
        std::move(echo),
        std::move(quiet),
        GaussianNoise(noise, rate, [&](double hz) { return gain * gain * noise_psd(d, hz); }),
        RadioIngress(config.ingress, rate,
                     [&](const RadioCarrier& c) { return gain * std::sqrt(2 * square_volts(d, c)); }),
        until_disturbed,
        LoopImpulses(impulses, rate, config.impulse_rate_hz, config.impulse_volts * gain),
        Converter(f.bits)};
  }

  /// One sample of the near end, and the far end's work until it has received it.
  void send_near(std::int16_t sample) {
    const float x = converter(sample);
    at_far.from_far.push(x);
    if (near.echo) near.echo->push(x);
    while (at_far.from_far.ready()) {
      heard[heard_count++] = at_far.next();
      if (heard_count == heard.size()) {
        heard_count = 0;
        far.process(far.self, heard.data(), sent.data(), kFarBlock);
        send_far_block();
      }
    }
  }
  void send_far_block() {
    for (const std::int16_t s : sent) {
      const float x = converter(s);
      near.from_far.push(x);
      if (at_far.echo) at_far.echo->push(x);
    }
  }

  const LoopConfig config;
  const std::uint32_t ratio;
  const Direction near_direction, far_direction;  // of the signal received there
  const oh_pump far;
  const Converter converter;
  Receiver near, at_far;
  const std::size_t near_rx, far_rx;  // samples of a period
  std::vector<std::int16_t> heard, sent;
  std::size_t heard_count = 0;
};

Loop::Loop(const LoopConfig& config, std::uint64_t seed, const oh_pump& far)
    : impl_(std::make_unique<Impl>(config, seed, far)) {}
Loop::~Loop() = default;

void Loop::exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
  Impl& i = *impl_;
  for (std::size_t period = 0; period < n; ++period) {
    for (std::size_t k = 0; k < i.far_rx; ++k) i.send_near(*played++);
    for (std::size_t k = 0; k < i.near_rx; ++k) *captured++ = i.near.next();
  }
}

std::complex<double> Loop::gain(Direction direction, double hz) const {
  const auto& r = direction == impl_->near_direction ? impl_->near : impl_->at_far;
  return impl_->config.front_end.full_scale_volts / 32768 * r.gain * impl_->response(direction, hz);
}

double Loop::noise_psd(Direction direction, double hz) const {
  const auto& r = direction == impl_->near_direction ? impl_->near : impl_->at_far;
  return r.gain * r.gain * impl_->noise_psd(direction, hz);
}

std::uint64_t Loop::impulses() const {
  return impl_->near.impulses.impulses() + impl_->at_far.impulses.impulses();
}

}  // namespace offhook::hostsim
