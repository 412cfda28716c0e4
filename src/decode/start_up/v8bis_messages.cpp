// SPDX-License-Identifier: MIT
#include "src/decode/start_up/v8bis_messages.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "src/decode/line/high_passed.h"
#include "src/decode/modulation/v21_frames.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {
namespace {

constexpr double kTransactionTimeOutS = 5;  // V.8bis 9.8
constexpr std::uint8_t kFaxAddress = 0xFF;  // of T.30's frames, which are no messages
constexpr double kPreambleS = 0.2;          // mark and flags, 7.2.4 and 7.2.5

double rms_peak(std::span<const float> x, double t0, double t1) {
  const auto a = static_cast<std::size_t>(std::max(0.0, t0) * kRateHz);
  const auto b = std::min(x.size(), static_cast<std::size_t>(std::max(0.0, t1) * kRateHz));
  double sum = 0;
  for (std::size_t i = a; i < b; ++i) sum += static_cast<double>(x[i]) * x[i];
  return b > a ? std::sqrt(2 * sum / static_cast<double>(b - a)) : 0;
}

}  // namespace

std::vector<V8bisMessage> v8bis_messages(const Recording& r, const std::vector<V8bisSignal>& signals) {
  std::vector<V8bisMessage> all;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    const std::span<const float> x = r.samples(c);
    const std::vector<float> voice = high_passed(x);
    for (const bool high : {false, true}) {
      for (V21Frame& f : v21_frames(voice, high).frames) {
        if (f.octets[0] == kFaxAddress) continue;
        V8bisMessage m;
        m.t = f.t;
        m.octets = std::move(f.octets);
        m.fcs = f.fcs;
        m.fcs_good = f.fcs_good;
        m.malformed = v8bis::parse(m.octets.data(), static_cast<int>(m.octets.size()), &m.message);
        m.channel = static_cast<int>(c);
        m.high_band = high;
        m.amplitude = rms_peak(x, m.t, m.t + static_cast<double>(m.octets.size()) * 8 / 300);
        all.push_back(std::move(m));
      }
    }
  }
  const auto expected = [&](const V8bisMessage& m) {
    const auto follows = [&m](double t) { return m.t > t && m.t < t + kTransactionTimeOutS; };
    return std::any_of(signals.begin(), signals.end(), [&](const auto& o) { return follows(o.t0); }) ||
           std::any_of(all.begin(), all.end(), [&](const auto& o) { return o.fcs_good && follows(o.t); });
  };
  // The stations alternate: a bad frame at the time of a good message is its echo, or its noise in the other band.
  const auto beside_good = [&](const V8bisMessage& m) {
    return std::any_of(all.begin(), all.end(), [&](const auto& o) {
      const double end = o.t + static_cast<double>(o.octets.size() + 4) * 8 / 300;
      const double echo = o.channel != m.channel ? 0.3 : 0;
      return o.fcs_good && m.t > o.t - kPreambleS && m.t < end + echo;
    });
  };
  std::vector<V8bisMessage> kept = all;
  drop_echoes(kept, [](const V8bisMessage& m, const V8bisMessage& of) {
    return of.octets == m.octets && of.amplitude > m.amplitude && std::abs(of.t - m.t) < 0.4;
  });
  std::erase_if(kept, [&](const V8bisMessage& m) { return !m.fcs_good && (!expected(m) || beside_good(m)); });
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return kept;
}

std::string V8bisMessage::type() const {
  const char* known = v8bis::type_name(message.type);
  return known != nullptr ? known : "message type " + std::to_string(message.type);
}

}  // namespace offhook::decode
