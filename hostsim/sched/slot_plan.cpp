// SPDX-License-Identifier: MIT
#include "hostsim/sched/slot_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

namespace offhook::hostsim {
namespace {

constexpr std::int64_t kMaxPeriod = 1 << 20;

[[noreturn]] void refuse(const Reservation& r, const std::string& reason) {
  throw std::invalid_argument("reservation of '" + r.name + "' (" + std::to_string(r.x_ticks) + " of every " +
                              std::to_string(r.y_ticks) + " ticks) cannot be admitted: " + reason);
}

// Number of consecutive free ticks from `at` on in a repeating schedule; at most all of it.
std::int64_t gap(const std::vector<bool>& used, std::int64_t at) {
  const auto n = static_cast<std::int64_t>(used.size());
  std::int64_t length = 0;
  while (length < n && !used[static_cast<std::size_t>((at + length) % n)]) length++;
  return length;
}

std::int64_t place(std::vector<bool>& used, const Reservation& r) {
  const auto n = static_cast<std::int64_t>(used.size());
  std::int64_t best = -1;
  std::int64_t best_gap = n + 1;
  for (std::int64_t at = 0; at < n;) {
    const std::int64_t length = gap(used, at);
    const bool begins = at == 0 ? length == n || used[static_cast<std::size_t>(n - 1)] : true;
    if (begins && length >= r.x_ticks && length < best_gap) {
      best = at;
      best_gap = length;
    }
    at += length + 1;
  }
  if (best < 0) refuse(r, "no " + std::to_string(r.x_ticks) + " ticks in a row are left");
  for (std::int64_t i = 0; i < r.x_ticks; i++) used[static_cast<std::size_t>((best + i) % n)] = true;
  return best;
}

}  // namespace

std::vector<std::int64_t> plan_slots(std::span<const Reservation> reservations) {
  double sum = 0;
  for (const Reservation& r : reservations) {
    if (r.x_ticks <= 0 || r.x_ticks > r.y_ticks) refuse(r, "expected 0 < X <= Y");
    if (r.y_ticks > kMaxPeriod || !std::has_single_bit(static_cast<std::uint64_t>(r.y_ticks))) {
      refuse(r, "expected a period that is a power of two, at most " + std::to_string(kMaxPeriod));
    }
    sum += static_cast<double>(r.x_ticks) / static_cast<double>(r.y_ticks);  // exact: binary fractions
    if (sum > 1) refuse(r, "all together would take " + std::to_string(sum * 100) + " % of the CPU");
  }
  std::vector<std::size_t> order(reservations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Reservation &ra = reservations[a], &rb = reservations[b];
    return ra.y_ticks != rb.y_ticks ? ra.y_ticks < rb.y_ticks : ra.x_ticks > rb.x_ticks;
  });
  std::vector<std::int64_t> offsets(reservations.size());
  std::vector<bool> used(1);
  for (const std::size_t i : order) {
    while (static_cast<std::int64_t>(used.size()) < reservations[i].y_ticks) {  // the same again
      const std::size_t n = used.size();
      used.resize(2 * n);
      std::copy_n(used.begin(), n, used.begin() + static_cast<std::ptrdiff_t>(n));
    }
    offsets[i] = place(used, reservations[i]);
  }
  return offsets;
}

}  // namespace offhook::hostsim
