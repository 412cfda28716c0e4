// SPDX-License-Identifier: MIT
//
// Any bytes as an event-log file, and any bytes as the header and the events of one with right checksums (which a
// fuzzer would never guess): read to the end, exported both ways, nothing but LogError comes out.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "traces/export/csv.h"
#include "traces/export/perfetto.h"
#include "traces/log/crc32.h"
#include "traces/log/reader.h"

namespace {

using namespace offhook::traces;

void read_and_export(const std::string& file) {
  for (const bool perfetto : {false, true}) {
    try {
      LogReader log(std::make_unique<std::istringstream>(file), "fuzz");
      std::ostringstream out;
      if (perfetto) {
        export_perfetto(log, out);
      } else {
        export_csv(log, out);
      }
    } catch (const LogError&) {
    }
  }
}

template <typename T>
std::string raw(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string well_formed(const std::string& json, const std::string& events) {
  const FileHeader header = {kLogMagic, kLogVersion, static_cast<std::uint32_t>(json.size()),
                             crc32(json.data(), json.size()), 0};
  ChunkHeader chunk = {kChunkMarker, 0, 0, static_cast<std::uint32_t>(events.size() / sizeof(oh_event)), 0};
  std::string record = raw(chunk) + events;
  chunk.crc32 = crc32(record.data() + kChunkCrcFrom, record.size() - kChunkCrcFrom);
  record.replace(0, sizeof chunk, raw(chunk));
  return raw(header) + json + record;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_and_export(bytes);

  const std::size_t json_bytes = std::min(bytes.find('\0'), size);
  const std::size_t rest = size - json_bytes;
  const std::size_t event_bytes = std::min<std::size_t>(rest / sizeof(oh_event), kChunkEvents) * sizeof(oh_event);
  read_and_export(well_formed(bytes.substr(0, json_bytes), bytes.substr(json_bytes, event_bytes)));
  read_and_export(well_formed(R"({"drivers":[{"id":1,"name":"modem"}]})", bytes.substr(0, size / 16 % 4097 * 16)));
  return 0;
}
