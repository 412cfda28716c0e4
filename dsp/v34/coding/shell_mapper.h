// SPDX-License-Identifier: MIT
//
// The shell mapper of V.34 (9.4): K bits choose eight rings so that inner rings, which cost less power, come more
// often.
//
// All 8-tuples of rings are put in order: by their sum first (z8 counts the tuples of smaller sum), then by how that
// sum splits into two halves, each half into two pairs, each pair into two rings. The mapper takes the R0-th tuple of
// that order; the inverse counts the tuples before a given one.
#pragma once

#include <stdint.h>

namespace offhook::v34 {

/// @param rings  M, 1..18  @param index  R0 < M^8  @param[out] ring  [8] m(0,0), m(0,1), m(1,0) .. m(3,1), each < M.
/// Real-time: yes, at most about 120 multiplications.  Source: (9-3) to (9-24)
void shell_map(int rings, uint32_t index, uint8_t ring[8]);

/// The exact inverse, for all M^8 tuples. A tuple of no K bits (only after line errors) has an index of 2^K or more.
/// @pre each ring < M.  Real-time: yes, as shell_map.
uint64_t shell_unmap(int rings, const uint8_t ring[8]);

/// Probability of each ring if all indices below 2^K are equally likely, and the tuples of the last, incomplete sum are
/// evenly mixed.  @param[out] probability  [rings].  Not real-time: for init.
void shell_ring_probability(int rings, int shell_bits, double* probability);

}  // namespace offhook::v34
