// SPDX-License-Identifier: MIT
//
// Control frames of T.30 for a service that runs T.30 itself (class2.h): what DIS and DCS say, as the parameters of fax
// modems of class 2.0, and the numbers of both machines.
//
// Source: the text of T.30 was not available. Bits, codes and their meanings are those of spandsp 0.0.6.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offhook::fax {

/// Parameters of a session, in the order and with the codes of +FCC, +FIS and +FCS (TIA-592).
struct SessionParameters {
  int resolution = 1;        ///< VR: 0 standard, 1 fine, 7.7 lines/mm
  int bit_rate = 5;          ///< BR: 0 to 5: 2400 to 14 400 bit/s
  int width = 0;             ///< WD: 0, 1, 2: 1728, 2048, 2432 pixels
  int length = 2;            ///< LN: 0 A4, 1 B4, 2 unlimited
  int format = 0;            ///< DF: 0 one dimension, 1 also two
  int error_correction = 0;  ///< EC: 0, because none is available here
  int binary_files = 0;      ///< BF: 0
  int scan_time = 0;         ///< ST: 0 to 7, the receiver's shortest time per line, see scan_time_ms()

  std::string text() const;  ///< "1,5,0,2,0,0,0,0"
  std::uint32_t rate() const { return 2400 * static_cast<std::uint32_t>(bit_rate + 1); }
  /// Of one line at the resolution.
  int scan_time_ms() const;
};

/// Highest values that both have. The scan time is the receiver's.
SessionParameters agreed(const SessionParameters& own, const SessionParameters& far);

/// How a session is modulated, as numbers of PageModulation.
struct Carrier {
  int test_code = 24;  ///< of TCF
  int page_code = 24;  ///< of a page: V.17 has a short training
};

/// A frame of HDLC: address, control, facsimile control field, facsimile information field; without check sequence.
struct T30Frame {
  std::string octets;

  bool is_final() const;
  /// The facsimile control field, without the bit that tells the sender.
  int field() const;
  std::string_view information() const { return std::string_view(octets).substr(3); }
};
/// @param final  the last frame of its carrier
std::string frame_of(int field, bool is_final, std::string_view information = {});

/// Modulations that a DIS offers.
struct Modulations {
  bool v29 = false, v17 = false;
};
/// @param information  of DIS
SessionParameters parameters_of_dis(std::string_view information, Modulations* modulations);
std::string dis_of(const SessionParameters& own);
/// The carrier of a bit rate. A far end with V.17 gets it at 7200 bit/s and above.
Carrier carrier_of(int bit_rate, const Modulations& far);
std::string dcs_of(const SessionParameters& session, const Carrier& carrier);
/// @return nothing if the bit rate is reserved
std::optional<SessionParameters> parameters_of_dcs(std::string_view information, Carrier* carrier);

/// Number of a machine: 20 characters, the last one first; spaces precede a shorter one.
std::string ident_information(std::string_view ident);
std::string ident_of(std::string_view information);

}  // namespace offhook::fax
