// SPDX-License-Identifier: MIT
#include "traces/export/csv.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "driver/base/csv.h"
#include "traces/log/event_names.h"
#include "traces/log/header.h"

namespace offhook::traces {

void export_csv(LogReader& log, std::ostream& out) {
  const LogHeader header = parse_log_header(log.header_json(), log.name());
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::string> entities;
  std::map<std::uint16_t, std::string> drivers;
  for (const LogEntity& e : header.entities) entities[{e.cpu, e.id}] = csv_field(e.name);
  for (const LogDriver& d : header.drivers) drivers[d.id] = csv_field(d.name);
  const auto name_of = [&](const oh_event& e) -> std::string_view {
    if (names_entity(e.kind)) {
      const auto found = entities.find({e.cpu, e.id});
      if (found != entities.end()) return found->second;
    } else if (names_driver(e.kind)) {
      const auto found = drivers.find(e.id);
      if (found != drivers.end()) return found->second;
    } else if (is_retrain(e)) {
      return retrain_cause_name(instrument_hundredths(e.argument) / 100);
    }
    return {};
  };

  out << "time_ns,cpu,kind,id,name,argument\n";
  fmt::memory_buffer lines;
  while (log.next()) {
    lines.clear();
    for (const oh_event& e : log.events()) {
      fmt::format_to(std::back_inserter(lines), "{},{},", e.time_ns, e.cpu);
      const std::string_view kind = event_name(e.kind);
      if (kind.empty()) {
        fmt::format_to(std::back_inserter(lines), "{}", e.kind);
      } else {
        lines.append(kind);
      }
      fmt::format_to(std::back_inserter(lines), ",{},{},{}\n", e.id, name_of(e), e.argument);
    }
    out.write(lines.data(), static_cast<std::streamsize>(lines.size()));
  }
  out.flush();
  if (!out) throw LogError("CSV export: the output could not be written (disk full?)");
}

}  // namespace offhook::traces
