// SPDX-License-Identifier: MIT
//
// The event-log file. Little endian throughout.
//
//   FileHeader        magic, version, length and CRC of the JSON text
//   JSON text         who the entities are, the host, the scenario, the units (traces/log/header.h)
//   record *          ChunkHeader and its events, chunk after chunk; events of one ring in order
//   end record        a ChunkHeader with the end marker: the writer closed the log, nothing is missing
//
// Records are only ever appended, each in one write, so a killed writer leaves complete records and at most one
// incomplete one, which its length or its CRC reveals. A chunk holds at most kChunkEvents, so a reader needs no more
// memory than that, however long the log or false its lengths.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "offhook/event_log.h"

namespace offhook::traces {

static_assert(std::endian::native == std::endian::little, "the log is written from memory as it stands");

/// Not ASCII, and with a line end that a text-mode transfer would change.
inline constexpr std::array<char, 8> kLogMagic = {'\x89', 'O', 'H', 'L', 'O', 'G', '\r', '\n'};
inline constexpr std::uint32_t kLogVersion = 1;
inline constexpr std::uint32_t kLogHeaderMaxBytes = 1 << 20;
inline constexpr std::uint32_t kChunkEvents = 4096;
inline constexpr std::uint32_t kChunkMarker = 0x4b4e4843;  ///< "CHNK"
inline constexpr std::uint32_t kEndMarker = 0x21444e45;    ///< "END!"

struct FileHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t json_bytes;
  std::uint32_t json_crc32;
  std::uint32_t reserved;  ///< 0
};
static_assert(sizeof(FileHeader) == 24);

struct ChunkHeader {
  std::uint32_t marker;  ///< kChunkMarker or kEndMarker
  std::uint32_t crc32;   ///< of the header after this field, and of the events
  std::uint32_t cpu;     ///< the CPU of the events' ring (a simulated host has one, of CPU 0, for all its CPUs; each
                         ///< event has its CPU); 0 in the end record
  std::uint32_t count;   ///< events that follow, 1 to kChunkEvents; 0 in the end record
  std::uint64_t lost;    ///< events dropped by this ring since the log began; end record: by all rings
};
static_assert(sizeof(ChunkHeader) == 24);
inline constexpr std::size_t kChunkCrcFrom = offsetof(ChunkHeader, cpu);

/// Thrown if a log cannot be written, opened or read. The message names the file and the expected content.
class LogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace offhook::traces
