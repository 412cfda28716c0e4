// SPDX-License-Identifier: MIT
//
// Crosstalk from other services in the same cable: power spectral densities of their transmitters, one-sided, mW/Hz
// into 100 ohm, and the coupling at the near and at the far end. The model is the 1 % worst case for n equal
// disturbers. It describes power only, so the noise is Gaussian.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hostsim/channel/cable.h"

namespace offhook::hostsim {

enum class Service {
  kIsdn,      ///< 2B1Q, 80 kbaud, 2.5 V
  kHdsl,      ///< 2B1Q, 392 kbaud, 2.7 V
  kT1,        ///< AMI, 1.544 Mbit/s, 3.6 V
  kAdslDown,  ///< -40 dBm/Hz from tone 33 to tone 255
  kAdslUp     ///< -38 dBm/Hz from tone 6 to tone 31
};

struct Disturbers {
  Service service = Service::kIsdn;
  int count = 0;
  bool far_end = false;  ///< FEXT; else NEXT
};

inline constexpr double kAdslToneHz = 4312.5;  ///< spacing of ADSL's tones. Source: G.992.1

/// mW/Hz at `hz`. Source: T1.413 Annex B
double transmit_psd(Service service, double hz);
/// Noise of `d` at a receiver, mW/Hz. @param cable of the disturbed pair, for FEXT Source: T1.413 Annex B: NEXT
/// 0.8536e-14 n^0.6 f^1.5; FEXT |H|^2 8e-20 (n/49)^0.6 d f^2, d in ft
double crosstalk_psd(const Disturbers& d, const Cable& cable, double hz);

/// "24 ISDN", "10 HDSL FEXT", "1 T1", "10 ADSL-down", or several separated by commas; "": none.
/// @throws std::invalid_argument naming the unreadable part
std::vector<Disturbers> disturbers_named(std::string_view text);

}  // namespace offhook::hostsim
