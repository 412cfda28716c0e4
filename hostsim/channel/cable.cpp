// SPDX-License-Identifier: MIT
#include "hostsim/channel/cable.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "dsp/blocks/sincos.h"
#include "hostsim/engine/random.h"

namespace offhook::hostsim {
namespace {

using C = std::complex<double>;

struct Fit {
  double r0, ac;         // ohm/km, (ohm/km)^4/Hz^2
  double l0, li, fm, b;  // H/km, H/km, Hz
  double c, g0, ge;      // F/km, S/km
};
constexpr Fit kFits[] = {
    {174.55888, 0.053073481, 617.29539e-6, 478.97099e-6, 553.760e3, 1.1529766, 50e-9, 234.87476e-15, 1.38},
    {286.17578, 0.14769620, 675.36888e-6, 488.95186e-6, 806.33863e3, 0.92930728, 49e-9, 43e-9, 0.70},
};

/// The square root in the right half plane. std::sqrt(complex) calls hypot.
C root(C z) {
  const double size = std::sqrt(z.real() * z.real() + z.imag() * z.imag());
  const double re = std::sqrt((size + std::abs(z.real())) / 2);
  if (re == 0) return 0;
  const double im = std::abs(z.imag()) / (2 * re);
  const double sign = z.imag() < 0 ? -1 : 1;
  return z.real() >= 0 ? C(re, sign * im) : C(im, sign * re);
}

struct TwoPort {
  C a = 1, b = 0, c = 0, d = 1;
};
TwoPort operator*(const TwoPort& x, const TwoPort& y) {
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}

TwoPort two_port(const CableSection& s, double hz) {
  const CableConstants k = cable_constants(s.gauge, hz);
  const C x = k.gamma * (s.kft * kKmPerKft), e = complex_exp(x), i = complex_exp(-x);
  const C cosh = (e + i) / 2.0, sinh = (e - i) / 2.0;
  if (s.bridged) return {1, 0, sinh / cosh / k.ohms, 1};
  return {cosh, k.ohms * sinh, sinh / k.ohms, cosh};
}

struct Named {
  const char* name;
  const char* sections;
};
// Source: T1.413 (CSA loops), T1.601 (7, 13)
constexpr Named kNamed[] = {
    {"CSA 4", "26:0.55 26/0.4 26:6.25 26/0.8 26:0.8"},
    {"CSA 6", "26:9"},
    {"CSA 7", "24:10.7 24/0.8"},
    {"CSA 8", "24:12"},
    {"T1.601 7", "26:13.5"},
    {"T1.601 13", "26:9 24:2 24/0.5 24:0.5 24/0.5"},
    {"15 kft 26", "26:15"},
    {"16 kft 26", "26:16"},
    {"18 kft 26", "26:18"},
    {"18 kft 24", "24:18"},
};

}  // namespace

C complex_exp(C z) {
  const SinCos w = sincos_turns(z.imag() / (2 * kPi));
  const double size = natural_exp(z.real());
  return {size * w.cos, size * w.sin};
}

double power(double x, double y) {
  return natural_exp(y * natural_log(x));
}

CableConstants cable_constants(Gauge gauge, double hz) {
  const Fit& k = kFits[gauge == Gauge::kAwg24 ? 0 : 1];
  const double x = power(hz / k.fm, k.b), w = 2 * kPi * hz;
  const C series(std::sqrt(std::sqrt(k.r0 * k.r0 * k.r0 * k.r0 + k.ac * hz * hz)), w * (k.l0 + k.li * x) / (1 + x));
  const C shunt(k.g0 * power(hz, k.ge), w * k.c);
  return {root(series * shunt), root(series / shunt)};
}

C insertion_gain(const Cable& cable, double hz) {
  TwoPort m;
  for (const CableSection& s : cable) m = m * two_port(s, std::max(hz, 1.0));
  constexpr double r = kLoopOhms;
  return 2 * r / (m.a * r + m.b + m.c * (r * r) + m.d * r);
}

double length_kft(const Cable& cable) {
  double sum = 0;
  for (const CableSection& s : cable) sum += s.bridged ? 0 : s.kft;
  return sum;
}

const std::vector<std::string>& cable_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Named& n : kNamed) all.emplace_back(n.name);
    return all;
  }();
  return names;
}

Cable cable_named(std::string_view name) {
  std::string_view left = name;
  for (const Named& n : kNamed) {
    if (name == n.name) left = n.sections;
  }
  if (name == "none") return {};
  Cable cable;
  const auto fail = [&](std::string_view what) {
    std::string names = "none";
    for (const std::string& n : cable_names()) names += ", " + n;
    throw std::invalid_argument(
        "cable \"" + std::string(name) + "\": \"" + std::string(what) + "\" at character " +
        std::to_string(what.data() - name.data() + 1) +
        ": expected sections as 26:9 (AWG 24 or 26, kft up to 100), taps as 24/0.5, or one of " + names);
  };
  if (left.empty()) fail(left);
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    CableSection s;
    if (word.size() < 4 || (word.substr(0, 2) != "24" && word.substr(0, 2) != "26") ||
        (word[2] != ':' && word[2] != '/'))
      fail(word);
    s.gauge = word[1] == '4' ? Gauge::kAwg24 : Gauge::kAwg26;
    s.bridged = word[2] == '/';
    const auto [end, error] = std::from_chars(word.data() + 3, word.data() + word.size(), s.kft);
    if (error != std::errc() || end != word.data() + word.size() || !(s.kft > 0 && s.kft <= 100)) fail(word);
    cable.push_back(s);
    if (cable.size() > 32) fail(word);
  }
  return cable;
}

}  // namespace offhook::hostsim
