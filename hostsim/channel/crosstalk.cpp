// SPDX-License-Identifier: MIT
#include "hostsim/channel/crosstalk.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "dsp/blocks/sincos.h"

namespace offhook::hostsim {
namespace {

/// (sin(pi x) / (pi x))^2
double sinc_squared(double x) {
  if (x == 0) return 1;
  const double s = sincos_turns(x / 2).sin / (kPi * x);
  return s * s;
}

double whole_power(double x, int n) {
  double y = 1;
  for (int k = 0; k < n; ++k) y *= x;
  return y;
}

double two_b_one_q(double baud, double volts, double ohms, double corner, int order, double hz) {
  return 1e3 * 5 / 9 * volts * volts / ohms * 2 / baud * sinc_squared(hz / baud) /
         (1 + whole_power(hz / corner, order));
}

struct Word {
  const char* name;
  Service service;
};
constexpr Word kWords[] = {{"ISDN", Service::kIsdn},
                           {"HDSL", Service::kHdsl},
                           {"T1", Service::kT1},
                           {"ADSL-down", Service::kAdslDown},
                           {"ADSL-up", Service::kAdslUp}};

}  // namespace

double transmit_psd(Service service, double hz) {
  switch (service) {
    case Service::kIsdn:
      return two_b_one_q(80e3, 2.5, 111, 80e3, 4, hz);
    case Service::kHdsl:
      return two_b_one_q(392e3, 2.7, 135, 196e3, 8, hz);
    case Service::kT1: {
      const double half = sincos_turns(hz / 1.544e6 / 4).sin;
      return 1e3 * 3.6 * 3.6 / 100 * 2 / 1.544e6 * sinc_squared(hz / 1.544e6) * half * half /
             (1 + whole_power(hz / 3e6, 6)) * hz * hz / (hz * hz + 40e3 * 40e3);
    }
    case Service::kAdslDown:
      return hz >= 32.5 * kAdslToneHz && hz <= 255.5 * kAdslToneHz ? 1e-4 : 0;
    case Service::kAdslUp:
      return hz >= 5.5 * kAdslToneHz && hz <= 31.5 * kAdslToneHz ? power(10, -3.8) : 0;
  }
  return 0;
}

double crosstalk_psd(const Disturbers& d, const Cable& cable, double hz) {
  if (d.count <= 0 || hz <= 0) return 0;
  const double psd = transmit_psd(d.service, hz);
  if (!d.far_end) return psd * 0.8536e-14 * power(d.count, 0.6) * power(hz, 1.5);
  const auto h = insertion_gain(cable, hz);
  return psd * (h.real() * h.real() + h.imag() * h.imag()) * 8e-20 * power(d.count / 49.0, 0.6) * 1000 *
         length_kft(cable) * hz * hz;
}

std::vector<Disturbers> disturbers_named(std::string_view text) {
  std::vector<Disturbers> all;
  const auto fail = [&](std::string_view what) {
    throw std::invalid_argument("disturbers \"" + std::string(text) + "\": \"" + std::string(what) +
                                "\": expected as \"24 ISDN\" or \"10 HDSL FEXT\": 1 to 49 of ISDN, HDSL, T1, "
                                "ADSL-down, ADSL-up");
  };
  for (std::string_view left = text; !left.empty();) {
    std::string_view one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    Disturbers d;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), d.count);
    std::string_view rest = one.substr(static_cast<std::size_t>(end - one.data()));
    if (error != std::errc() || d.count < 1 || d.count > 49 || rest.empty() || rest.front() != ' ') fail(one);
    rest.remove_prefix(1);
    if (rest.ends_with(" FEXT")) {
      d.far_end = true;
      rest.remove_suffix(5);
    }
    const auto* word =
        std::find_if(std::begin(kWords), std::end(kWords), [&](const Word& w) { return rest == w.name; });
    if (word == std::end(kWords)) fail(one);
    d.service = word->service;
    all.push_back(d);
  }
  return all;
}

}  // namespace offhook::hostsim
