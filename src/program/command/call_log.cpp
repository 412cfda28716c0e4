// SPDX-License-Identifier: MIT
#include "src/program/command/call_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <time.h>

#include <exception>
#include <utility>

#include "driver/base/printable.h"
#include "src/program/command/live_log.h"

namespace offhook::command {

CallLogFolder::File CallLogFolder::begin(std::size_t line, const std::string& context) {
  const std::string name = fmt::format("{:%Y%m%dT%H%M%SZ}-{}-line{}.ohlog", fmt::gmtime(time(nullptr)), ++calls_, line);
  return {(folder_ / name).string(),
          make_live_log(folder_.create(name, Privacy::kPrivate, Appears::kAtOnce), 0, context)};
}

CallLog::CallLog(CallLogFolder* folder) : folder_(folder), events_(kPageEvents) {
  oh_event_log_init(&log_, events_.data(), events_.size(), 0);
}

std::string CallLog::begin(std::size_t line, const std::string& context, LineWatch& watch, std::int64_t now_ms) {
  drain(watch, now_ms);
  if (folder_ == nullptr) return {};
  try {
    file_ = folder_->begin(line, context);
  } catch (const std::exception& e) {
    return printable(e.what());
  }
  return {};
}

std::string CallLog::drain(LineWatch& watch, std::int64_t now_ms) {
  try {
    watch.drain(log_, file_.writer.get(), now_ms);
  } catch (const std::exception& e) {
    file_ = {};
    return printable(e.what());
  }
  return {};
}

std::string CallLog::end(LineWatch& watch, std::int64_t now_ms) {
  drain(watch, now_ms);
  CallLogFolder::File file = std::exchange(file_, {});
  try {
    if (file.writer) file.writer->close();
  } catch (const std::exception&) {  // events drained before are in the file
  }
  return file.path;
}

}  // namespace offhook::command
