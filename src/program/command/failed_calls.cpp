// SPDX-License-Identifier: MIT
#include "src/program/command/failed_calls.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "offhook/decode.h"
#include "offhook/modem_card.h"
#include "src/program/command/line_recording.h"

namespace offhook::command {

void FailedCalls::finish() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void FailedCalls::keep(modem::LineMemory::Samples line, std::string reason) {
  const std::lock_guard lock(mutex_);
  std::string name = fmt::format("failed-{:%Y%m%dT%H%M%SZ}-{}", fmt::gmtime(time(nullptr)), ++calls_);
  waiting_.push_back({std::move(line), std::move(reason), std::move(name)});
  changed_.notify_all();
}

std::string FailedCalls::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

std::string FailedCalls::write(const FailedCall& call) const {
  const std::string wav = call.name + ".wav", page = call.name + ".html";
  LineRecording recording(folder_.create(wav, Privacy::kPrivate, Appears::kWhole), call.line.rate_hz);
  recording.write(call.line.received, call.line.sent);
  recording.close();
  decode::Options options;
  options.remark = call.reason;
  folder_.write(page, decode::to_html(*decode::decode_file((folder_ / wav).string(), options)), Privacy::kPrivate);
  return fmt::format("recording and page: {}, {}", wav, page);
}

void FailedCalls::work() {
  constexpr int kNice = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);  // only for this thread, on Linux
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const FailedCall call = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    std::string text;
    try {
      text = call.line.received.empty() ? "nothing was recorded" : write(call);
    } catch (const std::exception& error) {
      text = error.what();
    }
    lock.lock();
    news_ += fmt::format("{}{}; {}", news_.empty() ? "" : "\n", call.reason, text);
  }
}

}  // namespace offhook::command
