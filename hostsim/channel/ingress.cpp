// SPDX-License-Identifier: MIT
#include "hostsim/channel/ingress.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>

#include "dsp/blocks/sincos.h"

namespace offhook::hostsim {
namespace {

constexpr double kLeastKhz = 1, kMostKhz = 30'000, kLeastDbm = -200, kMostDbm = 0;
constexpr std::size_t kMostCarriers = 16;

std::complex<double> turned_by(double turns) {
  const SinCos w = sincos_turns(turns);
  return {w.cos, w.sin};
}

bool read(std::string_view* text, double* value) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return true;
}

std::string range(double least, double most) {
  return std::to_string(std::lround(least)) + " to " + std::to_string(std::lround(most));
}

}  // namespace

std::vector<RadioCarrier> ingress_named(std::string_view text) {
  std::vector<RadioCarrier> all;
  for (std::string_view left = text; !left.empty();) {
    std::string_view one = left.substr(0, left.find(','));
    const std::string_view whole = one;
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    double khz = 0, dbm = 0;
    bool good = read(&one, &khz) && one.starts_with(':');
    if (good) one.remove_prefix(1);
    good = good && read(&one, &dbm) && one.empty();
    good = good && khz >= kLeastKhz && khz <= kMostKhz && dbm >= kLeastDbm && dbm <= kMostDbm;  // no NaN
    if (!good || all.size() == kMostCarriers) {
      throw std::invalid_argument("ingress \"" + std::string(text) + "\": \"" + std::string(whole) +
                                  "\": expected as \"540:-60, 621:-70\", kHz (" + range(kLeastKhz, kMostKhz) +
                                  ") and dBm (" + range(kLeastDbm, kMostDbm) + "), at most " +
                                  std::to_string(kMostCarriers));
    }
    all.push_back({1e3 * khz, dbm});
  }
  return all;
}

RadioIngress::RadioIngress(const std::vector<RadioCarrier>& carriers, double rate_hz,
                           const std::function<double(const RadioCarrier&)>& amplitude) {
  for (const RadioCarrier& c : carriers) {
    const double tone_hz = kToneHz + kToneStepHz * static_cast<double>(sources_.size());
    sources_.push_back({amplitude(c), {{1, 0}, turned_by(c.hz / rate_hz)}, {{1, 0}, turned_by(tone_hz / rate_hz)}});
  }
}

float RadioIngress::next() {
  double y = 0;
  for (Source& s : sources_) y += s.amplitude * (1 + kDepth * s.tone.next()) * s.carrier.next();
  return static_cast<float>(y);
}

}  // namespace offhook::hostsim
