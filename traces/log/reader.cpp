// SPDX-License-Identifier: MIT
#include "traces/log/reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <ext/stdio_filebuf.h>
#include <istream>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "driver/base/file.h"
#include "traces/log/crc32.h"

namespace offhook::traces {

namespace {

/// A stream on a descriptor, which it closes.
class Descriptor final : private __gnu_cxx::stdio_filebuf<char>, public std::istream {
 public:
  explicit Descriptor(int fd)
      : __gnu_cxx::stdio_filebuf<char>(fd, std::ios::in | std::ios::binary),
        std::istream(static_cast<__gnu_cxx::stdio_filebuf<char>*>(this)) {}
};

std::unique_ptr<std::istream> open_log(const std::string& path) {
  struct stat there {};
  try {
    auto file = std::make_unique<Descriptor>(open_file(path));
    if (stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode))
      throw LogError(fmt::format("{}: is a directory; expected an event log", path));
    if (S_ISFIFO(there.st_mode) && file->peek() == std::istream::traits_type::eof())
      throw LogError(fmt::format("{}: is a FIFO without a writer; expected an event log", path));
    return file;
  } catch (const LogError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw LogError(fmt::format("{}; expected an event log", e.what()));
  }
}

}  // namespace

LogReader::LogReader(const std::string& path) : LogReader(open_log(path), path) {}

LogReader::LogReader(std::unique_ptr<std::istream> in, std::string name) : in_(std::move(in)), name_(std::move(name)) {
  FileHeader header{};
  const std::size_t got = read(&header, sizeof header);
  if (got == 0) throw LogError(fmt::format("{}: empty file; expected an event log", name_));
  if (got < sizeof header || header.magic != kLogMagic) {
    throw LogError(fmt::format("{}: byte 0: not an event log (expected the signature \\x89OHLOG)", name_));
  }
  if (header.version != kLogVersion) {
    throw LogError(fmt::format("{}: byte 8: event log version {}; this program reads version {}", name_, header.version,
                               kLogVersion));
  }
  if (header.json_bytes > kLogHeaderMaxBytes) {
    throw LogError(fmt::format("{}: byte 12: header of {} bytes; at most {} expected", name_, header.json_bytes,
                               kLogHeaderMaxBytes));
  }
  header_json_.resize(header.json_bytes);
  if (const std::size_t text = read(header_json_.data(), header_json_.size()); text < header_json_.size()) {
    throw LogError(fmt::format("{}: byte {}: the file ends within the header: {} of {} bytes", name_,
                               sizeof header + text, text, header_json_.size()));
  }
  if (crc32(header_json_.data(), header_json_.size()) != header.json_crc32) {
    throw LogError(fmt::format("{}: byte {}: the header does not match its checksum", name_, sizeof header));
  }
  ending_.offset = sizeof header + header_json_.size();
  events_.reserve(kChunkEvents);
}

std::size_t LogReader::read(void* out, std::size_t bytes) {
  in_->read(static_cast<char*>(out), static_cast<std::streamsize>(bytes));
  return static_cast<std::size_t>(in_->gcount());
}

bool LogReader::stop(std::string why) {
  done_ = true;
  events_.clear();
  ending_.message =
      fmt::format("{}: byte {}: {}; the {} events before it are intact", name_, ending_.offset, why, ending_.events);
  return false;
}

bool LogReader::cut_off(std::string why) {
  ending_.truncated = true;
  return stop(std::move(why));
}

bool LogReader::next() {
  if (done_) return false;
  ChunkHeader header{};
  const std::size_t got = read(&header, sizeof header);
  if (got == 0) return cut_off("the log ends without its end record (the writer was stopped)");
  if (got < sizeof header) {
    return cut_off(fmt::format("the file ends within a chunk header: {} of {} bytes", got, sizeof header));
  }
  const bool end = header.marker == kEndMarker;
  if (!end && header.marker != kChunkMarker) {
    return stop(fmt::format("found {:#010x} where a chunk begins; expected {:#010x} or {:#010x}", header.marker,
                            kChunkMarker, kEndMarker));
  }
  if (end ? header.count != 0 : header.count == 0 || header.count > kChunkEvents) {
    return stop(fmt::format("a chunk of {} events; expected 1 to {}", header.count, kChunkEvents));
  }
  if (header.cpu > 255) return stop(fmt::format("a chunk of CPU {}; expected 0 to 255", header.cpu));
  events_.resize(header.count);
  const std::size_t bytes = header.count * sizeof(oh_event);
  if (const std::size_t body = read(events_.data(), bytes); body < bytes) {
    return cut_off(fmt::format("the file ends within a chunk: {} of {} event bytes", body, bytes));
  }
  const char* head = reinterpret_cast<const char*>(&header);
  const std::uint32_t crc = crc32(events_.data(), bytes, crc32(head + kChunkCrcFrom, sizeof header - kChunkCrcFrom));
  if (crc != header.crc32) {
    return stop(fmt::format("a chunk does not match its checksum: {:#010x}, expected {:#010x}", crc, header.crc32));
  }
  ending_.offset += sizeof header + bytes;
  if (end) {
    ending_.lost = header.lost;
    done_ = true;
    char extra = 0;
    if (read(&extra, 1) != 0) return stop("data after the end record; expected the end of the file");
    ending_.complete = true;
    return false;
  }
  cpu_ = static_cast<std::uint8_t>(header.cpu);
  lost_ = lost_by_cpu_[cpu_] = header.lost;
  ending_.lost = std::accumulate(lost_by_cpu_.begin(), lost_by_cpu_.end(), std::uint64_t{0});
  ending_.events += header.count;
  return true;
}

}  // namespace offhook::traces
