// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "hostsim/engine/random.h"
#include "src/measure/host_bench.h"
#include "src/measure/real_time.h"

namespace offhook::measure {

void** pointer_ring(std::vector<std::uint64_t>& array, std::size_t bytes, std::size_t stride) {
  static_assert(sizeof(void*) <= sizeof(std::uint64_t));
  array.assign(bytes / sizeof(std::uint64_t), 0);
  const std::size_t step = stride == 0 ? 128 : stride, cells = bytes / step;
  std::vector<std::size_t> order(cells);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (stride == 0) {
    const hostsim::Random random(1995, 3);
    for (std::size_t i = cells; i > 1; --i) std::swap(order[i - 1], order[random.word(i) % i]);
  }
  char* const base = reinterpret_cast<char*>(array.data());
  for (std::size_t i = 0; i < cells; ++i) {
    void* next = base + order[(i + 1) % cells] * step;
    std::memcpy(base + order[i] * step, &next, sizeof next);
  }
  return reinterpret_cast<void**>(base + order[0] * step);
}

void memory(Bench& bench) {
  constexpr std::size_t kLoads = 1 << 16;
  std::vector<std::uint64_t> array;
  for (const std::size_t stride :
       {std::size_t{16}, std::size_t{128}, std::size_t{1024}, std::size_t{4096}, std::size_t{0}}) {
    if (!bench.next(stride == 0 ? "memory, random order" : fmt::format("memory, stride {}", stride))) return;
    MemoryCurve curve{.stride = stride, .bytes = {}, .median_ns = {}, .low_ns = {}, .high_ns = {}};
    for (std::size_t bytes = 512; bytes <= bench.config().memory_limit; bytes *= 2) {
      if (bytes < 2 * std::max<std::size_t>(stride, 128)) continue;
      void** p = pointer_ring(array, bytes, stride);
      std::vector<double> ns;
      for (int k = -1; k < 7; ++k) {
        const std::int64_t begin = now_ns();
        for (std::size_t n = 0; n < kLoads / 8; ++n) {
          p = static_cast<void**>(*p), p = static_cast<void**>(*p), p = static_cast<void**>(*p),
          p = static_cast<void**>(*p);
          p = static_cast<void**>(*p), p = static_cast<void**>(*p), p = static_cast<void**>(*p),
          p = static_cast<void**>(*p);
        }
        keep(p);
        if (k >= 0) ns.push_back(static_cast<double>(now_ns() - begin) / kLoads);
      }
      std::sort(ns.begin(), ns.end());
      curve.bytes.push_back(bytes);
      curve.median_ns.push_back(ns[ns.size() / 2]);
      curve.low_ns.push_back(ns.front());
      curve.high_ns.push_back(ns.back());
    }
    bench.result().memory.push_back(std::move(curve));
  }
}

void bitblt(Bench& bench) {
  constexpr std::size_t kWidth = 570, kHeight = 760, kRowBytes = (kWidth + 7) / 8, kRounds = 76;
  std::vector<std::uint8_t> picture(2 * kHeight * kRowBytes);
  const hostsim::Random random(1995, 2);
  for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<std::uint8_t>(random.word(i));
  std::vector<std::uint8_t> bits(kHeight * kRowBytes);
  bench.row("bitblt, 1 bit", "570 x 760 of 570 x 1520 pixels to memory, one row further per copy; time per copy", "us",
            1e3,
            {.work =
                 [&] {
                   for (std::size_t k = 0; k < kRounds; ++k) {
                     std::memcpy(bits.data(), picture.data() + k * kRowBytes, bits.size());
                     keep(bits);
                   }
                 },
             .operations = kRounds});
  std::vector<std::uint32_t> pixels(kHeight * kWidth);
  bench.row("bitblt, 1 bit to 32", "as above, with every bit expanded to a pixel of 32 bits", "us", 1e3,
            {.work =
                 [&] {
                   for (std::size_t k = 0; k < kRounds; ++k) {
                     for (std::size_t y = 0; y < kHeight; ++y) {
                       const std::uint8_t* from = picture.data() + (k + y) * kRowBytes;
                       std::uint32_t* to = pixels.data() + y * kWidth;
                       for (std::size_t x = 0; x < kWidth; ++x)
                         to[x] = (from[x / 8] >> (7 - x % 8) & 1) != 0 ? 0x00ffffffu : 0u;
                     }
                     keep(pixels);
                   }
                 },
             .operations = kRounds,
             .at_most = 20});
}

}  // namespace offhook::measure
