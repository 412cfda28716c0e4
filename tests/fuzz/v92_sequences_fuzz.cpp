// SPDX-License-Identifier: MIT
//
// Jp, SUV, CPd, CPt, CPu, CPus and Ja of V.92's PCM upstream on arbitrary bits and symbols: what is accepted must
// encode to bits that read the same, and a receiver fed with that encoding must find it. A CPd with which a transmitter
// can work must give finite symbols, whatever its filters are, and levels that the receiver reads back.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/upstream.h"
#include "dsp/v90/coding/upstream_sequences.h"
#include "dsp/v90/pcm/upstream_reader.h"
#include "dsp/v90/pcm/upstream_signals.h"
#include "dsp/v90/session/digital_v92.h"

using namespace offhook::v90;

namespace {

/// The bits of the input, and zeros behind them.
struct Input {
  const uint8_t* data;
  size_t size;
  int bit(size_t k) const { return k / 8 < size ? data[k / 8] >> (k % 8) & 1 : 0; }
  void copy(uint8_t* bits, size_t count) const {
    for (size_t k = 0; k < count; ++k) bits[k] = static_cast<uint8_t>(bit(k));
  }
};

// Frame sync, start bits and CRC.
void repair(uint8_t* bits, int crc_at) {
  memset(bits, 1, 17);
  offhook::Crc crc;
  for (int k = 17; k < crc_at; ++k) {
    if (k % 17 == 0) {
      bits[k] = 0;
    } else {
      crc.put(bits[k]);
    }
  }
  for (int k = 0; k < 16; ++k) bits[crc_at + k] = crc.value() >> k & 1;
}

int number(const uint8_t* bits, int at, int n) {
  int v = 0;
  for (int k = 0; k < n; ++k) v |= bits[at + k] << k;
  return v;
}

template <class Receiver, class T>
void expect_found(const uint8_t* bits, int n, Receiver receiver, const T& sent) {
  T read{};
  int found = 0;
  for (int k = 0; k < n; ++k) found += receiver.put(bits[k], &read);
  if (found != 1 || !(read == sent)) abort();
}

template <class T>
void check_fixed(const Input& input, bool with_repair) {
  uint8_t bits[T::kBits]{};
  input.copy(bits, T::kBits);
  if (with_repair) repair(bits, T::kBits - T::kFillBits - 16);
  T sequence{};
  if (!decode(bits, &sequence)) return;
  uint8_t again[T::kBits];
  expect_found(again, encode(sequence, again), FixedSequenceReceiver<T>(), sequence);
}

void check_cp(const Input& input, bool with_repair) {
  uint8_t bits[Cp::kMaxBits]{};
  input.copy(bits, sizeof bits);
  if (with_repair) {
    int most = 0;
    constexpr int kInterval[] = {103, 107, 111, 115, 120, 124};
    for (const int at : kInterval) {
      bits[at + 3] = 0;
      bits[at + 1] &= static_cast<uint8_t>(!bits[at + 2]);
      const int index = number(bits, at, 3);
      most = index > most ? index : most;
    }
    repair(bits, 137 + 136 * (most + 1) * (bits[128] ? 2 : 1));
  }
  Cp cp;
  if (!decode(bits, sizeof bits, &cp, CpForm::kV92)) return;
  uint8_t again[Cp::kMaxBits];
  expect_found(again, encode_v92(cp, again), CpReceiver(CpForm::kV92), cp);
}

// Where the CRC of a CPd is, whose lengths are cut to what CPd allows.
int repair_cpd_lengths(uint8_t* bits) {
  const auto limit = [bits](int at, int n, int most) {
    if (number(bits, at, n) <= most) return number(bits, at, n);
    for (int k = 0; k < n; ++k) bits[at + k] = static_cast<uint8_t>(most >> k & 1);
    return most;
  };
  int at = 51;
  if (bits[19] != 0) at += 6 * 17;
  if (bits[20] != 0) {
    int taps = 0;
    for (int section = 0; section < 4; ++section) taps += limit(at + 1 + 17 * section, 9, kMostTotalTaps / 4);
    at += 17 * (4 + taps);
  }
  if (bits[21] != 0) {
    for (int k = 0; k < 6; ++k) limit(at + 1 + 4 * k + k / 4, 4, kConstellationSets - 1);
    int points = 0;
    for (int s = 0; s < kConstellationSets; ++s) points += limit(at + 35 + 8 * s + s / 2, 8, kMostPositivePoints);
    at += 17 * (5 + points);
  }
  return at + 1;
}

// 8.8.3: whatever the far end requests, the symbols are finite, and the levels are read back.
void check_transmitter(const Cpd& cpd, const Input& input) {
  if (!is_usable(cpd)) return;
  UpstreamModulus modulus(cpd.modulus, cpd.bits()), inverse(cpd.modulus, cpd.bits());
  Precoder precoder(cpd);
  UpstreamReader reader(cpd);
  const oh_bit_port port = {[](void*) { return 0; }, [](void*, int) {}, nullptr};
  float window[UpstreamReader::kTaps]{};
  constexpr int kFrames = 8;
  for (int f = 0; f < kFrames; ++f) {
    uint8_t digits[kUpstreamIntervals];
    WideNumber number, read;
    for (int k = 0; k < cpd.bits(); ++k) {
      if (input.bit(static_cast<size_t>(f * cpd.bits() + k)) != 0) number.limb[k / 32] |= 1u << k % 32;
    }
    modulus.encode(number, digits);
    if (!inverse.decode(digits, &read) || memcmp(&number, &read, sizeof read) != 0) abort();
    for (int i = 0; i < kUpstreamIntervals; ++i) {
      const float out = precoder.put(digits[i]);
      if (!(out > -3e38f && out < 3e38f)) abort();
      const int y = precoder.index(), set = cpd.interval[i % 6];
      if (y < -cpd.points[set] || y >= cpd.points[set] || upstream_digit(y, cpd.modulus[i], i % 4) != digits[i])
        abort();
      memmove(window, window + 1, sizeof window - sizeof window[0]);
      window[UpstreamReader::kTaps - 1] = static_cast<float>(upstream_level(cpd.point[set], y));
      reader.put(window, port, true);
    }
  }
}

void check_cpd(const Input& input, bool with_repair) {
  static uint8_t bits[kMostCpdBits + 64], again[kMostCpdBits + 64];
  input.copy(bits, sizeof bits);
  if (with_repair) repair(bits, repair_cpd_lengths(bits));
  Cpd cpd{};
  if (!decode(bits, sizeof bits, &cpd)) return;
  expect_found(again, encode(cpd, again), CpdReceiver(), cpd);
  check_transmitter(cpd, input);
}

void check_ja(const Input& input) {
  DilReceiver receiver(true);
  Dil dil{};
  for (size_t k = 0; k < 8 * input.size; ++k) {
    if (!receiver.put(input.bit(k), &dil)) continue;
    static uint8_t again[Dil::kMaxBits + Dil::kRatesBits];
    const int n = encode(dil, receiver.rates(), again);
    if (n % 12 != 0) abort();
    DilReceiver other(true);
    Dil read{};
    int found = 0;
    for (int i = 0; i < n; ++i) found += other.put(again[i], &read);
    if (found != 1 || other.rates() != receiver.rates() || (dil.segments > 0 && !(read == dil))) abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool with_repair = data[0] & 1;
  const int points = data[0] & 2 ? 8 : data[0] & 4 ? 4 : 2;
  const Input input{data + 1, size - 1};
  check_fixed<Jp>(input, with_repair);
  check_fixed<Suv>(input, with_repair);
  check_fixed<ShortCp>(input, with_repair);
  check_cp(input, with_repair);
  check_cpd(input, with_repair);
  check_ja(input);
  // As bits of a stream, and as symbols.
  FixedSequenceReceiver<Jp> jp_receiver;
  FixedSequenceReceiver<Suv> suv_receiver;
  FixedSequenceReceiver<ShortCp> short_cp_receiver;
  CpReceiver cp_receiver(CpForm::kV92);
  CpdReceiver cpd_receiver;
  static UpstreamSequences sequences;
  sequences = UpstreamSequences();
  sequences.begin(points);
  Jp jp{};
  Suv suv{};
  ShortCp short_cp{};
  Cp cp{};
  static Cpd cpd;
  cpd = {};
  for (size_t k = 0; k < 8 * input.size; ++k) {
    jp_receiver.put(input.bit(k), &jp);
    suv_receiver.put(input.bit(k), &suv);
    short_cp_receiver.put(input.bit(k), &short_cp);
    cp_receiver.put(input.bit(k), &cp);
    if (cpd_receiver.put(input.bit(k), &cpd)) check_transmitter(cpd, input);
    sequences.put(input.bit(k), points == 2 ? 0 : input.bit(k + 1) + (points == 8 ? 2 * input.bit(k + 2) : 0));
  }
  return 0;
}
