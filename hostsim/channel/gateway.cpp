// SPDX-License-Identifier: MIT
#include "hostsim/channel/gateway.h"

#include <cmath>

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"
#include "hostsim/channel/g711.h"
#include "hostsim/channel/sample.h"

namespace offhook::hostsim {
namespace {

constexpr std::size_t ms(double t) {
  return static_cast<std::size_t>(t * kLineRateHz / 1000);
}

// All values are assumptions of this project.
constexpr float kLevelMemory = 1 / 160.f;  // 20 ms
constexpr double kTalkDbm0 = -35;          // the level above which the louder direction suppresses the other
constexpr std::size_t kSuppressorHold = ms(100);
constexpr std::size_t kHangover = ms(200);  // of the detection of voice activity
constexpr float kToneMs = 400;              // duration of 2100 Hz until it disables
constexpr double kSilentDbm0 = -36;
constexpr std::size_t kSilent = ms(250);  // silence of both directions until disabled functions work again
constexpr double kWaitingHz = 440, kWaitingDbm0 = -13;
constexpr std::size_t kWaitingEvery = ms(10'000);

enum Stream : std::uint64_t {
  kLossesToFar = 0x67617465'00000000,  // "gate"
  kLossesToNear,
  kComfortToFar,
  kComfortToNear
};

float mean_square(double dbm0) {
  const double rms = dbm0_to_rms(dbm0);
  return static_cast<float>(rms * rms);
}

}  // namespace

bool Gateway::is_in(const LineConfig& c) {
  return c.tandem_codecs > 0 || c.suppressor_db > 0 || c.vad_dbm0 > -200 || c.packet_ms > 0 || c.call_waiting_at_s > 0;
}

Gateway::Gateway(const LineConfig& c, std::uint64_t seed)
    : config_(c),
      suppressed_(static_cast<float>(db_to_gain(-c.suppressor_db))),
      talk_(mean_square(kTalkDbm0)),
      least_(mean_square(c.vad_dbm0)),
      silence_(mean_square(kSilentDbm0)),
      losses_{Random(seed, kLossesToFar), Random(seed, kLossesToNear)} {
  for (std::size_t k = 0; k < paths_.size(); ++k) {
    Path& path = paths_[k];
    path.arriving.assign(ms(c.packet_ms), 0);
    path.playing = path.arriving;
    path.comfort_noise = std::make_unique<WhiteNoise>(Random(seed, kComfortToFar + k), c.comfort_noise_dbm0);
  }
}

float Gateway::process(Direction direction, float x) {
  Path &path = paths_[direction], &other = paths_[1 - direction];
  x = tandem(x);
  path.power += kLevelMemory * (x * x - path.power);
  path.answer_tone.put(x);
  follow_tone(path);
  if (config_.suppressor_db > 0 && !disabled_) x = suppress(path, other, x);
  if (config_.vad_dbm0 > -200 && !disabled_) x = gate(path, x);
  if (!path.arriving.empty()) x = packetise(direction, path, x);
  return direction == kToNear ? interrupt(x) : x;
}

// 2100 Hz, with or without reversals, disables; silence of both directions enables.
void Gateway::follow_tone(Path& path) {
  if (config_.tone_disabling && path.answer_tone.steady_ms() >= kToneMs) disabled_ = true;
  const bool quiet = paths_[0].power < silence_ && paths_[1].power < silence_;
  silent_ = quiet ? silent_ + 1 : 0;
  if (silent_ > 2 * kSilent) disabled_ = false;  // both directions count
}

float Gateway::tandem(float x) const {
  for (std::uint32_t k = 0; k < config_.tandem_codecs; ++k) {
    const std::int16_t linear = to_int16(x);
    x = k % 2 == 0 ? a_law_decode(a_law_encode(linear)) : mu_law_decode(mu_law_encode(linear));
  }
  return x;
}

float Gateway::suppress(Path& path, const Path& other, float x) {
  if (other.power > talk_ && other.power > path.power) path.held = kSuppressorHold;
  if (path.held == 0) return x;
  --path.held;
  return suppressed_ * x;
}

float Gateway::gate(Path& path, float x) {
  const float noise = path.comfort_noise->next();
  if (path.power > least_) path.hangover = kHangover;
  if (path.hangover == 0) return noise;
  --path.hangover;
  return x;
}

// A packet is played while the next one arrives.
float Gateway::packetise(Direction direction, Path& path, float x) {
  const float out = path.playing[path.at];
  path.arriving[path.at] = x;
  if (++path.at < path.arriving.size()) return out;
  path.at = 0;
  const bool lost = losses_[direction].uniform(path.packets++) < config_.packet_loss;
  if (!lost) {
    path.fade = 1;
    path.playing = path.arriving;
  } else if (config_.concealment == "silence") {
    for (float& v : path.playing) v = 0;
  } else if (config_.concealment == "fade") {
    for (float& v : path.playing) v *= 0.5f;
  }
  return out;
}

float Gateway::interrupt(float x) {
  const auto from = static_cast<std::uint64_t>(config_.call_waiting_at_s * kLineRateHz);
  const std::uint64_t now = now_++;
  if (from == 0 || now < from || (now - from) % kWaitingEvery >= ms(config_.call_waiting_ms)) return x;
  tone_turns_ += kWaitingHz / kLineRateHz;
  tone_turns_ -= std::floor(tone_turns_);
  return static_cast<float>(dbm0_to_peak(kWaitingDbm0) * sincos_turns(tone_turns_).sin);
}

}  // namespace offhook::hostsim
