// SPDX-License-Identifier: MIT
//
// The meaning of the bits of V.8bis: Tables 3, 5 and 6.
#include "dsp/v8/v8bis_message.h"

namespace offhook::v8bis {
namespace {

constexpr int kOctets = 4;  // of the longest block

// Names of a block's parameters, one octet per row.
struct Table {
  Field field;
  Level level;
  uint8_t spar1, spar2;
  const char* names[kOctets][7];
};

constexpr Field kI = Field::kIdentification, kS = Field::kStandard;
constexpr const char* kReserved = nullptr;
constexpr const char* kNonStandard = "non-standard capabilities";

constexpr Table kTables[] = {
    {kI,
     Level::kNPar1,
     0,
     0,  // Table 5-1
     {{"V.8", "short V.8", "additional information available", "transmit ACK(1)", kReserved, kReserved,
       "non-standard field"}}},
    {kI, Level::kSPar1, 0, 0, {{"network type"}}},  // Table 5-2
    {kI,
     Level::kNPar2,
     1,
     0,  // Table 5-3
     {{"cellular access", "ISDN access", "digital PSTN access", kReserved, kReserved, "non-standard network"}}},
    {kS, Level::kNPar1, 0, 0, {{kReserved, kReserved, kReserved, kReserved, kReserved, kReserved, kNonStandard}}},
    {kS,
     Level::kSPar1,
     0,
     0,  // Table 6-2
     {{"data", "simultaneous voice and data", "H.324 multimedia terminal", "V.18 text telephone", "T.30 facsimile",
       "analogue telephony", "T.101 videotex terminal"},
      {"H.324-Multilink", "Multilink-Additional-Connection"}}},
    {kS,
     Level::kNPar2,
     1,
     0,  // Table 6-3, data
     {{"transparent data", "V.42", "V.42bis", "V.14", "T.120 conferencing", kNonStandard},
      {"T.84 SPIFF", "T.434 file transfer", "V.80 synchronous data HDLC", kReserved, "V.34", "V.32bis"},
      {"V.32", "V.22bis", "V.22", "V.21", "V.90 analogue", "V.90 digital"},
      {"V.91", "V.92 analogue", "V.92 digital"}}},
    {kS,
     Level::kNPar2,
     2,
     0,  // Table 6-4, simultaneous voice and data
     {{"V.70", "V.61", kReserved, "V.34", "V.32bis", kNonStandard},
      {"transparent data", "V.42", "V.42bis", "V.14", "T.120 conferencing", "V.80 synchronous HDLC"},
      {"T.84 SPIFF", "T.434 file transfer"}}},
    {kS,
     Level::kNPar2,
     3,
     0,  // Table 6-5, H.324
     {{"video", "audio", "encryption", kReserved, kReserved, kNonStandard}}},
    {kS, Level::kSPar2, 3, 0, {{"data"}}},
    {kS, Level::kNPar3, 3, 1, {{"V.42", "V.14", "PPP", "T.120", "T.84", "T.434"}}},
    {kS,
     Level::kNPar2,
     4,
     0,  // Table 6-6, V.18
     {{"V.21", "V.61", kReserved, kReserved, kReserved, kNonStandard}}},
    {kS,
     Level::kNPar2,
     6,
     0,  // Table 6-7, analogue telephony
     {{"voice", "audio recording device", "voice bridging device", kReserved, kReserved, kNonStandard}}},
    {kS,
     Level::kNPar2,
     7,
     0,  // Table 6-8, T.101
     {{"duplex", "V.29 short train", "V.27ter", kReserved, kReserved, kNonStandard}}},
};

}  // namespace

const char* type_name(int type) {
  constexpr const char* kNames[16] = {nullptr, "MS",     "CL",     "CLR",    "ACK(1)", "ACK(2)", nullptr,
                                      nullptr, "NAK(1)", "NAK(2)", "NAK(3)", "NAK(4)", nullptr,  "V.92 QC2/QCA2",
                                      nullptr, nullptr};
  return kNames[type & 15];
}

const char* parameter_name(const Block& block, int parameter) {
  const int width = parameters_per_octet(block.level);
  const int octet = (parameter - 1) / width, bit = (parameter - 1) % width;
  if (parameter < 1 || octet >= kOctets) return nullptr;
  for (const Table& t : kTables) {
    if (t.field == block.field && t.level == block.level && t.spar1 == block.spar1 && t.spar2 == block.spar2)
      return t.names[octet][bit];
  }
  return nullptr;
}

}  // namespace offhook::v8bis
