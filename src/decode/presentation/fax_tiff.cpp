// SPDX-License-Identifier: MIT
//
// The pages of a fax as a TIFF file of class F: one directory per page, one strip each, T.6.
#include <cmath>

#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/presentation/fax_words.h"

namespace offhook::decode {
namespace {

using Octets = std::vector<std::uint8_t>;

// Little-endian, as in the file's head.
class TiffFile {
 public:
  TiffFile() {
    octets_ = {'I', 'I', 42, 0};
    next_directory_ = 4;
    put(0, 4);
  }

  void add(const FaxPage& page, int number, int pages, const std::string& description) {
    T6Writer writer(page.format.width);
    const PageReading reading = read_page(page.bits, *page.format.coding, page.format.width,
                                          [&](const LineChanges& line) { writer.add(line); });
    const Octets strip = writer.finish();
    const std::uint32_t at = append(strip), x_dpi = rational(page.format.x_dpi), y_dpi = rational(page.format.y_dpi);
    const auto width = static_cast<std::uint32_t>(page.format.width), lines = static_cast<std::uint32_t>(reading.lines);
    const std::uint32_t text = append({description.begin(), description.end()}, true);
    constexpr std::uint32_t kPageOfMany = 2, kWhiteIsZero = 0, kT6 = 4, kInch = 2;
    std::vector<Field> fields = {{254, kLong, 1, kPageOfMany},
                                 {256, kLong, 1, width},
                                 {257, kLong, 1, lines},
                                 {258, kShort, 1, 1},  // bits per sample
                                 {259, kShort, 1, kT6},
                                 {262, kShort, 1, kWhiteIsZero},
                                 {266, kShort, 1, 1},  // the first pixel is in the highest bit
                                 {270, kAscii, static_cast<std::uint32_t>(description.size() + 1), text},
                                 {273, kLong, 1, at},
                                 {277, kShort, 1, 1},  // samples per pixel
                                 {278, kLong, 1, lines},
                                 {279, kLong, 1, static_cast<std::uint32_t>(strip.size())},
                                 {282, kRational, 1, x_dpi},
                                 {283, kRational, 1, y_dpi},
                                 {293, kLong, 1, 0},  // T.6 without uncompressed mode
                                 {296, kShort, 1, kInch},
                                 {297, kShort, 2, static_cast<std::uint32_t>(number | pages << 16)},
                                 {326, kLong, 1, static_cast<std::uint32_t>(reading.bad_lines())}};
    directory(fields);
  }
  Octets finish() { return std::move(octets_); }

 private:
  enum Type : std::uint16_t { kAscii = 2, kShort = 3, kLong = 4, kRational = 5 };
  struct Field {
    std::uint16_t tag;
    Type type;
    std::uint32_t count, value;
  };

  void put(std::uint32_t value, int octets) {
    for (int k = 0; k < octets; ++k) octets_.push_back(static_cast<std::uint8_t>(value >> 8 * k));
  }
  std::uint32_t append(const Octets& data, bool with_zero = false) {
    if (octets_.size() % 2 != 0) octets_.push_back(0);
    const auto at = static_cast<std::uint32_t>(octets_.size());
    octets_.insert(octets_.end(), data.begin(), data.end());
    if (with_zero) octets_.push_back(0);
    return at;
  }
  std::uint32_t rational(double value) {
    constexpr std::uint32_t kDenominator = 100;
    const std::uint32_t at = append({});
    put(static_cast<std::uint32_t>(std::lround(value * kDenominator)), 4);
    put(kDenominator, 4);
    return at;
  }
  void directory(const std::vector<Field>& fields) {
    const std::uint32_t at = append({});
    for (std::size_t k = 0; k < 4; ++k) octets_[next_directory_ + k] = static_cast<std::uint8_t>(at >> 8 * k);
    put(static_cast<std::uint32_t>(fields.size()), 2);
    for (const Field& f : fields) {
      put(f.tag, 2);
      put(f.type, 2);
      put(f.count, 4);
      put(f.value, 4);
    }
    next_directory_ = octets_.size();
    put(0, 4);
  }

  Octets octets_;
  std::size_t next_directory_ = 0;
};

}  // namespace

std::vector<std::uint8_t> fax_tiff(const Call& call) {
  std::vector<const FaxPage*> pages;
  for (const FaxPage& page : call.fax.sent.pages) {
    if (page.reading.lines > 0) pages.push_back(&page);
  }
  if (pages.empty()) return {};
  TiffFile file;
  for (std::size_t k = 0; k < pages.size(); ++k)
    file.add(*pages[k], static_cast<int>(k), static_cast<int>(pages.size()), describe(*pages[k]));
  return file.finish();
}

}  // namespace offhook::decode
