// SPDX-License-Identifier: MIT
//
// For targets whose inputs are signals: what they compare are samples and sums, from which libFuzzer learns no values.
// Its tracing of comparisons took four fifths of v8's time. Each name has the linker's prefix (--wrap); coverage by
// edges stays.
#include <cstdint>

#define UNTRACED(name, type) \
  extern "C" void __wrap___sanitizer_cov_trace_##name(type, type) {}  // NOLINT: the linker's name
UNTRACED(cmp1, std::uint8_t)
UNTRACED(cmp2, std::uint16_t)
UNTRACED(cmp4, std::uint32_t)
UNTRACED(cmp8, std::uint64_t)
UNTRACED(const_cmp1, std::uint8_t)
UNTRACED(const_cmp2, std::uint16_t)
UNTRACED(const_cmp4, std::uint32_t)
UNTRACED(const_cmp8, std::uint64_t)
#undef UNTRACED
