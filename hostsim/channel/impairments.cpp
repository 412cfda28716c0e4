// SPDX-License-Identifier: MIT
#include "hostsim/channel/impairments.h"

#include <cmath>

#include "dsp/blocks/level.h"
#include "dsp/blocks/sincos.h"
#include "hostsim/channel/resampler.h"

namespace offhook::hostsim {
namespace {

constexpr double kSampleRate = kLineRateHz;

std::uint64_t samples(double seconds) {
  return static_cast<std::uint64_t>(std::llround(seconds * kSampleRate));
}

double sine(double turns) {
  return sincos_turns(turns - std::floor(turns)).sin;
}

}  // namespace

Hits::Hits(const LineConfig& c)
    : any_(c.gain_hit_db != 0 || c.phase_hit_deg != 0),
      first_(samples(c.hit_at_s)),
      length_(samples(c.hit_ms / 1000)),
      period_(samples(c.hit_period_s)) {}

bool Hits::at(std::uint64_t sample) const {
  if (!any_ || sample < first_) return false;
  std::uint64_t since = sample - first_;
  if (period_ > 0) since %= period_;
  return length_ == 0 || since < length_;
}

Wander::Wander(const LineConfig& c)
    : swing_(c.wander_ppm == 0 ? 0 : c.wander_ppm * 1e-6 * kSampleRate / (2 * kPi * c.wander_hz)),
      step_(c.wander_hz / kSampleRate),
      middle_(std::ceil(std::abs(swing_))) {}

float Wander::process(float x) {
  if (swing_ == 0) return x;
  const std::size_t at = now_ % kKept;
  buffer_[at] = buffer_[at + kKept] = x;
  const double late = middle_ + swing_ * sine(step_ * static_cast<double>(now_));
  const double whole = std::ceil(late);
  ++now_;
  // The value at `late` before the middle of the taps that end `whole` samples ago.
  const std::size_t newest = at + kKept - static_cast<std::size_t>(whole);
  return Resampler::between(&buffer_[newest + 1 - Resampler::kTaps], whole - late);
}

Hum::Hum(const LineConfig& c)
    : dc_(static_cast<float>(c.dc_percent / 100 * 32767)),
      peak_(c.hum_dbm0 > -200 ? static_cast<float>(dbm0_to_peak(c.hum_dbm0)) : 0),
      step_(c.hum_hz / kSampleRate) {}

float Hum::next() {
  if (peak_ == 0) return dc_;
  const double turns = step_ * static_cast<double>(now_++);
  return dc_ + peak_ * static_cast<float>(sine(turns) + 0.5 * sine(3 * turns) + 0.25 * sine(5 * turns));
}

}  // namespace offhook::hostsim
