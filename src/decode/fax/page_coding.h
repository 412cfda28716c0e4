// SPDX-License-Identifier: MIT
//
// The codings of a black-and-white page: T.4 in one dimension (MH) and in two (MR), and T.6 (MMR).
//
// A line is a list of its changes of colour. MH codes the lengths of the runs between them. MR and T.6 code where the
// changes are, relative to those of the line above. Each line of T.4 is behind an EOL, eleven zeros and a one, which no
// code words of a line contain, so a damaged line costs only itself in MH, and those that refer to it in MR. T.6 has no
// EOL: the rest of the page after the first damage is lost.
//
// spandsp's decoder was not used: it takes any number of runs of length 0 in a line, writes them beyond its memory, and
// does not name the damaged lines.
//
// Source: the code words of T.4 and T.6, from spandsp 0.0.6 and libtiff; the texts were not available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace offhook::decode {

enum class PageCoding { kOneDimensional, kTwoDimensional, kT6 };

/// Bits in order of time, eight an octet, the first in bit 0.
struct BitString {
  std::vector<std::uint8_t> octets;
  std::size_t size = 0;

  void add(int bit) {
    if (size % 8 == 0) octets.push_back(0);
    octets.back() = static_cast<std::uint8_t>(octets.back() | bit << size++ % 8);
  }
};

/// Pixels at which the colour changes, increasing, below the width; left of the first one the line is white.
using LineChanges = std::vector<std::uint16_t>;

inline constexpr int kMostPageWidth = 14'592;  ///< 303 mm at 1200 dpi
inline constexpr int kMostPageLines = 65'536;  ///< more than four metres at 15.4 lines/mm

struct PageReading {
  int lines = 0;
  /// Damaged lines, first and last of each stretch, from 0: no line that the coding permits, or coded by such a line.
  std::vector<std::pair<int, int>> bad;
  bool ended = false;   ///< by the signal for the end of a page (RTC, EOFB)
  bool broken = false;  ///< T.6: the line after the last one is damaged, and the rest is lost
  int bad_lines() const;
};

/// Reads the lines of a page. A damaged line is given as the line above it.
/// @param width  pixels, 1 to kMostPageWidth  @param take  each line, at most kMostPageLines; may be empty
/// Time: O(bits + pixels of the changes).
PageReading read_page(const BitString& bits, PageCoding coding, int width,
                      const std::function<void(const LineChanges& line)>& take = {});

/// Writes lines in T.6 for a TIFF file: eight bits per octet, the first in bit 7.
class T6Writer {
 public:
  explicit T6Writer(int width) : width_(width) {}
  void add(const LineChanges& line);
  /// @return all, with EOFB
  std::vector<std::uint8_t> finish();

 private:
  void put(const char* code);
  void put_run(int length, bool black);

  int width_;
  LineChanges above_;
  std::vector<std::uint8_t> octets_;
  std::size_t bits_ = 0;
};

}  // namespace offhook::decode
