// SPDX-License-Identifier: MIT
#include "traces/log/writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "traces/log/crc32.h"

namespace offhook::traces {

LogWriter::LogWriter(OutputFile file, std::string_view header_json) : path_(file.name()), file_(std::move(file)) {
  if (header_json.size() > kLogHeaderMaxBytes) {
    throw LogError(
        fmt::format("{}: event log header of {} bytes; at most {} fit", path_, header_json.size(), kLogHeaderMaxBytes));
  }
  const FileHeader header = {kLogMagic, kLogVersion, static_cast<std::uint32_t>(header_json.size()),
                             crc32(header_json.data(), header_json.size()), 0};
  record_.resize(sizeof header + header_json.size());
  std::memcpy(record_.data(), &header, sizeof header);
  std::memcpy(record_.data() + sizeof header, header_json.data(), header_json.size());
  write(record_);
}

LogWriter::~LogWriter() {
  try {
    close();
  } catch (const LogError&) {  // close() reports errors to callers that need them
  }
}

void LogWriter::write(std::span<const char> record) {
  if (failed_) return;
  std::size_t done = 0;
  while (done < record.size()) {
    const ssize_t n = ::write(file_->fd(), record.data() + done, record.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : ENOSPC;
      failed_ = true;
      // Cut the torn record off; if that is impossible the reader will detect it by its CRC.
      [[maybe_unused]] const int cut = ::ftruncate(file_->fd(), static_cast<off_t>(bytes_));
      throw LogError(fmt::format("{}: writing the event log failed at byte {}: {}; the {} events before it are safe",
                                 path_, bytes_ + done, std::strerror(error), events_));
    }
    done += static_cast<std::size_t>(n);
  }
  bytes_ += record.size();
}

void LogWriter::write_chunk(std::uint32_t marker, std::uint32_t cpu, std::span<const oh_event> events,
                            std::uint64_t lost) {
  ChunkHeader header = {marker, 0, cpu, static_cast<std::uint32_t>(events.size()), lost};
  record_.resize(sizeof header + events.size_bytes());
  if (!events.empty()) std::memcpy(record_.data() + sizeof header, events.data(), events.size_bytes());
  std::memcpy(record_.data(), &header, sizeof header);
  header.crc32 = crc32(record_.data() + kChunkCrcFrom, record_.size() - kChunkCrcFrom);
  std::memcpy(record_.data(), &header, sizeof header);
  write(record_);
  if (!failed_) events_ += events.size();
}

void LogWriter::write_pending(std::uint8_t cpu, Pending& p) {
  chunk_.swap(p.events);
  p.events.clear();  // before the write, which may throw: a chunk is tried once
  write_chunk(kChunkMarker, cpu, chunk_, p.lost);
}

void LogWriter::append(std::uint8_t cpu, std::span<const oh_event> events, std::uint64_t lost) {
  if (!file_) return;
  Pending& p = pending_[cpu];
  if (p.events.capacity() < kChunkEvents) p.events.reserve(kChunkEvents);
  while (!events.empty()) {
    const std::size_t n = std::min<std::size_t>(events.size(), kChunkEvents - p.events.size());
    p.events.insert(p.events.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(n));
    events = events.subspan(n);
    if (events.empty()) p.lost = lost;
    if (p.events.size() == kChunkEvents) write_pending(cpu, p);
  }
  p.lost = lost;
}

void LogWriter::drain(oh_event_log& log) {
  oh_event batch[256];
  while (const std::size_t n = oh_event_log_read(&log, batch, std::size(batch))) {
    append(log.cpu, {batch, n}, oh_event_log_lost(&log));
  }
  append(log.cpu, {}, oh_event_log_lost(&log));
}

void LogWriter::flush() {
  for (auto& [cpu, p] : pending_) {
    if (!p.events.empty()) write_pending(cpu, p);
  }
}

void LogWriter::close() {
  if (!file_) return;
  try {
    flush();
    std::uint64_t lost = 0;
    for (const auto& [cpu, p] : pending_) lost += p.lost;
    write_chunk(kEndMarker, 0, {}, lost);
  } catch (...) {
    file_.reset();
    throw;
  }
  OutputFile file = std::move(*file_);
  file_.reset();
  try {
    file.close();
  } catch (const std::runtime_error& e) {
    if (!failed_) throw LogError(fmt::format("closing the event log failed: {}", e.what()));
  }
}

}  // namespace offhook::traces
