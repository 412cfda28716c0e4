// SPDX-License-Identifier: MIT
#include "driver/fax/tiff.h"

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace offhook::fax {
namespace {

constexpr std::uint32_t kWidth = 1728;  // 215 mm at 8 pixels/mm
constexpr std::array<std::uint32_t, 9> kWidths = {1728, 2048, 2432, 3456, 4096, 4864, 2592, 3072, 3648};

struct Close {
  void operator()(TIFF* t) const { TIFFClose(t); }
};
using File = std::unique_ptr<TIFF, Close>;

File open(const std::string& path, const char* mode) {
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  return File(TIFFOpen(path.c_str(), mode));
}

struct Page {
  std::uint32_t width = 0;
  std::vector<std::vector<std::uint8_t>> lines;  // black is 1
  bool operator==(const Page&) const = default;
};

std::uint32_t number(TIFF* t, std::uint32_t tag) {
  std::uint32_t value = 0;
  TIFFGetField(t, tag, &value);
  return value;
}
std::uint16_t small_number(TIFF* t, std::uint32_t tag) {
  std::uint16_t value = 0;
  TIFFGetFieldDefaulted(t, tag, &value);
  return value;
}

std::optional<Page> read_page(TIFF* t) {
  Page page;
  page.width = number(t, TIFFTAG_IMAGEWIDTH);
  const std::uint32_t lines = number(t, TIFFTAG_IMAGELENGTH);
  const bool black_is_zero = small_number(t, TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_MINISBLACK;
  const auto octets = static_cast<std::size_t>(TIFFScanlineSize(t));
  if (small_number(t, TIFFTAG_BITSPERSAMPLE) != 1 || octets < (page.width + 7) / 8) return std::nullopt;
  std::vector<std::uint8_t> line(octets);
  for (std::uint32_t k = 0; k < lines; ++k) {
    if (TIFFReadScanline(t, line.data(), k, 0) < 0) return std::nullopt;
    line.resize((page.width + 7) / 8);
    page.lines.push_back(line);
    if (black_is_zero) {
      for (std::uint8_t& octet : page.lines.back()) octet = static_cast<std::uint8_t>(~octet);
    }
    line.resize(octets);
  }
  return page;
}

/// Nothing if a page cannot be read; empty if the file cannot be read.
std::vector<std::optional<Page>> read_pages(const std::string& path) {
  std::vector<std::optional<Page>> pages;
  const File file = open(path, "r");
  if (!file) return pages;
  do {
    pages.push_back(read_page(file.get()));
  } while (TIFFReadDirectory(file.get()) != 0);
  return pages;
}

/// A generator whose numbers are the same on every machine.
struct Numbers {
  std::uint64_t state;
  std::uint32_t below(std::uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state >> 33) % n);
  }
};

/// A line of print is 24 lines of pixels: 16 with marks, 8 white.
void draw_print(std::vector<std::uint8_t>& line, Numbers& numbers) {
  for (std::uint32_t x = 96; x + 96 < kWidth; x += 16 + numbers.below(3) * 8) {
    const std::uint32_t stroke = 2 + numbers.below(10);
    for (std::uint32_t k = x; k < x + stroke; ++k) line[k / 8] |= static_cast<std::uint8_t>(0x80 >> k % 8);
  }
}

}  // namespace

void write_test_pages(const std::string& path, std::uint32_t pages, std::uint32_t lines, std::uint64_t seed) {
  const File file = open(path, "w");
  if (!file) throw std::runtime_error(path + ": could not be written as TIFF");
  for (std::uint32_t page = 0; page < pages; ++page) {
    Numbers numbers{seed * 1000 + page};
    TIFF* t = file.get();
    TIFFSetField(t, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
    TIFFSetField(t, TIFFTAG_PAGENUMBER, page, pages);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, kWidth);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, lines);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 1);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_CCITT_T6);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, lines);
    TIFFSetField(t, TIFFTAG_XRESOLUTION, 204.0);
    TIFFSetField(t, TIFFTAG_YRESOLUTION, 98.0);
    TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    for (std::uint32_t k = 0; k < lines; ++k) {
      std::vector<std::uint8_t> line(kWidth / 8);
      if (k % 24 < 16 && k > 48) draw_print(line, numbers);
      if (TIFFWriteScanline(t, line.data(), k, 0) < 0) throw std::runtime_error(path + ": could not be written");
    }
    if (TIFFWriteDirectory(t) == 0) throw std::runtime_error(path + ": could not be written");
  }
}

std::uint32_t check_pages(const std::string& path) {
  const File file = open(path, "r");
  if (!file) throw std::runtime_error(path + ": is not a readable TIFF file");
  std::uint32_t pages = 0;
  do {
    ++pages;
    const std::string where = path + ": page " + std::to_string(pages);
    const std::uint32_t width = number(file.get(), TIFFTAG_IMAGEWIDTH);
    if (small_number(file.get(), TIFFTAG_BITSPERSAMPLE) != 1 || small_number(file.get(), TIFFTAG_SAMPLESPERPIXEL) != 1)
      throw std::runtime_error(where + " is not black and white with one bit per pixel");
    bool known = false;
    for (const std::uint32_t w : kWidths) known |= w == width;
    if (!known)
      throw std::runtime_error(where + " is " + std::to_string(width) +
                               " pixels wide; expected a width of fax: 1728 (A4), 2048 (B4) or 2432 (A3) pixels");
    if (number(file.get(), TIFFTAG_IMAGELENGTH) == 0) throw std::runtime_error(where + " has no lines");
  } while (TIFFReadDirectory(file.get()) != 0);
  return pages;
}

std::uint32_t whole_pages(const std::string& sent, const std::string& received) {
  const std::vector<std::optional<Page>> expected = read_pages(sent), came = read_pages(received);
  std::uint32_t whole = 0;
  auto next = came.begin();
  for (const std::optional<Page>& page : expected) {
    const auto found = page ? std::find(next, came.end(), page) : came.end();
    if (found == came.end()) continue;
    ++whole;
    next = found + 1;
  }
  return whole;
}

}  // namespace offhook::fax
