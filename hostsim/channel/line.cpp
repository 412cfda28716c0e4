// SPDX-License-Identifier: MIT
#include "hostsim/channel/line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"
#include "hostsim/channel/channel.h"
#include "hostsim/channel/g711.h"
#include "hostsim/channel/gateway.h"
#include "hostsim/channel/impairments.h"
#include "hostsim/channel/noise.h"
#include "hostsim/channel/resampler.h"
#include "hostsim/channel/sample.h"
#include "hostsim/channel/vector.h"

namespace offhook::hostsim {
namespace {

constexpr std::size_t kBlock = Line::kFarBlock;
static_assert(kBlock == 8, "fir8");
static_assert(2 * Resampler::kDelay % kBlock == 0, "reflections");
constexpr double kSampleRate = kLineRateHz;

/// The streams of the line's random numbers, different from those of all other modules.
enum Stream : std::uint64_t {
  kNearNoise = 0x6c696e65'00000000,  // "line"
  kFarNoise,
  kNearImpulses,
  kFarImpulses
};

using Block = std::array<float, kBlock>;

enum class Law { kNone, kA, kMu };

/// One G.711 codec pair: encode, rob a bit, decode.
class Codec {
 public:
  Codec(Law law, bool robbed_bit) : law_(law), robbed_bit_(robbed_bit) {}

  float operator()(float x) {
    if (law_ == Law::kNone) return x;
    const std::int16_t linear = to_int16(x);
    std::uint8_t octet = law_ == Law::kA ? a_law_encode(linear) : mu_law_encode(linear);
    if (robbed_bit_ && ++frame_ == 6) {
      frame_ = 0;
      octet |= 1;  // the signalling bit off hook
    }
    return law_ == Law::kA ? a_law_decode(octet) : mu_law_decode(octet);
  }

 private:
  Law law_;
  bool robbed_bit_;
  int frame_ = 0;
};

/// The line's first block that does not begin before this time.
std::uint64_t block_at(double seconds) {
  return static_cast<std::uint64_t>(std::ceil(seconds * kSampleRate / kBlock));
}

/// Delay, channel filter, frequency shift, phase jitter, interruption, loss and impairments of one direction.
class Direction {
 public:
  Direction(const ChannelFilter& filter, std::size_t delay, const LineConfig& c)
      : filter_(filter),
        delay_(delay),
        loss_(static_cast<float>(db_to_gain(-c.loss_db))),
        slip_(static_cast<std::ptrdiff_t>(std::lround(c.slip_ms * kSampleRate / 1000))),
        slip_block_(slip_ == 0 ? kNever : block_at(c.slip_at_s)),
        silent_from_(c.interruption_ms > 0 ? block_at(c.interruption_at_s) : kNever),
        silent_blocks_(block_at(c.interruption_ms / 1000)),
        jitter_turns_(c.phase_jitter_deg / 720),
        jitter_step_(c.phase_jitter_hz / kSampleRate),
        hits_(c),
        hit_gain_(static_cast<float>(db_to_gain(c.gain_hit_db))),
        hit_turns_(c.phase_hit_deg / 360),
        limit_(static_cast<float>(dbm0_to_peak(c.limit_dbm0))),
        wander_(c) {
    history_ = delay_ + static_cast<std::size_t>(std::max<std::ptrdiff_t>(slip_, 0)) + kChannelTaps + kBlock;
    buffer_.assign(2 * history_ + 4096, 0);
    end_ = history_;
    if (c.frequency_offset_hz != 0 || jitter_turns_ != 0 || hit_turns_ != 0) {
      const double turns = c.frequency_offset_hz / kSampleRate;
      shift_ = Shift{};
      // The phase is an integer share of a turn and wraps exactly, so it does not drift.
      shift_->step = static_cast<std::uint64_t>(static_cast<std::int64_t>(turns * 0x1p62)) << 2;
      for (std::size_t i = 0; i < kBlock; ++i) {
        const SinCos w = sincos_turns(turns * static_cast<double>(i));
        shift_->cos[i] = static_cast<float>(w.cos);
        shift_->sin[i] = static_cast<float>(w.sin);
      }
    }
  }

  void push(const Block& x) {
    if (end_ + kBlock > buffer_.size()) {
      const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(end_);
      std::copy(end - static_cast<std::ptrdiff_t>(history_), end, buffer_.begin());
      end_ = history_;
    }
    std::copy(x.begin(), x.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(end_));
    end_ += kBlock;
  }

  /// The next block of output. Its first sample is the input `delay` + kChannelDelay - `ahead` samples before the
  /// newest block's first.  @pre delay >= ahead
  Block pull(std::size_t ahead) {
    const std::uint64_t block = block_++;
    if (block == slip_block_) delay_ = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(delay_) + slip_);
    const bool silent = block - silent_from_ < silent_blocks_ && block >= silent_from_;
    const float* x = &buffer_[end_ - kBlock + ahead - delay_];
    Block y;
    fir8(filter_.in_phase.data(), kChannelTaps, x, y.data());
    if (shift_) {
      Block q;
      fir8(filter_.quadrature.data(), kChannelTaps, x, q.data());
      const double turns = static_cast<double>(shift_->phase >> 11) * 0x1p-53;
      const SinCos w = sincos_turns(turns);
      auto c = static_cast<float>(w.cos), s = static_cast<float>(w.sin);
      for (std::size_t i = 0; i < kBlock; ++i) {
        if (jitter_turns_ != 0 || hit_turns_ != 0) {
          const double hit = hits_.at(block * kBlock + i) ? hit_turns_ : 0;
          const SinCos jittered = sincos_turns(wrapped(turns + jitter(block * kBlock + i) + hit));
          c = static_cast<float>(jittered.cos), s = static_cast<float>(jittered.sin);
        }
        y[i] = y[i] * (c * shift_->cos[i] - s * shift_->sin[i]) - q[i] * (s * shift_->cos[i] + c * shift_->sin[i]);
      }
      shift_->phase += shift_->step * kBlock;
    }
    for (float& v : y) v *= silent ? 0 : loss_;
    for (std::size_t i = 0; i < kBlock; ++i) {
      if (hits_.at(block * kBlock + i)) y[i] *= hit_gain_;
      y[i] = wander_.process(std::clamp(y[i], -limit_, limit_));
    }
    return y;
  }

 private:
  static double wrapped(double turns) { return turns - std::floor(turns); }
  double jitter(std::uint64_t sample) const {
    return jitter_turns_ * sincos_turns(wrapped(jitter_step_ * static_cast<double>(sample))).sin;
  }

  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Shift {
    std::uint64_t phase = 0;  // 2^64 to the turn
    std::uint64_t step = 0;
    Block cos, sin;  // of the samples of one block, starting with its first
  };
  const ChannelFilter& filter_;
  std::size_t delay_;
  float loss_;
  std::uint64_t block_ = 0;
  std::ptrdiff_t slip_;  // increase of delay_ in slip_block_, in samples
  std::uint64_t slip_block_;
  std::uint64_t silent_from_;
  std::uint64_t silent_blocks_;
  double jitter_turns_;  // peak, and
  double jitter_step_;   // turns of its sine per sample
  Hits hits_;
  float hit_gain_;
  double hit_turns_;
  float limit_;
  Wander wander_;
  std::size_t history_;
  std::vector<float> buffer_;
  std::size_t end_;
  std::optional<Shift> shift_;
};

/// Everything that a modem receives at its own end: its near echo, noise, impulses, DC and hum. A level of -200 or less
/// is silence.
class Receiver {
 public:
  Receiver(const LineConfig& config, const Random& noise, const Random& impulses)
      : echo_(static_cast<float>(db_to_gain(-config.near_echo_db))), hum_(config) {
    if (config.noise_dbm0 > -200) noise_.emplace(noise, config.noise_dbm0);
    if (config.impulse_rate_hz > 0) impulses_.emplace(impulses, config.impulse_rate_hz, config.impulse_dbm0);
  }

  float noise() {
    return (noise_ ? noise_->next() : 0) + (impulses_ ? impulses_->next() : 0) + (hum_.any() ? hum_.next() : 0);
  }

  /// Returns the next sample of the near echo, and takes the next sent sample; its echo comes kEchoDelay samples later.
  float echo() { return echo_ * sent_[read_++ % Line::kEchoDelay]; }
  void send(std::int16_t x) { sent_[written_++ % Line::kEchoDelay] = x; }

 private:
  float echo_;
  std::array<std::int16_t, Line::kEchoDelay> sent_{};
  std::size_t read_ = 0;
  std::size_t written_ = 0;
  std::optional<WhiteNoise> noise_;
  std::optional<ImpulseNoise> impulses_;
  Hum hum_;
};

void require(bool good, const char* field, double value, const std::string& expected) {
  if (!good)
    throw std::invalid_argument("line." + std::string(field) + " = " + std::to_string(value) + ": expected " +
                                expected);
}

Law law_of(const std::string& name) {
  if (name == "none") return Law::kNone;
  if (name == "a-law") return Law::kA;
  if (name == "mu-law") return Law::kMu;
  throw std::invalid_argument("line.codec = \"" + name + "\": expected \"none\", \"a-law\" or \"mu-law\"");
}

std::size_t delay_of(const LineConfig& c) {
  if (c.delay_ms == 0) return Line::least_delay();
  return static_cast<std::size_t>(c.delay_ms * kSampleRate / 1000 + 0.5);
}

const LineConfig& checked(const LineConfig& c) {
  const auto within = [](double v, double low, double high) { return v >= low && v <= high; };  // false for NaN
  require(within(c.loss_db, -20, 100), "loss_db", c.loss_db, "-20 to 100");
  require(within(c.near_echo_db, 0, 400), "near_echo_db", c.near_echo_db, "0 to 400");
  require(within(c.far_echo_db, 0, 400), "far_echo_db", c.far_echo_db, "0 to 400");
  require(c.loss_db + c.far_echo_db >= 3, "far_echo_db", c.far_echo_db,
          "with loss_db at least 3, because less makes the line oscillate");
  const double least_ms = static_cast<double>(Line::least_delay()) * 1000 / kSampleRate;
  require(c.delay_ms == 0 || within(c.delay_ms, least_ms, 10'000), "delay_ms", c.delay_ms,
          "0 (the least), or " + std::to_string(least_ms) + " to 10000");
  require(within(c.noise_dbm0, -400, 3), "noise_dbm0", c.noise_dbm0, "-400 to 3");
  require(within(c.impulse_rate_hz, 0, 1000), "impulse_rate_hz", c.impulse_rate_hz, "0 to 1000");
  require(within(c.impulse_dbm0, -400, 3), "impulse_dbm0", c.impulse_dbm0, "-400 to 3");
  require(within(c.frequency_offset_hz, -100, 100), "frequency_offset_hz", c.frequency_offset_hz, "-100 to 100");
  require(within(c.phase_jitter_deg, 0, 90), "phase_jitter_deg", c.phase_jitter_deg, "0 to 90");
  require(within(c.phase_jitter_hz, 0, 300), "phase_jitter_hz", c.phase_jitter_hz, "0 to 300");
  require(within(c.interruption_ms, 0, 60'000), "interruption_ms", c.interruption_ms, "0 to 60000");
  require(within(c.interruption_at_s, 0, 1e6), "interruption_at_s", c.interruption_at_s, "0 to 1000000");
  const double spare_ms = static_cast<double>(delay_of(c)) * 1000 / kSampleRate - least_ms;
  require(within(c.slip_ms, -spare_ms, 1000), "slip_ms", c.slip_ms,
          std::to_string(-spare_ms) + " (as delay_ms is) to 1000");
  require(within(c.slip_at_s, 0, 1e6), "slip_at_s", c.slip_at_s, "0 to 1000000");
  require(within(c.upper_edge_hz, 1000, kUpperEdgeHz), "upper_edge_hz", c.upper_edge_hz, "1000 to 3400");
  require(within(c.steep_edge_hz, 0, 3800), "steep_edge_hz", c.steep_edge_hz, "0 (none) to 3800");
  require(within(c.limit_dbm0, -60, 20), "limit_dbm0", c.limit_dbm0, "-60 to 20");
  require(within(c.dc_percent, -50, 50), "dc_percent", c.dc_percent, "-50 to 50");
  require(within(c.hum_dbm0, -400, 3), "hum_dbm0", c.hum_dbm0, "-400 to 3");
  require(within(c.hum_hz, 10, 500), "hum_hz", c.hum_hz, "10 to 500");
  require(within(c.gain_hit_db, -40, 20), "gain_hit_db", c.gain_hit_db, "-40 to 20");
  require(within(c.phase_hit_deg, -180, 180), "phase_hit_deg", c.phase_hit_deg, "-180 to 180");
  require(within(c.hit_at_s, 0, 1e6), "hit_at_s", c.hit_at_s, "0 to 1000000");
  require(within(c.hit_ms, 0, 1e6), "hit_ms", c.hit_ms, "0 to 1000000");
  require(within(c.hit_period_s, 0, 1e6), "hit_period_s", c.hit_period_s, "0 to 1000000");
  require(within(c.wander_ppm, -200, 200), "wander_ppm", c.wander_ppm, "-200 to 200");
  require(within(c.wander_hz, 0.01, 10), "wander_hz", c.wander_hz, "0.01 to 10");
  require(c.tandem_codecs <= 8, "tandem_codecs", c.tandem_codecs, "0 to 8");
  require(within(c.suppressor_db, 0, 100), "suppressor_db", c.suppressor_db, "0 (none) to 100");
  require(within(c.vad_dbm0, -200, 3), "vad_dbm0", c.vad_dbm0, "-200 (none) to 3");
  require(within(c.comfort_noise_dbm0, -200, 3), "comfort_noise_dbm0", c.comfort_noise_dbm0, "-200 to 3");
  require(c.packet_ms == 0 || within(c.packet_ms, 1, 100), "packet_ms", c.packet_ms, "0 (none), or 1 to 100");
  require(within(c.packet_loss, 0, 1), "packet_loss", c.packet_loss, "0 to 1");
  require(c.packet_loss == 0 || c.packet_ms > 0, "packet_loss", c.packet_loss, "0 without packet_ms");
  require(within(c.call_waiting_at_s, 0, 1e6), "call_waiting_at_s", c.call_waiting_at_s, "0 (never) to 1000000");
  require(within(c.call_waiting_ms, 1, 10'000), "call_waiting_ms", c.call_waiting_ms, "1 to 10000");
  if (c.concealment != "repeat" && c.concealment != "fade" && c.concealment != "silence")
    throw std::invalid_argument("line.concealment = \"" + c.concealment +
                                "\": expected \"repeat\", \"fade\" or \"silence\"");
  if (c.far_digital && Gateway::is_in(c))
    throw std::invalid_argument("line.far_digital cannot be combined with the keys of a gateway");
  require(within(c.clock_ppm, -1000, 1000), "clock_ppm", c.clock_ppm, "-1000 to 1000");
  if ((c.robbed_bit || c.far_digital) && law_of(c.codec) == Law::kNone)
    throw std::invalid_argument(
        "line.robbed_bit and line.far_digital: expected line.codec to be \"a-law\" or \"mu-law\"");
  return c;
}

/// Ticks of the near and the far clock in the same time, with clock_ppm exact to a billionth.
constexpr std::uint64_t kNearTicks = 1'000'000'000;
std::uint64_t far_ticks(double ppm) {
  return kNearTicks + static_cast<std::uint64_t>(static_cast<std::int64_t>(ppm * 1000 + (ppm < 0 ? -0.5 : 0.5)));
}

}  // namespace

struct Line::Impl {
  Impl(const LineConfig& config, std::uint64_t seed, FarEnd& far_end)
      : far(far_end),
        digital(config.far_digital),
        delay(delay_of(config)),
        hybrid(static_cast<float>(db_to_gain(-config.far_echo_db))),
        filter(design_channel(with_steep_edge(
            with_upper_edge(channel_characteristic(config.channel), config.upper_edge_hz), config.steep_edge_hz))),
        to_network(kNearTicks, far_ticks(config.clock_ppm)),
        from_network(far_ticks(config.clock_ppm), kNearTicks),
        // Both resamplers delay by kDelay; a direction's filter by kChannelDelay.
        forward(filter, delay - kChannelDelay - Resampler::kDelay, config),
        backward(filter, delay - kChannelDelay - Resampler::kDelay, config),
        forward_codec(law_of(config.codec), config.robbed_bit),
        backward_codec(law_of(config.codec), config.robbed_bit),
        near_receiver(config, Random(seed, kNearNoise), Random(seed, kNearImpulses)),
        far_receiver(config, Random(seed, kFarNoise), Random(seed, kFarImpulses)) {
    if (Gateway::is_in(config)) gateway.emplace(config, seed);
    arrive();
  }

  /// The signal at the near end's network hybrid during the next block, which was all sent in earlier blocks.
  void arrive() {
    at_near_hybrid = backward.pull(kBlock);
    for (float v : at_near_hybrid) from_network.push(v);
  }

  /// One block of the network: `sent` was received from the near end.
  void run_block() {
    // The near end's samples pass through two resamplers in each direction, so the reflection is delayed equally.
    Block& reflected = reflections[block++ % reflections.size()];
    Block x;
    for (std::size_t i = 0; i < kBlock; ++i) x[i] = sent[i] + hybrid * reflected[i];
    reflected = at_near_hybrid;
    forward.push(x);
    Block y = forward.pull(0);
    std::array<std::int16_t, kBlock> rx, tx;
    if (digital) {
      for (std::size_t i = 0; i < kBlock; ++i) rx[i] = to_int16(forward_codec(y[i] + far_receiver.noise()));
    } else {
      for (float& v : y) v = forward_codec(v);
      for (std::size_t i = 0; i < kBlock && gateway; ++i) y[i] = gateway->process(Gateway::kToFar, y[i]);
      for (std::size_t i = 0; i < kBlock; ++i) rx[i] = to_int16(y[i] + far_receiver.echo() + far_receiver.noise());
    }
    far.process(rx.data(), tx.data(), kBlock);
    for (std::size_t i = 0; i < kBlock; ++i) {
      far_receiver.send(tx[i]);
      x[i] = backward_codec(digital ? tx[i] : tx[i] + hybrid * y[i]);
      if (gateway) x[i] = gateway->process(Gateway::kToNear, x[i]);
    }
    backward.push(x);
    arrive();
  }

  FarEnd& far;
  const bool digital;
  const std::size_t delay;
  const float hybrid;
  const ChannelFilter filter;
  Resampler to_network;
  Resampler from_network;
  Direction forward;
  Direction backward;
  Codec forward_codec;
  Codec backward_codec;
  std::optional<Gateway> gateway;
  Receiver near_receiver;
  Receiver far_receiver;
  Block sent{};
  std::size_t filled = 0;  // of `sent`
  Block at_near_hybrid{};
  std::array<Block, 2 * Resampler::kDelay / kBlock> reflections{};
  std::size_t block = 0;
};

std::size_t Line::least_delay() {
  return kChannelDelay + Resampler::kDelay + kFarBlock;
}

Line::Line(const LineConfig& config, std::uint64_t seed, FarEnd& far)
    : impl_(std::make_unique<Impl>(checked(config), seed, far)) {}

Line::~Line() = default;

void Line::exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
  Impl& l = *impl_;
  for (std::size_t i = 0; i < n; ++i) {
    l.to_network.push(played[i]);
    while (l.to_network.ready()) {
      l.sent[l.filled++] = l.to_network.pull();
      if (l.filled == kBlock) {
        l.filled = 0;
        l.run_block();
      }
    }
    captured[i] = to_int16(l.from_network.pull() + l.near_receiver.echo() + l.near_receiver.noise());
    l.near_receiver.send(played[i]);
  }
}

std::size_t Line::delay_samples() const {
  return impl_->delay;
}

}  // namespace offhook::hostsim
