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

/// Gives each reservation a slot of X consecutive ticks that overlaps no other slot. Shorter periods are placed first,
/// each into the smallest sufficient gap.
/// @return [reservations.size()] offset in ticks of each first slot, 0 <= offset < Y: the offset of its Slot
/// @throws std::invalid_argument naming the reservation that is not admitted, and why: X > Y, Y not a power of two, a
///   sum over 100 %, or no gap of X ticks (the remaining ticks may not be consecutive, and slots are not split)
std::vector<std::int64_t> plan_slots(std::span<const Reservation> reservations);

}  // namespace offhook::hostsim
