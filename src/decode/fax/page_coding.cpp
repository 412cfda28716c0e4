// SPDX-License-Identifier: MIT
#include "src/decode/fax/page_coding.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace offhook::decode {
namespace {

// Code words by length of the run: 0 to 63, then 64, 128 ... 1728; kLong: 1792, 1856 ... 2560, of either colour.
constexpr std::array<const char*, 91> kWhite = {
    "00110101",  "000111",    "0111",      "1000",      "1011",      "1100",      "1110",      "1111",      "10011",
    "10100",     "00111",     "01000",     "001000",    "000011",    "110100",    "110101",    "101010",    "101011",
    "0100111",   "0001100",   "0001000",   "0010111",   "0000011",   "0000100",   "0101000",   "0101011",   "0010011",
    "0100100",   "0011000",   "00000010",  "00000011",  "00011010",  "00011011",  "00010010",  "00010011",  "00010100",
    "00010101",  "00010110",  "00010111",  "00101000",  "00101001",  "00101010",  "00101011",  "00101100",  "00101101",
    "00000100",  "00000101",  "00001010",  "00001011",  "01010010",  "01010011",  "01010100",  "01010101",  "00100100",
    "00100101",  "01011000",  "01011001",  "01011010",  "01011011",  "01001010",  "01001011",  "00110010",  "00110011",
    "00110100",  "11011",     "10010",     "010111",    "0110111",   "00110110",  "00110111",  "01100100",  "01100101",
    "01101000",  "01100111",  "011001100", "011001101", "011010010", "011010011", "011010100", "011010101", "011010110",
    "011010111", "011011000", "011011001", "011011010", "011011011", "010011000", "010011001", "010011010", "011000",
    "010011011"};
constexpr std::array<const char*, 91> kBlack = {"0000110111",
                                                "010",
                                                "11",
                                                "10",
                                                "011",
                                                "0011",
                                                "0010",
                                                "00011",
                                                "000101",
                                                "000100",
                                                "0000100",
                                                "0000101",
                                                "0000111",
                                                "00000100",
                                                "00000111",
                                                "000011000",
                                                "0000010111",
                                                "0000011000",
                                                "0000001000",
                                                "00001100111",
                                                "00001101000",
                                                "00001101100",
                                                "00000110111",
                                                "00000101000",
                                                "00000010111",
                                                "00000011000",
                                                "000011001010",
                                                "000011001011",
                                                "000011001100",
                                                "000011001101",
                                                "000001101000",
                                                "000001101001",
                                                "000001101010",
                                                "000001101011",
                                                "000011010010",
                                                "000011010011",
                                                "000011010100",
                                                "000011010101",
                                                "000011010110",
                                                "000011010111",
                                                "000001101100",
                                                "000001101101",
                                                "000011011010",
                                                "000011011011",
                                                "000001010100",
                                                "000001010101",
                                                "000001010110",
                                                "000001010111",
                                                "000001100100",
                                                "000001100101",
                                                "000001010010",
                                                "000001010011",
                                                "000000100100",
                                                "000000110111",
                                                "000000111000",
                                                "000000100111",
                                                "000000101000",
                                                "000001011000",
                                                "000001011001",
                                                "000000101011",
                                                "000000101100",
                                                "000001011010",
                                                "000001100110",
                                                "000001100111",
                                                "0000001111",
                                                "000011001000",
                                                "000011001001",
                                                "000001011011",
                                                "000000110011",
                                                "000000110100",
                                                "000000110101",
                                                "0000001101100",
                                                "0000001101101",
                                                "0000001001010",
                                                "0000001001011",
                                                "0000001001100",
                                                "0000001001101",
                                                "0000001110010",
                                                "0000001110011",
                                                "0000001110100",
                                                "0000001110101",
                                                "0000001110110",
                                                "0000001110111",
                                                "0000001010010",
                                                "0000001010011",
                                                "0000001010100",
                                                "0000001010101",
                                                "0000001011010",
                                                "0000001011011",
                                                "0000001100100",
                                                "0000001100101"};
constexpr std::array<const char*, 13> kLong = {
    "00000001000",  "00000001100",  "00000001101",  "000000010010", "000000010011", "000000010100", "000000010101",
    "000000010110", "000000010111", "000000011100", "000000011101", "000000011110", "000000011111"};

constexpr const char* kPass = "0001";
constexpr const char* kHorizontal = "001";
// a1 relative to b1, from 3 to the left to 3 to the right.
constexpr std::array<const char*, 7> kVertical = {"0000010", "000010", "010", "1", "011", "000011", "0000011"};
constexpr const char* kEol = "000000000001";
constexpr std::size_t kEolZeros = 11;
constexpr unsigned kLongestCode = 13;

const char* code_of(int length, bool black) {
  if (length >= 1792) return kLong[static_cast<std::size_t>(length - 1792) / 64];
  const auto k = static_cast<std::size_t>(length < 64 ? length : 63 + length / 64);
  return black ? kBlack[k] : kWhite[k];
}

struct Code {
  std::uint8_t bits = 0;  // 0: no code word
  std::int16_t value = 0;
};

// By the next 13 bits, the first one in bit 0.
class CodeTable {
 public:
  void add(const char* code, int value) {
    const std::size_t bits = std::strlen(code);
    std::size_t first = 0;
    for (std::size_t k = 0; k < bits; ++k) first |= static_cast<std::size_t>(code[k] == '1') << k;
    for (std::size_t rest = 0; rest < entries_.size() >> bits; ++rest)
      entries_[first | rest << bits] = {static_cast<std::uint8_t>(bits), static_cast<std::int16_t>(value)};
  }
  Code operator[](unsigned next) const { return entries_[next]; }

 private:
  std::array<Code, 1U << kLongestCode> entries_{};
};

constexpr int kPassValue = 100, kHorizontalValue = 101;

CodeTable run_table(bool black) {
  CodeTable table;
  for (int length = 0; length <= 2560; length += length < 64 ? 1 : 64) table.add(code_of(length, black), length);
  return table;
}
CodeTable mode_table() {
  CodeTable table;
  table.add(kPass, kPassValue);
  table.add(kHorizontal, kHorizontalValue);
  for (int k = 0; k < 7; ++k) table.add(kVertical[static_cast<std::size_t>(k)], k - 3);
  return table;
}

// A part of the bits; behind it everything is 0, which is not a code word.
class Reader {
 public:
  Reader(const BitString& bits, std::size_t from, std::size_t to) : bits_(bits), at_(from), to_(to) {}

  std::size_t at() const { return at_; }
  bool empty() const { return at_ >= to_; }
  void skip(std::size_t n) { at_ += n; }
  int bit(std::size_t k) const { return k < to_ ? bits_.octets[k / 8] >> k % 8 & 1 : 0; }
  unsigned peek() const {
    const std::size_t k = at_ / 8;
    unsigned next = 0;
    for (std::size_t j = 0; j < 3 && k + j < bits_.octets.size(); ++j) next |= unsigned{bits_.octets[k + j]} << 8 * j;
    next = next >> at_ % 8 & ((1U << kLongestCode) - 1);
    const std::size_t left = to_ > at_ ? to_ - at_ : 0;
    return left < kLongestCode ? next & ((1U << left) - 1) : next;
  }
  /// @return false: the next bits are not a code word
  bool take(const CodeTable& table, int& value) {
    const Code code = table[peek()];
    if (code.bits == 0 || at_ + code.bits > to_) return false;
    at_ += code.bits;
    value = code.value;
    return true;
  }
  /// @return the bits to the first EOL's one, or nothing
  bool next_eol(std::size_t& one) const {
    std::size_t zeros = 0;
    for (std::size_t k = at_; k < to_; ++k) {
      if (bit(k) == 0) {
        ++zeros;
      } else if (zeros >= kEolZeros) {
        one = k;
        return true;
      } else {
        zeros = 0;
      }
    }
    return false;
  }

 private:
  const BitString& bits_;
  std::size_t at_, to_;
};

// A line that is being read. Two changes at the same position cancel.
class Line {
 public:
  Line(LineChanges& changes, int width) : changes_(changes), width_(width) { changes_.clear(); }
  void change(int at) {
    if (at >= width_) return;
    if (!changes_.empty() && changes_.back() == at) {
      changes_.pop_back();
    } else {
      changes_.push_back(static_cast<std::uint16_t>(at));
    }
  }

 private:
  LineChanges& changes_;
  int width_;
};

class LineReader {
 public:
  explicit LineReader(int width) : width_(width) {}

  bool one_dimensional(Reader& r, LineChanges& changes) const {
    Line line(changes, width_);
    bool black = false;
    for (int at = 0; at < width_; black = !black) {
      int run = 0;
      if (!this->run(r, black, width_ - at, run)) return false;
      at += run;
      line.change(at);
    }
    return true;
  }

  bool two_dimensional(Reader& r, const LineChanges& above, LineChanges& changes) const {
    static const CodeTable kModes = mode_table();
    Line line(changes, width_);
    int a0 = -1;
    bool black = false;
    for (std::size_t b = 0; a0 < width_;) {
      int mode = 0;
      if (!r.take(kModes, mode)) return false;
      const std::size_t k = first_beyond(above, a0, black, b);
      if (mode == kPassValue) {
        a0 = change(above, k + 1);
      } else if (mode == kHorizontalValue) {
        int one = 0, other = 0;
        const int from = std::max(a0, 0);
        if (!run(r, black, width_ - from, one) || !run(r, !black, width_ - from - one, other)) return false;
        line.change(from + one);
        line.change(from + one + other);
        a0 = from + one + other;
      } else {
        const int a1 = change(above, k) + mode;
        if (a1 < std::max(a0, 0) || a1 > width_) return false;
        line.change(a1);
        a0 = a1;
        black = !black;
      }
    }
    return true;
  }

 private:
  static bool run(Reader& r, bool black, int most, int& length) {
    static const CodeTable kRuns[2] = {run_table(false), run_table(true)};
    int part = 0;
    length = 0;
    do {
      if (!r.take(kRuns[black], part)) return false;
      length += part;
      if (length > most) return false;
    } while (part >= 64);
    return true;
  }
  int change(const LineChanges& above, std::size_t k) const { return k < above.size() ? above[k] : width_; }
  // The index of b1: the first change beyond a0 to the opposite colour of a0. @param from  of the search: a0 only
  // grows
  static std::size_t first_beyond(const LineChanges& above, int a0, bool black, std::size_t& from) {
    while (from < above.size() && above[from] <= a0) ++from;
    return (from % 2 == 1) == black ? from : from + 1;
  }

  int width_;
};

class PageReader {
 public:
  PageReader(const BitString& bits, int width, const std::function<void(const LineChanges&)>& take)
      : bits_(bits), lines_(width), take_(take) {}

  PageReading t4(bool two_dimensional) {
    constexpr int kEnd = 3;  // of the six EOLs of RTC: the signal may end early
    Reader r(bits_, 0, bits_.size);
    std::size_t one = 0;
    bool intact = true;  // the line above
    int empty = 0;
    if (!r.next_eol(one)) return reading_;
    while (reading_.lines < kMostPageLines) {
      r.skip(one + 1 - r.at());
      const bool in_two = two_dimensional && !r.empty() && r.bit(r.at()) == 0;
      if (two_dimensional) r.skip(1);
      const bool more = !r.empty() && r.next_eol(one);
      Reader line(bits_, r.at(), more ? one - kEolZeros : bits_.size);
      if (line.empty()) {
        if (++empty == kEnd - 1) reading_.ended = true;
      } else if (more) {
        empty = 0;
        bool good = in_two ? lines_.two_dimensional(line, above_, now_) : lines_.one_dimensional(line, now_);
        while (good && !line.empty()) {  // fill
          good = line.bit(line.at()) == 0;
          line.skip(1);
        }
        intact = good && (intact || !in_two);
        if (good) std::swap(above_, now_);
        add(!intact);
      }
      if (!more || reading_.ended) break;
    }
    return reading_;
  }

  PageReading t6() {
    Reader r(bits_, 0, bits_.size);
    while (reading_.lines < kMostPageLines) {
      const std::size_t begin = r.at();
      if (!lines_.two_dimensional(r, above_, now_)) {
        Reader rest(bits_, begin, bits_.size);
        std::size_t one = 0;
        reading_.ended = rest.next_eol(one) && one == begin + kEolZeros;
        reading_.broken = !reading_.ended;
        break;
      }
      std::swap(above_, now_);
      add(false);
    }
    return reading_;
  }

 private:
  void add(bool bad) {
    auto& all = reading_.bad;
    if (bad && !all.empty() && all.back().second == reading_.lines - 1) {
      ++all.back().second;
    } else if (bad) {
      all.emplace_back(reading_.lines, reading_.lines);
    }
    ++reading_.lines;
    if (take_) take_(above_);
  }

  const BitString& bits_;
  LineReader lines_;
  const std::function<void(const LineChanges&)>& take_;
  LineChanges above_, now_;
  PageReading reading_;
};

}  // namespace

int PageReading::bad_lines() const {
  int n = 0;
  for (const auto& [first, last] : bad) n += last - first + 1;
  return n;
}

PageReading read_page(const BitString& bits, PageCoding coding, int width,
                      const std::function<void(const LineChanges&)>& take) {
  PageReader reader(bits, width, take);
  return coding == PageCoding::kT6 ? reader.t6() : reader.t4(coding == PageCoding::kTwoDimensional);
}

void T6Writer::put(const char* code) {
  for (; *code != 0; ++code, ++bits_) {
    if (bits_ % 8 == 0) octets_.push_back(0);
    if (*code == '1') octets_.back() = static_cast<std::uint8_t>(octets_.back() | 0x80 >> bits_ % 8);
  }
}

void T6Writer::put_run(int length, bool black) {
  constexpr int kLongest = 2560;
  for (; length > kLongest; length -= kLongest) put(code_of(kLongest, black));
  if (length >= 64) put(code_of(length / 64 * 64, black));
  put(code_of(length % 64, black));
}

void T6Writer::add(const LineChanges& line) {
  const auto change = [&](const LineChanges& of, std::size_t k) { return k < of.size() ? int{of[k]} : width_; };
  int a0 = -1;
  std::size_t a = 0, b = 0;  // of the next change of the line; of the first one above that is beyond a0
  bool black = false;
  while (a0 < width_) {
    while (b < above_.size() && above_[b] <= a0) ++b;
    const std::size_t k = (b % 2 == 1) == black ? b : b + 1;
    const int a1 = change(line, a), b1 = change(above_, k), b2 = change(above_, k + 1);
    if (b2 < a1) {
      put(kPass);
      a0 = b2;
    } else if (std::abs(a1 - b1) <= 3) {
      const int shift = a1 - b1 + 3;
      put(kVertical[static_cast<std::size_t>(shift)]);
      a0 = a1;
      black = !black;
      ++a;
    } else {
      const int a2 = change(line, a + 1);
      put(kHorizontal);
      put_run(a1 - std::max(a0, 0), black);
      put_run(a2 - a1, !black);
      a0 = a2;
      a += 2;
    }
  }
  above_ = line;
}

std::vector<std::uint8_t> T6Writer::finish() {
  put(kEol);
  put(kEol);
  return std::move(octets_);
}

}  // namespace offhook::decode
