// SPDX-License-Identifier: MIT
#include "src/decode/modulation/start_stop.h"

#include <bit>
#include <cmath>
#include <optional>

namespace offhook::decode {
namespace {

enum class Parity { kNone, kEven, kOdd };
struct Format {
  const char* name;
  int data_bits;
  Parity parity;
};
constexpr Format k8n1{"8N1", 8, Parity::kNone}, k7n1{"7N1", 7, Parity::kNone}, k5n1{"5N1", 5, Parity::kNone};
// Text in one format may be valid in a later one: 7E1 is valid 8N1, and 5N1 with pauses is valid 7N1.
constexpr Format kFormats[] = {{"7E1", 7, Parity::kEven},
                               {"7O1", 7, Parity::kOdd},
                               {"8E1", 8, Parity::kEven},
                               {"8O1", 8, Parity::kOdd},
                               k8n1,
                               k7n1,
                               k5n1};

constexpr int kLeastCharacters = 8;
constexpr int kGoodToBad = 8;        // random bits have as many good stop bits as bad ones
constexpr int kLeastForParity = 16;  // by chance one text in 2^16 has it

// @param bits  those after the start bit, the parity bit last  @return nothing: the parity is wrong
std::optional<std::uint8_t> character(const Format& f, unsigned bits) {
  const unsigned data = bits & ((1U << f.data_bits) - 1);
  if (f.parity == Parity::kNone) return static_cast<std::uint8_t>(data);
  const bool odd = std::popcount(bits & ((2U << f.data_bits) - 1)) % 2 != 0;
  if (odd != (f.parity == Parity::kOdd)) return std::nullopt;
  return static_cast<std::uint8_t>(data);
}

int bits_of(const Format& f) {
  return f.data_bits + (f.parity == Parity::kNone ? 0 : 1);
}

bool is_good(const StartStopText& t, const Format& f) {
  const auto good = static_cast<int>(t.characters.size());
  const int least = f.parity == Parity::kNone ? kLeastCharacters : kLeastForParity;
  return good >= least && good >= kGoodToBad * t.bad;
}

// Whether all characters have ones from `bit` on: pauses of a shorter format were decoded as data.
bool ones_from(const StartStopText& t, int bit) {
  for (const std::uint8_t c : t.characters) {
    if (c >> bit != 0xFF >> bit) return false;
  }
  return true;
}

// The first format that is good. @param read  reads all in one format
template <class Read>
StartStopText best(Read&& read) {
  for (const Format& f : kFormats) {
    StartStopText t = read(f);
    if (!is_good(t, f)) continue;
    if (f.data_bits == 8 && f.parity == Parity::kNone && (ones_from(t, 7) || ones_from(t, 5))) {
      const Format& shorter = ones_from(t, 5) ? k5n1 : k7n1;
      StartStopText with = read(shorter);
      if (is_good(with, shorter)) {
        with.format = shorter.name;
        return with;
      }
    }
    t.format = f.name;
    return t;
  }
  return {};
}

StartStopText read_bits(const std::vector<bool>& bits, const Format& f) {
  constexpr int kMostLeftOut = 1, kAmong = 8;  // V.14 3.2: stop bits
  const auto n = static_cast<std::size_t>(bits_of(f));
  StartStopText t;
  int since = kAmong;  // characters since a stop bit was left out
  for (std::size_t i = 1; i + n + 1 < bits.size();) {
    if (bits[i]) {
      ++i;
      continue;
    }
    unsigned value = 0;
    for (std::size_t b = 0; b < n; ++b) value |= static_cast<unsigned>(bits[i + 1 + b]) << b;
    const std::optional<std::uint8_t> c = character(f, value);
    const bool stop = bits[i + 1 + n];
    if (!c || (!stop && since < kAmong / kMostLeftOut)) {
      ++t.bad;
      ++i;
      since = kAmong;
      continue;
    }
    t.characters.push_back(*c);
    since = stop ? since + 1 : 0;
    i += n + (stop ? 2 : 1);
  }
  return t;
}

StartStopText read_samples(const std::vector<bool>& v, double bit_samples, const Format& f) {
  const int n = bits_of(f);
  StartStopText t;
  const auto at = [&](double sample) { return v[static_cast<std::size_t>(sample)]; };
  const double whole = (n + 2) * bit_samples;
  for (std::size_t i = 1; static_cast<double>(i) + whole < static_cast<double>(v.size());) {
    if (!v[i - 1] || v[i]) {
      ++i;
      continue;
    }
    const double start = static_cast<double>(i) - 0.5;
    if (at(start + 0.5 * bit_samples)) {  // no start bit: noise
      ++i;
      continue;
    }
    unsigned value = 0;
    for (int b = 0; b < n; ++b) value |= static_cast<unsigned>(at(start + (1.5 + b) * bit_samples)) << b;
    const std::optional<std::uint8_t> c = character(f, value);
    if (!c || !at(start + (n + 1.5) * bit_samples)) {
      ++t.bad;
      i += static_cast<std::size_t>(bit_samples / 2);
      continue;
    }
    t.characters.push_back(*c);
    i = static_cast<std::size_t>(start + (n + 1.5) * bit_samples);
  }
  return t;
}

}  // namespace

StartStopText read_start_stop(const std::vector<bool>& bits) {
  return best([&](const Format& f) { return read_bits(bits, f); });
}

StartStopText read_start_stop(const std::vector<bool>& ones, double bit_samples) {
  return best([&](const Format& f) { return read_samples(ones, bit_samples, f); });
}

std::string preview(std::span<const std::uint8_t> characters, std::size_t most) {
  std::string out;
  for (const std::uint8_t c : characters) {
    if (out.size() == most) return out + "...";
    const auto ascii = static_cast<char>(c & 0x7F);
    out += ascii >= ' ' && ascii <= '~' ? ascii : ascii == '\r' || ascii == '\n' || ascii == '\t' ? ' ' : '.';
  }
  return out;
}

}  // namespace offhook::decode
