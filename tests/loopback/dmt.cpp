// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>

#include "dsp/blocks/fft.h"
#include "tests/loopback/loopback.h"

namespace {

// One tone is 2156.25 Hz wide in both directions, and a symbol has 136 periods of the slower direction.
constexpr std::size_t kRatio = 4;
constexpr std::size_t kRxPoints = 512, kTxPoints = 128;
constexpr std::size_t kRxTones = kRxPoints / 2, kTxTones = kTxPoints / 2;
constexpr std::size_t kTxPrefix = 8, kRxPrefix = kRatio * kTxPrefix;
constexpr std::size_t kPeriods = kTxPoints + kTxPrefix, kRxSymbol = kRatio * kPeriods;
constexpr std::uint64_t kTraining = 8;  // symbols that the pump knows
constexpr std::uint32_t kBlock = 1104, kLead = 3 * kBlock, kRing = 4096;
constexpr float kRms = 3000;    // in each direction, int16 units
constexpr float kStep = 0.02f;  // of the equaliser, normalised by the point's power

/// 4-QAM: a point of a tone has two bits. Counter-based (splitmix64), so that both ends know every point.
oh_complex point(std::uint64_t symbol, std::size_t tone) {
  std::uint64_t z = symbol * kRxTones + tone + 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return {z & 1 ? 1.0f : -1.0f, z & 2 ? 1.0f : -1.0f};
}
oh_complex decided(oh_complex y) {
  return {y.re < 0 ? -1.0f : 1.0f, y.im < 0 ? -1.0f : 1.0f};
}
oh_complex times(oh_complex a, oh_complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
std::int16_t clip(float x) {
  return x > 32767 ? std::int16_t{32767} : x < -32768 ? std::int16_t{-32768} : static_cast<std::int16_t>(x);
}

/// Newton's method, for positive values.
constexpr float root(float x) {
  float y = x;
  for (int i = 0; i < 40; ++i) y = (y + x / y) / 2;
  return y;
}

struct Transforms {
  void* rx;
  void* tx;
};

/// One symbol with its prefix from points [tones]; tone 0 is unused.
template <std::size_t kPoints, std::size_t kPrefix>
void modulate(const void* fft, const oh_complex* points, float* out) {
  constexpr std::size_t kTones = kPoints / 2;
  // A tone of points (+-1, +-1) has a power of 4 (a / kPoints)^2.
  const float a = kRms * kPoints / root(4.0f * (kTones - 1));
  oh_complex x[kPoints] = {};
  for (std::size_t k = 1; k < kTones; ++k) {
    x[k] = {a * points[k].re, a * points[k].im};
    x[kPoints - k] = {x[k].re, -x[k].im};
  }
  oh_fft_radix2()->inverse(fft, x, x);
  for (std::size_t t = 0; t < kPrefix + kPoints; ++t) out[t] = x[(t + kPoints - kPrefix) % kPoints].re;
}

struct Pump {
  Transforms fft;
  std::uint64_t symbol;
  std::size_t at;  // index of the period in the symbol
  bool spoiled;    // whether samples of it were lost
  std::int16_t rx[kRxSymbol];
  std::int16_t tx[kPeriods];
  oh_complex taps[kRxTones];

  void end_symbol() {
    oh_complex y[kRxPoints];
    for (std::size_t t = 0; t < kRxPoints; ++t) y[t] = {static_cast<float>(rx[kRxPrefix + t]), 0};
    oh_fft_radix2()->forward(fft.rx, y, y);
    oh_complex points[kRxTones] = {};
    for (std::size_t k = 1; k < kRxTones; ++k) {
      const float power = y[k].re * y[k].re + y[k].im * y[k].im;
      if (power <= 0) continue;
      const oh_complex z = times(taps[k], y[k]);
      points[k] = symbol < kTraining ? point(symbol, k) : decided(z);
      if (spoiled) continue;
      const float step = (symbol == 0 ? 1.0f : kStep) / power;
      const oh_complex error = {points[k].re - z.re, points[k].im - z.im};
      const oh_complex change = times(error, {y[k].re, -y[k].im});
      taps[k] = {taps[k].re + step * change.re, taps[k].im + step * change.im};
    }
    float out[kPeriods];
    modulate<kTxPoints, kTxPrefix>(fft.tx, points, out);
    for (std::size_t t = 0; t < kPeriods; ++t) tx[t] = clip(out[t]);
    ++symbol;
    at = 0;
    spoiled = false;
  }

  void process(const std::int16_t* in, std::int16_t* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < kRatio; ++k) rx[kRatio * at + k] = in[kRatio * i + k];
      out[i] = tx[at];
      if (++at == kPeriods) end_symbol();
    }
  }
  void report_gap(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < kRatio; ++k) rx[kRatio * at + k] = 0;
      spoiled = true;
      if (++at == kPeriods) end_symbol();
    }
  }
};

struct Line {
  Transforms fft;
  std::uint64_t position;  // periods
  float sent[kRxSymbol];   // the current symbol
  float before[2];         // the channel's memory
  std::int16_t heard[kPeriods];
  loopback_result seen;

  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i, ++position) {
      const std::size_t at = position % kPeriods;
      if (at == 0) {
        oh_complex points[kRxTones];
        for (std::size_t k = 0; k < kRxTones; ++k) points[k] = point(position / kPeriods, k);
        modulate<kRxPoints, kRxPrefix>(fft.rx, points, sent);
      }
      for (std::size_t k = 0; k < kRatio; ++k) {
        const float x = sent[kRatio * at + k];
        captured[kRatio * i + k] = clip(x + 0.5f * before[0] - 0.25f * before[1]);
        before[1] = before[0];
        before[0] = x;
      }
      hear(played[i]);
    }
    seen.periods += n;
    loopback_hash(&seen.hash, played, n * sizeof *played);
  }

  /// The pump sends a symbol while it receives the next one, and the driver sends it after the lead.
  void hear(std::int16_t sample) {
    constexpr std::uint64_t kDelay = kLead + kPeriods;
    if (position < kDelay) {
      seen.wrong += sample != 0;
      return;
    }
    const std::size_t at = (position - kDelay) % kPeriods;
    heard[at] = sample;
    if (at != kPeriods - 1) return;
    oh_complex y[kTxPoints];
    for (std::size_t t = 0; t < kTxPoints; ++t) y[t] = {static_cast<float>(heard[kTxPrefix + t]), 0};
    oh_fft_radix2()->forward(fft.tx, y, y);
    for (std::size_t k = 1; k < kTxTones; ++k) {
      const oh_complex got = decided(y[k]), expected = point((position - kDelay) / kPeriods, k);
      ++seen.checked;
      seen.wrong += got.re != expected.re || got.im != expected.im;
    }
  }
};

struct Dmt {
  Pump pump;
  Line line;
};

std::size_t aligned(std::size_t octets) {
  return (octets + 63) / 64 * 64;
}

std::size_t size() {
  return aligned(sizeof(Dmt)) + aligned(oh_fft_radix2()->size(kRxPoints)) + aligned(oh_fft_radix2()->size(kTxPoints));
}

int init(void* self) {
  __builtin_memset(self, 0, size());
  Dmt& dmt = *static_cast<Dmt*>(self);
  char* rx = static_cast<char*>(self) + aligned(sizeof(Dmt));
  char* tx = rx + aligned(oh_fft_radix2()->size(kRxPoints));
  if (oh_fft_radix2()->init(rx, kRxPoints) != 0 || oh_fft_radix2()->init(tx, kTxPoints) != 0) return -1;
  dmt.pump.fft = dmt.line.fft = {rx, tx};
  dmt.line.seen.hash = LOOPBACK_HASH_START;
  return 0;
}

oh_pump pump(void* self) {
  return {[](void* p, const void* rx, void* tx, std::size_t n) {
            static_cast<Dmt*>(p)->pump.process(static_cast<const std::int16_t*>(rx), static_cast<std::int16_t*>(tx), n);
          },
          [](void* p, std::size_t n) { static_cast<Dmt*>(p)->pump.report_gap(n); }, self};
}

oh_line_end line(void* self) {
  return {[](void* p, const void* played, void* captured, std::size_t n) {
            static_cast<Dmt*>(p)->line.exchange(static_cast<const std::int16_t*>(played),
                                                static_cast<std::int16_t*>(captured), n);
          },
          self};
}

loopback_result result(const void* self) {
  return static_cast<const Dmt*>(self)->line.seen;
}

}  // namespace

extern "C" const loopback loopback_dmt = {
    "dmt",  {{1'104'000, OH_LINEAR16, kRatio* kRing, 1, kRing / 2}, {276'000, OH_LINEAR16, kRing, 1, kRing / 2}},
    kBlock, kLead,
    size,   init,
    pump,   line,
    result};
