// SPDX-License-Identifier: MIT
//
// The twisted pair between an exchange and a customer, as a chain of two-ports: sections of 24 or 26 AWG cable in
// series, and bridged taps of the same, open at their far ends. Each has an ABCD matrix; their product is the transfer
// between 100 ohm and 100 ohm.
//
// Primary constants per kilometre, by the usual fit: R = (r0^4 + ac f^2)^(1/4), L = (l0 + li x) / (1 + x) with
// x = (f / fm)^b, G = g0 f^ge, C constant; 24 and 26 AWG at 70 F.
//
// No libm: the numbers are the same on every machine (hostsim/engine/random.h).
#pragma once

#include <complex>
#include <string>
#include <string_view>
#include <vector>

namespace offhook::hostsim {

inline constexpr double kLoopOhms = 100;
inline constexpr double kKmPerKft = 0.3048;

enum class Gauge { kAwg24, kAwg26 };

struct CableSection {
  Gauge gauge = Gauge::kAwg26;
  double kft = 0;        ///< 1000 ft
  bool bridged = false;  ///< a tap, open at its end; otherwise in series
};

/// From the exchange to the customer.
using Cable = std::vector<CableSection>;

/// Propagation constant, 1/km, and characteristic impedance, ohm. @pre hz > 0
struct CableConstants {
  std::complex<double> gamma, ohms;
};
CableConstants cable_constants(Gauge gauge, double hz);

/// Voltage across the load relative to that without the cable, if source and load are kLoopOhms; equal in both
/// directions. @param hz at least 0; below 1 Hz as at 1 Hz. Source: 2 r / (A r + B + C r^2 + D r)
std::complex<double> insertion_gain(const Cable& cable, double hz);

/// Length of the sections in series, kft.
double length_kft(const Cable& cable);

/// A standard loop by its name ("CSA 4", "T1.601 7", ...), "none" for no cable, or a custom loop of sections by gauge
/// and length, with taps after a slash: "26:9 24:2 24/0.5 24:0.5".
/// @throws std::invalid_argument with the existing names or the unreadable part
Cable cable_named(std::string_view name);
/// Names of the standard loops.
const std::vector<std::string>& cable_names();

/// e^z without libm. @pre |Re z| <= 700
std::complex<double> complex_exp(std::complex<double> z);
/// x^y without libm. @pre x > 0
double power(double x, double y);

}  // namespace offhook::hostsim
