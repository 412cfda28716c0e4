// SPDX-License-Identifier: MIT
#pragma once

#include <ostream>

#include "traces/log/reader.h"

namespace offhook::traces {

/// Every event of a log as one CSV line (RFC 4180, LF line ends), in the order of the log. Columns, which are stable:
///
///   time_ns    the host's clock, ns from its start
///   cpu        0 to 255
///   kind       as enum oh_event_kind in lower case without its prefix ("service_begin"); a number when unknown
///   id         of the entity, driver or end, depending on the kind (offhook/event_log.h)
///   name       of that entity or driver by the log's header; empty when it has none
///   argument   depending on the kind
///
/// Memory does not grow with the log. An incomplete log is exported up to its last whole chunk: see log.ending().
/// @throws LogError when the header is not readable or writing to `out` fails (disk full ...)
void export_csv(LogReader& log, std::ostream& out);

}  // namespace offhook::traces
