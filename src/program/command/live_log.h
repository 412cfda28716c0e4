// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "driver/base/output.h"
#include "traces/log/writer.h"

namespace offhook::command {

/// An event log of a live modem, with a header that names host, clock and context.
/// @param file  which is written as a whole  @param driver  its id in the events  @throws traces::LogError
std::unique_ptr<traces::LogWriter> make_live_log(OutputFile file, std::uint16_t driver, const std::string& context);

}  // namespace offhook::command
