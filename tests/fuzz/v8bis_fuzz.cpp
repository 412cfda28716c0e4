// SPDX-License-Identifier: MIT
//
// V.8bis on arbitrary octets: a message that is well formed encodes to the same octets, a malformed one tells an octet
// within it or the one after; every parameter has a name or none.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/v8/v8bis_message.h"

using namespace offhook::v8bis;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 2 * kMaxOctets) return 0;
  const int n = static_cast<int>(size);
  Message message;
  const Malformed malformed = parse(data, n, &message);
  if (malformed && (malformed.octet > n + 1 || malformed.expected == nullptr)) abort();
  if (message.blocks > Message::kMaxBlocks || message.non_standards > Message::kMaxNonStandard) abort();
  for (int k = 0; k < message.blocks; ++k) {
    for (int parameter = 1; parameter <= 63; ++parameter) {
      const char* name = parameter_name(message.block[k], parameter);
      if (name != nullptr && strlen(name) == 0) abort();
    }
  }
  if (malformed || !message.has_parameters()) return 0;
  uint8_t octets[kMaxOctets];
  if (encode(message, octets) != n || memcmp(octets, data, size) != 0) abort();
  return 0;
}
