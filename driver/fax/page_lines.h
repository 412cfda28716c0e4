// SPDX-License-Identifier: MIT
//
// The coded lines of a page on their way to the modem: each becomes as long as the receiver requires (T.4, 4.1.2: fill
// before the end of the line), and the page gets its return to control (RTC) if the program has not sent it.
//
// The text of T.4 was not available; the codes are those of spandsp 0.0.6.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace offhook::fax {

/// Octets have their first bit in the least significant place.
class PageLines {
 public:
  /// @param least_bits  of a line with its EOL  @param two_dimensions  a tag bit follows each EOL
  void begin(std::uint32_t least_bits, bool two_dimensions);
  void put(std::string_view octets);
  /// The page is complete: adds what RTC lacks, and zeros up to a whole octet.
  void end();
  /// @return the octets so far
  std::string take();

 private:
  void put_bit(bool bit);
  void end_line();
  void send(bool bit);

  std::uint32_t least_bits_ = 0;
  bool two_dimensions_ = false, tag_ = false;
  std::uint32_t zeros_ = 0;      // in a row
  std::uint32_t line_bits_ = 0;  // since the end of the last EOL
  std::uint32_t ends_ = 0;       // EOLs in a row
  std::string octets_;
  int octet_ = 0, octet_bits_ = 0;
};

}  // namespace offhook::fax
