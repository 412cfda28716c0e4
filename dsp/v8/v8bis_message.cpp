// SPDX-License-Identifier: MIT
#include "dsp/v8/v8bis_message.h"

#include <string.h>

namespace offhook::v8bis {
namespace {

constexpr uint8_t kBit8 = 0x80;       // ends a block of level 1, and everything that belongs to one SPar(1)
constexpr uint8_t kBit7 = 0x40;       // ends a block of levels 2 and 3
constexpr int kNonStandardField = 7;  // of NPar(1) of the identification field, Table 5-1

struct Reader {
  const uint8_t* octets;
  int n;
  Message* message;
  int at = 0;
  Malformed malformed{};

  bool fail(int octet, const char* expected) {
    malformed = {octet, expected};
    return false;
  }

  // Octets up to the one whose delimiting bit is set; `last` is that one. A truncated block is kept.
  bool read_block(Block place, uint8_t delimiter, uint8_t* last) {
    place.octets = 0;
    place.parameters = 0;
    Block& block = message->block[message->blocks++] = place;
    const int width = parameters_per_octet(block.level);
    for (;;) {
      if (at == n) {
        message->blocks -= block.octets == 0;
        return fail(n + 1, delimiter == kBit8 ? "an octet with bit 8, the end of a block of level 1"
                                              : "an octet with bit 7, the end of a block of level 2 or 3");
      }
      if (block.octets == kMaxBlockOctets) return fail(at + 1, "the end of the block within 9 octets");
      const uint8_t octet = octets[at++];
      block.parameters |= static_cast<uint64_t>(octet & ((1 << width) - 1)) << (width * block.octets);
      ++block.octets;
      *last = octet;
      if ((octet & delimiter) != 0) return true;
      if ((octet & kBit8) != 0) return fail(at, "bit 7 together with bit 8: the block of level 2 or 3 has not ended");
    }
  }

  // The blocks of one SPar(1).
  bool read_branch(Field field, int spar1) {
    Block place;
    place.field = field;
    place.spar1 = static_cast<uint8_t>(spar1);
    place.level = Level::kNPar2;
    uint8_t last = 0;
    if (!read_block(place, kBit7, &last)) return false;
    if ((last & kBit8) != 0) return true;
    place.level = Level::kSPar2;
    if (!read_block(place, kBit7, &last)) return false;
    const Block spar2 = message->block[message->blocks - 1];
    place.level = Level::kNPar3;
    for (int k = 1; k <= kMaxBlockOctets * 6; ++k) {
      if (!spar2.has(k)) continue;
      if ((last & kBit8) != 0) return fail(at, "no bit 8 yet: an NPar(3) block of an SPar(2) follows");
      place.spar2 = static_cast<uint8_t>(k);
      if (!read_block(place, kBit7, &last)) return false;
    }
    return (last & kBit8) != 0 || fail(at, "bit 8, the end of the parameters of the SPar(1)");
  }

  bool read_field(Field field) {
    Block place;
    place.field = field;
    uint8_t last = 0;
    if (!read_block(place, kBit8, &last)) return false;
    place.level = Level::kSPar1;
    if (!read_block(place, kBit8, &last)) return false;
    const Block spar1 = message->block[message->blocks - 1];
    for (int k = 1; k <= kMaxBlockOctets * 7; ++k) {
      if (spar1.has(k) && !read_branch(field, k)) return false;
    }
    return true;
  }

  bool read_non_standard() {
    const int length = octets[at];
    const int left = n - at - 1;
    if (length > left) return fail(at + 1, "a length of at most the remaining octets");
    if (length < 2) return fail(at + 1, "a length of 2 or more: a country code and the length of a provider code");
    const int provider = octets[at + 2];
    if (provider > length - 2) return fail(at + 3, "a provider code within its non-standard block");
    NonStandard& block = message->non_standard[message->non_standards++];
    block.country = octets[at + 1];
    block.provider_size = static_cast<uint8_t>(provider);
    block.size = static_cast<uint8_t>(length - 2 - provider);
    memcpy(block.octets, octets + at + 3, static_cast<size_t>(length - 2));
    at += 1 + length;
    return true;
  }

  bool read() {
    if (n == 0) return fail(1, "a message type");
    message->type = octets[0] & 15;
    message->revision = octets[0] >> 4;
    at = 1;
    if (n > kMaxOctets) return fail(kMaxOctets + 1, "64 octets at most");
    const bool acknowledges =
        !message->has_parameters() && !message->is(Type::kQuickConnect) && type_name(message->type);
    if (acknowledges) return n == 1 || fail(2, "the end: ACK and NAK have no parameters");
    if (!message->has_parameters()) return true;
    if (!read_field(Field::kIdentification) || !read_field(Field::kStandard)) return false;
    if (!message->block[0].has(kNonStandardField))
      return at == n || fail(at + 1, "the end: there is no non-standard field");
    if (at == n) return fail(at + 1, "the non-standard field");
    while (at < n) {
      if (!read_non_standard()) return false;
    }
    return true;
  }
};

}  // namespace

const Block* Message::find(Field field, Level level, int spar1, int spar2) const {
  for (int k = 0; k < blocks; ++k) {
    const Block& b = block[k];
    if (b.field == field && b.level == level && b.spar1 == spar1 && b.spar2 == spar2) return &b;
  }
  return nullptr;
}

void Message::add(Field field, Level level, uint64_t parameters, int spar1, int spar2) {
  Block& b = block[blocks++];
  b = {};
  b.field = field;
  b.level = level;
  b.spar1 = static_cast<uint8_t>(spar1);
  b.spar2 = static_cast<uint8_t>(spar2);
  b.parameters = parameters;
  while (parameters >> (parameters_per_octet(level) * b.octets) != 0) ++b.octets;
}

bool operator==(const Message& a, const Message& b) {
  if (a.type != b.type || a.revision != b.revision || a.blocks != b.blocks || a.non_standards != b.non_standards)
    return false;
  for (int k = 0; k < a.blocks; ++k) {
    if (!(a.block[k] == b.block[k])) return false;
  }
  for (int k = 0; k < a.non_standards; ++k) {
    if (!(a.non_standard[k] == b.non_standard[k])) return false;
  }
  return true;
}

Malformed parse(const uint8_t* octets, int n, Message* message) {
  *message = {};
  Reader reader{octets, n, message};
  reader.read();
  return reader.malformed;
}

int encode(const Message& m, uint8_t* octets) {
  int n = 0;
  octets[n++] = static_cast<uint8_t>(m.type | m.revision << 4);
  if (!m.has_parameters()) return n;
  for (int k = 0; k < m.blocks; ++k) {
    const Block& b = m.block[k];
    const int width = parameters_per_octet(b.level);
    if (n + b.octets > kMaxOctets) return 0;
    for (int i = 0; i < b.octets; ++i) {
      octets[n++] = static_cast<uint8_t>(b.parameters >> (width * i) & ((1u << width) - 1));
    }
    const bool branch_goes_on = k + 1 < m.blocks && m.block[k + 1].field == b.field && m.block[k + 1].spar1 == b.spar1;
    uint8_t& last = octets[n - 1];
    if (b.spar1 == 0) {
      last |= kBit8;
    } else {
      last |= branch_goes_on ? kBit7 : kBit7 | kBit8;
    }
  }
  for (int k = 0; k < m.non_standards; ++k) {
    const NonStandard& b = m.non_standard[k];
    const int content = b.provider_size + b.size;
    if (n + 3 + content > kMaxOctets) return 0;
    octets[n++] = static_cast<uint8_t>(content + 2);
    octets[n++] = b.country;
    octets[n++] = b.provider_size;
    memcpy(octets + n, b.octets, static_cast<size_t>(content));
    n += content;
  }
  return n;
}

}  // namespace offhook::v8bis
