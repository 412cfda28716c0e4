// SPDX-License-Identifier: MIT
#include "src/program/command/live_log.h"

#include <utility>

#include "src/measure/host_description.h"
#include "traces/log/clock.h"
#include "traces/log/header.h"

namespace offhook::command {

std::unique_ptr<traces::LogWriter> make_live_log(OutputFile file, std::uint16_t driver, const std::string& context) {
  traces::LogHeader header;
  header.drivers.push_back({driver, "modem"});
  header.host = measure::host_description();
  header.scenario = {.context = context, .live = true, .clock = traces::live_clock()};
  return std::make_unique<traces::LogWriter>(std::move(file), traces::to_json(header));
}

}  // namespace offhook::command
