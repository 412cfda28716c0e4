// SPDX-License-Identifier: MIT
//
// The sources of a host's numbers: the table [source] of traces/data/hosts/*.toml and of a user's file. It
// changes no simulation. Advice and `offhook hosts` print it, to distinguish assumptions from measurements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "traces/scenario/document.h"

namespace offhook::config {

/// The weakest source among the numbers that decide a result on the host.
enum class HostGrade : std::uint8_t {
  kAssumed,    ///< rules and orders of magnitude, no measurement
  kPublished,  ///< measured by others, with a documented method
  kMeasured,   ///< by `offhook measure host-profile` on the machine itself
};

struct HostSource {
  HostGrade grade = HostGrade::kAssumed;
  std::string what;     ///< source: document and place in it, command, duration; empty if the file has none
  std::string where;    ///< its address; can be empty
  std::string assumed;  ///< the keys whose values are assumptions all the same
};

/// "assumed", "published" or "measured".
std::string_view to_string(HostGrade grade);
/// "published: Table 3 of ...; no source for clock_isr_us"; "no source is given" for an empty one.
std::string in_words(const HostSource& source);

KeyTable host_source_keys();
/// Takes the table [source] out of a host's file; without it all numbers count as assumed.
HostSource take_host_source(Document& host);
/// The source of traces/data/hosts/NAME.toml, or of a file whose name ends in .toml. @throws Error if there is none
HostSource load_host_source(std::string_view host);

}  // namespace offhook::config
