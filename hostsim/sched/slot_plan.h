// SPDX-License-Identifier: MIT
//
// The planner of Rialto/NT (Jones and Regehr 1999): one precomputed schedule for several reservations. Periods are
// powers of two in ticks, so the schedule repeats with the longest of them and a slot that is free once is free always.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace offhook::hostsim {

/// X ticks of every Y.
struct Reservation {
  std::string name;
  std::int64_t x_ticks = 0;
  std::int64_t y_ticks = 0;  ///< a power of two, at most 2^20
};

/// Give each reservation a slot of X ticks in a row that overlaps no other's.
/// Shorter periods are placed first, each into the smallest gap that holds it.
/// @return [reservations.size()] offset of each one's first slot in ticks, 0 <= offset < Y: the offset of its Slot
/// @throws std::invalid_argument naming the reservation that cannot be admitted, and why: X > Y, Y no power of two, a
///   sum over 100 %, or no gap of X ticks left (the remaining ticks may not be consecutive: slots are not split)
std::vector<std::int64_t> plan_slots(std::span<const Reservation> reservations);

}  // namespace offhook::hostsim
